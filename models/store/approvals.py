"""Approvals: asked for, and ended, each in one transaction. Deciding them is in `decisions`, reading in
`approval_inbox`.

A runner opens them at a gate, under its epoch, or they are asked for together with the workflow; one for
each gate of a workflow. Every writer locks the workflow, then the approval: of two decisions at once one
wins and the other gets 409.
"""

import logging
from collections.abc import Sequence
from typing import Any

from psycopg import errors
from psycopg.types.json import Jsonb

from models.error_lines import logged
from models.errors import ApprovalConflict, JournalMismatch
from models.runtime.approvals import (
    Approval,
    AskedGate,
    GateDecision,
    GateRequest,
    GateStop,
    content_digest,
    subject_of,
)
from models.runtime.event_catalogue import APPROVAL_SETTLED, ApprovalRequested
from models.runtime.workflows import Claim
from models.store import approval_inbox
from models.store.database import Connection, Database, is_gone
from models.store.runtime import claims, documents, workflows
from models.store.runtime.approval_events import tell

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


async def gates(connection: Connection, workflow_id: str) -> dict[str, AskedGate]:
    """The gates of a workflow that have an approval; of contents, only what was amended is read."""
    cursor = await connection.execute(
        """SELECT id, gate, status, decided_by, notes, answer, digest, asked,
                  CASE WHEN asked IS NOT NULL THEN content END AS amended
           FROM approvals WHERE workflow_id = %s ORDER BY created_at, id""",
        (workflow_id,),
    )
    return {row["gate"]: _asked_gate(row) for row in await cursor.fetchall()}


def _asked_gate(row: dict[str, Any]) -> AskedGate:
    amended, asked = row["amended"], row["asked"]
    digest = row["digest"] if asked is None else content_digest(asked)
    if row["status"] == "pending":
        return AskedGate(digest=digest, decision=None)
    decision = GateDecision(
        approval_id=row["id"],
        status=row["status"],
        decided_by=row["decided_by"],
        notes=row["notes"],
        amended=None if amended is None else subject_of(amended, asked),
        answer=row["answer"],
    )
    return AskedGate(digest=digest, decision=decision)


async def check_same(connection: Connection, workflow_id: str, stop: GateStop) -> None:
    """A decision binds to exact content: what a gate asks for now must be what it asked for then.

    Raises:
        JournalMismatch: it is not.
    """
    assert stop.request is not None, "nothing is asked for anew"
    cursor = await connection.execute(
        """SELECT id, coalesce(asked, content) AS asked, %s AS content
           FROM approvals WHERE workflow_id = %s AND gate = %s""",
        (Jsonb(stop.request.content), workflow_id, stop.gate),
    )
    row = await cursor.fetchone()
    assert row is not None, "whoever calls has seen it"
    if content_digest(row["content"]) != content_digest(row["asked"]):
        raise JournalMismatch(
            f"gate {stop.gate} asks for something else than approval {row['id']} shows: stop the workflow, "
            "or run the release that began it"
        )


async def void(connection: Connection, approval_id: str, reason: dict[str, Any]) -> None:
    """End a pending approval whose content has changed, in the caller's transaction."""
    approval = await lock(connection, approval_id)
    if approval.status == "pending":
        await connection.execute(
            "UPDATE approvals SET void_reason = %s WHERE id = %s", (Jsonb(reason), approval_id)
        )
        await settle(connection, approval, "void", None, None)


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
        await settle(connection, approval, "expired", None, None)
        return True


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
    await tell(connection, ApprovalRequested, approval, by)
    return approval.id


async def _check_there(connection: Connection, claim: Claim, gate: str) -> None:
    cursor = await connection.execute(
        "SELECT 1 FROM approvals WHERE workflow_id = %s AND gate = %s", (claim.workflow_id, gate)
    )
    if await cursor.fetchone() is None:
        raise JournalMismatch(f"workflow {claim.workflow_id} has no approval for its gate {gate}")


async def lock(connection: Connection, approval_id: str) -> Approval:
    """Lock an approval. Its workflow first: every writer takes the two in this order, so none deadlock."""
    approval = await approval_inbox.get(connection, approval_id)
    await connection.execute("SELECT 1 FROM workflows WHERE id = %s FOR UPDATE", (approval.workflow_id,))
    await connection.execute("SELECT 1 FROM approvals WHERE id = %s FOR UPDATE", (approval_id,))
    return await approval_inbox.get(connection, approval_id)


async def _lock_if_free(connection: Connection, approval_id: str) -> Approval | None:
    """As `lock`; None where somebody else has locked either."""
    approval = await approval_inbox.get(connection, approval_id)
    for query, name in (
        ("SELECT 1 FROM workflows WHERE id = %s FOR UPDATE SKIP LOCKED", approval.workflow_id),
        ("SELECT 1 FROM approvals WHERE id = %s FOR UPDATE SKIP LOCKED", approval_id),
    ):
        if await (await connection.execute(query, (name,))).fetchone() is None:
            return None
    return await approval_inbox.get(connection, approval_id)


async def settle(
    connection: Connection,
    approval: Approval,
    status: str,
    decided_by: str | None,
    notes: str | None,
    *,
    answer: dict[str, Any] | None = None,
) -> None:
    """End a locked approval, and make its workflow runnable once none of its gates is open."""
    await connection.execute(
        """UPDATE approvals SET status = %s, decided_by = %s, notes = %s, answer = %s, decided_at = now()
           WHERE id = %s""",
        (status, decided_by, notes, None if answer is None else Jsonb(answer), approval.id),
    )
    await tell(connection, APPROVAL_SETTLED[status], approval, decided_by)
    await _resume_when_all_decided(connection, approval.workflow_id)


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
