"""Errors of workflows and of what is decided on."""

from models.errors.base import SignoffError


class WorkflowNotFound(SignoffError):
    """No workflow has this id."""

    http_status = 404


class WorkflowEnded(SignoffError):
    """The workflow has already ended, so it can't be stopped or resumed."""

    http_status = 409


class WorkflowConflict(SignoffError):
    """The workflow is not in a state that this can be done in; nothing has changed."""

    http_status = 409


class JournalMismatch(SignoffError):
    """A workflow's documents and decisions are not what this release's graph would have made of it."""


class WorkflowDeadly(SignoffError):
    """Runner after runner died while it ran the workflow."""


class GatesExhausted(SignoffError):
    """A workflow would ask people at more gates than one workflow may have."""


class Fenced(SignoffError):
    """A write came from a runner that no longer owns the workflow; nothing was written."""

    http_status = 409


class TaskNotFound(SignoffError):
    """No task has this id, or none that is the caller's."""

    http_status = 404


class ApprovalNotFound(SignoffError):
    """No approval has this id."""

    http_status = 404


class ApprovalConflict(SignoffError):
    """The approval was decided, has expired, or is for other content than was shown."""

    http_status = 409


class DecisionInvalid(SignoffError):
    """A decision is malformed: it is refused and changes nothing (unclear is not yes)."""

    http_status = 422
