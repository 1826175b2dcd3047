"""Editor tools: review an article, send it back, put it up for publication. Seed 000 §3.2, §7.2, §8.1."""

from typing import Annotated

from pydantic import Field

from actors.platform.tools.articles import ArticleDetails, ArticleId, StatusResponse, details
from actors.platform.tools.tool import Input, Output, ToolContext, tool
from actors.platform.tools.visibility import topic_of_article
from models.content.articles import ArticleStatus
from models.runtime.events import Event
from models.runtime.workflows import Permission
from models.store import approval_inbox, events
from models.store.content import articles, publishing
from models.tools import PlainText, Prose, ToolPermission

Notes = Annotated[Prose, Field(max_length=5000, examples=["Includes the latest figures."])]


class ReviewArticleRequest(Input):
    """Look at an article as its editor."""

    article_id: ArticleId


class ReviewArticleResponse(Output):
    """The newest version, what happened to the article, and what stands in the way of publishing it."""

    article_id: int
    article: ArticleDetails
    word_count: int
    in_the_way: tuple[str, ...]
    open_request: str | None
    history: tuple[Event, ...]


@tool(
    ToolPermission(required_role="editor", topic_scoped=True),
    rest="GET /articles/{id=article_id}/review",
    effect="reads",
    topic=topic_of_article,
)
async def review_article(context: ToolContext, request: ReviewArticleRequest) -> ReviewArticleResponse:
    """Review an article: its newest text and sources, its history, and what stands in the way."""
    article = await articles.get(context.connection, request.article_id)
    version = await articles.get_version(context.connection, article.id, article.version)
    in_the_way = [] if article.status == "editor" else [f"it is {article.status}, not with the editors"]
    if not version.content.strip():
        in_the_way.append("it has no content")
    if not version.resources:
        in_the_way.append("it rests on no resource")
    report = version.editor_report
    in_the_way += [f"{c.excerpt}: {c.review_note}" for c in (report.blocking_concerns if report else ())]
    return ReviewArticleResponse(
        article_id=article.id,
        article=await details(context, article, version),
        word_count=len(version.content.split()),
        in_the_way=tuple(in_the_way),
        open_request=article.approval_id,
        history=tuple(await events.about_article(context.connection, article.id)),
    )


class RequestChangesRequest(Input):
    """Send an article back to its writer, saying what to change."""

    article_id: ArticleId
    notes: Annotated[Notes, Field(min_length=1, pattern=r"\S")]


@tool(
    ToolPermission(required_role="editor", topic_scoped=True),
    rest="POST /articles/{id=article_id}/request-changes",
    effect="writes",
    topic=topic_of_article,
)
async def request_changes(context: ToolContext, request: RequestChangesRequest) -> StatusResponse:
    """Send an article that is with the editors back to draft."""
    article = await publishing.request_changes(
        context.connection, request.article_id, by=context.caller.subject, notes=request.notes
    )
    return StatusResponse(
        article_id=article.id, status=article.status, message="Article returned to draft for changes."
    )


class PublishArticleRequest(Input):
    """Ask for publication."""

    article_id: ArticleId
    editor_notes: Notes | None = None


class PublishArticleResponse(Output):
    """The request. `digest` covers exactly what the approver will be shown."""

    article_id: int
    status: ArticleStatus
    approval_request_id: int
    digest: str
    message: str


@tool(
    ToolPermission(required_role="editor", topic_scoped=True, requires_hitl=True),
    rest="POST /articles/{id=article_id}/publish",
    effect="asks",
    topic=topic_of_article,
    feature="enable_hitl_workflow",
)
async def publish_article(context: ToolContext, request: PublishArticleRequest) -> PublishArticleResponse:
    """Ask for an article's publication. Nothing is published until another person approves."""
    article = await articles.get(context.connection, request.article_id)
    asked, approval, messages = await publishing.ask(
        context.connection,
        request.article_id,
        by=context.caller.subject,
        editor_notes=request.editor_notes,
        settings=context.config.publishing,
        permission=Permission(role="editor", topic=article.topic),
    )
    return PublishArticleResponse(
        article_id=asked.id,
        status=asked.status,
        approval_request_id=int(approval.id),
        digest=approval.digest,
        message="Article submitted for approval."
        + (f" Webhook notifications that will be sent: {messages}." if messages else ""),
    )


class PendingApprovalsRequest(Input):
    """List what waits for a decision."""

    topic: Annotated[PlainText, Field(max_length=64)] | None = None
    limit: int = Field(default=50, ge=1, le=200)


class PendingApproval(Output):
    """One request. `may_decide`: this caller is one of those who can decide it."""

    approval_request_id: int
    kind: str
    about: str | None
    title: str
    requested_by: str
    digest: str
    may_decide: bool


class PendingApprovalsResponse(Output):
    """The requests that this caller may decide, or asked for."""

    approvals: tuple[PendingApproval, ...]


@tool(
    ToolPermission(required_role="editor", topic_scoped=False),
    rest="GET /workflow/pending-approvals",
    effect="reads",
)
async def get_pending_approvals(
    context: ToolContext, request: PendingApprovalsRequest
) -> PendingApprovalsResponse:
    """List the approvals that wait for a decision."""
    caller = context.caller
    found = await approval_inbox.inbox(
        context.connection,
        caller.subject,
        caller.scopes,
        status="pending",
        topic=request.topic,
        limit=request.limit,
    )
    return PendingApprovalsResponse(
        approvals=tuple(
            PendingApproval(
                approval_request_id=int(approval.id),
                kind=approval.kind,
                about=approval.about,
                title=approval.title,
                requested_by=approval.requested_by,
                digest=approval.digest,
                may_decide=approval.may_be_decided_by(caller.subject, caller.scopes),
            )
            for approval in found
        )
    )
