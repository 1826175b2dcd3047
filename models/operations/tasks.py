"""What agents of an operation are given to do, and what they hand back."""

from collections.abc import Mapping

from models.mcp.served_tools import ServerListing
from models.mcp.tool_answers import GivenToServer, ServedToolCall, ServerQuestion
from models.operations.evidence import LinkedItems
from models.operations.items import SourceAgent
from models.operations.plans import AllowedTool, OperationPlan
from models.operations.results import AgentResult, Analysis
from models.record import Record
from models.runtime.approvals import content_digest


class PlanRequest(Record):
    """What the planner plans for. `feedback` is what a person said to `previous`, the plan before."""

    question: str
    listings: Mapping[SourceAgent, ServerListing]
    feedback: str | None = None
    previous: OperationPlan | None = None
    seconds: Mapping[str, float] = {}  # how long each agent took lately


class AnsweredCall(Record):
    """A call whose server asked something, and what a person gave to it."""

    call: ServedToolCall
    given: GivenToServer


class ReadingTask(Record):
    """One agent's part: what to look for, with which tools, and what people said about how.

    `leads` are what is looked for: from the question, and from what the earlier agents found. `answered`
    are calls whose server asked something.
    """

    agent: SourceAgent
    question: str
    tools: tuple[AllowedTool, ...]
    leads: tuple[str, ...] = ()
    instructions: str = ""
    feedback: str | None = None
    answered: tuple[AnsweredCall, ...] = ()

    @property
    def digest(self) -> str:
        """SHA-256 (hex): the same task is not done again. A tool is what its digest says, where it is."""
        told = self.model_dump(mode="json", exclude={"answered", "tools"})
        tools = [[one.server, one.tool, one.digest, *filter(None, (one.address,))] for one in self.tools]
        return content_digest({**told, "tools": tools})


class ReadingOutcome(Record):
    """What came of it: a result, a server's question at a call, or why the plan holds no more."""

    result: AgentResult | None = None
    server_question: ServerQuestion | None = None
    asked_call: ServedToolCall | None = None
    voids_plan: str | None = None


class AnalysisTask(Record):
    """What is compared, and what people said about how. `results` are of the agents that read a system.

    `leads` are what was looked for: what bears on that is told first.
    """

    question: str
    leads: tuple[str, ...] = ()
    results: tuple[AgentResult, ...]
    instructions: str = ""
    feedback: str | None = None


class AnalysisOutcome(Record):
    """What was found to belong together or to contradict each other, and what is said about it."""

    linked: LinkedItems
    analysis: Analysis
