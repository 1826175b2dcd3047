"""Workflows: one durable run of a graph each, and the leases under which runners run them.

queued → running → (waiting | parked → queued → running)* → succeeded | failed | cancelled. `waiting` is for a
decision, `parked` for something that is away. A failed workflow may be begun again, from its last document.
"""

from datetime import datetime
from typing import Any, Literal

from models.people.scopes import Role
from models.record import Record

WorkflowStatus = Literal["queued", "running", "waiting", "parked", "succeeded", "failed", "cancelled"]
OPEN_STATUSES: tuple[WorkflowStatus, ...] = ("queued", "running", "waiting", "parked")
ENDED_STATUSES: tuple[WorkflowStatus, ...] = ("succeeded", "failed", "cancelled")


class Permission(Record):
    """What the requester must have; checked again, from their grants, when the workflow resumes."""

    role: Role
    topic: str | None = None


class WorkflowRequest(Record):
    """What it takes to begin a workflow.

    `key` names the thing being worked on: at most one workflow of a key is open at a time.
    """

    kind: str
    key: str | None = None
    input: dict[str, Any]
    input_digest: str
    requested_by: str
    permission: Permission | None = None


class Workflow(Record):
    """A row of `workflows`.

    `parked_for` says what it waits for while it is parked, since `parked_since`. `projection_due` is true
    while the files that tell of an ended workflow are still to be written.
    """

    id: str
    kind: str
    key: str | None
    input: dict[str, Any]
    input_digest: str
    requested_by: str
    status: WorkflowStatus
    epoch: int
    runner_id: str | None
    result: dict[str, Any] | None
    error: str | None
    parked_for: str | None
    parked_since: datetime | None
    projection_due: bool
    permission: Permission | None
    created_at: datetime
    updated_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class Progress(Record):
    """How far a workflow is, without its contents: what a batch looks at again and again."""

    id: str
    status: WorkflowStatus
    parked_for: str | None
    projection_due: bool

    @property
    def over(self) -> bool:
        """Whether it has ended, its files written."""
        return self.status in ENDED_STATUSES and not self.projection_due


class Claim(Record):
    """A runner's right to run a workflow: every write checks that `epoch` is still the workflow's.

    `deaths` counts the runners in a row that died with it and left no new document; `waited_seconds` is how
    long it was tried in vain since the last one, pauses included. `traceparent` is of what asked for it, and
    `asked` says whether people were asked for anything in it by then.
    """

    workflow_id: str
    epoch: int
    kind: str
    input: dict[str, Any]
    requested_by: str
    permission: Permission | None
    waited_seconds: float
    deaths: int
    created_at: datetime
    traceparent: str | None = None
    asked: bool = True

    @property
    def mark(self) -> "ClaimMark":
        """Which one it is."""
        return ClaimMark(workflow_id=self.workflow_id, epoch=self.epoch)


class ClaimMark(Record):
    """Which claim something is done under, for whoever sends in its name: no more than it takes to look."""

    workflow_id: str
    epoch: int


class Holding(Record):
    """What a runner still holds, as the database sees it; `wanted` is false once its batch is gone."""

    workflow_id: str
    epoch: int
    wanted: bool
