"""Errors of what people and programs ask: who they are, what they may, and what they name."""

from models.errors.base import SignoffError


class PermissionMissing(SignoffError):
    """The caller lacks the scope, or asked for this approval himself. `scope` is what it takes."""

    http_status = 403


class Unauthenticated(SignoffError):
    """The token is missing or not valid."""

    http_status = 401


class KeysUnavailable(SignoffError):
    """The keys that tokens are checked with could not be read yet."""

    http_status = 503


class InputInvalid(SignoffError):
    """A request names or holds something that can't be: the message names the field and the remedy."""

    http_status = 422


class ToolNotFound(SignoffError):
    """No tool has this name, or this door does not offer it."""

    http_status = 404


class RateLimited(SignoffError):
    """The user calls this tool too often; `retry_after_seconds` says when it may be called again."""

    http_status = 429


class FeatureOff(SignoffError):
    """The configuration has switched this off; the message names the setting."""

    http_status = 503


class TopicUnknown(SignoffError):
    """The site has no such subject area."""

    http_status = 422


class ConversationNotFound(SignoffError):
    """The caller has no conversation of this id."""

    http_status = 404


class RequestConflict(SignoffError):
    """A request's id was used for another request; nothing has changed."""

    http_status = 409


class ArticleNotFound(SignoffError):
    """No article has this id, or none that the caller may read."""

    http_status = 404


class ArticleConflict(SignoffError):
    """The article is not in the status, or not of the version, that this takes; nothing has changed."""

    http_status = 409


class ResourceNotFound(SignoffError):
    """No resource has this id, or none that the caller may read."""

    http_status = 404


class PromptConflict(SignoffError):
    """Someone else edited the prompt meanwhile; nothing has changed."""

    http_status = 409


class UserNotFound(SignoffError):
    """No user has this id."""

    http_status = 404


class RevocationNotFound(SignoffError):
    """This scope is not revoked from this user."""

    http_status = 404


class WebhookNotFound(SignoffError):
    """No webhook, or no delivery of it, has this id."""

    http_status = 404


class SealBroken(SignoffError):
    """A kept secret can't be opened with the keys that are configured."""


class WebhookInactive(SignoffError):
    """The webhook is switched off, so nothing is sent to it; nothing has changed."""

    http_status = 409
