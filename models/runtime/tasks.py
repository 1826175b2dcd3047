"""Tasks: the workflows that somebody began, as they see them (seed 000 §1.5, `GET /api/tasks/{task_id}`)."""

from datetime import datetime
from typing import Any, Literal

from models.chat.messages import WorkflowState
from models.record import Record
from models.runtime.workflows import WorkflowStatus

# How a workflow ends that did not do what was asked for, and did not fail either.
TaskEnding = Literal[
    "rejected",  # a person said no
    "expired",  # nobody decided in time
    "void",  # what was asked for was changed before anybody decided
    "not_enough",  # there was too little to write from
    "nothing_found",
    "nothing_read",
    "nothing_extracted",
    "nothing_written",
]
TaskStatus = WorkflowStatus | TaskEnding


class Task(Record):
    """One workflow that its requester began in the chat or with a tool.

    `status` is the workflow's: `queued`, `running`, `waiting` (for a human), `parked` (for what is away),
    `succeeded`, `failed` or `cancelled`, where the seed shows Celery's PENDING, STARTED, SUCCESS and FAILURE;
    or a `TaskEnding`: only what did what was asked for has `succeeded`. `reason` is why it did not: who said
    no with what words, say.
    `result` is that of the kind of workflow; a research's is `{"status": "completed" | "not_enough",
    "article_id", "resources_created", "content_preview", …}`.
    """

    task_id: str
    kind: str
    status: TaskStatus
    reason: str | None = None
    requested_by: str
    created_at: datetime
    finished_at: datetime | None
    error: str | None
    result: dict[str, Any] | None
    workflow_state: WorkflowState
