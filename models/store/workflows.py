"""Workflows and their leases.

A runner's right to a workflow is `(runner_id, epoch)`. Claiming raises the epoch, and so do cancelling
and giving back; every later write of the former owner finds another epoch and is refused (`Fenced`).
A workflow that batches hold runs only while one of them has a live lease.
"""

import uuid
from collections.abc import Sequence
from typing import Any

from psycopg.types.json import Jsonb

from models.errors import Fenced, WorkflowEnded, WorkflowNotFound
from models.store import events
from models.store.database import Connection, Database
from models.workflows import ENDED_STATUSES, Claim, Holding, Workflow, WorkflowRequest

CHANNEL = "signoff_workflows"

_COLUMNS = (
    "id, kind, key, input, input_digest, requested_by, status, epoch, runner_id, resume, result, error, "
    "permission, created_at, updated_at, started_at, finished_at"
)

_WANTED = """(
    NOT EXISTS (SELECT 1 FROM batch_workflows bw WHERE bw.workflow_id = w.id)
    OR EXISTS (SELECT 1 FROM batch_workflows bw JOIN batches b ON b.id = bw.batch_id
               WHERE bw.workflow_id = w.id AND b.lease_until > now())
)"""


async def notify(connection: Connection, *, about: str = "") -> None:
    """Wake the runners when the transaction commits; `about` is a workflow id where one is meant."""
    await connection.execute("SELECT pg_notify(%s, %s)", (CHANNEL, about))


async def create(connection: Connection, request: WorkflowRequest) -> Workflow:
    """Queue a new workflow, in the caller's transaction.

    Raises:
        psycopg.errors.UniqueViolation: another workflow of the same key is open.
    """
    cursor = await connection.execute(
        f"""INSERT INTO workflows (id, kind, key, input, input_digest, requested_by, permission, status)
            VALUES (%s, %s, %s, %s, %s, %s, %s, 'queued') RETURNING {_COLUMNS}""",
        (
            uuid.uuid4().hex,
            request.kind,
            request.key,
            Jsonb(request.input),
            request.input_digest,
            request.requested_by,
            Jsonb(request.permission.model_dump()) if request.permission else None,
        ),
    )
    workflow = Workflow.model_validate(await cursor.fetchone())
    await events.append(connection, "workflow.queued", workflow.id, {"kind": workflow.kind})
    await notify(connection)
    return workflow


async def get(connection: Connection, workflow_id: str) -> Workflow:
    """One workflow; WorkflowNotFound if there is none."""
    cursor = await connection.execute(f"SELECT {_COLUMNS} FROM workflows WHERE id = %s", (workflow_id,))
    row = await cursor.fetchone()
    if row is None:
        raise WorkflowNotFound(f"there is no workflow {workflow_id!r}")
    return Workflow.model_validate(row)


async def get_many(connection: Connection, workflow_ids: Sequence[str]) -> list[Workflow]:
    """The workflows among `workflow_ids` that exist, in no order."""
    cursor = await connection.execute(
        f"SELECT {_COLUMNS} FROM workflows WHERE id = ANY(%s)", (list(workflow_ids),)
    )
    return [Workflow.model_validate(row) for row in await cursor.fetchall()]


async def latest_of_key(connection: Connection, key: str) -> Workflow | None:
    """The newest workflow of a key, locked until the transaction ends."""
    cursor = await connection.execute(
        f"""SELECT {_COLUMNS} FROM workflows WHERE key = %s
            ORDER BY created_at DESC, id LIMIT 1 FOR UPDATE""",
        (key,),
    )
    row = await cursor.fetchone()
    return Workflow.model_validate(row) if row else None


async def recent(connection: Connection, *, limit: int) -> list[Workflow]:
    """The newest workflows, newest first."""
    cursor = await connection.execute(
        f"SELECT {_COLUMNS} FROM workflows ORDER BY created_at DESC, id LIMIT %s", (limit,)
    )
    return [Workflow.model_validate(row) for row in await cursor.fetchall()]


