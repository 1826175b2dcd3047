"""What happened in an operation, in its order: the execution context of seed 003.

Each entry is written in the transaction of the step that it tells of, and none is ever changed.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from models.operations.plans import OperationAgent
from models.record import Record

Stage = Literal["plan_creation", "plan_approval", "agent_execution", "results_compilation", "final_approval"]


class HistoryEntry(Record):
    """One thing that happened. `by` is the person whose decision it is; `user_feedback` what he said."""

    id: int
    iteration: int
    stage: Stage
    agent: OperationAgent | Literal["planner"] | None = None
    result: Mapping[str, Any]
    user_feedback: str | None = None
    by: str | None = None
    timestamp: datetime


class PlanApproval(Record):
    """What was decided on a plan."""

    iteration: int
    approved: bool
    feedback: str | None
    by: str | None
    timestamp: datetime


class FinalApproval(Record):
    """What was decided on results."""

    iteration: int
    approved: bool
    revision_type: str
    feedback: str | None
    by: str | None
    timestamp: datetime


class HistoryEnd(Record):
    """That it is over: `status` says how, and `reason` why it is without what was asked for."""

    status: str
    reason: str | None
    timestamp: datetime


class ExecutionContext(Record):
    """`Enhanced Execution Context` of the seed: the task as it was asked for, and all that happened.

    `ended` is there once it is over: cancelled, failed, expired or completed.
    """

    original_task: str
    workflow_type: str
    execution_history: tuple[HistoryEntry, ...]
    plan_approvals: tuple[PlanApproval, ...]
    final_approvals: tuple[FinalApproval, ...]
    ended: HistoryEnd | None = None
