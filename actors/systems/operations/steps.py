"""An operation under way: what each node of its graph does.

Each outcome is kept once, in one transaction with the history that tells of it. Agents do the work; what
they are given comes from what was kept and decided, so a workflow that is taken up again does nothing
twice. Seed 003.
"""

from dataclasses import InitVar, dataclass

from actors.platform.runtime.run import Run
from actors.systems.operations.agent_rounds import AgentRounds
from actors.systems.operations.approved_writes import ApprovedWrites
from actors.systems.operations.away_timeout import AwayTimeout
from actors.systems.operations.events import tell_progress
from actors.systems.operations.gates import OperationGates
from actors.systems.operations.results_builder import ResultsBuilder
from models.errors import PermissionMissing
from models.llm import Answer
from models.operations.operations import Operation, OperationTask
from models.operations.plans import OperationAgent, OperationPlan, PlanShown
from models.operations.results import (
    ComprehensiveResults,
    OperationOutcome,
    OperationResult,
)
from models.operations.revisions import Revision
from models.operations.tasks import PlanRequest
from models.runtime.approvals import GateDecision
from models.runtime.steps import StepKept
from models.store.database import Connection
from models.store.operations import history
from models.store.people import users


@dataclass  # as LangGraph wants a context to be
class OperationSteps:
    """The context of the graph's nodes."""

    run: InitVar[Run]
    operation: Operation

    def __post_init__(self, run: Run) -> None:
        self._run = run
        self.task = OperationTask.model_validate(run.input)
        self.gates = OperationGates(settings=run.config.operations, operation=self.operation)
        self.working = AgentRounds(run=run, operation=self.operation)
        self.writing = ApprovedWrites(run=run, operation=self.operation)
        self.compiling = ResultsBuilder(run=run, operation=self.operation)

    def stops_at(self, gate: str) -> bool:
        """Whether operations of this type stop there, as the site's settings said when it was asked for."""
        return gate in self.task.gates

    async def check_right(self) -> None:
        """PermissionMissing where whoever asked for it may not any more: asked whenever it is taken up."""
        topic, person = self.operation.topic, self._run.requested_by

        async def look(connection: Connection) -> bool:
            return (await users.context_of(connection, person)).has("analyst", topic)

        if not await self._run.database.read(look):
            raise PermissionMissing(
                f"{person} asked for this operation, and is no analyst of the topic {topic} any more",
                scope=f"{topic}:analyst",
            )

    async def plan(
        self,
        number: int,
        iteration: int,
        *,
        feedback: str | None,
        voided: str | None,
        previous: OperationPlan | None,
    ) -> OperationPlan:
        """Have a plan made: the first, or another one in place of `previous`. `number` counts plans.

        `voided`, why the one before holds no more, is for people: it has a server's words, and a planner
        takes `feedback` for a person's.
        """

        patience = AwayTimeout(self._run, f"plan/{number}")

        async def begin(connection: Connection) -> StepKept:
            if previous is not None:
                await tell_progress(
                    connection,
                    self.operation,
                    iteration=iteration,
                    stage="plan_creation",
                    plan=previous,
                    done=(),
                )
            return StepKept()

        async def make() -> Answer[OperationPlan]:
            listings = await self.working.listings(patience)
            request = PlanRequest(
                question=self.task.query,
                listings=listings,
                feedback=None if voided else feedback,
                previous=previous,
                seconds=await self.working.seconds(),
            )
            answer: Answer[OperationPlan] = await self._run.agent("planner").plan(request)
            return answer

        await self._run.effect(f"planning/{number}", StepKept, begin)
        made = await self._run.once(f"plan/{number}", OperationPlan, make)

        async def act(connection: Connection) -> StepKept:
            await history.tell(
                connection,
                self.operation.id,
                iteration=iteration,
                stage="plan_creation",
                agent="planner",
                result=made,
                feedback=voided or feedback,
            )
            await tell_progress(
                connection,
                self.operation,
                iteration=iteration,
                stage="plan_approval",
                plan=made,
                done=(),
            )
            return StepKept()

        await self._run.effect(f"planned/{number}", StepKept, act)
        return made

    async def settle_plan(
        self, number: int, iteration: int, plan: OperationPlan, decision: GateDecision | None
    ) -> OperationPlan:
        """Keep what was decided on a plan, and with a yes the plan itself, as it was approved."""
        approved = decision is None or decision.status == "approved"
        if decision is not None and decision.amended is not None:
            plan = PlanShown.model_validate(decision.amended).plan

        async def act(connection: Connection) -> StepKept:
            if decision is not None:
                await history.tell(
                    connection,
                    self.operation.id,
                    iteration=iteration,
                    stage="plan_approval",
                    agent=None,
                    result={"status": decision.status, "modified": decision.amended is not None},
                    feedback=decision.notes,
                    by=decision.decided_by,
                )
            if approved:
                await history.keep_plan(connection, self.operation.id, iteration, plan)
            return StepKept()

        await self._run.effect(f"plan_decided/{number}", StepKept, act)
        return plan

    async def settle_answer(
        self, gate: str, iteration: int, agent: OperationAgent, decision: GateDecision
    ) -> None:
        """Keep what was decided about one agent: whether it tries again, is gone on without, or taken.

        What a person gave to a server is the server's, and is not told.
        """

        async def act(connection: Connection) -> StepKept:
            await history.tell(
                connection,
                self.operation.id,
                iteration=iteration,
                stage="agent_execution",
                agent=agent,
                result={"asked": gate.partition("/")[0], "status": decision.status},
                feedback=decision.notes,
                by=decision.decided_by,
            )
            return StepKept()

        await self._run.effect(f"answered/{gate}", StepKept, act)

    async def settle_results(self, iteration: int, decision: GateDecision) -> Revision | None:
        """Keep what was decided on results; what is to be done again, where that was said.

        A no without more is a wish for another plan: nothing runs before that is approved as well.
        """
        revision: Revision | None = None
        if decision.status == "rejected":
            revision = Revision.model_validate(
                decision.answer or {"revision_type": "full_replan", "feedback": decision.notes or ""}
            )

        async def act(connection: Connection) -> StepKept:
            told = {
                "status": decision.status,
                "revision_type": revision.revision_type if revision else "none",
            }
            agents = list(revision.target_agents) if revision is not None else []
            await history.tell(
                connection,
                self.operation.id,
                iteration=iteration,
                stage="final_approval",
                agent=None,
                result=told | {"target_agents": agents},
                feedback=decision.notes,
                by=decision.decided_by,
            )
            return StepKept()

        await self._run.effect(f"results_decided/{iteration}", StepKept, act)
        return revision

    async def conclude(
        self,
        outcome: OperationOutcome,
        iteration: int,
        results: ComprehensiveResults | None,
        *,
        approval: GateDecision | None,
        ended_at: str | None,
    ) -> OperationResult:
        """Keep what it came to. `approval` is of the results, where a gate stood there."""

        async def act(connection: Connection) -> OperationResult:
            if outcome == "completed" and results is not None:
                plan = results.plan
                await tell_progress(
                    connection,
                    self.operation,
                    iteration=iteration,
                    stage="completed",
                    plan=plan,
                    done=plan.agent_sequence,
                )
            return OperationResult(
                outcome=outcome,
                iteration=iteration,
                conflicts=len(results.conflicts) if results is not None else 0,
                correlations=len(results.matches) if results is not None else 0,
                approval_id=None if approval is None else approval.approval_id,
                ended_at=ended_at,
            )

        return await self._run.effect("conclusion", OperationResult, act)
