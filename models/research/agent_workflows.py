"""Research as it is asked for, followed and decided on over HTTP. Seed 002 §8.2.

The names and bounds of the seed's fields are kept. What it lacks is added beside them: the project, the
digest that a decision carries, and what a person needs to see before he decides.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, FailFast, Field, StrictBool, field_validator

from models.content.outside import DateRange
from models.record import Record
from models.research.intents import IntentReading, TaskType
from models.tools import Label, Number, PlainText, Prose

AgentType = Literal["researcher", "scraper", "analyzer", "organizer"]
# What a workflow's status is called here: pending is queued, parked waits for something that is away.
AgentWorkflowStatus = Literal[
    "pending", "in_progress", "awaiting_approval", "parked", "completed", "failed", "stopped"
]
STATUS_OF: Mapping[str, AgentWorkflowStatus] = {
    "queued": "pending",
    "running": "in_progress",
    "waiting": "awaiting_approval",
    "parked": "parked",
    "succeeded": "completed",
    "failed": "failed",
    "cancelled": "stopped",
}
ResearchOutcome = Literal[
    "done",  # with all, or with what it has: see `limit`, `missing` and `left`
    "rejected",
    "expired",  # nobody decided at a gate in time
    "nothing_found",
    "nothing_read",  # no approved page could be read, or was before a limit was reached
    "nothing_extracted",  # no point was, from all that was read
    "nothing_written",  # there is a tree, and no sentence about it
]
Step = Literal[
    "classify_intent",
    "create_plan",
    "discover_urls",
    "await_user_review",
    "scrape_urls",
    "await_unreadable_review",
    "extract_knowledge",
    "await_category_review",
    "build_tree",
    "synthesize_results",
    "await_final_review",
]
LEAST_QUESTION, MOST_QUESTION = 10, 2000  # characters


def _question(text: str) -> str:
    if not LEAST_QUESTION <= len(text) <= MOST_QUESTION or not text.strip():
        raise ValueError(
            f"a question has {LEAST_QUESTION} to {MOST_QUESTION} characters: this one has {len(text)}"
        )
    return text


Query = Annotated[
    Prose,
    AfterValidator(_question),
    Field(json_schema_extra={"minLength": LEAST_QUESTION, "maxLength": MOST_QUESTION}),
]
Url = Annotated[Label, Field(min_length=1, max_length=2000)]


class AgentWorkflow(Record):
    """A row of `agent_workflows`: a research, its workflow, and whose it is.

    `task_type` is None until it is told from the query, where the request gave none; `intent` until its first
    step is done.
    """

    id: int
    workflow_id: str
    project_id: int
    topic: str
    name: str
    task_type: TaskType | None
    requested_by: str
    request_id: str | None
    parent_id: int | None
    created_at: datetime
    intent: IntentReading | None


class ResearchOptions(Record):
    """How a research is done (`WorkflowConfig` of the seed). `language` is ISO 639-1, or `any`."""

    max_urls: int = Field(default=20, ge=1, le=200)
    scrape_parallel: StrictBool = True
    require_approval: StrictBool = True
    category_id: Annotated[Number, Field(strict=True)] | None = Field(
        default=None, description="A tree of the project that is to grow"
    )
    date_range: DateRange = "any"
    language: Annotated[str, Field(pattern=r"^([a-z]{2}|any)$")] = "any"


class StartRequest(BaseModel):
    """`WorkflowStartRequest`. Without `project_id`, a project is made in `topic`, named after the query.

    Without `task_type`, which the seed's request must have, it is told from the query (seed 002 §5, node 1).
    `urls` are addresses that the person gives: for `scrape` the only ones, otherwise beside what is found.
    The same `request_id` again is the same research, never a second one.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    task_type: TaskType | None = None
    user_query: Query
    config: ResearchOptions = ResearchOptions()
    project_id: int | None = Field(default=None, ge=1)
    topic: Annotated[PlainText, Field(max_length=64)] | None = None
    urls: Annotated[tuple[Url, ...], FailFast()] = Field(default=(), max_length=200)
    parent_workflow_id: int | None = Field(default=None, ge=1)
    request_id: Annotated[PlainText, Field(min_length=1, max_length=200)] | None = None

    @field_validator("config", mode="before")
    @classmethod
    def _absent(cls, config: Any) -> Any:
        return ResearchOptions() if config is None else config


class ResearchTask(Record):
    """What the workflow of a research is given: the request, with its project and topic."""

    task_type: TaskType | None = None
    user_query: str
    config: ResearchOptions
    project_id: int
    topic: str
    urls: tuple[str, ...] = ()
    parent_workflow_id: int | None = None
    request_id: str | None = None


class StartResponse(Record):
    """`WorkflowStartResponse`. `estimate_is_learnt`: from earlier researches; else it is a default guess."""

    workflow_id: int
    status: AgentWorkflowStatus
    estimated_steps: int
    current_step: Step
    current_agent: AgentType | None
    estimated_duration_minutes: int
    message: str
    project_id: int
    estimate_is_learnt: bool = False


class ProgressInfo(Record):
    """How far it is: steps done of steps planned, and addresses done of addresses approved."""

    completed_steps: int
    total_steps: int
    percentage: Annotated[float, Field(ge=0, le=100)]
    current_operation: str
    urls_done: int = 0
    urls_approved: int = 0
    estimated_minutes_left: float | None = None


class AgentReasoning(Record):
    """What an agent did, and why."""

    agent: AgentType
    step: Step
    message: str
    reasoning: str
    timestamp: datetime


class ResearchCounts(Record):
    """`WorkflowResults`: what there is so far."""

    urls_discovered: int
    urls_scraped: int
    knowledge_points: int
    relationships: int
    knowledge_tree_id: int | None


class WaitingGate(Record):
    """What waits for a person: decide on it with its digest, here or at `/api/approvals/{id}`.

    `amended_by` is who made of it what it is now; None where it is as the research asked.
    """

    approval_id: str
    kind: str
    digest: str
    title: str
    content: Mapping[str, Any]
    expires_at: datetime
    may_decide: bool
    amended_by: str | None = None


class ResearchStatusResponse(Record):
    """`WorkflowStatusResponse`, with the `outcome` of one that is completed.

    `reason` is why it ended without what was asked for: who said no or stopped it, with what words.
    """

    id: int
    name: str
    status: AgentWorkflowStatus
    task_type: TaskType | None
    current_step: Step
    current_agent: AgentType | None
    progress: ProgressInfo
    agent_reasoning: AgentReasoning | None
    results: ResearchCounts | None
    created_at: datetime
    updated_at: datetime
    project_id: int
    topic: str
    parent_workflow_id: int | None
    waits_for: str | None
    error: str | None
    outcome: ResearchOutcome | None = None
    reason: str | None = None
    approval: WaitingGate | None
