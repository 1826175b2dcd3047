"""The agents `gmail`, `accounts_payable` and `crm`: each reads one system through its MCP server. Seed 003.

Called by the steps of an operation. It calls what the approved plan allows and nothing else; which of that, a
model chooses (`call_chooser`), or code by the site's settings. What it reads is kept as it was given.
"""

import asyncio
import time
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from actors.platform.llm.client import Completions
from actors.systems.operations.agents.call_chooser import DONE, CallChooser
from actors.systems.operations.agents.tool_session import ReadingRun, ServerAsksPerson, Servers
from actors.systems.operations.linking.link import vendors_in
from actors.systems.operations.search_terms import distinct
from models.config import BreakerConfig, McpServer, ModelSettings, SourceConfig
from models.config.operations import LEAD, SourceReading
from models.errors import (
    ConfigInvalid,
    Fenced,
    McpServerAway,
    ModelRefused,
    ModelReplyInvalid,
    ModelTimedOut,
    PromptTooLong,
    ServedToolChanged,
    SignoffError,
    WriteAnswerLost,
)
from models.llm import Answer
from models.mcp.served_tools import ServedTool, ServerListing
from models.mcp.tool_answers import ToolAnswer
from models.operations.items import SourceAgent, SourceItem
from models.operations.results import ProposedWrite, WriteOutcome
from models.operations.tasks import ReadingOutcome, ReadingTask
from models.text import one_line, shortened

_MOST_LEADS = 8
_LONGEST_TOLD = 500
_NO_TOOL = (
    "the plan allows it no tool that it is read with, for its server could not be used when the plan was "
    "made: go on without it, or ask for another plan at the results"
)


class SourceReader:
    """Reads the server of `source` for one part of a plan, and makes the writes that a person approved.

    Args:
        seconds: that one reading may take; what it has read by then is its result.
        chooses: who chooses calls: `model`, that of `settings`, or `code`, by the readings of `source`.

    Raises:
        ConfigInvalid: the site's settings name no server for it.
    """

    def __init__(
        self,
        *,
        agent: SourceAgent,
        source: SourceConfig | None,
        server: McpServer | None,
        seconds: float,
        most_calls: int,
        most_items: int,
        chooses: Literal["model", "code"],
        settings: ModelSettings,
        breaker: BreakerConfig,
        prompt: str,
        completions: Completions | None = None,
        servers: Servers | None = None,
    ) -> None:
        if source is None or server is None:
            raise ConfigInvalid(f"operations.sources.{agent}: is required: this agent has no server to read")
        self._source = source
        self._seconds = seconds
        self._most_calls = most_calls
        self._most_items = most_items
        self._chooser = None
        if chooses == "model":
            self._chooser = CallChooser(
                agent=agent, settings=settings, breaker=breaker, prompt=prompt, completions=completions
            )
        if servers is None:
            from actors.platform.mcp.servers import McpServers

            servers = McpServers({source.server: server})
        self._servers = servers

    async def offered(self) -> ServerListing:
        """What its server offers now; for the plan."""
        return await self._servers.listing(self._source.server)

    async def read(self, task: ReadingTask, iteration: int, *, waits: bool = True) -> Answer[ReadingOutcome]:
        """Read what the task asks for.

        Args:
            waits: whether a server that goes away in the middle is waited for; if not, what was read until
                then is the result of an agent that could not do its part.

        Raises:
            McpServerAway: nothing was read, and the server is away. ModelUnavailable: nobody chooses.
        """
        began = time.monotonic()
        run = ReadingRun(
            task,
            self._servers,
            most_calls=self._most_calls,
            most_items=self._most_items,
            waits=waits,
        )
        try:
            async with asyncio.timeout(self._seconds):
                if self._chooser is None:
                    await self._as_configured(run)
                else:
                    await self._as_chosen(run, self._chooser)
        except TimeoutError:
            run.error = f"it took longer than {self._seconds:g} s"
        except ServedToolChanged as changed:
            return Answer(value=ReadingOutcome(voids_plan=one_line(str(changed))), calls=tuple(run.calls))
        except ServerAsksPerson as asks:
            outcome = ReadingOutcome(server_question=asks.question, asked_call=asks.call)
            return Answer(value=outcome, calls=tuple(run.calls))
        leads = await asyncio.to_thread(_partners, run.items, task.leads)
        result = run.result(self._source.service, iteration, time.monotonic() - began, leads)
        return Answer(value=ReadingOutcome(result=result), calls=tuple(run.calls))

    async def write(self, write: ProposedWrite) -> Answer[WriteOutcome]:
        """Make one call that a person has seen and approved. It is sent once, and never again by itself.

        Raises:
            McpServerAway, NotSent, Fenced: nothing was sent.
        """
        try:
            answer = await self._servers.call(write.call, confirmed=True)
        except WriteAnswerLost as lost:
            return Answer(value=_wrote(write, "unknown", str(lost)))
        except ServedToolChanged as changed:
            outcome = _wrote(write, "not_sent", str(changed))
            return Answer(value=outcome.model_copy(update={"voids_plan": True}))
        except SignoffError as error:
            if error.outage or isinstance(error, Fenced):
                raise
            return Answer(value=_wrote(write, "failed", str(error)))
        if answer.question is not None:
            # A cancelled call of 2025-11-25 may have done something before it asked.
            said = answer.question.said or answer.question.message
            return Answer(value=_wrote(write, "unknown", f"its server asks something: {said}"))
        if answer.status == "answered":
            return Answer(value=_wrote(write, "done", _said(answer)))
        # A tool that ends with an error may have done it before: SDKs answer so to whatever it raises.
        told = f"its server says that it failed: {_said(answer) or 'no reason'}"
        return Answer(value=_wrote(write, "unknown", told))

    async def _as_configured(self, run: ReadingRun) -> None:
        """Call what the site's settings name, page after page."""
        allowed = {tool.tool: tool for tool in run.task.tools if not tool.writes}
        for reading in self._source.reading:
            if (tool := allowed.get(reading.tool)) is None:
                continue
            for arguments in _filled(reading, run.task.leads):
                further: dict[str, Any] | None = arguments
                while further is not None and run.error is None:
                    if run.full:
                        run.cut_off = True
                        return
                    answer = await run.call(tool, further)
                    further = None if answer is None else _next_page(reading, further, answer)
        if not run.uses:
            run.error = _NO_TOOL

    async def _as_chosen(self, run: ReadingRun, chooser: CallChooser) -> None:
        """Call what the model chooses, until it wants no more, or has had all calls that it may.

        Raises:
            ServedToolChanged: a tool is not the one that was approved. McpServerAway: nothing was read yet.
        """
        if not (tools := await self._approved_tools(run)):
            return
        allowed = {tool.tool: tool for tool in run.task.tools}
        chosen = 0
        while run.error is None:
            if run.full or chosen >= 2 * self._most_calls:
                run.cut_off = True
                return
            chosen += 1
            try:
                called = list(zip(run.uses, run.answers, strict=True))
                answer = await chooser.next_call(run.task, tools, called, run.proposed)
            except (ModelReplyInvalid, ModelRefused, ModelTimedOut, PromptTooLong) as failed:
                run.calls += failed.calls if isinstance(failed, ModelReplyInvalid) else ()
                call = "further call" if run.uses else "call"
                run.error = f"its model chose no {call}: {one_line(str(failed))}"
                return
            run.calls += answer.calls
            choice = answer.value
            if choice.tool == DONE:
                return
            tool = allowed[choice.tool]
            if tool.writes:
                if not run.propose(tool, choice.arguments, choice.reason):
                    return  # it has nothing new to say
            elif any((use.tool, use.arguments) == (tool.tool, choice.arguments) for use in run.uses):
                return  # it goes round in circles
            else:
                await run.call(tool, choice.arguments)

    async def _approved_tools(self, run: ReadingRun) -> list[ServedTool]:
        """What the model is shown: the allowed tools, as they were approved; without any, `run` says why.

        Raises:
            ServedToolChanged: one is not as it was approved. McpServerAway: nobody says what there is.
        """
        if not run.task.tools:
            run.error = _NO_TOOL
            return []
        listing = await self.offered()
        server = f"MCP server {listing.server}"
        if listing.state == "away":
            raise McpServerAway(f"{server}: {listing.reason or 'away'}", waits_for=server)
        if listing.state in ("refuses", "invalid"):
            run.error = f"{server}: {listing.reason or listing.state}"
            return []
        here = {tool.name: tool for tool in listing.tools}
        if listing.state == "answers":
            _hold_to_approved(run.task, here)
        tools = [here[allowed.tool] for allowed in run.task.tools if allowed.tool in here]
        if not tools:
            run.error = f"{server}: its stand-in (mock) has none of the tools that the plan allows"
        return tools


