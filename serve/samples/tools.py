"""The tools of a sample server, and the MCP server that offers them: over HTTP (`door`) or stdio.

A tool is a method from its input record to its output record. What is wrong with its arguments, or can't be
done, is an error of the tool (`isError`) that names the argument. Between requests nothing is kept but what
writing tools have put into the process's memory.
"""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, Field, ValidationError

from models.errors import InputInvalid, SignoffError
from models.record import Record, reason_of
from models.release import RELEASE
from serve.samples.data import SampleSet, load_samples
from serve.samples.search import MOST

FOLDER = Path(__file__).resolve().parents[2] / "configs/samples/operations"
MOST_WRITTEN = 500  # of messages or notes that the memory of a process takes

Query = Annotated[
    str, Field(max_length=500, description="Words to look for, any of which will do; empty: everything.")
]
Limit = Annotated[int, Field(ge=1, le=MOST, description="At most so many in one answer.")]
Cursor = Annotated[str | None, Field(max_length=16, description="next_cursor of the answer before.")]


class PagedInput(Record):
    """What every listing tool takes."""

    limit: Limit = 20
    cursor: Cursor = None


_Method = TypeVar("_Method", bound=Callable[..., BaseModel])


def sample_tool(
    *, reads: bool = True, only_adds: bool = False, again_is_harmless: bool = False
) -> Callable[[_Method], _Method]:
    """Offer a method `name(self, asked: Record) -> Record` as a tool that its docstring describes.

    Args:
        reads: it changes nothing; `only_adds`, `again_is_harmless`: of one that writes.
    """
    hints = types.ToolAnnotations(
        read_only_hint=reads,
        destructive_hint=None if reads else not only_adds,
        idempotent_hint=None if reads else again_is_harmless,
        open_world_hint=False,  # whatever it says, nothing leaves the process
    )

    def mark(method: _Method) -> _Method:
        method.__dict__["hints"] = hints
        return method

    return mark


class SampleTool:
    """A method that `sample_tool` marks, bound to what it works on."""

    def __init__(self, method: Callable[[Any], BaseModel]) -> None:
        self.name = method.__name__
        self._method = method
        types_of = get_type_hints(method)
        self._takes: type[BaseModel] = types_of["asked"]
        self._gives: type[BaseModel] = types_of["return"]

    def described(self) -> types.Tool:
        """As clients see it."""
        return types.Tool(
            name=self.name,
            title=self.name.replace("_", " ").capitalize(),
            description=self._method.__doc__,
            input_schema=self._takes.model_json_schema(),
            output_schema=self._gives.model_json_schema(mode="serialization"),
            annotations=self._method.__dict__["hints"],
        )

    def answer(self, arguments: dict[str, Any]) -> types.CallToolResult:
        """Call it with what a client sent."""
        try:
            given = self._method(_read(self._takes, arguments))
        except SignoffError as error:
            return types.CallToolResult(content=[types.TextContent(text=str(error))], is_error=True)
        return types.CallToolResult(
            content=[types.TextContent(text=given.model_dump_json())],
            structured_content=given.model_dump(mode="json"),
        )


def make_sample_server(name: str, title: str, holder: object) -> Server[Any]:
    """The MCP server of an object's tools, in the order in which its class has them."""
    methods = [
        getattr(holder, named) for named, method in vars(type(holder)).items() if hasattr(method, "hints")
    ]
    tools = {method.__name__: SampleTool(method) for method in methods}

    async def list_tools(context: ServerRequestContext[Any], params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[tool.described() for tool in tools.values()])

    async def call_tool(
        context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        if (tool := tools.get(params.name)) is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name!r}")
        return tool.answer(params.arguments or {})

    return Server(
        f"signoff-sample-{name}",
        version=RELEASE,
        title=title,
        instructions="Data of an invented company. What is written is forgotten when the process ends.",
        get_tool_input_schema=lambda name: None,  # no argument travels in a header
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def run_on_stdio(make: Callable[[SampleSet], Server[Any]]) -> None:
    """Serve one of them on standard input and output, over the folder that the command names, or ours."""

    async def serve() -> None:
        folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
        server = make(load_samples(folder))
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    asyncio.run(serve())


def _read(record: type[BaseModel], arguments: dict[str, Any]) -> BaseModel:
    try:
        return record.model_validate(arguments)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        name = ".".join(map(str, fault["loc"])) or "arguments"
        known = ", ".join(record.model_fields)
        reason = {
            "missing": "is required",
            "extra_forbidden": f"is no argument of this tool: it takes {known}",
        }.get(fault["type"], reason_of(fault))
        raise InputInvalid(f"{name}: {reason}") from error
