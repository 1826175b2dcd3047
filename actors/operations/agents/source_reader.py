"""The agents `gmail`, `accounts_payable` and `crm`: each reads one system through its MCP server. Seed 003.

Called by the steps of an operation. It calls what the approved plan allows and nothing else; which of that, a
model chooses (`call_chooser`), or code by the site's settings. What it reads is kept as it was given.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Protocol

from actors.operations.items import items_of, without_copies
from models.config.mcp import McpServer
from models.config.operations import LEAD, Reading, SourceConfig
from models.errors import ConfigInvalid, McpServerAway, ServedToolChanged, ServedToolInvalid, ServedToolRefused
from models.llm import Answer, ModelCall
from models.mcp.served_tools import ServerListing
from models.mcp.tool_answers import GivenToServer, ServedToolCall, ServerQuestion, ToolAnswer
from models.operations.items import SourceItem
from models.operations.plans import AllowedTool
from models.operations.results import (
    AgentFindings,
    AgentMetadata,
    AgentResult,
    DataQuality,
    ServedToolUse,
)
from models.operations.tasks import ReadingOutcome, ReadingTask
from models.text import how_many, one_line, shortened

_LONGEST_FAULT = 300


class Servers(Protocol):
    """The seam to MCP servers; see `actors.mcp.servers.McpServers`."""

    async def listing(self, server: str) -> ServerListing:
        """What a server offers now."""
        ...

    async def call(
        self, call: ServedToolCall, *, given: GivenToServer | None = None, confirmed: bool = False
    ) -> ToolAnswer:
        """What a call came to."""
        ...


class _ServerAsks(Exception):
    def __init__(self, question: ServerQuestion) -> None:
        self.question = question


@dataclass
class _Read:
    """What one run has come to so far."""

    uses: list[ServedToolUse] = field(default_factory=list)
    items: list[SourceItem] = field(default_factory=list)
    calls: list[ModelCall] = field(default_factory=list)


class SourceReader:
    """Reads the server of `source` for one part of a plan.

    Args:
        seconds: that one run may take; what it has read by then is its result.

    Raises:
        ConfigInvalid: the site's settings name no server for it.
    """

    def __init__(
        self,
        *,
        source: SourceConfig | None,
        server: McpServer | None,
        seconds: float,
        most_calls: int,
        most_items: int,
        servers: Servers | None = None,
    ) -> None:
        if source is None or server is None:
            raise ConfigInvalid("operations.sources: this agent has no server to read: name it there")
        self._source = source
        self._seconds = seconds
        self._most_calls = most_calls
        self._most_items = most_items
        if servers is None:
            from actors.mcp.servers import McpServers

            servers = McpServers({source.server: server})
        self._servers = servers

    async def offered(self) -> ServerListing:
        """What its server offers now; for the plan."""
        return await self._servers.listing(self._source.server)

    async def read(self, task: ReadingTask, iteration: int) -> Answer[ReadingOutcome]:
        """Read what the task asks for.

        Raises:
            McpServerAway: nothing was read, and the server is away.
        """
        began, read = time.monotonic(), _Read()
        error: str | None = None
        try:
            async with asyncio.timeout(self._seconds):
                await self._read(task, read)
        except TimeoutError:
            error = f"it took longer than {self._seconds:g} s"
        except ServedToolChanged as changed:
            return Answer(value=ReadingOutcome(voids_plan=one_line(str(changed))), calls=tuple(read.calls))
        except _ServerAsks as asks:
            return Answer(value=ReadingOutcome(server_question=asks.question), calls=tuple(read.calls))
        result = self._result(task, read, iteration, error, time.monotonic() - began)
        return Answer(value=ReadingOutcome(result=result), calls=tuple(read.calls))

    async def _read(self, task: ReadingTask, read: _Read) -> None:
        async with aclosing(self._answers(task, read)) as answers:
            async for answer in answers:
                found = list(items_of(answer, agent=task.agent, call=len(read.uses) + 1))
                read.items += found
                read.uses[-1] = read.uses[-1].model_copy(update={"items": len(found)})
                if len(read.items) >= self._most_items:
                    return

    async def _answers(self, task: ReadingTask, read: _Read) -> AsyncGenerator[ToolAnswer, None]:
        """Answers to the calls that the site's settings name, page after page."""
        allowed = {tool.tool: tool for tool in task.tools if not tool.writes}
        for reading in self._source.reading:
            tool = allowed.get(reading.tool)
            if tool is None:
                continue
            for arguments in _filled(reading, task.leads):
                while len(read.uses) < self._most_calls:
                    answer = await self._called(task, tool, arguments, read)
                    if answer is None:
                        break
                    yield answer
                    further = _next_page(reading, arguments, answer)
                    if further is None:
                        break
                    arguments = further

    async def _called(
        self, task: ReadingTask, tool: AllowedTool, arguments: Mapping[str, Any], read: _Read
    ) -> ToolAnswer | None:
        """What one call answered; None where it failed, which is kept with the result."""
        call = ServedToolCall(
            server=tool.server, tool=tool.tool, digest=tool.digest, arguments=dict(arguments)
        )
        began, fault, answer = time.monotonic(), None, None
        try:
            answer = await self._servers.call(call, given=task.given)
        except McpServerAway:
            if not any(use.status == "answered" for use in read.uses):
                raise
            fault = "the server is away"
        except (ServedToolRefused, ServedToolInvalid) as refused:
            fault = str(refused)
        if answer is not None and answer.status == "asks":
            assert answer.question is not None, "an answer that asks has a question"
            raise _ServerAsks(answer.question)
        if answer is not None and answer.status == "failed":
            fault = answer.text or "the tool failed and did not say why"
        read.uses.append(
            ServedToolUse(
                number=len(read.uses) + 1,
                server=tool.server,
                tool=tool.tool,
                arguments=call.arguments,
                status="answered" if fault is None else "failed",
                fault=None if fault is None else shortened(one_line(fault), _LONGEST_FAULT),
                seconds=round(time.monotonic() - began, 3),
                mock=answer is not None and answer.mock,
            )
        )
        return answer if fault is None else None

    def _result(
        self, task: ReadingTask, read: _Read, iteration: int, error: str | None, seconds: float
    ) -> AgentResult:
        every = without_copies(read.items)
        items = every[: self._most_items]
        failed = [use for use in read.uses if use.status == "failed"]
        if error is None and failed and len(failed) == len(read.uses):
            error = f"none of its calls was answered: {failed[0].tool}: {failed[0].fault}"
        if error is None and not read.uses:
            error = "the plan allows it no tool that the site's settings have it read with"
        mocked = any(use.mock for use in read.uses)
        left_out = len(every) - len(items)
        quality: DataQuality = "high"
        if mocked or not items:
            quality = "low"
        elif failed or left_out:
            quality = "medium"
        return AgentResult(
            agent=task.agent,
            status="completed" if error is None else "error",
            result=AgentFindings(summary=_summary(items, read), items=tuple(items), left_out=left_out),
            metadata=AgentMetadata(
                service_used="mock" if mocked else self._source.service,
                data_quality=quality,
                execution_time=round(seconds, 3),
                tool_calls=tuple(read.uses),
            ),
            error=error,
            task_digest=task.digest,
            iteration=iteration,
        )


def _filled(reading: Reading, leads: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """The arguments of each call: with each thing that is looked for, or once where there is none."""
    if LEAD not in reading.arguments.values():
        yield dict(reading.arguments)
        return
    for lead in leads or ("",):
        yield {name: lead if value == LEAD else value for name, value in reading.arguments.items()}


def _next_page(reading: Reading, arguments: Mapping[str, Any], answer: ToolAnswer) -> dict[str, Any] | None:
    paging, said = reading.paging, answer.structured
    if paging is None or not isinstance(said, Mapping):
        return None
    cursor = said.get(paging.field)
    if cursor in (None, "", False) or cursor == arguments.get(paging.argument):
        return None
    return {**arguments, paging.argument: cursor}


def _summary(items: list[SourceItem], read: _Read) -> str:
    told = f"{how_many(len(items), 'thing')} read with {how_many(len(read.uses), 'call')}"
    failed = sum(use.status == "failed" for use in read.uses)
    return f"{told}, of which {failed} failed." if failed else f"{told}."
