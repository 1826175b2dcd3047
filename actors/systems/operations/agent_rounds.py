"""The agents of an operation at work: what each is given, and what it hands back.

Part of `actors.systems.operations.steps`. A result is made again only where what its agent is given is
otherwise.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from actors.platform.runtime.run import Run
from actors.systems.operations.away_timeout import AwayTimeout
from actors.systems.operations.events import tell_progress
from actors.systems.operations.search_terms import distinct, search_terms_in
from models.errors import McpServerAway
from models.llm import Answer
from models.mcp.served_tools import ServerListing
from models.operations.items import SourceAgent
from models.operations.operations import STAGE_OF, Operation
from models.operations.plans import OperationAgent, OperationPlan
from models.operations.questions import AgentQuestion
from models.operations.results import AgentMetadata, AgentResult, AgentStatus
from models.operations.tasks import AnsweredCall, ReadingOutcome, ReadingTask
from models.runtime.steps import StepKept
from models.store.database import Connection
from models.store.operations import durations, history
from models.text import one_line

_MOST_LEADS = 40


@dataclass(frozen=True)
class WorkRound:
    """What came of having the agents that are due do their part.

    `voided`: why the plan does not hold any more. `asked`: those whose server asks something.
    """

    results: Mapping[OperationAgent, AgentResult]
    readings: Mapping[OperationAgent, int]
    voided: str | None
    asked: Mapping[OperationAgent, ReadingOutcome]


class AgentRounds:
    """Has the agents that read a system do their part."""

    def __init__(self, *, run: Run, operation: Operation) -> None:
        self._run = run
        self._operation = operation
        self._settings = run.config.operations

    async def listings(self, patience: AwayTimeout) -> dict[SourceAgent, ServerListing]:
        """What each agent's server offers now.

        Raises:
            McpServerAway: one is away, and has not been for so long that a plan is made without it.
        """
        agents: list[SourceAgent] = list(self._settings.sources)
        found: list[ServerListing] = await asyncio.gather(
            *(self._run.agent(agent).offered() for agent in agents)
        )
        away = [listing for listing in found if listing.state == "away"]
        if away and not patience.over:
            name = away[0].server
            why = f"MCP server {name}: {away[0].reason}"
            await patience.wait(McpServerAway(why, waits_for=f"MCP server {name}"))
        return dict(zip(agents, found, strict=True))

    async def seconds(self) -> dict[str, float]:
        """How long each agent took lately."""
        return await self._run.database.read(durations.learnt)

    def task(
        self,
        agent: SourceAgent,
        plan: OperationPlan,
        *,
        done: Mapping[OperationAgent, AgentResult],
        said: Mapping[OperationAgent, str],
        answered: tuple[AnsweredCall, ...] = (),
    ) -> ReadingTask:
        """What an agent is given: its step, what people said, and what the agents before it found."""
        step, feedback = plan.step(agent), said.get(agent)
        found: list[str] = []
        if not plan.side_by_side:
            before = plan.sources[: plan.sources.index(agent)]
            results = [done[one].result for one in before if one in done]
            found = [lead for result in results if result is not None for lead in result.leads]
        named = (*plan.leads, *search_terms_in(step.instructions), *search_terms_in(feedback or ""))
        return ReadingTask(
            agent=agent,
            question=self._operation.query,
            tools=step.tools,
            # Where nothing is looked for, everything is read: what others found would only narrow it.
            leads=distinct((*named, *found), most=_MOST_LEADS) if named else (),
            instructions=step.instructions,
            feedback=feedback,
            answered=answered,
        )

    async def round(
        self,
        plan: OperationPlan,
        *,
        iteration: int,
        results: Mapping[OperationAgent, AgentResult],
        prior: Mapping[OperationAgent, AgentResult],
        readings: Mapping[OperationAgent, int],
        said: Mapping[OperationAgent, str],
        answered: Mapping[OperationAgent, tuple[AnsweredCall, ...]],
    ) -> WorkRound:
        """Have the next agent read, or all that are due where they run side by side.

        One whose task is what it was for its `prior` result has done it: that result stands.

        Raises:
            McpServerAway, ModelUnavailable, …: an outage of one; what the others came to is kept.
        """
        done, counts = dict(results), dict(readings)
        due = [agent for agent in plan.sources if agent not in results]
        tasks = [
            self.task(agent, plan, done=results, said=said, answered=answered.get(agent, ()))
            for agent in (due if plan.side_by_side else due[:1])
        ]
        anew = []
        for task in tasks:
            before = prior.get(task.agent)
            if before is not None and before.task_digest == task.digest:
                done[task.agent] = before
            else:
                counts[task.agent] = counts.get(task.agent, 0) + 1
                anew.append(task)
        over = set(done)
        for task in anew:
            await self._begin(task, plan, number=counts[task.agent], iteration=iteration, done=over)
        reading = (
            self.read(task, plan, number=counts[task.agent], iteration=iteration, done=over) for task in anew
        )
        outcomes = await asyncio.gather(*reading, return_exceptions=True)
        voided: str | None = None
        asked: dict[OperationAgent, ReadingOutcome] = {}
        for task, outcome in zip(anew, outcomes, strict=True):
            if isinstance(outcome, BaseException):
                raise outcome
            if outcome.result is not None:
                done[task.agent] = outcome.result
            voided = voided or outcome.voids_plan
            if outcome.server_question is not None:
                asked[task.agent] = outcome
        return WorkRound(results=done, readings=counts, voided=voided, asked=asked)

    async def read(
        self,
        task: ReadingTask,
        plan: OperationPlan,
        *,
        number: int,
        iteration: int,
        done: set[OperationAgent],
    ) -> ReadingOutcome:
        """Have an agent read; `number` counts its readings. Once it is over, it is one of the `done`.

        Raises:
            McpServerAway: its server is away, and has not been for so long that a person is to be asked.
        """

        patience = AwayTimeout(self._run, f"read/{task.agent}/{number}")

        async def make() -> Answer[ReadingOutcome]:
            agent = self._run.agent(task.agent)
            try:
                answer: Answer[ReadingOutcome] = await agent.read(task, iteration, waits=not patience.over)
            except McpServerAway as away:
                if not patience.over:
                    await patience.wait(away)
                return Answer(value=ReadingOutcome(result=self._away(task, iteration, away)))
            return answer

        outcome = await self._run.once(f"read/{task.agent}/{number}", ReadingOutcome, make)
        if outcome.result is not None and outcome.result.status == "completed":
            done.add(task.agent)

        async def act(connection: Connection) -> StepKept:
            await history.tell(
                connection,
                self._operation.id,
                iteration=iteration,
                stage="agent_execution",
                agent=task.agent,
                result=_told(outcome),
                feedback=task.feedback,
            )
            await self._tell_progress(connection, task, plan, iteration, done)
            return StepKept()

        await self._run.effect(f"told/{task.agent}/{number}", StepKept, act)
        return outcome

    async def _begin(
        self,
        task: ReadingTask,
        plan: OperationPlan,
        *,
        number: int,
        iteration: int,
        done: set[OperationAgent],
    ) -> None:
        async def act(connection: Connection) -> StepKept:
            await self._tell_progress(connection, task, plan, iteration, done)
            return StepKept()

        await self._run.effect(f"begun/{task.agent}/{number}", StepKept, act)

    async def _tell_progress(
        self,
        connection: Connection,
        task: ReadingTask,
        plan: OperationPlan,
        iteration: int,
        done: set[OperationAgent],
    ) -> None:
        await tell_progress(
            connection,
            self._operation,
            iteration=iteration,
            stage=STAGE_OF[task.agent],
            plan=plan,
            done=done,
        )

    async def left_out(
        self,
        number: int,
        question: AgentQuestion,
        plan: OperationPlan,
        results: Mapping[OperationAgent, AgentResult],
        *,
        said: Mapping[OperationAgent, str],
        iteration: int,
    ) -> AgentResult:
        """The result of an agent that a person goes on without: what it has read, and why it is no more.

        `number` counts what was asked. It is kept, for it goes by the site's settings.
        """
        if (failed := results.get(question.agent)) is not None:
            return failed.model_copy(update={"status": "skipped"})
        [agent] = [one for one in plan.sources if one == question.agent]
        why = f"its server asks something that nobody answered: {one_line(question.what)}"

        async def make() -> Answer[AgentResult]:
            task = self.task(agent, plan, done=results, said=said)
            return Answer(value=self._nothing_of(task, iteration, "skipped", why))

        return await self._run.once(f"left_out/{number}", AgentResult, make)

    def _away(self, task: ReadingTask, iteration: int, away: McpServerAway) -> AgentResult:
        return self._nothing_of(task, iteration, "error", f"{one_line(str(away))}; it has been waited for")

    def _nothing_of(self, task: ReadingTask, iteration: int, status: AgentStatus, why: str) -> AgentResult:
        service = self._settings.sources[task.agent].service
        return AgentResult(
            agent=task.agent,
            status=status,
            metadata=AgentMetadata(service_used=service, data_quality="low", execution_time=0.0),
            error=why,
            task_digest=task.digest,
            iteration=iteration,
        )


def _told(outcome: ReadingOutcome) -> dict[str, Any]:
    """An outcome for the history: without the things themselves, which the results of the iteration have."""
    if outcome.result is None:
        return outcome.model_dump(mode="json", exclude={"result"})
    told = outcome.result.model_dump(mode="json", exclude={"result": {"items"}})
    found = outcome.result.result
    return told | {"items": len(found.items) if found is not None else 0}
