"""Research under way: what each node of its graph does.

Each outcome is kept once, in one transaction with the rows that tell of it: what was found, who let it in,
what was read, and what the agents said. So nothing that was found gets lost or fewer when it is resumed, and
nothing is written after it was stopped. Seed 002 §5.
"""

import time
from collections.abc import Mapping
from dataclasses import InitVar, dataclass

from actors.platform.runtime.run import Run
from actors.systems.research.admission import UrlAdmission
from actors.systems.research.extraction_step import ExtractionStep, PointsKept
from actors.systems.research.limits import ResearchMeter
from actors.systems.research.plan import plan_of
from actors.systems.research.tree_steps import TreeSteps
from models.errors import PermissionMissing
from models.llm import Answer
from models.people.users import UserContext
from models.record import Record
from models.research.agent_workflows import AgentType, AgentWorkflow, ResearchOutcome, ResearchTask, Step
from models.research.candidates import Discovery, DiscoveryRequest
from models.research.intents import IntentReading
from models.research.limits import LeftUndone
from models.research.plans import ResearchPlan
from models.research.results import ResearchResult
from models.research.synthesis import Synthesis
from models.research.trees import Tree
from models.research.url_lists import (
    PageOutcome,
    UnreadableList,
    UrlList,
)
from models.runtime.approvals import GateDecision, GateRequest
from models.runtime.steps import StepKept
from models.store.database import Connection
from models.store.knowledge import sources
from models.store.people import users
from models.store.research import agent_workflows, candidates, progress
from models.text import how_many

# Gates after which nothing is done: their steps end with the research. Approved, a tree's ends as it is kept.
_REVIEWS: Mapping[str, Step] = {"tree": "await_category_review", "result": "await_final_review"}


class TimedDiscovery(Record):
    """What was found, and how long it took."""

    found: Discovery
    seconds: float


