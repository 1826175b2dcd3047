"""Answers from a file, in place of a server that is away: only what reads, and always marked.

The file names tools as a server would declare them, and what each answers: the first answer whose `when` is
in the arguments.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field, ValidationError

from actors.platform.mcp.schemas import digest_of, fault_in
from models.config import McpServer
from models.error_lines import error_line
from models.errors import ConfigInvalid, ServedToolRefused
from models.mcp.served_tools import ServedTool, WithheldTool
from models.mcp.tool_answers import ServedToolCall, ToolAnswer
from models.record import Record, reason_of


class _MockedAnswer(Record):
    when: Mapping[str, Any] = Field(default_factory=dict)
    structured: Any = None
    text: str = ""


class _MockedTool(Record):
    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None = None
    answers: tuple[_MockedAnswer, ...] = Field(min_length=1)


class _MockFile(Record):
    tools: Mapping[str, _MockedTool]


class MockServer:
    """What a file answers for a server."""

    def __init__(self, server: str, settings: McpServer, path: Path) -> None:
        """Raises ConfigInvalid where the file can't be read or is not as it has to be."""
        self._server = server
        self._settings = settings
        try:
            self._tools = _MockFile.model_validate(yaml.safe_load(path.read_text(encoding="utf-8"))).tools
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise ConfigInvalid(f"mcp.servers.{server}.mock: {path}: {error_line(error)}") from error
        except ValidationError as error:
            fault = error.errors()[0]
            where = ".".join(str(part) for part in fault["loc"])
            raise ConfigInvalid(f"mcp.servers.{server}.mock: {path}: {where}: {reason_of(fault)}") from error

    def tools(self) -> tuple[tuple[ServedTool, ...], tuple[WithheldTool, ...]]:
        """Those that may be used meanwhile, and those that may not, with why."""
        tools, withheld = (
            [],
            [
                WithheldTool(name=name, reason="it writes, and the server is away")
                for name in self._settings.writes
            ],
        )
        for name in self._settings.tools:
            tool = self._tools.get(name)
            if tool is None:
                withheld.append(
                    WithheldTool(name=name, reason="the server is away, and mock does not hold it")
                )
                continue
            declared = tool.model_dump(mode="json", exclude={"answers"})
            tools.append(
                ServedTool(
                    server=self._server,
                    name=name,
                    description=tool.description,
                    input_schema=tool.input_schema,
                    output_schema=tool.output_schema,
                    digest=digest_of({"mock": name, **declared}),
                    address=self._settings.address,
                )
            )
        return tuple(tools), tuple(withheld)

    async def answer(self, call: ServedToolCall, *, seconds: float) -> ToolAnswer | None:
        """What the file answers; None where it answers nothing to this.

        Raises:
            ServedToolRefused: the arguments break the tool's schema.
        """
        tool = self._tools.get(call.tool)
        if tool is None:
            return None
        arguments = dict(call.arguments)
        if wrong := await fault_in(arguments, tool.input_schema):
            raise ServedToolRefused(f"{call.server}.{call.tool}: arguments: {wrong}")
        for each in tool.answers:
            if all(name in arguments and arguments[name] == value for name, value in each.when.items()):
                return ToolAnswer(
                    server=call.server,
                    tool=call.tool,
                    status="answered",
                    text=each.text,
                    structured=each.structured,
                    seconds=seconds,
                    mock=True,
                )
        return None