async def counts(connection: Connection) -> dict[str, int]:
    """How many workflows are in each status."""
    cursor = await connection.execute("SELECT status, count(*) AS n FROM workflows GROUP BY status")
    return {row["status"]: row["n"] for row in await cursor.fetchall()}


async def claim(
    database: Database, *, runner_id: str, kinds: Sequence[str], limit: int, lease_seconds: float
) -> list[Claim]:
    """Take up to `limit` workflows that wait for a runner or whose runner's lease has run out.

    Whose own lease has run out takes none. While Postgres was down nobody could renew, so for one
    `lease_seconds` after its start no lease counts as run out.
    """
    async with database.connection() as connection:
        cursor = await connection.execute(
            f"""
            WITH ready AS (
                SELECT w.id FROM workflows w
                WHERE w.status IN ('queued', 'running') AND w.kind = ANY(%(kinds)s)
                  AND (w.status = 'queued' OR (
                        NOT EXISTS (
                            SELECT 1 FROM runners r WHERE r.id = w.runner_id AND r.lease_until > now())
                        AND pg_postmaster_start_time() < now() - make_interval(secs => %(lease)s)))
                  AND EXISTS (SELECT 1 FROM runners r WHERE r.id = %(runner)s AND r.lease_until > now())
                  AND {_WANTED}
                ORDER BY w.created_at
                LIMIT %(limit)s
                FOR UPDATE OF w SKIP LOCKED
            ), begun AS (
                UPDATE workflows w
                SET status = 'running', runner_id = %(runner)s, epoch = w.epoch + 1, updated_at = now(),
                    started_at = coalesce(w.started_at, now()), error = NULL
                FROM ready WHERE w.id = ready.id
                RETURNING w.id, w.epoch, w.kind, w.input, w.requested_by, w.resume, w.permission,
                          w.created_at
            ), said AS (
                INSERT INTO incoming_events (type, workflow_id, data)
                SELECT 'workflow.running', id, jsonb_build_object('runner', %(runner)s::text, 'epoch', epoch)
                FROM begun
            )
            SELECT id AS workflow_id, epoch, kind, input, requested_by, resume, permission, created_at
            FROM begun
            """,
            {"kinds": list(kinds), "limit": limit, "runner": runner_id, "lease": lease_seconds},
        )
        return [Claim.model_validate(row) for row in await cursor.fetchall()]


async def held_by(connection: Connection, runner_id: str) -> list[Holding]:
    """What the database says a runner is running."""
    cursor = await connection.execute(
        f"""SELECT w.id AS workflow_id, w.epoch, {_WANTED} AS wanted
            FROM workflows w WHERE w.runner_id = %s AND w.status = 'running'""",
        (runner_id,),
    )
    return [Holding.model_validate(row) for row in await cursor.fetchall()]


async def fence(connection: Connection, claim: Claim) -> None:
    """Lock a workflow for a write of its owner.

    Raises:
        Fenced: the epoch has moved on; the caller's transaction must write nothing.
    """
    cursor = await connection.execute(
        "SELECT 1 FROM workflows WHERE id = %s AND epoch = %s AND status = 'running' FOR UPDATE",
        (claim.workflow_id, claim.epoch),
    )
    if await cursor.fetchone() is None:
        raise Fenced(f"workflow {claim.workflow_id} is no longer this runner's (epoch {claim.epoch})")


async def finish(database: Database, claim: Claim, *, result: dict[str, Any]) -> None:
    """Mark a workflow as succeeded, with its result. Raises Fenced."""
    await _settle(database, claim, status="succeeded", result=result, error=None)


async def fail(database: Database, claim: Claim, *, error: str) -> None:
    """Mark a workflow as failed, with the reason. Raises Fenced."""
    await _settle(database, claim, status="failed", result=None, error=error)


