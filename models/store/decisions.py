"""Decisions: what people answer to an approval, each in one transaction.

An approval is amended where its kind allows that: then what is decided on is other content, which is shown
to whoever decides after that.
"""

from collections.abc import Iterable
from typing import Any

from psycopg.types.json import Jsonb
from pydantic import ValidationError

from models.errors import ApprovalConflict, DecisionInvalid, PermissionMissing
from models.people.scopes import Scope
from models.runtime.approvals import Approval, Decision, content_digest
from models.runtime.event_catalogue import ApprovalAmended, ApprovalVoted
from models.store import approval_inbox, approvals
from models.store.database import Connection, Database
from models.store.people import users
from models.store.runtime.approval_events import tell
from models.visible import shows_something


async def decide(
    database: Database, *, approval_id: str, answer: Any, decided_by: str, scopes: Iterable[Scope]
) -> Approval:
    """Take one person's decision; see `decide_in`. It is a transaction of its own."""
    async with database.transaction() as connection:
        return await decide_in(
            connection, approval_id=approval_id, answer=answer, decided_by=decided_by, scopes=scopes
        )


async def decide_in(
    connection: Connection,
    *,
    approval_id: str,
    answer: Any,
    decided_by: str,
    scopes: Iterable[Scope],
    besides: dict[str, Any] | None = None,
) -> Approval:
    """Take one person's decision and, when that settles it, make the workflow runnable.

    A rejection settles it at once; an approval when `quorum` people have approved who still may.

    Args:
        answer: what the human sent, unchecked; only a well-formed `Decision` counts.
        decided_by: the user of the verified token.
        scopes: that user's scopes.
        besides: what goes with a no, such as what is to be done again: checked by whoever knows the kind, and
            given to the gate as `GateDecision.answer`.

    Raises:
        DecisionInvalid: the answer is malformed, or rejects without a reason.
        ApprovalNotFound, PermissionMissing.
        ApprovalConflict: settled already, expired, void, said before, or for other content. Nothing has
            changed.
    """
    decision = _read(answer)
    approval = await approvals.lock(connection, approval_id)
    _check_may_decide(approval, decided_by, tuple(scopes), decision)
    await check_open(connection, approval, decision.digest)
    await _vote(connection, approval, decided_by, decision)
    if decision.decision == "reject":
        await approvals.settle(connection, approval, "rejected", decided_by, decision.notes, answer=besides)
    elif await _approvals_that_count(connection, approval, decided_by) >= approval.quorum:
        await approvals.settle(connection, approval, "approved", decided_by, decision.notes)
    else:
        await tell(connection, ApprovalVoted, approval, decided_by)
    return await approval_inbox.get(connection, approval_id)


async def amend_in(
    connection: Connection,
    *,
    approval_id: str,
    digest: str,
    content: dict[str, Any],
    notes: str | None,
    amended_by: str,
    scopes: Iterable[Scope],
) -> Approval:
    """Put other content in place of what is asked for, and take it as this person's yes to that, if he may.

    Whoever said yes before has not seen it: those votes go. Under four eyes he is involved from now on, so
    that somebody else approves what he made of it. What the gate asked for stays beside it, as `asked`.

    Args:
        digest: of the content that he was shown.
        content: what he makes of it, checked by whoever knows the kind.

    Raises:
        ApprovalNotFound, PermissionMissing.
        ApprovalConflict: settled already, expired, void, or other content was shown. Nothing has changed.
    """
    scopes = tuple(scopes)
    approval = await approvals.lock(connection, approval_id)
    check_reached(approval, scopes)
    await check_open(connection, approval, digest)
    if content_digest(content) == content_digest(approval.subject):  # to Python, true is 1
        content = approval.content  # the same as somebody made of it before: a yes to that
    elif approval.four_eyes:
        content = content | {"involved": sorted({*approval.involved, amended_by})}
    row = await (await connection.execute("SELECT %s AS content", (Jsonb(content),))).fetchone()
    assert row is not None
    after = content_digest(row["content"])
    if after != digest:
        await connection.execute(
            """UPDATE approvals SET asked = coalesce(asked, content), content = %s, digest = %s,
                      amended_by = %s
               WHERE id = %s""",
            (Jsonb(content), after, amended_by, approval_id),
        )
        await connection.execute("DELETE FROM approval_votes WHERE approval_id = %s", (approval_id,))
        approval = await approval_inbox.get(connection, approval_id)
        await tell(connection, ApprovalAmended, approval, amended_by)
    if not approval.may_be_decided_by(amended_by, scopes):
        return approval
    answer = {"decision": "approve", "digest": after, "notes": notes}
    return await decide_in(
        connection, approval_id=approval_id, answer=answer, decided_by=amended_by, scopes=scopes
    )


