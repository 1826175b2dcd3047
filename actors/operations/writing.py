"""Writes that a person approved, each sent once: where its answer is lost, nobody sends it again by itself.

Part of `actors.operations.steps`. That it is about to be sent is kept before it is sent; a run that finds
that, and no outcome, does not know whether it was done, and says so.
"""

from collections.abc import Mapping

from actors.runtime.run import Run
from models.errors import McpServerAway
from models.llm import Answer
from models.operations.operations import Operation
from models.operations.plans import OperationAgent
from models.operations.results import AgentResult, ProposedWrite, WriteOutcome
from models.record import Record
from models.runtime.approvals import GateDecision
from models.runtime.steps import StepKept
from models.store.database import Connection
from models.store.operations import history
from models.text import one_line


class WriteSent(Record):
    """That a write is about to be sent."""


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
            outcome = await self._sent(agent, write, number)
        outcome = outcome.model_copy(
            update={"approval_id": decision.approval_id, "decided_by": decision.decided_by}
        )

        async def act(connection: Connection) -> StepKept:
            await history.tell(
                connection,
                self._operation.id,
                iteration=iteration,
                stage="agent_execution",
                agent=agent,
                result={"write": outcome.model_dump(mode="json")},
                feedback=decision.notes,
                by=decision.decided_by,
            )
            return StepKept()

        await self._run.effect(f"write_told/{number}", StepKept, act)
        return outcome

    async def _sent(self, agent: OperationAgent, write: ProposedWrite, number: int) -> WriteOutcome:
        before = self._run.kept(f"write_sent/{number}", WriteSent) is not None

        async def begin() -> Answer[WriteSent]:
            return Answer(value=WriteSent())

        async def make() -> Answer[WriteOutcome]:
            if before:
                told = "the site was interrupted while it was sent: whether it was done is not known"
                return Answer(value=WriteOutcome(write=write, status="unknown", told=told))
            try:
                answer: Answer[WriteOutcome] = await self._run.agent(agent).write(write)
            except McpServerAway as away:
                told = f"it was not sent: {one_line(str(away))}"
                return Answer(value=WriteOutcome(write=write, status="failed", told=told))
            return answer

        await self._run.once(f"write_sent/{number}", WriteSent, begin)
        return await self._run.once(f"write_done/{number}", WriteOutcome, make)


def next_proposed(
    results: Mapping[OperationAgent, AgentResult],
) -> tuple[OperationAgent, ProposedWrite] | None:
    """The first proposed write that nobody was asked about yet."""
    for agent, one in results.items():
        proposed = one.result.proposed if one.result is not None else ()
        if one.status == "completed" and len(one.writes) < len(proposed):
            return agent, proposed[len(one.writes)]
    return None
