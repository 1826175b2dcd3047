"""Approvals: asked for, decided by humans, each in one transaction. Reading them is in `approval_inbox`.

A runner opens them at a gate, under its epoch, or they are asked for together with the workflow; one for
each gate of a workflow. Deciding locks the workflow, then the approval, as every writer does: of two
decisions at once one wins and the other gets 409.
"""

import logging
from collections.abc import Iterable, Sequence
from typing import Any

from psycopg import errors
from psycopg.types.json import Jsonb
from pydantic import ValidationError

from models.error_lines import logged
from models.errors import ApprovalConflict, DecisionInvalid, JournalMismatch, PermissionMissing
from models.people.scopes import Scope
from models.runtime.approvals import Approval, Decision, GateDecision, GateRequest, GateStop, content_digest
from models.runtime.event_catalogue import APPROVAL_SETTLED, ApprovalEvent, ApprovalRequested, ApprovalVoted
from models.runtime.workflows import Claim
from models.store import approval_inbox, events
from models.store.database import Connection, Database, is_gone
from models.store.people import users
from models.store.runtime import claims, documents, workflows

_log = logging.getLogger(__name__)
# What one row costs that somebody else holds: no sign that the server is away.
_HELD = (errors.LockNotAvailable, errors.QueryCanceled, errors.DeadlockDetected)


async def ask(
    connection: Connection, workflow_id: str, gate: str, request: GateRequest, *, requested_by: str
) -> Approval:
    """Write an approval that the workflow will wait for at `gate`, in the caller's transaction."""
    approval_id = await _write(connection, workflow_id, gate, request, requested_by)
    if approval_id is None:
        raise ApprovalConflict(f"workflow {workflow_id} has an approval for its gate {gate} already")
    return await approval_inbox.get(connection, approval_id)


async def open_gates(database: Database, claim: Claim, stops: Sequence[GateStop]) -> None:
    """Write the approvals of the gates that a graph has stopped at, and let the workflow wait.

    An approval that is already there, from an earlier run or asked for with the workflow, stays as it is.

    Raises:
        Fenced.
        JournalMismatch: a gate's approval is for something else than the gate asks for, or there is none.
    """
    async with database.transaction() as connection:
        await claims.fence(connection, claim)
        for stop in stops:
            if stop.request is None:
                await _check_there(connection, claim, stop.gate)
            elif not await _write(connection, claim.workflow_id, stop.gate, stop.request, claim.requested_by):
                await check_same(connection, claim.workflow_id, stop)
            await documents.keep_gate(connection, claim.workflow_id, stop.gate)
        await connection.execute(
            """UPDATE workflows SET status = 'waiting', runner_id = NULL, epoch = epoch + 1, deaths = 0,
                      parked_for = NULL, parked_since = NULL, waited_seconds = 0,
                      updated_at = now()
               WHERE id = %s AND status = 'running'""",
            (claim.workflow_id,),
        )
        await _resume_when_all_decided(connection, claim.workflow_id)


async def gates(connection: Connection, workflow_id: str) -> dict[str, GateDecision | None]:
    """The gates of a workflow that have an approval, each with its decision; None where it is pending."""
    return {
        found.gate: None
        if found.status == "pending"
        else GateDecision(
            approval_id=found.id, status=found.status, decided_by=found.decided_by, notes=found.notes
        )
        for found in await approval_inbox.of_workflow(connection, workflow_id)
    }


async def check_same(connection: Connection, workflow_id: str, stop: GateStop) -> None:
    """A decision binds to exact content: what a gate asks for now must be what its approval shows.

    Raises:
        JournalMismatch: it is not.
    """
    assert stop.request is not None, "nothing is asked for anew"
    cursor = await connection.execute(
        "SELECT id, digest, %s AS content FROM approvals WHERE workflow_id = %s AND gate = %s",
        (Jsonb(stop.request.content), workflow_id, stop.gate),
    )
    row = await cursor.fetchone()
    assert row is not None, "whoever calls has seen it"
    if content_digest(row["content"]) != row["digest"]:
        raise JournalMismatch(
            f"gate {stop.gate} asks for something else than approval {row['id']} shows: stop the workflow, "
            "or run the release that began it"
        )


async def decide(
    database: Database, *, approval_id: str, answer: Any, decided_by: str, scopes: Iterable[Scope]
) -> Approval:
    """Take one person's decision; see `decide_in`. It is a transaction of its own."""
    async with database.transaction() as connection:
        return await decide_in(
            connection, approval_id=approval_id, answer=answer, decided_by=decided_by, scopes=scopes
        )