def _read(answer: Any) -> Decision:
    try:
        decision = Decision.model_validate(answer)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in fault["loc"]) or "body"
        raise DecisionInvalid(f"{field}: {fault['msg']}") from error
    if decision.decision == "reject" and not shows_something(decision.notes or ""):
        raise DecisionInvalid("notes: a rejection needs its reason")
    return decision


def _check_may_decide(
    approval: Approval, decided_by: str, scopes: tuple[Scope, ...], decision: Decision
) -> None:
    check_reached(approval, scopes)
    if decision.decision == "reject":
        return
    if not approval.met_by(scopes):
        raise PermissionMissing(
            f"approving this reveals drafts of other topics, and takes "
            f"{', '.join(approval.also_takes)} as well; rejecting it is open to you",
            scope=" ".join(approval.also_takes),
        )
    if approval.bars(decided_by):
        raise PermissionMissing(
            f"{decided_by} asked for this, or wrote or submitted what it is about: someone "
            "else must approve it; rejecting it is open to you"
        )


def check_reached(approval: Approval, scopes: Iterable[Scope]) -> None:
    """PermissionMissing where somebody with these scopes may not decide on it at all."""
    if not approval.reached_by(scopes):
        raise PermissionMissing(
            f"deciding on this takes the scope {approval.required_scope}",
            scope=approval.required_scope,
        )


async def check_open(connection: Connection, approval: Approval, digest: str) -> None:
    """ApprovalConflict where it can't be decided any more, or shows other content than `digest` is of."""
    if approval.status == "void" and approval.void_reason is not None:
        raise ApprovalConflict(
            f"approval {approval.id} is void: what it was for has changed since it was asked for",
            status="void",
            changes=approval.void_reason,
        )
    if approval.status != "pending":
        raise ApprovalConflict(f"approval {approval.id} is already {approval.status}", status=approval.status)
    row = await (
        await connection.execute("SELECT %s <= clock_timestamp() AS late", (approval.expires_at,))
    ).fetchone()
    if row and row["late"]:
        raise ApprovalConflict(
            f"approval {approval.id} expired at {approval.expires_at.isoformat()}", status="expired"
        )
    if digest != approval.digest:
        raise ApprovalConflict(
            f"approval {approval.id} shows other content than was shown to you: look at it again, and "
            "decide on that",
            status="pending",
        )


async def _vote(connection: Connection, approval: Approval, voter: str, decision: Decision) -> None:
    cursor = await connection.execute(
        """INSERT INTO approval_votes (approval_id, voter, decision, notes) VALUES (%s, %s, %s, %s)
           ON CONFLICT DO NOTHING""",
        (approval.id, voter, decision.decision, decision.notes),
    )
    if cursor.rowcount != 1:
        raise ApprovalConflict(
            f"{voter} has already approved this: it takes {approval.quorum} different people",
            status="pending",
        )


async def _approvals_that_count(connection: Connection, approval: Approval, voter: str) -> int:
    """How many have approved: this voter, and those who still have the scope and are not involved."""
    votes = (await approval_inbox.get(connection, approval.id)).votes
    others = [vote.voter for vote in votes if vote.decision == "approve" and vote.voter != voter]
    earlier = [other for other in others if not approval.bars(other)]
    still = [approval.met_by(await users.stored_scopes(connection, voter)) for voter in earlier]
    return 1 + sum(still)
