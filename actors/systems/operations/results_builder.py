"""The results of an operation put together: what all agents found, compared, and what has changed. Seed 003.

Part of `actors.systems.operations.steps`. The comparing is the agent `analysis`'s; what is shown to a person
is made here from what was kept, the same whenever it is made.
"""

from collections.abc import Collection, Mapping

from actors.platform.runtime.run import Run
from actors.systems.operations.events import tell, tell_progress
from models.llm import Answer
from models.operations.events import ComprehensiveResultsReady
from models.operations.evidence import Conflict, Correlation, LinkedItems
from models.operations.operations import CurrentStage, Operation
from models.operations.plans import ANALYSIS, OperationAgent, OperationPlan
from models.operations.results import (
    AgentResult,
    Analysis,
    ComprehensiveResults,
    ResultChanges,
    WriteOutcome,
)
from models.operations.tasks import AnalysisOutcome, AnalysisTask
from models.record import Record
from models.runtime.steps import StepKept
from models.store.database import Connection
from models.store.operations import history
from models.text import how_many

_MOST_TOLD = 12


class WhatIsMissing(Record):
    """What is not in the results of an iteration, in words."""

    told: tuple[str, ...]


class ResultsBuilder:
    """Has what was found compared, and puts the results together."""

    def __init__(self, *, run: Run, operation: Operation) -> None:
        self._run = run
        self._operation = operation

    async def compile(
        self,
        iteration: int,
        plan: OperationPlan,
        results: Mapping[OperationAgent, AgentResult],
        *,
        said: Mapping[OperationAgent, str],
        written_before: tuple[WriteOutcome, ...],
        previous: ComprehensiveResults | None,
        asks: bool,
    ) -> ComprehensiveResults:
        """The results of an iteration, with what is otherwise than in the one before.

        `asks`: whether a person is to approve them.

        Raises:
            ModelUnavailable: the model that writes is away.
        """
        ordered = tuple(results[agent] for agent in plan.sources)
        analysed = ANALYSIS in plan.agent_sequence
        task = AnalysisTask(
            question=self._operation.query,
            leads=plan.leads,
            results=ordered,
            instructions=plan.step(ANALYSIS).instructions if analysed else "",
            feedback=said.get(ANALYSIS),
        )

        async def begin(connection: Connection) -> StepKept:
            await self._tell_progress(connection, "analysis_execution", plan, iteration, plan.sources)
            return StepKept()

        async def make() -> Answer[AnalysisOutcome]:
            answer: Answer[AnalysisOutcome] = await self._run.agent("analysis").compare(task)
            return answer

        await self._run.effect(f"comparing/{iteration}", StepKept, begin)
        outcome = await self._run.once(f"analysis/{iteration}", AnalysisOutcome, make)

        async def look() -> Answer[WhatIsMissing]:
            told = self._missing(plan, ordered, said)
            return Answer(value=WhatIsMissing(told=(*told, *not_understood(outcome.linked))))

        # Kept, for it goes by the site's settings, which may be others when this is made again.
        missing = await self._run.once(f"missing/{iteration}", WhatIsMissing, look)
        linked, analysis = outcome.linked, outcome.analysis
        if not analysed:
            analysis = Analysis(status="completed", correlation_score=analysis.correlation_score)
        compiled = ComprehensiveResults(
            plan_id=self._operation.workflow_id,
            question=self._operation.query,
            iteration=iteration,
            plan=plan,
            results=ordered,
            analysis=analysis,
            correlations=linked.figures,
            matches=linked.correlations,
            conflicts=linked.conflicts,
            written_before=written_before,
            reused=tuple(one.agent for one in ordered if one.iteration < iteration),
            mocked=tuple(one.agent for one in ordered if one.mocked),
            missing=missing.told,
        )
        if previous is not None:
            compiled = compiled.model_copy(update={"changes": changes(previous, compiled)})

        async def act(connection: Connection) -> StepKept:
            ident = self._operation.id
            await history.keep_results(connection, ident, iteration, compiled)
            summary = {
                "executive_summary": [one.text for one in analysis.executive_summary],
                "correlations": linked.figures.model_dump(mode="json"),
                "conflicts": [one.explanation for one in linked.conflicts],
                "reused": list(compiled.reused),
            }
            await history.tell(
                connection,
                ident,
                iteration=iteration,
                stage="results_compilation",
                agent=ANALYSIS,
                result=summary,
                feedback=said.get(ANALYSIS),
            )
            ready = ComprehensiveResultsReady(
                operation_id=ident,
                plan_id=self._operation.workflow_id,
                iteration=iteration,
                conflicts=len(linked.conflicts),
                correlations=len(linked.correlations),
            )
            await tell(connection, self._operation, ready)
            stage: CurrentStage = "final_approval" if asks else "results_compilation"
            await self._tell_progress(connection, stage, plan, iteration, plan.agent_sequence)
            return StepKept(count=len(linked.conflicts))

        await self._run.effect(f"compiled/{iteration}", StepKept, act)
        return compiled

    async def _tell_progress(
        self,
        connection: Connection,
        stage: CurrentStage,
        plan: OperationPlan,
        iteration: int,
        done: Collection[OperationAgent],
    ) -> None:
        await tell_progress(
            connection, self._operation, iteration=iteration, stage=stage, plan=plan, done=done
        )

    def _missing(
        self,
        plan: OperationPlan,
        results: tuple[AgentResult, ...],
        said: Mapping[OperationAgent, str],
    ) -> tuple[str, ...]:
        """What is not in the results, in words."""
        told = [
            f"{agent} was left out of the plan: nothing of it is compared"
            for agent in self._run.config.operations.sources
            if agent not in plan.sources
        ]
        told += plan.notes
        for one in results:
            items = one.result.items if one.result is not None else ()
            if one.status != "completed":
                how = "is here only in part" if items else "was gone on without"
                told.append(f"{one.agent} {how}: {one.error}")
            elif one.result is not None and one.result.left_out:
                told.append(f"{one.agent} had no room for {one.result.left_out} more of what it found")
            if one.result is not None and one.result.cut_off:
                told.append(
                    f"{one.agent} stopped after {how_many(len(one.metadata.tool_calls), 'call')} and "
                    f"{how_many(len(items), 'thing')}, as many as it may: there may be more"
                )
            told_to = one.agent in said or plan.step(one.agent).instructions
            if told_to and self._run.config.operations.chooses == "code":
                told.append(
                    f"{one.agent}: no model chooses calls here (operations.chooses): of what was said to it, "
                    "only the names and numbers are looked for"
                )
            told += [
                f"{one.agent}: call {use.number} of {use.tool} failed: {use.fault}"
                for use in one.metadata.tool_calls
                if use.status == "failed"
            ]
        if ANALYSIS not in plan.agent_sequence:
            told.append("analysis was left out of the plan: nothing is summed up, and nothing is recommended")
        if ANALYSIS in said and self._run.config.operations.writes == "code":
            told.append("no model writes here (operations.writes): what was said to analysis changes nothing")
        return tuple(told)


