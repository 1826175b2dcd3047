"""What agents of an operation came to, and what was compiled of it. Seed 003 (Comprehensive Results Message).

Figures come from code alone; each claim names the evidence that it rests on.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from models.mcp.served_tools import ServerAddress
from models.mcp.tool_answers import ServedToolCall
from models.operations.evidence import Conflict, Correlation, CorrelationFigures
from models.operations.items import SourceItem
from models.operations.plans import OperationAgent, OperationPlan
from models.record import Record
from models.runtime.gated_kinds import Shown

DataQuality = Literal["high", "medium", "low"]
AgentStatus = Literal["completed", "error", "skipped"]
OperationOutcome = Literal["completed", "expired"]
# What `service_used` says where a stand-in answered.
MOCK_SERVICE = "mock"


class ServedToolUse(Record):
    """A call that an agent made of a server's tool. `items` is how many things it answered with."""

    number: int
    server: str
    tool: str
    arguments: Mapping[str, Any]
    status: Literal["answered", "failed"]
    items: int = 0
    fault: str | None = None
    seconds: float
    mock: bool = False


class AgentMetadata(Record):
    """How a result came about (`metadata` of the seed). `service_used` is `mock` where stand-ins answered.

    `data_quality`: `high` where each call was answered with data that keeps to its schema; `medium` where
    some calls failed or some of it was cut off; `low` where nothing came, or any of it is from a mock.
    `execution_time` is in seconds.
    """

    service_used: str
    data_quality: DataQuality
    execution_time: float
    tool_calls: tuple[ServedToolUse, ...] = ()

    @property
    def mocked(self) -> bool:
        """Whether a stand-in answered: one call, too."""
        return self.service_used == MOCK_SERVICE or any(use.mock for use in self.tool_calls)


class ProposedWrite(Record):
    """A call that would change something, as an agent wants it made: nothing is sent before a yes.

    `digest` is of the tool, and `address` its server's, as the plan allows it.
    """

    server: str
    tool: str
    digest: str
    address: ServerAddress = None
    arguments: Mapping[str, Any]
    why: str

    @property
    def call(self) -> ServedToolCall:
        """The call that it is."""
        return ServedToolCall(
            server=self.server,
            tool=self.tool,
            digest=self.digest,
            address=self.address,
            arguments=self.arguments,
        )


class WriteOutcome(Record):
    """What became of a proposed write.

    `refused`: a person said no. `unknown`: it was sent, and whether it was done nobody here can tell.
    `failed`: the call was refused before its tool ran. `not_sent`: its server was away, or its tool is not
    one that was approved any more, which `voids_plan`.
    """

    write: ProposedWrite
    status: Literal["done", "refused", "failed", "unknown", "not_sent"]
    told: str = ""
    voids_plan: bool = False
    approval_id: str | None = None
    decided_by: str | None = None

    @property
    def became(self) -> str:
        """What became of it, in words."""
        return {
            "done": "done",
            "refused": "not sent: a person said no",
            "failed": "not done: the call was refused",
            "unknown": "sent, and nobody knows whether it was done",
            "not_sent": "not sent: it could not be",
        }[self.status]


class AgentFindings(Record):
    """What an agent read: each thing as its server gave it, and one sentence about it, made by code.

    `leads` are partners that it names where it has what was looked for: later agents look for them as well.
    `left_out` counts what there was no room for; with `cut_off` it had made all calls, or read all things,
    that it may, and there may be more. `proposed` are calls that would change something.
    """

    summary: str
    leads: tuple[str, ...] = ()
    items: tuple[SourceItem, ...] = ()
    left_out: int = 0
    cut_off: bool = False
    proposed: tuple[ProposedWrite, ...] = ()


class AgentResult(Record):
    """One agent's result. With `error` it has none; `skipped` says why a person or the plan left it out.

    `task_digest` is of what it was given to do: as long as that is the same, its result is not made again.
    `iteration` is the one in which it was made.
    """

    agent: OperationAgent
    status: AgentStatus
    result: AgentFindings | None = None
    metadata: AgentMetadata
    error: str | None = None
    writes: tuple[WriteOutcome, ...] = ()
    task_digest: str
    iteration: int

    @property
    def mocked(self) -> bool:
        """Whether any of it is a stand-in's: one call or one item, too."""
        items = () if self.result is None else self.result.items
        return self.metadata.mocked or any(item.mock for item in items)


class EvidencedSentence(Record):
    """A sentence about what was found, and its evidence: `C2`, a correlation, or `K1`, a conflict."""

    text: str
    evidence: tuple[str, ...]


class Analysis(Record):
    """The `analysis` agent's part. `llm_used` is None where code put the sentences together."""

    status: Literal["completed", "error"]
    executive_summary: tuple[EvidencedSentence, ...] = ()
    recommendations: tuple[EvidencedSentence, ...] = ()
    correlation_score: float = 0.0
    llm_used: str | None = None
    execution_time: float = 0.0
    dropped: int = 0
    error: str | None = None


class ResultChanges(Record):
    """What is otherwise than in the iteration before, in the words of its evidence."""

    agents: tuple[OperationAgent, ...] = ()
    new_conflicts: tuple[str, ...] = ()
    gone_conflicts: tuple[str, ...] = ()
    new_correlations: tuple[str, ...] = ()
    gone_correlations: tuple[str, ...] = ()


class ComprehensiveResults(Record):
    """What a person approves at the last gate, whole (`comprehensive_results_ready` of the seed).

    `reused` are agents whose result of an earlier iteration stands. `written_before` are calls that were
    sent and are in no result here: their agent has read anew since, or the plan has it no more. `mocked`
    are those whose data, or some of it, is a stand-in's. `missing` says in words what is not in it.
    """

    plan_id: str
    question: Annotated[str, Shown("quote")]
    iteration: int
    plan: OperationPlan
    results: tuple[AgentResult, ...]
    analysis: Annotated[Analysis, Shown("first")]
    correlations: CorrelationFigures
    matches: tuple[Correlation, ...] = ()
    conflicts: Annotated[tuple[Conflict, ...], Shown("table", columns=("number", "kind", "explanation"))] = ()
    written_before: tuple[WriteOutcome, ...] = ()
    reused: tuple[OperationAgent, ...] = ()
    mocked: tuple[OperationAgent, ...] = ()
    missing: tuple[str, ...] = ()
    changes: ResultChanges | None = None

    @property
    def writes(self) -> tuple[WriteOutcome, ...]:
        """All calls that people were asked about and that stand in it, those of before first."""
        here = (outcome for one in self.results for outcome in one.writes)
        return (*self.written_before, *here)

    @property
    def stand_ins(self) -> tuple[OperationAgent, ...]:
        """The agents whose data, or any of it, is a stand-in's: those of `mocked`, and each that says so."""
        return tuple(dict.fromkeys((*self.mocked, *(one.agent for one in self.results if one.mocked))))


class OperationResult(Record):
    """How an operation ended, and with which iteration's results."""

    outcome: OperationOutcome
    iteration: int
    conflicts: int = 0
    correlations: int = 0
    approval_id: str | None = None
    ended_at: str | None = None
