"""Workflows: begun, looked at, begun again and stopped. What their runners write is in `claims`."""

import logging
import uuid
from collections.abc import Sequence

from psycopg.errors import UniqueViolation
from psycopg.types.json import Jsonb

from models import log_ids, trace_context
from models.errors import WorkflowConflict, WorkflowEnded, WorkflowNotFound
from models.runtime.event_catalogue import WorkflowCancelled, WorkflowQueued
from models.runtime.workflows import ENDED_STATUSES, OPEN_STATUSES, Progress, Workflow, WorkflowRequest
from models.store import events
from models.store.database import Connection
from models.store.runtime.approval_events import void_of_ended

_log = logging.getLogger("signoff.workflows")
CHANNEL = "signoff_workflows"

_COLUMNS = (
    "id, kind, key, input, input_digest, requested_by, status, epoch, runner_id, result, error, parked_for, "
    "parked_since, projection_due, permission, created_at, updated_at, started_at, finished_at"
)


async def notify(connection: Connection, *, about: str = "") -> None:
    """Wake the runners when the transaction commits; `about` is a workflow id where one is meant."""
    await connection.execute("SELECT pg_notify(%s, %s)", (CHANNEL, about))


async def create(connection: Connection, request: WorkflowRequest) -> Workflow:
    """Queue a new workflow, in the caller's transaction.

    Raises:
        psycopg.errors.UniqueViolation: another workflow of the same key is open.
    """
    cursor = await connection.execute(
        f"""INSERT INTO workflows (id, kind, key, input, input_digest, requested_by, permission, traceparent,
                                   status)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s, 'queued') RETURNING {_COLUMNS}""",
        (
            uuid.uuid4().hex,
            request.kind,
            request.key,
            Jsonb(request.input),
            request.input_digest,
            request.requested_by,
            Jsonb(request.permission.model_dump()) if request.permission else None,
            trace_context.current(),
        ),
    )
    workflow = Workflow.model_validate(await cursor.fetchone())
    await events.tell(connection, WorkflowQueued(kind=workflow.kind), workflow.id)
    await notify(connection)
    if log_ids.current().request_id is not None:
        # The one line that has both ids: a runner knows nothing of requests.
        with log_ids.within(log_ids.current().model_copy(update={"workflow_id": workflow.id})):
            _log.info("asked for a workflow: %s", workflow.kind)
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


async def progress(connection: Connection, workflow_ids: Sequence[str]) -> list[Progress]:
    """How far the workflows among `workflow_ids` are that exist, in no order; without their contents."""
    cursor = await connection.execute(
        "SELECT id, status, parked_for, projection_due FROM workflows WHERE id = ANY(%s)",
        (list(workflow_ids),),
    )
    return [Progress.model_validate(row) for row in await cursor.fetchall()]


async def latest_of_key(connection: Connection, key: str, *, lock: bool = True) -> Workflow | None:
    """The newest workflow of a key, locked until the transaction ends; without `lock`, only looked at."""
    cursor = await connection.execute(
        f"""SELECT {_COLUMNS} FROM workflows WHERE key = %s
            ORDER BY created_at DESC, id LIMIT 1 {"FOR UPDATE" if lock else ""}""",
        (key,),
    )
    row = await cursor.fetchone()
    return Workflow.model_validate(row) if row else None


async def recent(
    connection: Connection, *, limit: int, statuses: Sequence[str] = (), before: str | None = None
) -> list[Workflow]:
    """The newest workflows, newest first: of the statuses, if any are given, and older than that one.

    Raises:
        WorkflowNotFound: there is none of the id `before`.
    """
    conditions = ["true"]
    values: dict[str, object] = {"limit": limit}
    if statuses:
        conditions.append("status = ANY(%(statuses)s)")
        values["statuses"] = list(statuses)
    if before is not None:
        # Newest first, and those of one moment by their ids: what the index has.
        conditions.append("created_at <= %(at)s AND (created_at < %(at)s OR id > %(before)s)")
        values |= {"at": (await get(connection, before)).created_at, "before": before}
    cursor = await connection.execute(
        f"""SELECT {_COLUMNS} FROM workflows WHERE {" AND ".join(conditions)}
            ORDER BY created_at DESC, id LIMIT %(limit)s""",
        values,
    )
    return [Workflow.model_validate(row) for row in await cursor.fetchall()]


