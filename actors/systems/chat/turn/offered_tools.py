"""The tools that one turn offers its model, and the calls of them.

The tool loop asks it for the schemas, and has it carry out what the model asks for. A tool that was not
offered is never called, whatever the model writes, and the very same call is carried out once in a turn.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import BaseModel, ValidationError

from actors.platform.llm.chat_model import read_object
from actors.platform.llm.client import RejectedReply, validation_faults
from actors.platform.llm.endpoint import without_surrogates
from actors.platform.tools.tool import Tool
from models.chat.messages import ToolUsed
from models.error_lines import error_line
from models.errors import SignoffError
from models.tools import about_of

# What a model chooses when it needs no tool.
ANSWER = "answer"
_NAME_SHOWN = 100

# Calls a tool by its name, with its arguments.
Call = Callable[[str, dict[str, Any]], Awaitable[BaseModel]]


@dataclass(frozen=True)
class ToolReport:
    """What came of a request for a tool, in words for the model.

    `used` is absent where no tool was called: it is unknown, the arguments are malformed, or it is the very
    same call as an earlier one (`repeated`).
    """

    text: str
    is_error: bool
    used: ToolUsed | None = None
    repeated: bool = False
    timed_out: bool = False


class OfferedTools:
    """At most `shown` of `tools`, the first ones. `call` checks the permission and carries out."""

    def __init__(self, tools: Sequence[Tool], *, shown: int, call: Call) -> None:
        self._tools = {tool.name: tool for tool in tools[:shown]}
        self._call = call
        self._reported: dict[str, ToolReport] = {}

    def __len__(self) -> int:
        return len(self._tools)

    @cached_property
    def functions(self) -> list[dict[str, Any]]:
        """The tools as the API takes them."""
        return [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.input.model_json_schema(),
                },
            }
            for tool in self._tools.values()
        ]

    @cached_property
    def listed(self) -> list[dict[str, Any]]:
        """The tools for a prompt: `name`, `purpose` (the description's first sentence), `arguments`."""
        return [
            {
                "name": tool.name,
                "purpose": " ".join(tool.description.partition("\n\n")[0].split()),
                "arguments": list(_required(tool)["properties"]),
            }
            for tool in self._tools.values()
        ]

    @cached_property
    def choices(self) -> dict[str, Any]:
        """The JSON schema of a next step: to answer, or a tool with its arguments.

        Only arguments that a tool requires are in it: a small model fills in whatever it is shown. One that
        can do better calls tools natively.
        """
        definitions: dict[str, Any] = {}
        steps = [_step(ANSWER, None)]
        for tool in self._tools.values():
            arguments = _required(tool)
            own = arguments.pop("$defs", {})
            definitions |= {f"{tool.name}.{name}": _renamed(part, tool.name) for name, part in own.items()}
            steps.append(_step(tool.name, _renamed(arguments, tool.name)))
        return {"anyOf": steps} | ({"$defs": definitions} if definitions else {})

    async def carry_out(self, name: str, arguments: str | dict[str, Any], *, seconds: float) -> ToolReport:
        """Call a tool as the model asks, in at most `seconds`; what fails is reported, not raised.

        Raises:
            What `call` raises beside SignoffError, and outages: these are no fault of the request's.
        """
        if (tool := self._tools.get(name)) is None:
            names = ", ".join(self._tools)
            return ToolReport(
                f"there is no tool {name[:_NAME_SHOWN]!r} here: use one of {names}", is_error=True
            )
        try:
            given = read_object(arguments or "{}") if isinstance(arguments, str) else arguments
            given = without_surrogates(given)
            tool.input.model_validate(given)
        except RejectedReply as error:
            return ToolReport(f"the arguments of {name} are {error}", is_error=True)
        except ValidationError as error:
            return ToolReport(f"arguments of {name}: {validation_faults(error)}", is_error=True)
        key = f"{name} {json.dumps(given, sort_keys=True)}"
        if (earlier := self._reported.get(key)) is not None:
            return ToolReport(earlier.text, is_error=earlier.is_error, repeated=True)
        reported = self._reported[key] = await self._carry_out(tool, given, seconds)
        return reported

    async def _carry_out(self, tool: Tool, arguments: dict[str, Any], seconds: float) -> ToolReport:
        def reported(text: str, status: str, answer: BaseModel | None = None, **more: bool) -> ToolReport:
            used = ToolUsed(name=tool.name, status=status, about=about_of(arguments, answer))
            return ToolReport(text, is_error=answer is None, used=used, **more)

        try:
            async with asyncio.timeout(seconds) as limit:
                answer = await self._call(tool.name, arguments)
        except SignoffError as error:
            if error.outage:
                raise  # nothing that a model could make an answer of
            return reported(error_line(error), type(error).__name__)
        except TimeoutError:
            if not limit.expired():
                raise
            return reported("there was no time left for it", "TimeoutError", timed_out=True)
        told = answer.model_dump(mode="json", exclude={"success"}, exclude_none=True)
        return reported(json.dumps(without_surrogates(told), ensure_ascii=False), "ok", answer)


def arguments_text(arguments: str) -> str:
    """Arguments that a model wrote, as its own earlier words: servers refuse a history with broken JSON."""
    try:
        return json.dumps(without_surrogates(read_object(arguments or "{}")), ensure_ascii=False)
    except RejectedReply:
        return "{}"


def _step(name: str, arguments: dict[str, Any] | None) -> dict[str, Any]:
    properties: dict[str, Any] = {"use": {"type": "string", "const": name}}
    if arguments and arguments["properties"]:
        properties["arguments"] = arguments
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _required(tool: Tool) -> dict[str, Any]:
    """A tool's input schema with its required arguments only."""
    schema = tool.input.model_json_schema()
    required = schema.get("required", [])
    return schema | {"properties": {name: schema["properties"][name] for name in required}}


# What xgrammar knows nothing of, or what says nothing to a grammar; arguments are validated afterwards.
_LEFT_OUT = frozenset({"title", "description", "default", "uniqueItems", "multipleOf", "format", "examples"})


def _renamed(schema: Any, tool: str) -> Any:
    """A copy with references to the tool's own definitions, and without what a grammar can't use."""
    if isinstance(schema, list):
        return [_renamed(part, tool) for part in schema]
    if not isinstance(schema, dict):
        return schema
    copy: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "$ref":
            copy[key] = f"#/$defs/{tool}.{value.rsplit('/', 1)[1]}"
        elif key == "properties":
            copy[key] = {name: _renamed(part, tool) for name, part in value.items()}
        elif key in ("enum", "const"):
            copy[key] = value
        elif key not in _LEFT_OUT:
            copy[key] = _renamed(value, tool)
    return copy
