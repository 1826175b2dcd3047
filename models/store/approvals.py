"""Approvals: opened by a runner, decided by a human, each in one transaction.

Opening checks the runner's epoch and marks the workflow as waiting. Deciding locks the approval, so
of two simultaneous decisions one wins and the other gets 409.
"""

import uuid
from collections.abc import Mapping
from typing import Any

from psycopg.types.json import Jsonb
from pydantic import ValidationError

from models.approvals import Approval, Decision, GateDecision, GateRequest, content_digest
from models.errors import ApprovalConflict, ApprovalNotFound, DecisionInvalid, PermissionMissing
from models.store import events, workflows
from models.store.database import Connection, Database
from models.workflows import Claim

_COLUMNS = (
    "id, workflow_id, interrupt_id, kind, content, digest, requested_by, required_scope, four_eyes, status, "
    "decided_by, notes, created_at, expires_at, decided_at"
)


async def open_gates(database: Database, claim: Claim, requests: Mapping[str, GateRequest]) -> None:
    """Write the approvals a graph stopped for (by interrupt id), and let the workflow wait.

    An approval that is already there (a runner died right after writing it) stays as it is.
    Raises Fenced.
    """
    async with database.transaction() as connection:
        await workflows.fence(connection, claim)
        for interrupt_id, request in requests.items():
            cursor = await connection.execute(
                """INSERT INTO approvals (id, workflow_id, interrupt_id, kind, content, digest, requested_by,
                                          required_scope, four_eyes, status, expires_at)
                   VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, 'pending', now() + make_interval(secs => %s))
                   ON CONFLICT (workflow_id, interrupt_id) DO NOTHING RETURNING id""",
                (
                    uuid.uuid4().hex,
                    claim.workflow_id,
                    interrupt_id,
                    request.kind,
                    Jsonb(request.content),
                    content_digest(request.content),
                    claim.requested_by,
                    request.required_scope,
                    request.four_eyes,
                    request.expires_in_seconds,
                ),
            )
            if row := await cursor.fetchone():
                data = {"approval_id": row["id"], "kind": request.kind}
                await events.append(connection, "approval.requested", claim.workflow_id, data)
        await connection.execute(
            """UPDATE workflows SET status = 'waiting', runner_id = NULL, resume = NULL, epoch = epoch + 1,
                      updated_at = now() WHERE id = %s""",
            (claim.workflow_id,),
        )
        await _resume_when_all_decided(connection, claim.workflow_id)


async def get(connection: Connection, approval_id: str) -> Approval:
    """One approval; ApprovalNotFound if there is none."""
    return await _one(connection, f"SELECT {_COLUMNS} FROM approvals WHERE id = %s", approval_id)


async def of_workflow(connection: Connection, workflow_id: str) -> list[Approval]:
    """A workflow's approvals, oldest first."""
    cursor = await connection.execute(
        f"SELECT {_COLUMNS} FROM approvals WHERE workflow_id = %s ORDER BY created_at, id", (workflow_id,)
    )
    return [Approval.model_validate(row) for row in await cursor.fetchall()]


async def decide(
    database: Database, *, approval_id: str, answer: Any, decided_by: str, scopes: frozenset[str]
) -> Approval:
    """Decide an approval and make its workflow runnable, in one transaction.

    Args:
        answer: what the human sent, unchecked; only a well-formed `Decision` counts.
        decided_by: the user of the verified token.
        scopes: that user's scopes.

    Raises:
        DecisionInvalid: the answer is malformed, or rejects without a reason.
        ApprovalNotFound, PermissionMissing.
        ApprovalConflict: decided already, expired, or for other content. Nothing has changed.
    """
    try:
        decision = Decision.model_validate(answer)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in fault["loc"]) or "body"
        raise DecisionInvalid(f"{field}: {fault['msg']}") from error
    if decision.decision == "reject" and not (decision.notes or "").strip():
        raise DecisionInvalid("notes: a rejection needs its reason")
    async with database.transaction() as connection:
        approval = await _lock(connection, approval_id)
        _check_may_decide(approval, decided_by, scopes)
        await _check_still_open(connection, approval, decision)
        status = "approved" if decision.decision == "approve" else "rejected"
        decided = await _close(connection, approval, status, decided_by, decision.notes)
        await _resume_when_all_decided(connection, approval.workflow_id)
        return decided


