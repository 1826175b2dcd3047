"""Writes that a person approved, each sent once: where its answer is lost, nobody sends it again by itself.

Part of `actors.systems.operations.steps`. Its server is looked at first: one that is away is waited for, and
a tool that is not the one that was approved, or that is elsewhere now, voids the plan. That the call is about
to be sent is kept before it is sent; a run that finds that, and no outcome, does not know whether it was
done, and says so, once nothing of the run before can go out any more. Where the agent says that it sent
nothing, the note is taken back.
"""

import functools
from collections.abc import Mapping
from typing import Any

from actors.platform.runtime.run import Run
from actors.systems.operations.away_timeout import AwayTimeout
from models.errors import McpServerAway, NotSent
from models.llm import Answer
from models.mcp.served_tools import ServerListing
from models.operations.operations import Operation
from models.operations.plans import OperationAgent
from models.operations.results import AgentResult, ProposedWrite, WriteOutcome
from models.record import Record
from models.runtime.approvals import GateDecision
from models.runtime.steps import StepKept
from models.store.database import Connection
from models.store.operations import history
from models.text import one_line, shortened

_LONGEST_TOLD = 500


class WriteSent(Record):
    """That a call of this tool, which writes, is about to be sent."""

    tool: str


class ApprovedWrites:
    """Sends approved writes, and keeps what became of each."""

    def __init__(self, *, run: Run, operation: Operation) -> None:
        self._run = run
        self._operation = operation

    async def settle(
        self,
        agent: OperationAgent,
        write: ProposedWrite,
        decision: GateDecision,
        *,
        number: int,
        iteration: int,
    ) -> WriteOutcome:
        """Send a write where that was approved; `number` counts the writes that people were asked about."""
        outcome = WriteOutcome(write=write, status="refused", told=decision.notes or decision.status)
        if decision.status == "approved":
            outcome = await self._sent(agent, write, decision, number, iteration)
        outcome = _decided(outcome, decision)

        async def act(connection: Connection) -> StepKept:
            told = {"write": outcome.model_dump(mode="json")}
            await self._tell(connection, agent, told, decision, iteration)
            return StepKept()

        await self._run.effect(f"write_told/{number}", StepKept, act)
        return outcome

    async def _sent(
        self,
        agent: OperationAgent,
        write: ProposedWrite,
        decision: GateDecision,
        number: int,
        iteration: int,
    ) -> WriteOutcome:
        remote = self._run.agent(agent)
        patience = AwayTimeout(self._run, f"write/{number}")
        sent = self._run.kept(f"write_sent/{number}", WriteSent) is not None

        async def begin(connection: Connection) -> WriteSent:
            sending = {"sending": write.model_dump(mode="json"), "status": "approved"}
            await self._tell(connection, agent, sending, decision, iteration)
            return WriteSent(tool=write.tool)

        async def take_back(not_sent: WriteOutcome, connection: Connection) -> None:
            told = {"write": _decided(not_sent, decision).model_dump(mode="json")}
            await self._tell(connection, agent, told, decision, iteration)

        async def make() -> Answer[WriteOutcome]:
            if sent:
                await self._run.outlast_senders()
                told = "the site was interrupted while it was sent: whether it was done is not known"
                return Answer(value=WriteOutcome(write=write, status="unknown", told=told))
            if (not_sent := await self._hindered(write, await remote.offered(), patience)) is not None:
                return Answer(value=not_sent)
            over = patience.over  # by the note it gets on, and would be patient anew
            await self._run.effect(f"write_sent/{number}", WriteSent, begin)
            try:
                answer: Answer[WriteOutcome] = await remote.call_once("write", write)
            except McpServerAway as away:
                return Answer(value=_not_sent(write, str(away)))
            except NotSent as late:
                outcome = _not_sent(write, str(late))
                await self._run.take_back(f"write_sent/{number}", functools.partial(take_back, outcome))
                if not over:
                    await patience.wait(late)
                return Answer(value=outcome)
            return answer

        return await self._run.once(f"write_done/{number}", WriteOutcome, make)

    async def _tell(
        self,
        connection: Connection,
        agent: OperationAgent,
        result: dict[str, Any],
        decision: GateDecision,
        iteration: int,
    ) -> None:
        await history.tell(
            connection,
            self._operation.id,
            iteration=iteration,
            stage="agent_execution",
            agent=agent,
            result=result,
            feedback=decision.notes,
            by=decision.decided_by,
        )

    async def _hindered(
        self, write: ProposedWrite, listing: ServerListing, patience: AwayTimeout
    ) -> WriteOutcome | None:
        """Why a write can't be sent now; None where it can.

        Raises:
            McpServerAway: its server is away, and has not been for so long that a person is to be asked.
        """
        if listing.state in ("away", "mock"):
            why = f"MCP server {write.server}: {listing.reason or 'away'}"
            if not patience.over:
                await patience.wait(McpServerAway(why, waits_for=f"MCP server {write.server}"))
            return _not_sent(write, f"{why}; it has been waited for")
        if listing.state != "answers":
            return _not_sent(write, f"MCP server {write.server}: {listing.reason or listing.state}")
        tool = next((tool for tool in listing.tools if tool.name == write.tool), None)
        change = "its server offers it no more" if tool is None else tool.change_since(write)
        if change is None:
            return None
        told = f"{write.server}.{write.tool}: {change}: nothing was sent"
        return _not_sent(write, told).model_copy(update={"voids_plan": True})


def _not_sent(write: ProposedWrite, why: str) -> WriteOutcome:
    return WriteOutcome(write=write, status="not_sent", told=shortened(one_line(why), _LONGEST_TOLD))


def _decided(outcome: WriteOutcome, decision: GateDecision) -> WriteOutcome:
    return outcome.model_copy(update={"approval_id": decision.approval_id, "decided_by": decision.decided_by})


def next_proposed(
    results: Mapping[OperationAgent, AgentResult],
) -> tuple[OperationAgent, ProposedWrite] | None:
    """The first proposed write that nobody was asked about yet."""
    for agent, one in results.items():
        proposed = one.result.proposed if one.result is not None else ()
        if one.status == "completed" and len(one.writes) < len(proposed):
            return agent, proposed[len(one.writes)]
    return None