async def _settle(
    database: Database, claim: Claim, *, status: str, result: dict[str, Any] | None, error: str | None
) -> None:
    # One statement, one round trip: the update is its own fence.
    async with database.connection() as connection:
        cursor = await connection.execute(
            """
            WITH settled AS (
                UPDATE workflows SET status = %(status)s, result = %(result)s, error = %(error)s,
                       runner_id = NULL, resume = NULL, updated_at = now(), finished_at = now()
                WHERE id = %(id)s AND epoch = %(epoch)s AND status = 'running'
                RETURNING id
            ), voided AS (
                -- A workflow that failed waits for no decision any more.
                UPDATE approvals SET status = 'void', decided_at = now()
                FROM settled WHERE workflow_id = settled.id AND approvals.status = 'pending'
            ), said AS (
                INSERT INTO incoming_events (type, workflow_id, data)
                SELECT 'workflow.' || %(status)s, id, %(data)s FROM settled
            )
            SELECT id FROM settled
            """,
            {
                "status": status,
                "result": Jsonb(result) if result is not None else None,
                "error": error,
                "id": claim.workflow_id,
                "epoch": claim.epoch,
                "data": Jsonb({"error": error} if error else {}),
            },
        )
        if await cursor.fetchone() is None:
            raise Fenced(f"workflow {claim.workflow_id} is no longer this runner's (epoch {claim.epoch})")


async def give_back(database: Database, claim: Claim) -> None:
    """Queue a workflow again, unfinished, for whoever may run it next. Raises Fenced."""
    async with database.transaction() as connection:
        await fence(connection, claim)
        await connection.execute(
            """UPDATE workflows SET status = 'queued', runner_id = NULL, epoch = epoch + 1, updated_at = now()
               WHERE id = %s""",
            (claim.workflow_id,),
        )
        await events.append(connection, "workflow.paused", claim.workflow_id, {})
        await notify(connection)


async def let_go(connection: Connection, workflow_id: str, epoch: int) -> None:
    """Queue a workflow whose runner does not know that it has it (the claim's answer was lost)."""
    await connection.execute(
        "UPDATE workflows SET status = 'queued', runner_id = NULL WHERE id = %s AND epoch = %s",
        (workflow_id, epoch),
    )


async def requeue(connection: Connection, workflow_id: str) -> None:
    """Queue a failed workflow again: it continues from its last checkpoint."""
    await connection.execute(
        """UPDATE workflows SET status = 'queued', error = NULL, finished_at = NULL, updated_at = now()
           WHERE id = %s AND status = 'failed'""",
        (workflow_id,),
    )
    await events.append(connection, "workflow.queued", workflow_id, {"again": True})
    await notify(connection)


async def cancel(connection: Connection, workflow_id: str, *, reason: str) -> Workflow:
    """Stop a workflow for good: its epoch rises, so whoever runs it writes nothing more.

    Raises:
        WorkflowNotFound, WorkflowEnded.
    """
    cursor = await connection.execute(
        f"""UPDATE workflows SET status = 'cancelled', epoch = epoch + 1, error = %s, runner_id = NULL,
                   resume = NULL, updated_at = now(), finished_at = now()
            WHERE id = %s AND status <> ALL(%s) RETURNING {_COLUMNS}""",
        (reason, workflow_id, list(ENDED_STATUSES)),
    )
    row = await cursor.fetchone()
    if row is None:
        workflow = await get(connection, workflow_id)
        raise WorkflowEnded(f"workflow {workflow_id} has already ended ({workflow.status})")
    await connection.execute(
        """UPDATE approvals SET status = 'void', decided_at = now()
           WHERE workflow_id = %s AND status = 'pending'""",
        (workflow_id,),
    )
    await events.append(connection, "workflow.cancelled", workflow_id, {"reason": reason})
    await notify(connection, about=workflow_id)
    return Workflow.model_validate(row)