def not_understood(linked: LinkedItems) -> tuple[str, ...]:
    """What is in no comparison, since nobody understood it: the first sentences, and how many more."""
    told = [
        f"not understood, so in no comparison: “{one.words}” ({one.item})"
        for one in linked.unread[:_MOST_TOLD]
    ]
    if more := len(linked.unread) - len(told):
        told.append(f"{how_many(more, 'more sentence')} on payments not understood, so in no comparison")
    return tuple(told)


def changes(before: ComprehensiveResults, now: ComprehensiveResults) -> ResultChanges:
    """What is otherwise in `now`."""
    then = {one.agent: one for one in before.results}
    conflicts = {_about(one): one for one in before.conflicts}, {_about(one): one for one in now.conflicts}
    matches = {_shared(one): one for one in before.matches}, {_shared(one): one for one in now.matches}
    gone = then.keys() - {one.agent for one in now.results}
    return ResultChanges(
        agents=(
            *(one.agent for one in now.results if _found(then.get(one.agent)) != _found(one)),
            *(agent for agent in then if agent in gone),
        ),
        new_conflicts=tuple(text for text in conflicts[1] if text not in conflicts[0]),
        gone_conflicts=tuple(text for text in conflicts[0] if text not in conflicts[1]),
        new_correlations=tuple(text for text in matches[1] if text not in matches[0]),
        gone_correlations=tuple(text for text in matches[0] if text not in matches[1]),
    )


def _found(result: AgentResult | None) -> object:
    if result is None or result.result is None:
        return None
    return result.status, [item.data for item in result.result.items]


def _about(conflict: Conflict) -> str:
    return conflict.explanation


def _shared(correlation: Correlation) -> str:
    """Two things that belong together, by what they share: their ids are of one reading only."""
    return "; ".join(
        f"{match.kind}: {match.left.words} = {match.right.words}" for match in correlation.matches
    )
