"""Article tools: search, read, draft, write, submit. Seed 000 §7.2, §8.1."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from actors.platform.tools.tool import Input, Output, ToolContext, tool
from actors.platform.tools.visibility import (
    attachable_resource,
    known_topic,
    sees_drafts,
    topic_in_request,
    topic_of_article,
    visible_article,
    visible_version,
)
from models.content.articles import Article, ArticleStatus, ArticleVersion, AttachedResource, EditorFindings
from models.content.quoting import Written
from models.content.search import MOST_FOUND
from models.errors import PermissionMissing
from models.record import Record
from models.runtime.approvals import ApprovalStatus
from models.runtime.event_catalogue import ArticleChangesRequested, ArticlePublished, ArticleSubmitted
from models.store import approval_inbox, events
from models.store.content import articles, publishing
from models.tools import Label, Number, PlainText, ToolPermission

Topic = Annotated[PlainText, Field(description="Topic slug", examples=["macro"], max_length=64)]
ArticleId = Annotated[Number, Field(description="The article", examples=[17])]
Query = Annotated[
    PlainText, Field(description="Search query", min_length=1, max_length=2000, examples=["rate decision"])
]
Headline = Annotated[
    Label, Field(min_length=1, max_length=500, pattern=r"\S", examples=["The Fed holds rates"])
]
Keywords = Annotated[Label, Field(max_length=1000, examples=["fed, inflation"])]
Content = Annotated[
    PlainText, Field(description="Article content (markdown)", max_length=1_000_000, examples=["The Fed …"])
]
# The last of them says whether an article that is a draft was sent back.
_RETURNED = tuple(event.type for event in (ArticleChangesRequested, ArticleSubmitted, ArticlePublished))
ResourceIds = Annotated[list[Number], Field(max_length=200)]


class ArticleSearchRequest(Input):
    """Search one topic. Drafts take editor (or more) on it."""

    query: Query
    topic: Topic
    limit: int = Field(default=10, ge=1, le=MOST_FOUND)
    include_drafts: bool = Field(default=False)


class ArticleSummary(Record):
    """One hit. `similarity_score` is the cosine of its best passage, absent where only words matched."""

    id: int
    headline: str
    topic: str
    status: ArticleStatus
    author: str | None
    created_at: datetime
    similarity_score: float | None


class ArticleSearchResponse(Output):
    """The hits, best first. `note` says what kept the search from being whole."""

    articles: tuple[ArticleSummary, ...]
    total_count: int
    note: str | None = None


@tool(
    ToolPermission(required_role="reader", topic_scoped=True),
    rest="POST /articles/search",
    effect="reads",
    topic=topic_in_request,
    own_transactions=True,
)
async def search_articles(context: ToolContext, request: ArticleSearchRequest) -> ArticleSearchResponse:
    """Search the articles of a topic by words and by meaning; readers find published texts only."""
    if request.include_drafts and not sees_drafts(context.caller, request.topic):
        wanted = f"{request.topic}:editor"
        raise PermissionMissing(f"include_drafts: unpublished articles take the scope {wanted}", scope=wanted)
    found = await context.search.articles(
        request.query,
        topics=frozenset([request.topic]),
        scopes=context.caller.scopes,
        include_drafts=request.include_drafts,
        limit=request.limit,
    )
    hits = tuple(ArticleSummary.model_validate(hit.model_dump()) for hit in found.items)
    return ArticleSearchResponse(articles=hits, total_count=found.total, note=found.note)


class GetArticleRequest(Input):
    """Read an article: the newest version that the caller may see, or the one asked for."""

    article_id: ArticleId
    version: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None


class PublicationRequest(Record):
    """The newest request for an article's publication and what became of it.

    `notes` are the words of who decided, `reason` says why it is no yes.
    """

    approval_id: str
    status: ApprovalStatus
    requested_by: str
    decided_by: str | None
    decided_at: datetime | None
    notes: str | None
    reason: str | None


class ChangesAsked(Record):
    """Who sent a draft back to its writer, and what is to be changed."""

    by: str
    at: datetime
    notes: str


class ArticleDetails(Record):
    """An article as one version of it reads. `editor_report`, `desk_notes`, `last_request` and
    `changes_asked`, which a draft has until it is handed in again, are for those who see drafts.

    `written`: `quotes` where code put this version together of its sources' own sentences, word for word.
    """

    id: int
    topic: str
    status: ArticleStatus
    version: int
    published_version: int | None
    headline: str
    keywords: str | None
    content: str
    author: str
    written: Written
    written_by: str
    written_at: datetime
    created_at: datetime
    published_at: datetime | None
    resources: tuple[AttachedResource, ...]
    editor_report: EditorFindings | None
    desk_notes: tuple[str, ...] = ()
    last_request: PublicationRequest | None = None
    changes_asked: ChangesAsked | None = None


class GetArticleResponse(Output):
    """The article."""

    article: ArticleDetails


@tool(
    ToolPermission(required_role="reader", topic_scoped=False),
    rest="GET /articles/{id=article_id}",
    effect="reads",
)
async def get_article(context: ToolContext, request: GetArticleRequest) -> GetArticleResponse:
    """Read an article whole. Readers see its published version."""
    article = await visible_article(context, request.article_id)
    version = await visible_version(context, article, request.version)
    return GetArticleResponse(article=await details(context, article, version))


async def details(context: ToolContext, article: Article, version: ArticleVersion) -> ArticleDetails:
    """An article and a version of it, as this caller may see them."""
    whole = sees_drafts(context.caller, article.topic)
    return ArticleDetails(
        id=article.id,
        topic=article.topic,
        status=article.status if whole else "published",
        version=version.version,
        published_version=article.published_version,
        headline=version.headline,
        keywords=version.keywords,
        content=version.content,
        author=article.author,
        written=version.written,
        written_by=version.written_by,
        written_at=version.written_at,
        created_at=article.created_at,
        published_at=article.published_at,
        resources=version.resources,
        editor_report=version.editor_report if whole else None,
        desk_notes=version.desk_notes if whole else (),
        last_request=await _last_request(context, article.id) if whole else None,
        changes_asked=await _changes_asked(context, article) if whole else None,
    )


async def _changes_asked(context: ToolContext, article: Article) -> ChangesAsked | None:
    if article.status != "draft":
        return None
    event = await events.newest_about_article(context.connection, article.id, _RETURNED)
    if event is None or event.type != ArticleChangesRequested.type:
        return None
    return ChangesAsked(by=event.data["by"], at=event.at, notes=event.data["notes"])


async def _last_request(context: ToolContext, article_id: int) -> PublicationRequest | None:
    newest = await approval_inbox.last_about(context.connection, f"article:{article_id}")
    if newest is None:
        return None
    return PublicationRequest(
        approval_id=newest.id,
        status=newest.status,
        requested_by=newest.requested_by,
        decided_by=newest.decided_by,
        decided_at=newest.decided_at,
        notes=newest.notes,
        reason=newest.reason,
    )


class CreateDraftRequest(Input):
    """Begin an article."""

    topic: Topic
    headline: Headline
    keywords: Keywords | None = None


class CreateDraftResponse(Output):
    """The draft."""

    article_id: int
    headline: str
    status: ArticleStatus = "draft"


@tool(
    ToolPermission(required_role="analyst", topic_scoped=True),
    rest="POST /articles/create",
    effect="writes",
    only_adds=True,
    topic=topic_in_request,
)
async def create_draft_article(context: ToolContext, request: CreateDraftRequest) -> CreateDraftResponse:
    """Create an empty draft article in a topic."""
    article = await articles.create(
        context.connection,
        topic=known_topic(context.config, request.topic),
        headline=request.headline,
        keywords=request.keywords,
        author=context.caller.subject,
    )
    return CreateDraftResponse(article_id=article.id, headline=request.headline, status=article.status)


class WriteArticleRequest(Input):
    """Write an article's text, and attach resources to those it has.

    With `expected_version`, nothing is written if someone else has written meanwhile.
    """

    article_id: ArticleId
    content: Content
    resource_ids: ResourceIds = Field(default=[], description="Resources to attach")
    headline: Headline | None = None
    keywords: Keywords | None = None
    expected_version: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None


class WriteArticleResponse(Output):
    """The version that was written. `content_length` is in characters."""

    article_id: int
    content_length: int
    attached_resources: tuple[int, ...]
    version: int
    status: ArticleStatus


@tool(
    ToolPermission(required_role="analyst", topic_scoped=True),
    rest="POST /articles/{id=article_id}/write",
    effect="writes",
    topic=topic_of_article,
)
async def write_article_content(context: ToolContext, request: WriteArticleRequest) -> WriteArticleResponse:
    """Write a new version of an article. A request for publication that is open becomes void by it."""
    article = await articles.lock(context.connection, request.article_id)
    before = await articles.get_version(context.connection, article.id, article.version)
    attached = [resource.id for resource in before.resources]
    for resource_id in request.resource_ids:
        # Those it has rest on the right of whoever attached them.
        if resource_id not in attached:
            await attachable_resource(context, resource_id, article.topic)
    written, version = await articles.write(
        context.connection,
        request.article_id,
        by=context.caller.subject,
        headline=request.headline,
        keywords=request.keywords,
        content=request.content,
        resource_ids=[*attached, *request.resource_ids],
        expected_version=request.expected_version,
    )
    return WriteArticleResponse(
        article_id=written.id,
        content_length=len(version.content),
        attached_resources=tuple(resource.id for resource in version.resources),
        version=version.version,
        status=written.status,
    )


class SubmitArticleRequest(Input):
    """Hand a draft to the editors."""

    article_id: ArticleId


class StatusResponse(Output):
    """Where the article stands now."""

    article_id: int
    status: ArticleStatus
    message: str


@tool(
    ToolPermission(required_role="analyst", topic_scoped=True),
    rest="POST /articles/{id=article_id}/submit",
    effect="writes",
    topic=topic_of_article,
)
async def submit_for_review(context: ToolContext, request: SubmitArticleRequest) -> StatusResponse:
    """Submit a draft for editorial review."""
    article = await publishing.submit(context.connection, request.article_id, by=context.caller.subject)
    return StatusResponse(
        article_id=article.id, status=article.status, message="Article submitted for editorial review."
    )
