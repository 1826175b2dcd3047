"""The catalogue of events: what an event of each type says, as clients read it from the OpenAPI description.

A record names its `type`, and its fields are the event's `data`. One that an older release wrote may lack
what came later. A system declares its own in `System.events`; these are the platform's.
"""

from typing import Any, ClassVar, Literal

from models.record import Record
from models.runtime.approvals import ApprovalStatus

DraftingOutcome = Literal["completed", "not_enough", "failed"]


class EventData(Record):
    """What an event of one type says. Its fields are JSON."""

    type: ClassVar[str]

    def as_json(self) -> dict[str, Any]:
        """The fields that were given."""
        return self.model_dump(mode="json", exclude_unset=True)


class WorkflowQueued(EventData):
    """It waits for a runner: at first (`kind`), or because somebody retried it (`again`)."""

    type = "workflow.queued"
    kind: str | None = None
    again: bool | None = None


class WorkflowRunning(EventData):
    """A runner has taken it."""

    type = "workflow.running"
    runner: str
    epoch: int


class WorkflowPaused(EventData):
    """Its runner gave it back, so that another takes it."""

    type = "workflow.paused"


class WorkflowParked(EventData):
    """It waits for something that is away."""

    type = "workflow.parked"
    waits_for: str


class WorkflowSucceeded(EventData):
    """It is done."""

    type = "workflow.succeeded"


class WorkflowFailed(EventData):
    """It ended in an error; None for those who may not know it."""

    type = "workflow.failed"
    error: str | None


class WorkflowCancelled(EventData):
    """It was stopped from outside; no `reason` for those who may not know it."""

    type = "workflow.cancelled"
    reason: str | None


class WorkflowFilesDelayed(EventData):
    """It has ended, and its files can't be written yet."""

    type = "workflow.files_delayed"
    reason: str | None


class StepDone(EventData):
    """A step's outcome is kept under its key, `step`."""

    type = "step.done"
    step: str


class ApprovalEvent(EventData):
    """`by`: who did it; None when it was nobody."""

    approval_id: str
    kind: str
    about: str | None
    title: str
    by: str | None


class ApprovalRequested(ApprovalEvent):
    """Somebody must decide."""

    type = "approval.requested"


class ApprovalVoted(ApprovalEvent):
    """One approved, and it takes more."""

    type = "approval.voted"


class ApprovalAmended(ApprovalEvent):
    """Somebody has put other content in place of what was asked for; votes on that count no more."""

    type = "approval.amended"


class ApprovalApproved(ApprovalEvent):
    """It was approved, by as many as it takes."""

    type = "approval.approved"


class ApprovalRejected(ApprovalEvent):
    """It was rejected."""

    type = "approval.rejected"


class ApprovalExpired(ApprovalEvent):
    """Nobody decided in time."""

    type = "approval.expired"


class ApprovalVoid(ApprovalEvent):
    """What it was about has changed, or what asked for it has ended."""

    type = "approval.void"


class ArticleEvent(EventData):
    """`status` is the article's afterwards."""

    article_id: int
    status: str


class ArticleCreated(ArticleEvent):
    """There is a new draft."""

    type = "article.created"
    version: int
    headline: str
    by: str


class ArticleWritten(ArticleEvent):
    """It has a new version."""

    type = "article.written"
    version: int
    by: str


class ArticleSubmitted(ArticleEvent):
    """It was handed to the editors."""

    type = "article.submitted"
    by: str


class ArticleChangesRequested(ArticleEvent):
    """The editors sent it back."""

    type = "article.changes_requested"
    by: str
    notes: str


class ArticlePublicationRequested(ArticleEvent):
    """Its publication is asked for."""

    type = "article.publication_requested"
    by: str
    approval_id: str
    version: int


class ArticlePublished(ArticleEvent):
    """Readers see it. `by` is empty where nobody decided."""

    type = "article.published"
    version: int
    headline: str
    approval_id: str
    by: str


class ArticleReturned(ArticleEvent):
    """Its publication came to nothing: it is back with its editor."""

    type = "article.returned"
    approval_id: str
    reason: str
    by: str | None
    notes: str | None


class Notification(EventData):
    """What became of something, told to one person, `to`: of a publication, or of an article's drafting.

    Of a publication it has `approval_id`, `by` and `notes`; of drafting, `task_id`.
    """

    type = "notification"
    to: str
    outcome: ApprovalStatus | Literal["stopped"] | DraftingOutcome
    article_id: int | None
    headline: str
    reason: str | None
    task_id: str | None = None
    approval_id: str | None = None
    by: str | None = None
    notes: str | None = None


class ResourceCreated(EventData):
    """There is a new resource."""

    type = "resource.created"
    resource_id: int
    kind: str
    name: str
    by: str


class PromptEdited(EventData):
    """A topic's prompt has a new version."""

    type = "prompt.edited"
    topic: str
    version: int
    by: str


class ScopeRevoked(EventData):
    """A person has a scope no more, whatever their token says."""

    type = "scope.revoked"
    subject: str
    scope: str
    reason: str
    by: str


class ScopeRestored(EventData):
    """A revocation was ended."""

    type = "scope.restored"
    subject: str
    scope: str
    by: str


class WebhookEvent(EventData):
    webhook_id: int
    name: str
    by: str


class WebhookCreated(WebhookEvent):
    """There is a new webhook."""

    type = "webhook.created"
    url: str


class WebhookChanged(WebhookEvent):
    """Some of its `fields` were written."""

    type = "webhook.changed"
    fields: tuple[str, ...]


class WebhookDeleted(WebhookEvent):
    """It is gone, with its deliveries."""

    type = "webhook.deleted"


class WebhookSecretRotated(WebhookEvent):
    """It signs with a new secret."""

    type = "webhook.secret_rotated"


class _DeliveryEvent(EventData):
    webhook_id: int
    delivery_id: str
    error: str | None


class WebhookDead(_DeliveryEvent):
    """A delivery was given up."""

    type = "webhook.dead"


class WebhookDisabled(_DeliveryEvent):
    """Its target is gone: it was switched off."""

    type = "webhook.disabled"


APPROVAL_SETTLED: dict[str, type[ApprovalEvent]] = {
    "approved": ApprovalApproved,
    "rejected": ApprovalRejected,
    "expired": ApprovalExpired,
    "void": ApprovalVoid,
}
EVENTS: tuple[type[EventData], ...] = (
    WorkflowQueued,
    WorkflowRunning,
    WorkflowPaused,
    WorkflowParked,
    WorkflowSucceeded,
    WorkflowFailed,
    WorkflowCancelled,
    WorkflowFilesDelayed,
    StepDone,
    ApprovalRequested,
    ApprovalVoted,
    ApprovalAmended,
    *APPROVAL_SETTLED.values(),
    ArticleCreated,
    ArticleWritten,
    ArticleSubmitted,
    ArticleChangesRequested,
    ArticlePublicationRequested,
    ArticlePublished,
    ArticleReturned,
    Notification,
    ResourceCreated,
    PromptEdited,
    ScopeRevoked,
    ScopeRestored,
    WebhookCreated,
    WebhookChanged,
    WebhookDeleted,
    WebhookSecretRotated,
    WebhookDead,
    WebhookDisabled,
)