async def decide_in(
    connection: Connection, *, approval_id: str, answer: Any, decided_by: str, scopes: Iterable[Scope]
) -> Approval:
    """Take one person's decision and, when that settles it, make the workflow runnable.

    A rejection settles it at once; an approval when `quorum` people have approved who still may.

    Args:
        answer: what the human sent, unchecked; only a well-formed `Decision` counts.
        decided_by: the user of the verified token.
        scopes: that user's scopes.

    Raises:
        DecisionInvalid: the answer is malformed, or rejects without a reason.
        ApprovalNotFound, PermissionMissing.
        ApprovalConflict: settled already, expired, void, said before, or for other content. Nothing has
            changed.
    """
    decision = _read(answer)
    approval = await _lock(connection, approval_id)
    _check_may_decide(approval, decided_by, tuple(scopes), decision)
    await _check_still_open(connection, approval, decision)
    await _vote(connection, approval, decided_by, decision)
    if decision.decision == "reject":
        await _settle(connection, approval, "rejected", decided_by, decision.notes)
    elif await _approvals_that_count(connection, approval, decided_by) >= approval.quorum:
        await _settle(connection, approval, "approved", decided_by, decision.notes)
    else:
        await _tell(connection, ApprovalVoted, approval, decided_by)
    return await approval_inbox.get(connection, approval_id)


async def void(connection: Connection, approval_id: str, reason: dict[str, Any]) -> None:
    """End a pending approval whose content has changed, in the caller's transaction."""
    approval = await _lock(connection, approval_id)
    if approval.status == "pending":
        await connection.execute(
            "UPDATE approvals SET void_reason = %s WHERE id = %s", (Jsonb(reason), approval_id)
        )
        await _settle(connection, approval, "void", None, None)


async def expire_due(database: Database) -> int:
    """Expire pending approvals past their time and make their workflows runnable; how many.

    One that somebody has locked is left for the next time, and so is one that can't be expired: the log
    says why, and no other waits for it.
    """
    async with database.connection() as connection:
        cursor = await connection.execute(
            "SELECT id FROM approvals WHERE status = 'pending' AND expires_at <= now() ORDER BY expires_at"
        )
        due = [row["id"] for row in await cursor.fetchall()]
    expired = 0
    for approval_id in due:
        try:
            expired += await _expire(database, approval_id)
        except Exception as error:  # whatever is wrong with this one, others are due too
            if is_gone(error) and not isinstance(error, _HELD):
                raise
            logged(error, _log, f"approval {approval_id} can't be expired")
    return expired


async def _expire(database: Database, approval_id: str) -> bool:
    async with database.transaction() as connection:
        approval = await _lock_if_free(connection, approval_id)
        if approval is None or approval.status != "pending":
            return False
        await _settle(connection, approval, "expired", None, None)
        return True


def _read(answer: Any) -> Decision:
    try:
        decision = Decision.model_validate(answer)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in fault["loc"]) or "body"
        raise DecisionInvalid(f"{field}: {fault['msg']}") from error
    if decision.decision == "reject" and not (decision.notes or "").strip():
        raise DecisionInvalid("notes: a rejection needs its reason")
    return decision


async def _write(
    connection: Connection, workflow_id: str, gate: str, request: GateRequest, by: str
) -> str | None:
    """Write an approval and its event; its id, or None if the gate has one."""
    # The digest is of the content as it will be read and shown: jsonb writes some numbers differently.
    row = await (await connection.execute("SELECT %s AS content", (Jsonb(request.content),))).fetchone()
    assert row is not None
    cursor = await connection.execute(
        """INSERT INTO approvals (id, workflow_id, gate, kind, about, title, content, digest,
                                  requested_by, required_scope, four_eyes, quorum, status, expires_at)
           VALUES (nextval('approval_numbers')::text, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, 'pending',
                   now() + make_interval(secs => %s))
           ON CONFLICT (workflow_id, gate) DO NOTHING RETURNING id""",
        (
            workflow_id,
            gate,
            request.kind,
            request.about,
            request.title,
            Jsonb(request.content),
            content_digest(row["content"]),
            by,
            request.required_scope,
            request.four_eyes,
            request.quorum,
            request.expires_in_seconds,
        ),
    )
    row = await cursor.fetchone()
    if row is None:
        return None
    approval = await approval_inbox.get(connection, row["id"])
    await _tell(connection, ApprovalRequested, approval, by)
    return approval.id


async def _check_there(connection: Connection, claim: Claim, gate: str) -> None:
    cursor = await connection.execute(
        "SELECT 1 FROM approvals WHERE workflow_id = %s AND gate = %s", (claim.workflow_id, gate)
    )
    if await cursor.fetchone() is None:
        raise JournalMismatch(f"workflow {claim.workflow_id} has no approval for its gate {gate}")