def _hold_to_approved(task: ReadingTask, here: Mapping[str, ServedTool]) -> None:
    """ServedToolChanged where what is here is not what was approved."""
    for allowed in task.tools:
        tool = here.get(allowed.tool)
        change = "its server offers it no more" if tool is None else tool.change_since(allowed)
        if change is not None:
            raise ServedToolChanged(f"{allowed.server}.{allowed.tool}: {change}: nothing was called")


def _filled(reading: SourceReading, leads: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """The arguments of each call: with each thing that is looked for, or once where there is none."""
    if LEAD not in reading.arguments.values():
        yield dict(reading.arguments)
        return
    for lead in leads or ("",):
        yield {name: lead if value == LEAD else value for name, value in reading.arguments.items()}


def _next_page(
    reading: SourceReading, arguments: Mapping[str, Any], answer: ToolAnswer
) -> dict[str, Any] | None:
    paging, said = reading.paging, answer.structured
    if paging is None or not isinstance(said, Mapping):
        return None
    cursor = said.get(paging.field)
    if cursor in (None, "", False) or cursor == arguments.get(paging.argument):
        return None
    return {**arguments, paging.argument: cursor}


def _partners(items: list[SourceItem], leads: tuple[str, ...]) -> tuple[str, ...]:
    """The vendors named where something that was looked for stands, the most frequent first.

    Where nothing was looked for, everything was read, and there is nothing more to look for.
    """
    if not leads:
        return ()
    wanted = [lead.casefold() for lead in leads]
    here = [item for item in items if any(lead in str(item.data).casefold() for lead in wanted)]
    numbered = [item.model_copy(update={"id": f"{item.agent}/{n}"}) for n, item in enumerate(here, 1)]
    return distinct(vendors_in(numbered), most=_MOST_LEADS)


def _wrote(
    write: ProposedWrite, status: Literal["done", "failed", "unknown", "not_sent"], told: str
) -> WriteOutcome:
    return WriteOutcome(write=write, status=status, told=shortened(one_line(told), _LONGEST_TOLD))


def _said(answer: ToolAnswer) -> str:
    return answer.text or ("" if answer.structured is None else str(answer.structured))
