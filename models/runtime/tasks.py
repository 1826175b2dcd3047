"""Tasks: the workflows that somebody began, as they see them (seed 000 §1.5, `GET /api/tasks/{task_id}`)."""

from datetime import datetime
from typing import Any

from models.chat.messages import WorkflowState
from models.record import Record
from models.runtime.workflows import WorkflowStatus


class Task(Record):
    """One workflow that its requester began in the chat or with a tool.

    `status` is the workflow's: `queued`, `running`, `waiting` (for a human), `parked` (for what is away),
    `succeeded`, `failed` or `cancelled`, where the seed shows Celery's PENDING, STARTED, SUCCESS and FAILURE.
    `result` is that of the kind of workflow; a research's is `{"status": "completed" | "not_enough",
    "article_id", "resources_created", "content_preview", …}`.
    """

    task_id: str
    kind: str
    status: WorkflowStatus
    requested_by: str
    created_at: datetime
    finished_at: datetime | None
    error: str | None
    result: dict[str, Any] | None
    workflow_state: WorkflowState