async def _lock(connection: Connection, approval_id: str) -> Approval:
    """Lock an approval. Its workflow first: every writer takes the two in this order, so none deadlock."""
    approval = await approval_inbox.get(connection, approval_id)
    await connection.execute("SELECT 1 FROM workflows WHERE id = %s FOR UPDATE", (approval.workflow_id,))
    await connection.execute("SELECT 1 FROM approvals WHERE id = %s FOR UPDATE", (approval_id,))
    return await approval_inbox.get(connection, approval_id)


async def _lock_if_free(connection: Connection, approval_id: str) -> Approval | None:
    """As `_lock`; None where somebody else has locked either."""
    approval = await approval_inbox.get(connection, approval_id)
    for query, name in (
        ("SELECT 1 FROM workflows WHERE id = %s FOR UPDATE SKIP LOCKED", approval.workflow_id),
        ("SELECT 1 FROM approvals WHERE id = %s FOR UPDATE SKIP LOCKED", approval_id),
    ):
        if await (await connection.execute(query, (name,))).fetchone() is None:
            return None
    return await approval_inbox.get(connection, approval_id)


def _check_may_decide(
    approval: Approval, decided_by: str, scopes: tuple[Scope, ...], decision: Decision
) -> None:
    if not approval.reached_by(scopes):
        raise PermissionMissing(
            f"deciding this {approval.kind} takes the scope {approval.required_scope}",
            scope=approval.required_scope,
        )
    if decision.decision == "reject":
        return
    if not approval.met_by(scopes):
        raise PermissionMissing(
            f"approving this {approval.kind} reveals drafts of other topics, and takes "
            f"{', '.join(approval.also_takes)} as well; rejecting it is open to you",
            scope=" ".join(approval.also_takes),
        )
    if approval.bars(decided_by):
        raise PermissionMissing(
            f"{decided_by} asked for this {approval.kind}, or wrote or submitted what it is about: someone "
            "else must approve it; rejecting it is open to you"
        )


async def _check_still_open(connection: Connection, approval: Approval, decision: Decision) -> None:
    if approval.status == "void" and approval.void_reason is not None:
        raise ApprovalConflict(
            f"this {approval.kind} is void: what it was for has changed since it was asked for",
            status="void",
            changes=approval.void_reason,
        )
    if approval.status != "pending":
        raise ApprovalConflict(f"this {approval.kind} is already {approval.status}", status=approval.status)
    row = await (
        await connection.execute("SELECT %s <= clock_timestamp() AS late", (approval.expires_at,))
    ).fetchone()
    if row and row["late"]:
        raise ApprovalConflict(
            f"this {approval.kind} expired at {approval.expires_at.isoformat()}", status="expired"
        )
    if decision.digest != approval.digest:
        raise ApprovalConflict(
            f"this {approval.kind} is not what was shown to you: look at it again, and decide on that",
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
            f"{voter} has already approved this {approval.kind}: it takes {approval.quorum} different people",
            status="pending",
        )


async def _approvals_that_count(connection: Connection, approval: Approval, voter: str) -> int:
    """How many have approved: this voter, and those who still have the scope and are not involved."""
    votes = (await approval_inbox.get(connection, approval.id)).votes
    others = [vote.voter for vote in votes if vote.decision == "approve" and vote.voter != voter]
    earlier = [other for other in others if not approval.bars(other)]
    still = [approval.met_by(await users.stored_scopes(connection, voter)) for voter in earlier]
    return 1 + sum(still)


async def _settle(
    connection: Connection, approval: Approval, status: str, decided_by: str | None, notes: str | None
) -> None:
    await connection.execute(
        "UPDATE approvals SET status = %s, decided_by = %s, notes = %s, decided_at = now() WHERE id = %s",
        (status, decided_by, notes, approval.id),
    )
    await _tell(connection, APPROVAL_SETTLED[status], approval, decided_by)
    await _resume_when_all_decided(connection, approval.workflow_id)


async def _tell(
    connection: Connection, event: type[ApprovalEvent], approval: Approval, by: str | None
) -> None:
    await events.tell(
        connection,
        event(approval_id=approval.id, kind=approval.kind, about=approval.about, title=approval.title, by=by),
        approval.workflow_id,
        topic=approval.topic,
        role="editor",
        person=approval.requested_by,
    )


async def _resume_when_all_decided(connection: Connection, workflow_id: str) -> None:
    """Queue a waiting workflow once none of its gates is open."""
    cursor = await connection.execute(
        """UPDATE workflows SET status = 'queued', updated_at = now()
           WHERE id = %(id)s AND status = 'waiting' AND NOT EXISTS (
               SELECT 1 FROM approvals WHERE workflow_id = %(id)s AND status = 'pending')""",
        {"id": workflow_id},
    )
    if cursor.rowcount:
        await workflows.notify(connection)
