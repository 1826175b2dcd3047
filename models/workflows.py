"""Workflows: one durable run of a graph each, and the leases under which runners run them.

queued → running → (waiting → queued → running)* → succeeded | failed | cancelled. A failed workflow may
be queued again and continues from its last checkpoint.
"""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from models.scopes import Role

WorkflowStatus = Literal["queued", "running", "waiting", "succeeded", "failed", "cancelled"]
OPEN_STATUSES: tuple[WorkflowStatus, ...] = ("queued", "running", "waiting")
ENDED_STATUSES: tuple[WorkflowStatus, ...] = ("succeeded", "failed", "cancelled")


class Permission(BaseModel):
    """What the requester must have; checked again, from their grants, when the workflow resumes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: Role
    topic: str | None = None


class WorkflowRequest(BaseModel):
    """What it takes to begin a workflow.

    `key` names the thing being worked on: at most one workflow of a key is open at a time.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str
    key: str | None = None
    input: dict[str, Any]
    input_digest: str
    requested_by: str
    permission: Permission | None = None


class Workflow(BaseModel):
    """A row of `workflows`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    kind: str
    key: str | None
    input: dict[str, Any]
    input_digest: str
    requested_by: str
    status: WorkflowStatus
    epoch: int
    runner_id: str | None
    resume: dict[str, Any] | None
    result: dict[str, Any] | None
    error: str | None
    permission: Permission | None
    created_at: datetime
    updated_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class Claim(BaseModel):
    """A runner's right to run a workflow: every write checks that `epoch` is still the workflow's."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    workflow_id: str
    epoch: int
    kind: str
    input: dict[str, Any]
    requested_by: str
    resume: dict[str, Any] | None
    permission: Permission | None
    created_at: datetime


class Holding(BaseModel):
    """What a runner still holds, as the database sees it; `wanted` is false once its batch is gone."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    workflow_id: str
    epoch: int
    wanted: bool
