"""Operations as they are asked for, and as they stand. Seed 003."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from models.operations.items import SourceAgent
from models.operations.plans import OperationAgent
from models.record import Record
from models.runtime.approvals import GateShown
from models.tools import PlainText, Prose
from models.visible import shows_something

OperationStatus = Literal[
    "pending", "running", "awaiting_approval", "parked", "completed", "failed", "cancelled"
]
# An operation of these stays as it is.
OVER: frozenset[OperationStatus] = frozenset({"completed", "failed", "cancelled"})
CurrentStage = Literal[
    "plan_creation",
    "plan_approval",
    "gmail_execution",
    "ap_execution",
    "crm_execution",
    "analysis_execution",
    "results_compilation",
    "final_approval",
    "completed",
]
STAGE_OF: Mapping[SourceAgent, CurrentStage] = {
    "gmail": "gmail_execution",
    "accounts_payable": "ap_execution",
    "crm": "crm_execution",
}
# Who is at work at each stage; nobody where a person decides.
AGENT_AT: Mapping[CurrentStage, OperationAgent | Literal["planner"]] = {
    "plan_creation": "planner",
    **{stage: agent for agent, stage in STAGE_OF.items()},
    "analysis_execution": "analysis",
}
MOST_QUESTION = 4000  # characters


def _not_blank(question: str) -> str:
    if not shows_something(question):
        raise ValueError("asks nothing: it is blank")
    return question


Question = Annotated[Prose, Field(min_length=3, max_length=MOST_QUESTION), AfterValidator(_not_blank)]
TaskTypeName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")]


class OperationRequest(BaseModel):
    """What somebody wants to know. The same `request_id` again is the same operation, never a second one.

    `task_type` is one of `operations.task_types`: it says which gates stand.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    query: Question
    topic: Annotated[PlainText, Field(max_length=64)]
    task_type: TaskTypeName = "comprehensive"
    request_id: Annotated[PlainText, Field(min_length=1, max_length=200)] | None = None


class OperationTask(Record):
    """What the workflow of an operation is given. `gates` are those of its type when it was asked for."""

    query: str
    topic: str
    task_type: str
    request_id: str | None = None
    gates: tuple[str, ...]


class Operation(Record):
    """A row of `operations`: its number is what people call it; `workflow_id` is the seed's `plan_id`."""

    id: int
    workflow_id: str
    topic: str
    name: str
    query: str
    task_type: str
    requested_by: str
    request_id: str | None
    created_at: datetime


class OperationBegun(Record):
    """It has a number now, by which it is followed; `plan_id` names it in messages."""

    operation_id: int
    plan_id: str
    status: OperationStatus
    message: str


class OperationProgress(Record):
    """How far it is (`workflow_progress_update` of the seed). `estimated_remaining` is in seconds."""

    plan_id: str
    current_stage: CurrentStage
    progress_percentage: float
    current_agent: OperationAgent | Literal["planner"] | None
    estimated_remaining: float | None
    completed_agents: tuple[OperationAgent, ...]
    pending_agents: tuple[OperationAgent, ...]


class OperationStatusResponse(Record):
    """An operation as it stands. `reason`: why it ended without what was asked for, with whose words."""

    operation_id: int
    plan_id: str
    name: str
    topic: str
    task_type: str
    query: str
    requested_by: str
    status: OperationStatus
    iteration: int
    progress: OperationProgress
    created_at: datetime
    updated_at: datetime
    waits_for: str | None
    error: str | None
    outcome: str | None
    reason: str | None = None
    approval: GateShown | None
