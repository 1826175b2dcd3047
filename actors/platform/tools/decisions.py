"""Deciding approvals. For people only: no agent and no MCP client is offered these.

Who may decide is the approval's own scope, so any reader may try. `decide_approval` serves every kind of
gate; `decide_article` is the callback of seed 000 §7.2, which knows the article only. Its endpoint waits
for what comes of the decision (`serve.routes.approvals`), so it declares none.
"""

from typing import Annotated, Literal

from pydantic import Field

from actors.platform.tools.articles import ArticleId
from actors.platform.tools.tool import Input, Output, ToolContext, tool
from models.errors import ApprovalConflict, ApprovalNotFound, PermissionMissing
from models.runtime.approvals import Approval, ApprovalStatus, role_of_requester
from models.store import approval_inbox, decisions
from models.tools import PlainText, Prose, ToolPermission

_ANYONE = ToolPermission(required_role="reader", topic_scoped=False)
Notes = Annotated[Prose, Field(max_length=5000)]
Digest = Annotated[
    PlainText,
    Field(
        description="The digest of what was shown: 64 hexadecimal digits",
        pattern=r"^[0-9a-f]{64}$",
        examples=["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"],
    ),
]


class DecisionRequest(Input):
    """One person's decision. `digest` is that of the content he was shown."""

    approval_id: Annotated[PlainText, Field(max_length=64, examples=["12"])]
    decision: Literal["approve", "reject"]
    digest: Digest
    notes: Notes | None = None


class DecisionResponse(Output):
    """Where the approval stands. `pending` after an approval: it takes more people."""

    approval_id: str
    about: str | None
    status: ApprovalStatus
    approved_by: tuple[str, ...]
    quorum: int


async def _about(context: ToolContext, request: DecisionRequest) -> tuple[str | None, str | None]:
    """For the record alone, so that it says what a person tried who may not know of the approval."""
    approval = await approval_inbox.get(context.connection, request.approval_id)
    return approval.topic, approval.about


@tool(
    _ANYONE,
    rest="POST /api/approvals/{id=approval_id}/decision",
    effect="writes",
    about=_about,
    for_models=False,
)
async def decide_approval(context: ToolContext, request: DecisionRequest) -> DecisionResponse:
    """Approve or reject what was shown. 409, and nothing happens, if it is not about that any more."""
    approval = await _asked(context, request)
    caller = context.caller
    answer = {"decision": request.decision, "digest": request.digest, "notes": request.notes}
    decided = await decisions.decide_in(
        context.connection,
        approval_id=approval.id,
        answer=answer,
        decided_by=caller.subject,
        scopes=caller.scopes,
    )
    return DecisionResponse(
        approval_id=decided.id,
        about=decided.about,
        status=decided.status,
        approved_by=_approvers(decided),
        quorum=decided.quorum,
    )


class ArticleDecisionRequest(Input):
    """Seed 000 §7.2, and the digest of what was shown.

    Without the digest it is clear what was shown only if the article was put up for publication once.
    """

    article_id: ArticleId
    approved: bool = Field(strict=True)
    notes: Notes | None = None
    digest: Digest | None = None


class ArticleDecisionResponse(Output):
    """What was decided. `new_status` is the article's: `pending_approval` until it takes effect."""

    article_id: int
    approval_id: str
    decision: ApprovalStatus
    new_status: str
    message: str


async def _about_article(
    context: ToolContext, request: ArticleDecisionRequest
) -> tuple[str | None, str | None]:
    about = f"article:{request.article_id}"
    every = await approval_inbox.about(context.connection, about)
    return (every[0].topic if every else None), about


@tool(_ANYONE, rest=None, effect="writes", about=_about_article, for_models=False)
async def decide_article(context: ToolContext, request: ArticleDecisionRequest) -> ArticleDecisionResponse:
    """Approve or reject the publication that is asked for."""
    approval = await _approval_meant(context, request)
    decision = "approve" if request.approved else "reject"
    decided = await decisions.decide_in(
        context.connection,
        approval_id=approval.id,
        answer={
            "decision": decision,
            "digest": approval.digest if request.digest is None else request.digest,
            "notes": request.notes,
        },
        decided_by=context.caller.subject,
        scopes=context.caller.scopes,
    )
    missing = decided.quorum - len(_approvers(decided))
    messages = {
        "approved": "Approved: the article is being published.",
        "rejected": "Rejected: the article returns to its editor.",
        "pending": f"Approved by {len(_approvers(decided))} of {decided.quorum}: {missing} more needed.",
    }
    return ArticleDecisionResponse(
        article_id=request.article_id,
        approval_id=decided.id,
        decision=decided.status,
        new_status="pending_approval",
        message=messages[decided.status],
    )


async def _asked(context: ToolContext, request: DecisionRequest) -> Approval:
    """The approval, if this caller may know of it and decide with the token that he came with."""
    approval = await approval_inbox.get(context.connection, request.approval_id)
    if not knows_of(context, approval):
        raise ApprovalNotFound(f"there is no approval {approval.id!r}")
    check_decides(context, approval)
    return approval


def knows_of(context: ToolContext, approval: Approval) -> bool:
    """Whether the caller sees what it is about, or decides on it; to all others it does not exist.

    Editors see a topic's drafts; operations on it are for its analysts alone.
    """
    caller = context.caller
    role = role_of_requester(approval.about)
    if approval.topic is not None and caller.has(role, approval.topic):
        return True
    return approval.shown_to(caller.subject, caller.scopes)


def check_decides(context: ToolContext, approval: Approval) -> None:
    """The scope first: whoever lacks it is told so, whatever their token is for."""
    if approval.reached_by(context.caller.scopes) and not context.caller.decides:
        raise PermissionMissing(
            "deciding takes a person: this token is one for an agent or a client; decide with your own, as "
            "`signoff approve` makes one or your login gives it (auth.decide)"
        )


async def _approval_meant(context: ToolContext, request: ArticleDecisionRequest) -> Approval:
    """The request that is open, or else the last one, so that the answer can say what became of it."""
    every = await approval_inbox.about(context.connection, f"article:{request.article_id}")
    found = [approval for approval in every if knows_of(context, approval)]
    if not found:
        raise ApprovalNotFound(f"nobody has asked for the publication of article {request.article_id}")
    latest = found[0]
    check_decides(context, latest)
    if not latest.reached_by(context.caller.scopes):
        return latest  # which is refused, and by what that takes
    shown = {approval.digest for approval in found}
    if latest.status == "pending" and request.digest is None and len(shown) > 1:
        raise ApprovalConflict(
            f"article {request.article_id} was put up for publication with different contents: send the "
            f"digest of the one you were shown (GET /api/approvals/{latest.id})",
            approval_id=latest.id,
        )
    return latest


def _approvers(approval: Approval) -> tuple[str, ...]:
    return tuple(vote.voter for vote in approval.votes if vote.decision == "approve")