@dataclass  # as LangGraph wants a context to be
class ResearchSteps:
    """The context of the graph's nodes."""

    run: InitVar[Run]
    research: AgentWorkflow

    def __post_init__(self, run: Run) -> None:
        self._run = run
        given = ResearchTask.model_validate(run.input)
        # What was told of it once is kept in its row, and stands when it is taken up again.
        self.task = given.model_copy(update={"task_type": given.task_type or self.research.task_type})
        self._meter = ResearchMeter(run, self.research)
        self.admission = UrlAdmission(run=run, research=self.research, meter=self._meter)
        self._extracting = ExtractionStep(run=run, research=self.research, meter=self._meter)
        self.organizing = TreeSteps(run=run, research=self.research, task=self.task, meter=self._meter)

    async def check_right(self) -> None:
        """PermissionMissing where whoever asked for it may not any more: asked whenever it is taken up."""
        await self._asked_by()

    async def classify(self) -> IntentReading:
        """Keep what is asked for: the steps after it go by its task type."""
        intent = await classify(self._run, self.research, self.task)
        self.task = self.task.model_copy(update={"task_type": intent.task_type})
        return intent

    async def plan(self, intent: IntentReading) -> ResearchPlan:
        """Keep the steps that it takes."""

        async def act(connection: Connection) -> ResearchPlan:
            plan = plan_of(intent.task_type, self.task.config)
            await progress.plan(connection, self.research.id, plan.steps)
            names = "; ".join(step.description for step in plan.steps)
            await self._say(
                connection,
                "researcher",
                "create_plan",
                f"{how_many(len(plan.steps), 'step is', 'steps are')} planned",
                f"{intent.task_type} was asked for, "
                f"{'with' if self.task.config.require_approval else 'without'} people to decide: {names}",
            )
            await progress.finish(connection, self.research.id, "create_plan")
            return plan

        return await self._run.effect("plan", ResearchPlan, act)

    async def discover(self) -> UrlList:
        """Find pages, and keep them as candidates."""
        task = self.task
        request = DiscoveryRequest(
            question=task.user_query,
            max_urls=min(max(task.config.max_urls, len(set(task.urls))), self._meter.limits.max_urls),
            date_range=task.config.date_range,
            language=task.config.language,
            urls=task.urls,
        )

        async def find() -> Answer[TimedDiscovery]:
            began = time.monotonic()
            found: Discovery = await self._run.agent("researcher").discover(
                request,
                project_id=task.project_id,
                asked_by=await self._asked_by(),
                search=task.task_type != "scrape",
            )
            return Answer(value=TimedDiscovery(found=found, seconds=time.monotonic() - began))

        timed = await self._run.once("discovery", TimedDiscovery, find)
        self._meter.tell("discovery", None)
        found = timed.found

        async def act(connection: Connection) -> StepKept:
            await candidates.put(connection, self.research.id, found.candidates)
            await progress.tell_tool(
                connection,
                self.research.id,
                tool="search_web",
                agent="researcher",
                given={"queries": list(found.queries)},
                answer={"found": len(found.candidates), "left_out": sum(one.count for one in found.left_out)},
                error=None,
                seconds=timed.seconds,
            )
            await self._say(
                connection,
                "researcher",
                "discover_urls",
                f"{how_many(len(found.candidates), 'page')} may be read",
                "; ".join((f"asked for {', '.join(found.queries)}", *found.notes)),
            )
            await progress.finish(connection, self.research.id, "discover_urls")
            return StepKept(count=len(found.candidates))

        await self._run.effect("candidates", StepKept, act)
        return UrlList(
            question=task.user_query,
            urls=found.candidates,
            config=task.config,
            stored=found.stored,
            refused=found.refused,
            left_out=found.left_out,
            notes=found.notes,
        )

    def request_for_urls(self, shown: UrlList) -> GateRequest:
        """What the gate of addresses asks for: exactly this list."""
        return self._request(
            "research_urls", shown, f"Pages to read, {len(shown.urls)}: {self.research.name}"
        )

    def request_for_unreadable(self, unreadable: tuple[PageOutcome, ...], read: int) -> GateRequest:
        """What the gate of pages that can't be read asks for."""
        shown = UnreadableList(question=self.task.user_query, unreadable=unreadable, read=read)
        title = f"Pages that can't be read, {len(unreadable)}: {self.research.name}"
        return self._request("research_unreadable", shown, title)

    async def extract(self) -> PointsKept:
        """Have what was read extracted; what it rests on now."""
        whole = self.task.task_type in ("analyze", "full_pipeline")
        return await self._extracting.points(of_project=whole)

    async def request_for_tree(self, tree: Tree, layout: int) -> GateRequest:
        """What the gate of categories asks for: exactly this tree."""
        shown = await self.organizing.review(tree, layout)
        return self._request("research_tree", shown, f"Categories, {len(tree.nodes)}: {self.research.name}")

    async def request_for_result(self, tree: Tree, made: Synthesis) -> GateRequest:
        """What the last gate asks for: exactly these sentences, and what they rest on."""
        shown = await self.organizing.final_review(tree, made)
        return self._request("research_result", shown, f"The result: {self.research.name}")

    async def conclude(
        self,
        outcome: ResearchOutcome,
        *,
        points_found: int,
        tree_id: int | None,
        sentences: int,
        left: tuple[LeftUndone, ...],
        ended_at: str | None,
        gate: str | None,
        decision: GateDecision | None,
    ) -> ResearchResult:
        """Keep what it came to, and what is missing; what is still planned is not done.

        Args:
            gate: the last one that was decided; `decision` is what it got.
        """

        async def act(connection: Connection) -> ResearchResult:
            if gate is not None and gate in _REVIEWS and decision is not None:
                await progress.finish(
                    connection, self.research.id, _REVIEWS[gate], result={"decision": decision.status}
                )
            await progress.skip_rest(connection, self.research.id)
            return ResearchResult(
                outcome=outcome,
                pages=len(await candidates.sources_of(connection, self.research.id)),
                points=points_found,
                tree_id=tree_id,
                sentences=sentences,
                ended_at=ended_at,
                missing=tuple(await candidates.missing(connection, self.research.id)),
                limit=self._meter.limit,
                left=left,
            )

        return await self._run.effect("conclusion", ResearchResult, act)

    async def _asked_by(self) -> UserContext:
        """Who asked for it, with what he has on its topic now; PermissionMissing where that is too little."""
        caller = await self._run.database.read(
            lambda connection: users.context_of(connection, self._run.requested_by)
        )
        if not caller.has("analyst", self.research.topic):
            topic = self.research.topic
            raise PermissionMissing(
                f"{caller.subject} asked for this research, and is no analyst of the topic {topic} any more",
                scope=f"{topic}:analyst",
            )
        return caller.on(self.research.topic)

    def _request(self, kind: str, shown: Record, title: str) -> GateRequest:
        policy = self._run.config.research.approval
        return GateRequest(
            kind=kind,
            content=shown.model_dump(mode="json"),
            required_scope=f"{self.research.topic}:{policy.role}",
            four_eyes=policy.four_eyes,
            quorum=policy.quorum,
            expires_in_seconds=policy.expires_in_seconds,
            about=f"research:{self.research.id}",
            title=title,
        )

    async def _say(
        self, connection: Connection, agent: AgentType, step: Step, content: str, reasoning: str
    ) -> None:
        await progress.say(
            connection, self.research.id, agent=agent, step=step, content=content, reasoning=reasoning
        )


async def classify(run: Run, research: AgentWorkflow, task: ResearchTask) -> IntentReading:
    """Have the query read, and keep what it asks for with the reasoning; what the request says stands."""

    async def read() -> Answer[IntentReading]:
        answer: Answer[IntentReading] = await run.agent("intent_reader").read(task.user_query, task.task_type)
        return answer

    told = await run.once("intent", IntentReading, read)

    async def act(connection: Connection) -> IntentReading:
        intent = await _that_can_be_done(connection, research, task, told)
        await agent_workflows.classified(connection, research.id, intent)
        await progress.say(
            connection,
            research.id,
            agent="researcher",
            step="classify_intent",
            content=f"it is taken for {intent.task_type} of {intent.complexity} complexity",
            reasoning=intent.reasoning,
            metadata=intent.model_dump(mode="json", exclude={"reasoning"}),
        )
        return intent

    return await run.effect("classified", IntentReading, act)


async def _that_can_be_done(
    connection: Connection, research: AgentWorkflow, task: ResearchTask, told: IntentReading
) -> IntentReading:
    """What was told; work on what is held becomes research where pages are named, or nothing is held."""
    if told.found == "given" or told.task_type != "analyze":
        return told
    why = "addresses are given"
    if not task.urls:
        if await sources.with_text(connection, research.project_id):
            return told
        why = "its project holds nothing yet"
    reasoning = f"{told.reasoning}; but {why}, so pages are looked for"
    return told.model_copy(update={"task_type": "research", "reasoning": reasoning})
