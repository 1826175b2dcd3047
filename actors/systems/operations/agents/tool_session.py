"""One reading of a system under way: the calls that are made, what they answer, and what it comes to.

Part of `source_reader`. No call is made that the task does not allow; those that write are not made here at
all.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from actors.systems.operations.items import items_of, without_copies
from models.errors import McpServerAway, ServedToolInvalid, ServedToolRefused
from models.llm import ModelCall
from models.mcp.served_tools import ServerListing
from models.mcp.tool_answers import GivenToServer, ServedToolCall, ServerQuestion, ToolAnswer
from models.operations.items import SourceItem
from models.operations.plans import AllowedTool
from models.operations.results import (
    AgentFindings,
    AgentMetadata,
    AgentResult,
    DataQuality,
    ProposedWrite,
    ServedToolUse,
)
from models.operations.tasks import ReadingTask
from models.text import how_many, one_line, shortened

_LONGEST_FAULT = 300


class Servers(Protocol):
    """The seam to MCP servers; see `actors.platform.mcp.servers.McpServers`."""

    async def listing(self, server: str) -> ServerListing:
        """What a server offers now."""
        ...

    async def call(
        self, call: ServedToolCall, *, given: GivenToServer | None = None, confirmed: bool = False
    ) -> ToolAnswer:
        """What a call came to."""
        ...


class ServerAsksPerson(Exception):
    """A call was answered with a question that a person has to answer first."""

    def __init__(self, question: ServerQuestion, call: ServedToolCall) -> None:
        super().__init__(question.message)
        self.question, self.call = question, call


@dataclass
class ReadingRun:
    """What one reading has come to so far."""

    task: ReadingTask
    servers: Servers
    most_calls: int
    most_items: int
    waits: bool = False
    uses: list[ServedToolUse] = field(default_factory=list)
    answers: list[ToolAnswer | None] = field(default_factory=list)
    items: list[SourceItem] = field(default_factory=list)
    proposed: list[ProposedWrite] = field(default_factory=list)
    calls: list[ModelCall] = field(default_factory=list)
    cut_off: bool = False
    error: str | None = None

    @property
    def full(self) -> bool:
        """Whether it has made all calls that it may, or read all that it may keep."""
        return len(self.uses) >= self.most_calls or len(self.items) >= self.most_items

    async def call(self, tool: AllowedTool, arguments: Mapping[str, Any]) -> ToolAnswer | None:
        """Make one call that reads, and keep what it answers; None where it failed, which is kept as well.

        Raises:
            ServerAsksPerson: its server asks something. McpServerAway: it `waits`, or nothing was read yet.
            ServedToolChanged: the tool is not the one that was approved.
        """
        assert not tool.writes, "what writes is proposed"
        call = ServedToolCall(
            server=tool.server,
            tool=tool.tool,
            digest=tool.digest,
            address=tool.address,
            arguments=dict(arguments),
        )
        began, fault, answer = time.monotonic(), None, None
        try:
            answer = await self.servers.call(call, given=self._given(call))
        except McpServerAway as away:
            if self.waits or not any(use.status == "answered" for use in self.uses):
                raise
            fault = "the server is away"
            self.error = f"{one_line(str(away))}; it has been waited for, and the rest was not read"
        except (ServedToolRefused, ServedToolInvalid) as refused:
            fault = str(refused)
        if answer is not None and answer.question is not None:
            raise ServerAsksPerson(answer.question, call)
        if answer is not None and answer.status == "failed":
            fault, answer = answer.text or "the tool failed and did not say why", None
        found = []
        if answer is not None:
            found = list(items_of(answer, agent=self.task.agent, call=len(self.uses) + 1))
        self.items += found
        self.answers.append(answer)
        self.uses.append(
            ServedToolUse(
                number=len(self.uses) + 1,
                server=tool.server,
                tool=tool.tool,
                arguments=call.arguments,
                status="failed" if answer is None else "answered",
                items=len(found),
                fault=None if fault is None else shortened(one_line(fault), _LONGEST_FAULT),
                seconds=round(time.monotonic() - began, 3),
                mock=answer is not None and answer.mock,
            )
        )
        return answer

    def propose(self, tool: AllowedTool, arguments: Mapping[str, Any], why: str) -> bool:
        """Keep a call that writes, for a person to see; the same one once. Whether it is another one."""
        write = ProposedWrite(
            server=tool.server,
            tool=tool.tool,
            digest=tool.digest,
            address=tool.address,
            arguments=dict(arguments),
            why=why,
        )
        if any((one.tool, one.arguments) == (write.tool, write.arguments) for one in self.proposed):
            return False
        self.proposed.append(write)
        return True

    def result(self, service: str, iteration: int, seconds: float, leads: tuple[str, ...]) -> AgentResult:
        """What it has come to."""
        every = without_copies(self.items)
        items = every[: self.most_items]
        failed = [use for use in self.uses if use.status == "failed"]
        error = self.error
        if error is None and failed and len(failed) == len(self.uses):
            error = f"none of its calls was answered: {failed[0].tool}: {failed[0].fault}"
        mocked = any(use.mock for use in self.uses)
        left_out = len(every) - len(items)
        quality: DataQuality = "high"
        if mocked or not items:
            quality = "low"
        elif failed or left_out or self.cut_off:
            quality = "medium"
        told = f"{how_many(len(items), 'thing')} read with {how_many(len(self.uses), 'call')}"
        return AgentResult(
            agent=self.task.agent,
            status="completed" if error is None else "error",
            result=AgentFindings(
                summary=f"{told}, of which {len(failed)} failed." if failed else f"{told}.",
                leads=leads,
                items=tuple(items),
                left_out=left_out,
                cut_off=self.cut_off,
                proposed=tuple(self.proposed),
            ),
            metadata=AgentMetadata(
                service_used="mock" if mocked else service,
                data_quality=quality,
                execution_time=round(seconds, 3),
                tool_calls=tuple(self.uses),
            ),
            error=error,
            task_digest=self.task.digest,
            iteration=iteration,
        )

    def _given(self, call: ServedToolCall) -> GivenToServer | None:
        """What a person gave to this very call."""
        here = (one.given for one in self.task.answered if one.call == call)
        return next(here, None)