async def open_of_key(connection: Connection, key: str) -> str | None:
    """The id of the workflow of a key that is open, if there is one."""
    cursor = await connection.execute(
        "SELECT id FROM workflows WHERE key = %s AND status = ANY(%s)", (key, list(OPEN_STATUSES))
    )
    row = await cursor.fetchone()
    return row["id"] if row else None


async def retry(connection: Connection, workflow_id: str) -> Workflow:
    """Begin a failed workflow again, from its last document; a parked one is tried at once.

    Batches that are over hold it no longer: it runs though their drivers are gone.

    Raises:
        WorkflowNotFound.
        WorkflowConflict: it is under way, waits for a decision, succeeded or was stopped; or another of its
            key is newer, or is open.
    """
    await _check_newest(connection, workflow_id)
    try:
        async with connection.transaction():  # a savepoint: what was refused leaves nothing behind
            cursor = await connection.execute(
                f"""UPDATE workflows SET status = 'queued', error = NULL, finished_at = NULL, deaths = 0,
                           projection_due = false, epoch = epoch + 1, parked_for = NULL, parked_since = NULL,
                           waited_seconds = 0, not_before = NULL, updated_at = now(),
                           begun_again_at = CASE status WHEN 'failed' THEN now() ELSE begun_again_at END
                    WHERE id = %s AND status IN ('failed', 'parked') RETURNING {_COLUMNS}""",
                (workflow_id,),
            )
            row = await cursor.fetchone()
    except UniqueViolation:
        raise await _beside_open(connection, workflow_id) from None
    if row is None:
        workflow = await get(connection, workflow_id)
        raise WorkflowConflict(
            f"workflow {workflow_id} is {workflow.status}: only one that failed or is parked is begun again",
            status=workflow.status,
        )
    await connection.execute(
        """DELETE FROM batch_workflows bw USING batches b
           WHERE bw.workflow_id = %s AND b.id = bw.batch_id AND b.lease_until <= now()""",
        (workflow_id,),
    )
    await events.tell(connection, WorkflowQueued(again=True), workflow_id)
    await notify(connection)
    return Workflow.model_validate(row)


async def _check_newest(connection: Connection, workflow_id: str) -> None:
    """Of a key, only the newest is begun again: an older one would undo what came after it."""
    cursor = await connection.execute(
        """SELECT newer.id, newer.status FROM workflows w JOIN workflows newer ON newer.key = w.key
           WHERE w.id = %s AND w.status = 'failed'
           ORDER BY newer.created_at DESC, newer.id LIMIT 1""",
        (workflow_id,),
    )
    newest = await cursor.fetchone()
    if newest is not None and newest["id"] != workflow_id:
        raise WorkflowConflict(
            f"workflow {workflow_id} was followed by {newest['id']}, which is {newest['status']}: begin that "
            "one again, or ask for the work anew",
            newer=newest["id"],
        )


async def _beside_open(connection: Connection, workflow_id: str) -> WorkflowConflict:
    key = (await get(connection, workflow_id)).key
    other = await open_of_key(connection, key) if key is not None else None
    return WorkflowConflict(
        f"workflow {workflow_id} can't be begun again while {other or 'another'} of its key is open: let "
        f"that one end, or stop it with `signoff workflows cancel {other or 'ID'}`",
        open=other,
    )


async def cancel(connection: Connection, workflow_id: str, *, reason: str) -> Workflow:
    """Stop a workflow for good: its epoch rises, so whoever runs it writes nothing more.

    Raises:
        WorkflowNotFound, WorkflowEnded.
    """
    cursor = await connection.execute(
        f"""UPDATE workflows SET status = 'cancelled', epoch = epoch + 1, error = %s, runner_id = NULL,
                   parked_for = NULL, parked_since = NULL, updated_at = now(), finished_at = now()
            WHERE id = %s AND status <> ALL(%s) RETURNING {_COLUMNS}""",
        (reason, workflow_id, list(ENDED_STATUSES)),
    )
    row = await cursor.fetchone()
    if row is None:
        workflow = await get(connection, workflow_id)
        raise WorkflowEnded(f"workflow {workflow_id} has already ended ({workflow.status})")
    await events.tell(connection, WorkflowCancelled(reason=reason), workflow_id)
    await void_of_ended(connection, workflow_id, why=f"stopped before anybody decided: {reason}")
    await notify(connection, about=workflow_id)
    return Workflow.model_validate(row)
