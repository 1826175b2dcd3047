"""Every error Signoff raises on purpose.

The class name is the fact, the docstring says what it means; the message names the thing and the
remedy. `http_status` is what the HTTP door answers (RFC 9457 problem details). An `outage` is no verdict
on the work: something that it needs is away, and the work is tried again later.
"""

from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:  # commands show their help without reading records
    from models.llm import ModelCall


class SignoffError(Exception):
    """Something Signoff refuses or could not do. `facts` are for programs: members of the problem details."""

    http_status: ClassVar[int] = 500
    outage: ClassVar[bool] = False

    def __init__(self, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.facts = facts


class ConfigInvalid(SignoffError):
    """The configuration file is wrong: the message names file, key path and reason."""


class TopicInvalid(SignoffError):
    """A topic file can't be edited: the message names the file, the key and the reason."""

    http_status = 422


class TopicUnknown(SignoffError):
    """The site has no such subject area."""

    http_status = 422


class PathNotVisible(SignoffError):
    """A path a job was given can't be seen from where the job runs."""


class PromptInvalid(SignoffError):
    """A prompt file is missing, or uses a name that nobody gives it."""


class ModelUnavailable(SignoffError):
    """A model can't be had: its endpoint is away, unwell, or not set up right. `waits_for` names it."""

    http_status = 503
    outage = True


class ModelRefused(SignoffError):
    """A model's endpoint refused this request, and answers others."""

    http_status = 422


class ModelTimedOut(SignoffError):
    """A model took longer over this request than it may, while it answered others."""

    http_status = 504


class ModelNotFound(SignoffError):
    """An OpenAI client asked a model that there is not, or none that the caller may use."""

    http_status = 404


class ModelReplyInvalid(SignoffError):
    """A model's reply still broke its schema or rules after the configured retries. `calls` are its tries."""

    calls: "tuple[ModelCall, ...]" = ()


class NothingToQuote(SignoffError):
    """No source holds a sentence that can be quoted by itself, and none a figure."""


class PromptTooLong(SignoffError):
    """A prompt is over the agent's share of its context window; nothing was sent."""

    http_status = 422


class AgentDied(SignoffError):
    """An agent's process ended or can't be reached; asking again starts a new one. `waits_for` names it."""

    http_status = 503
    outage = True


class AnswerFailed(SignoffError):
    """The assistant failed for a reason of its own; the log of the site has it."""


class ConversationNotFound(SignoffError):
    """The caller has no conversation of this id."""

    http_status = 404


class RequestConflict(SignoffError):
    """A request's id was used for another request; nothing has changed."""

    http_status = 409


class TaskNotFound(SignoffError):
    """No task has this id, or none that is the caller's."""

    http_status = 404


class FeatureOff(SignoffError):
    """The configuration has switched this off; the message names the setting."""

    http_status = 503


class ProviderMissing(SignoffError):
    """No provider is configured that could answer; the message names the setting to add."""

    http_status = 422


class ProviderFailed(SignoffError):
    """An outside provider did not answer usefully: the message says which and what it said."""

    http_status = 502


class ProviderLimited(SignoffError):
    """An outside provider refuses more calls for now; `retry_after_seconds` where it said how long."""

    http_status = 503


class McpServerAway(SignoffError):
    """An MCP server can't be reached, or does not answer in time. `waits_for` names it."""

    http_status = 503
    outage = True


class ServedToolChanged(SignoffError):
    """An MCP server declares a tool otherwise than as it was approved, or not at all; it was not called."""

    http_status = 409


class ServedToolRefused(SignoffError):
    """A call of an MCP server's tool may not be made, or its server does not let us in; nothing was done."""

    http_status = 422


class ServedToolInvalid(SignoffError):
    """An MCP server broke the protocol, or the schema of its own tool."""

    http_status = 502


class WriteAnswerLost(SignoffError):
    """A tool that writes was called and its answer can't be had: whether it did so is not known."""

    http_status = 502


class DocumentUnreadable(SignoffError):
    """A fetched document is not what it should be, too large, or can't be read in time."""

    http_status = 422


class PageFailed(SignoffError):
    """A page has no text to give: `facts["fault"]` is one of `models.knowledge.pages.PageFault`."""

    http_status = 422


class BrowserUnavailable(SignoffError):
    """Chromium is missing here, or does not start. `waits_for` names it."""

    http_status = 503
    outage = True

    def __init__(self, message: str) -> None:
        super().__init__(message, waits_for="browser")


class BatchStopped(SignoffError):
    """A batch was told to stop before its end; submitted again, it goes on."""


class ProjectNotFound(SignoffError):
    """No project has this id, or none that is the caller's."""

    http_status = 404


class ResearchNotFound(SignoffError):
    """No research has this number, or none that is the caller's."""

    http_status = 404


class ResearchLimited(SignoffError):
    """A person has as many researches under way as the topic's plan allows (`research.limits`)."""

    http_status = 429


class OperationNotFound(SignoffError):
    """There is no such operation, or the caller may not know of it."""

    http_status = 404


class PdfNotMade(SignoffError):
    """A PDF could not be made of approved results, or not in time; the other formats can be had."""


class TreeNotFound(SignoffError):
    """A project holds no tree of this id."""

    http_status = 404


class SourceNotFound(SignoffError):
    """A project holds no source of this id."""

    http_status = 404


class SourceBusy(SignoffError):
    """A batch is fetching this source; what it brings would be lost, or this would."""

    http_status = 409


class EntityNotFound(SignoffError):
    """A project holds no entity of this id."""

    http_status = 404


class MergeNotFound(SignoffError):
    """A project holds no merge of entities of this id."""

    http_status = 404


class PlacesTaken(SignoffError):
    """This node does as many of these at once as it may; `retry_after_seconds` says when to ask again."""

    http_status = 503


class ReviewUnreadable(SignoffError):
    """A review that is not empty holds no bullet (seed 004 §6.1.1)."""


class KnowledgeBaseInvalid(SignoffError):
    """The site's knowledge base can't be had: its disk, files or settings. No topic's fault, so it waits."""

    http_status = 503
    outage = True

    def __init__(self, message: str, **facts: Any) -> None:
        super().__init__(message, **{"waits_for": f"knowledge base: {message}", **facts})


class EvidenceUnavailable(SignoffError):
    """The evidence provider is away, unwell, or not set up right. `waits_for` names it."""

    http_status = 503
    outage = True


class EvidenceRefused(SignoffError):
    """The evidence provider refused this query, or had no answer to it."""

    http_status = 502


class MemoryUnavailable(SignoffError):
    """The disk of the institutional memory can't be used. `waits_for` names it."""

    http_status = 503
    outage = True


class MemoryRecordInvalid(SignoffError):
    """A file of institutional memory is not a whole, valid record (seed 004 §7.3)."""


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


class Fenced(SignoffError):
    """A write came from a runner that no longer owns the workflow; nothing was written."""

    http_status = 409


class ApprovalNotFound(SignoffError):
    """No approval has this id."""

    http_status = 404


class ApprovalConflict(SignoffError):
    """The approval was decided, has expired, or is for other content than was shown."""

    http_status = 409


class DecisionInvalid(SignoffError):
    """A decision is malformed: it is refused and changes nothing (unclear is not yes)."""

    http_status = 422


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


class AddressRefused(SignoffError):
    """An address that a user gave may not be reached from here (the URL guard)."""

    http_status = 422


class StreamTooSlow(SignoffError):
    """Whoever follows a stream takes it more slowly than it comes; they may go on where they stood."""

    http_status = 503


class DatabaseUnavailable(SignoffError):
    """Postgres can't be reached, or its schema is not this release's."""

    http_status = 503
    outage = True


class ClusterProblem(SignoffError):
    """A part of the cluster can't come up: the message says what is wrong and what to do."""


class RequestRefused(SignoffError):
    """An HTTP endpoint refused a command's request: the message is the problem's `detail`."""
