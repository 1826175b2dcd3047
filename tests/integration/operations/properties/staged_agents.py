"""The agents of an operation as a property test plays them: the real ones, on servers that do as told.

Each writes down what it was asked. A planner may be told which shape its next plans have, a reader which
partners it finds; how a server is (away, slow, asking, declared otherwise) is said of its `ServedThings`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from actors.systems.operations.agents.analyst import OperationAnalyst
from actors.systems.operations.agents.planner import Planner
from actors.systems.operations.agents.source_reader import SourceReader
from models.llm import Answer
from models.mcp.served_tools import ServerListing
from models.mcp.tool_answers import GivenToServer, ServedToolCall, ServerQuestion, ToolAnswer
from models.operations.items import SourceAgent
from models.operations.plans import AgentStep, OperationAgent, OperationPlan
from models.operations.results import ProposedWrite, WriteOutcome
from models.operations.tasks import AnalysisOutcome, AnalysisTask, PlanRequest, ReadingOutcome, ReadingTask
from tests.fakes.served import ServedThings

WRITES = "add_note"
ASKED = {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]}


def behave(served: ServedThings, doing: str) -> None:
    """Have a server do as it is told from now on."""
    served.fault, served.asks, served.away, served.lost = None, None, False, False
    served.held.set()
    match doing:
        case "fails":
            served.fault = "no such mailbox"
        case "asks":
            served.asks = ServerQuestion(
                server=served.name, tool="search", key="k", message="Which code?", requested=ASKED
            )
        case "is slow":
            served.held.clear()
        case "is away":
            served.away = True
        case "loses answers":
            served.lost = True
        case "is declared otherwise":
            served.digest = f"{(int(served.digest, 16) + 1) % 2**256:064x}"


@dataclass(frozen=True)
class PlanShape:
    """What a planner makes of all that could be read: which agents, in which order, and what else."""

    order: tuple[SourceAgent, ...]
    analysis: bool = True
    side_by_side: bool = False


@dataclass
class Ledger:
    """Who was asked what, in order; `calls` are those that servers got, and those that they refused."""

    plans: list[PlanRequest] = field(default_factory=list)
    readings: list[ReadingTask] = field(default_factory=list)
    comparisons: list[AnalysisTask] = field(default_factory=list)
    calls: list[tuple[SourceAgent, ServedToolCall]] = field(default_factory=list)

    @property
    def length(self) -> int:
        """How much was asked of anybody."""
        return len(self.plans) + len(self.readings) + len(self.comparisons) + len(self.calls)


class StagedPlanner:
    """The real planner, whose plans get the shapes that are drawn, one after another."""

    def __init__(self, planner: Planner, ledger: Ledger, shapes: Sequence[PlanShape]) -> None:
        self._planner, self._ledger, self.shapes = planner, ledger, shapes
        self._number = 0

    async def plan(self, request: PlanRequest) -> Answer[OperationPlan]:
        """A plan."""
        # A process that died has the next one ask the same again.
        if request not in self._ledger.plans[-1:]:
            self._number += 1
        self._ledger.plans.append(request)
        made = await self._planner.plan(request)
        if not self.shapes:
            return made
        shape = self.shapes[min(self._number, len(self.shapes)) - 1]
        return made.model_copy(update={"value": shaped(made.value, shape)})


def shaped(plan: OperationPlan, shape: PlanShape) -> OperationPlan:
    """The plan with the agents of a shape that it has; as it is where it has none of them."""
    sources = dict(zip(plan.sources, plan.data_sources, strict=True))
    order = [agent for agent in shape.order if agent in sources] or list(plan.sources)
    steps: dict[OperationAgent, AgentStep] = {step.agent: step for step in plan.steps}
    analysis: list[OperationAgent] = ["analysis"] if shape.analysis and "analysis" in steps else []
    sequence = (*order, *analysis)
    return OperationPlan(
        **plan.model_dump(include={"description", "estimated_duration", "complexity", "leads", "notes"}),
        agent_sequence=sequence,
        data_sources=tuple(sources[agent] for agent in order),
        steps=tuple(steps[agent] for agent in sequence),
        side_by_side=shape.side_by_side,
    )


class NotedServers:
    """Stands before a server: whatever is called of it is noted, also what it refuses."""

    def __init__(self, agent: SourceAgent, served: ServedThings, ledger: Ledger) -> None:
        self._agent, self._served, self._ledger = agent, served, ledger

    async def listing(self, server: str) -> ServerListing:
        """What it offers."""
        return await self._served.listing(server)

    async def call(
        self, call: ServedToolCall, *, given: GivenToServer | None = None, confirmed: bool = False
    ) -> ToolAnswer:
        """What it answers."""
        self._ledger.calls.append((self._agent, call))
        return await self._served.call(call, given=given, confirmed=confirmed)


class StagedReader:
    """The real reader of one system. Where its server is slow, its patience is short.

    It wants each tool called that writes; what becomes of it is the real reader's.
    """

    def __init__(self, agent: SourceAgent, served: ServedThings, ledger: Ledger, **settings: Any) -> None:
        servers = NotedServers(agent, served, ledger)
        self._served, self._ledger = served, ledger
        self._patient = SourceReader(agent=agent, servers=servers, seconds=60, **settings)
        self._hasty = SourceReader(agent=agent, servers=servers, seconds=0.01, **settings)
        self.partners: Sequence[str] = ()

    async def offered(self) -> ServerListing:
        """What its server offers."""
        return await self._patient.offered()

    async def write(self, write: ProposedWrite) -> Answer[WriteOutcome]:
        """What came of a call that writes."""
        return await self._patient.write(write)

    async def read(self, task: ReadingTask, iteration: int, *, waits: bool = True) -> Answer[ReadingOutcome]:
        """What it reads, and the partners that it finds there."""
        self._ledger.readings.append(task)
        reader = self._patient if self._served.held.is_set() else self._hasty
        answer = await reader.read(task, iteration, waits=waits)
        result = answer.value.result
        if result is None or result.result is None:
            return answer
        proposed = tuple(
            ProposedWrite(
                server=tool.server,
                tool=tool.tool,
                digest=tool.digest,
                arguments={"text": "asked for a receipt"},
                why="somebody has to",
            )
            for tool in task.tools
            if tool.writes
        )
        found = result.result.model_copy(update={"leads": tuple(self.partners), "proposed": proposed})
        return Answer(value=ReadingOutcome(result=result.model_copy(update={"result": found})))


class StagedAnalyst:
    """The real analyst."""

    def __init__(self, analyst: OperationAnalyst, ledger: Ledger) -> None:
        self._analyst, self._ledger = analyst, ledger

    async def compare(self, task: AnalysisTask) -> Answer[AnalysisOutcome]:
        """What it finds."""
        self._ledger.comparisons.append(task)
        return await self._analyst.compare(task)