async def expire_due(database: Database) -> int:
    """Expire pending approvals past their time and make their workflows runnable; how many."""
    async with database.connection() as connection:
        cursor = await connection.execute(
            "SELECT id FROM approvals WHERE status = 'pending' AND expires_at <= now() ORDER BY expires_at"
        )
        due = [row["id"] for row in await cursor.fetchall()]
    expired = 0
    for approval_id in due:
        async with database.transaction() as connection:
            approval = await _lock(connection, approval_id)
            if approval.status != "pending":
                continue
            await _close(connection, approval, "expired", None, None)
            await _resume_when_all_decided(connection, approval.workflow_id)
            expired += 1
    return expired


async def _lock(connection: Connection, approval_id: str) -> Approval:
    """Lock an approval. Its workflow first: every writer takes the two in this order, so none deadlock."""
    approval = await get(connection, approval_id)
    await connection.execute("SELECT 1 FROM workflows WHERE id = %s FOR UPDATE", (approval.workflow_id,))
    return await _one(connection, f"SELECT {_COLUMNS} FROM approvals WHERE id = %s FOR UPDATE", approval_id)


async def _one(connection: Connection, query: str, approval_id: str) -> Approval:
    row = await (await connection.execute(query.encode(), (approval_id,))).fetchone()
    if row is None:
        raise ApprovalNotFound(f"there is no approval {approval_id!r}")
    return Approval.model_validate(row)


def _check_may_decide(approval: Approval, decided_by: str, scopes: frozenset[str]) -> None:
    if approval.required_scope not in scopes:
        raise PermissionMissing(f"deciding this {approval.kind} takes the scope {approval.required_scope}")
    if approval.four_eyes and decided_by == approval.requested_by:
        raise PermissionMissing(f"{decided_by} asked for this {approval.kind}: someone else must decide it")


async def _check_still_open(connection: Connection, approval: Approval, decision: Decision) -> None:
    if approval.status != "pending":
        raise ApprovalConflict(f"this {approval.kind} is already {approval.status}")
    row = await (await connection.execute("SELECT %s <= now() AS late", (approval.expires_at,))).fetchone()
    if row and row["late"]:
        raise ApprovalConflict(f"this {approval.kind} expired at {approval.expires_at.isoformat()}")
    if decision.digest != approval.digest:
        raise ApprovalConflict(
            f"this {approval.kind} is not what was shown: its digest is {approval.digest}; look again"
        )


async def _close(
    connection: Connection, approval: Approval, status: str, decided_by: str | None, notes: str | None
) -> Approval:
    cursor = await connection.execute(
        f"""UPDATE approvals SET status = %s, decided_by = %s, notes = %s, decided_at = now()
            WHERE id = %s RETURNING {_COLUMNS}""",
        (status, decided_by, notes, approval.id),
    )
    data = {"approval_id": approval.id, "kind": approval.kind, "by": decided_by}
    await events.append(connection, f"approval.{status}", approval.workflow_id, data)
    return Approval.model_validate(await cursor.fetchone())


async def _resume_when_all_decided(connection: Connection, workflow_id: str) -> None:
    """Queue a waiting workflow once none of its gates is open, with their decisions."""
    cursor = await connection.execute(
        "SELECT 1 FROM workflows WHERE id = %s AND status = 'waiting' FOR UPDATE", (workflow_id,)
    )
    if await cursor.fetchone() is None:
        return
    gates = await of_workflow(connection, workflow_id)
    if any(gate.status == "pending" for gate in gates):
        return
    resume = {
        gate.interrupt_id: GateDecision(
            approval_id=gate.id,
            status=gate.status,  # type: ignore[arg-type]  # none is pending here
            decided_by=gate.decided_by,
            notes=gate.notes,
        ).model_dump()
        for gate in gates
    }
    await connection.execute(
        "UPDATE workflows SET status = 'queued', resume = %s, updated_at = now() WHERE id = %s",
        (Jsonb(resume), workflow_id),
    )
    await workflows.notify(connection)
