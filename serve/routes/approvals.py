"""Approvals over HTTP: the inbox, and one with all that is decided on. The kind is a parameter.

The decision is the tool `decide_approval`. `POST /api/approvals/{article_id}` is the seed's callback
(000 §7.2), for publishing only.
"""

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter, Body, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from actors.platform.tools.decisions import ArticleDecisionResponse, Digest, Notes
from actors.platform.tools.registry import Registry
from models.errors import ApprovalNotFound
from models.runtime.approvals import ApprovalDetails, ApprovalStatus, ApprovalSummary
from models.store import approval_inbox
from models.store.content import articles
from models.store.database import Database
from serve.auth.caller import Caller
from serve.problems import problem_responses

# Once a decision has taken effect; until then the tool's own message holds.
_MESSAGES = {
    ("approved", "published"): "Approved: the article is published.",
    ("approved", "editor"): "Approved, but it could not be published: the article is back with its editor.",
    ("rejected", "editor"): "Rejected: the article is back with its editor.",
}
_PATIENCE_SECONDS = 10.0
_POLL_SECONDS = 0.1
router = APIRouter(prefix="/api/approvals", tags=["approvals"])
ApprovalId = Annotated[str, Path(alias="id", max_length=64, examples=["12"])]


@router.get("", responses=problem_responses(401, 422, 503))
async def list_approvals(
    request: Request,
    caller: Caller,
    status: Annotated[ApprovalStatus | Literal["all"], Query()] = "pending",
    kind: Annotated[str | None, Query(max_length=64, examples=["publish_article"])] = None,
    topic: Annotated[str | None, Query(max_length=64)] = None,
    requested_by: Annotated[str | None, Query(max_length=255)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
) -> list[ApprovalSummary]:
    """The inbox: what the caller may decide or asked for, oldest first."""
    database: Database = request.app.state.database
    async with database.connection() as connection:
        found = await approval_inbox.inbox(
            connection,
            caller.subject,
            caller.scopes,
            status=None if status == "all" else status,
            kind=kind,
            topic=topic,
            requested_by=requested_by,
            limit=limit,
            offset=offset,
        )
    return [ApprovalSummary.of(approval, caller.subject, caller.scopes) for approval in found]


@router.get("/{id}", responses=problem_responses(401, 404, 422, 503))
async def get_approval(request: Request, caller: Caller, approval_id: ApprovalId) -> ApprovalDetails:
    """One approval with the full content that its digest covers."""
    database: Database = request.app.state.database
    async with database.connection() as connection:
        approval = await approval_inbox.get(connection, approval_id)
    if not approval.shown_to(caller.subject, caller.scopes):
        raise ApprovalNotFound(f"there is no approval {approval_id!r}")
    return ApprovalDetails.of(approval, caller.subject, caller.scopes)


class ApprovalRequest(BaseModel):
    """The seed's callback, and the digest of what was shown; webhooks carry it in their payloads."""

    model_config = ConfigDict(extra="forbid", strict=True)

    approved: Annotated[bool, Field(examples=[True])]
    notes: Notes | None = None
    digest: Digest | None = None


class ApprovalResponse(BaseModel):
    """The seed's answer. `new_status` is what the article is when this is answered.

    That is `published` or `editor`; `pending_approval` while more people must approve, or if the decision,
    which is kept, has not taken effect within some seconds.
    """

    model_config = ConfigDict(frozen=True)

    success: bool
    article_id: int
    new_status: str
    message: str


@router.post("/{id}", responses=problem_responses(401, 403, 404, 409, 422, 429, 503))
async def approve_article(
    request: Request,
    caller: Caller,
    article_id: Annotated[int, Path(alias="id", ge=1, le=2**53 - 1, examples=[17])],
    body: Annotated[ApprovalRequest, Body()],
) -> ApprovalResponse:
    """Decide the publication that is asked for of an article (seed 000 §7.2)."""
    registry: Registry = request.app.state.registry
    answer = await registry.call(
        "decide_article", {"article_id": article_id, **body.model_dump()}, caller=caller, door="rest"
    )
    assert isinstance(answer, ArticleDecisionResponse)
    status, message = answer.new_status, answer.message
    if answer.decision != "pending":
        status = await _article_status_after(request.app.state.database, article_id, answer.approval_id)
        message = _MESSAGES.get((answer.decision, status), message)
    return ApprovalResponse(success=True, article_id=article_id, new_status=status, message=message)


async def _article_status_after(database: Database, article_id: int, approval_id: str) -> str:
    """The article's status once a runner has acted on the decision, or after some seconds as it is then."""
    deadline = asyncio.get_running_loop().time() + _PATIENCE_SECONDS
    while True:
        async with database.connection() as connection:
            article = await articles.get(connection, article_id)
        if article.approval_id != approval_id or asyncio.get_running_loop().time() > deadline:
            return article.status
        await asyncio.sleep(_POLL_SECONDS)
