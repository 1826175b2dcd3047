"""Checkpoints of many workflows, written by one fenced statement.

A runner hands over whatever its graphs have produced since the last commit; one round trip and one
commit serve them all. Rows whose epoch is no longer their workflow's are left out, and the caller
learns which were written.
"""

from dataclasses import dataclass, field
from typing import Any

from models.store.database import Database

Key = tuple[str, str, str]  # thread_id, checkpoint_ns, checkpoint_id


@dataclass(frozen=True, slots=True)
class CheckpointRow:
    """One checkpoint; `data` and `metadata` are already serialised."""

    epoch: int
    thread_id: str
    checkpoint_ns: str
    checkpoint_id: str
    parent_checkpoint_id: str | None
    type: str
    data: bytes
    metadata: bytes


@dataclass(frozen=True, slots=True)
class WriteRow:
    """One pending write of a task; a higher `idx` is a later one, negative ones are special."""

    epoch: int
    thread_id: str
    checkpoint_ns: str
    checkpoint_id: str
    task_id: str
    idx: int
    task_path: str
    channel: str
    type: str
    data: bytes


@dataclass(slots=True)
class Group:
    """What one statement writes. Keys are unique in it: Postgres refuses to upsert a row twice."""

    checkpoints: dict[Key, CheckpointRow] = field(default_factory=dict)
    writes: dict[tuple[str, str, str, str, int], WriteRow] = field(default_factory=dict)


_WRITE = """
WITH fence AS (
    SELECT w.id, w.epoch
    FROM workflows w
    JOIN unnest(%(ids)b::text[], %(epochs)b::bigint[]) AS f(id, epoch)
      ON w.id = f.id AND w.epoch = f.epoch AND w.status = 'running'
    FOR SHARE OF w
), put AS (
    INSERT INTO checkpoints
        (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, data, metadata)
    SELECT c.thread_id, c.ns, c.id, c.parent, c.type, c.data, c.metadata
    FROM unnest(%(c_epoch)b::bigint[], %(c_thread)b::text[], %(c_ns)b::text[], %(c_id)b::text[],
                %(c_parent)b::text[], %(c_type)b::text[], %(c_data)b::bytea[], %(c_metadata)b::bytea[])
         AS c(epoch, thread_id, ns, id, parent, type, data, metadata)
    JOIN fence ON fence.id = c.thread_id AND fence.epoch = c.epoch
    ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id)
    DO UPDATE SET data = EXCLUDED.data, metadata = EXCLUDED.metadata
), put_writes AS (
    INSERT INTO checkpoint_writes
        (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, task_path, channel, type, data)
    SELECT p.thread_id, p.ns, p.id, p.task, p.idx, p.path, p.channel, p.type, p.data
    FROM unnest(%(w_epoch)b::bigint[], %(w_thread)b::text[], %(w_ns)b::text[], %(w_id)b::text[],
                %(w_task)b::text[], %(w_idx)b::int4[], %(w_path)b::text[], %(w_channel)b::text[],
                %(w_type)b::text[], %(w_data)b::bytea[])
         AS p(epoch, thread_id, ns, id, task, idx, path, channel, type, data)
    JOIN fence ON fence.id = p.thread_id AND fence.epoch = p.epoch
    ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
    DO UPDATE SET channel = EXCLUDED.channel, type = EXCLUDED.type, data = EXCLUDED.data
)
SELECT id, epoch FROM fence
"""

_SELECT = """
SELECT c.thread_id, c.checkpoint_ns, c.checkpoint_id, c.parent_checkpoint_id, c.type, c.data, c.metadata,
       ARRAY(SELECT ARRAY[w.task_id::bytea, w.channel::bytea, w.type::bytea, w.data]
             FROM checkpoint_writes w
             WHERE w.thread_id = c.thread_id AND w.checkpoint_ns = c.checkpoint_ns
               AND w.checkpoint_id = c.checkpoint_id
             ORDER BY w.task_path, w.task_id, w.idx) AS writes
FROM checkpoints c
WHERE c.thread_id = %(thread)s AND c.checkpoint_ns = %(ns)s
"""


async def write(database: Database, group: Group) -> set[tuple[str, int]]:
    """Write a group in one transaction; the (workflow id, epoch) pairs whose rows were written."""
    owners = sorted(
        {(row.thread_id, row.epoch) for row in group.checkpoints.values()}
        | {(row.thread_id, row.epoch) for row in group.writes.values()}
    )
    checkpoints = list(group.checkpoints.values())
    writes = list(group.writes.values())
    parameters: dict[str, Any] = {
        "ids": [owner[0] for owner in owners],
        "epochs": [owner[1] for owner in owners],
        "c_epoch": [row.epoch for row in checkpoints],
        "c_thread": [row.thread_id for row in checkpoints],
        "c_ns": [row.checkpoint_ns for row in checkpoints],
        "c_id": [row.checkpoint_id for row in checkpoints],
        "c_parent": [row.parent_checkpoint_id for row in checkpoints],
        "c_type": [row.type for row in checkpoints],
        "c_data": [row.data for row in checkpoints],
        "c_metadata": [row.metadata for row in checkpoints],
        "w_epoch": [row.epoch for row in writes],
        "w_thread": [row.thread_id for row in writes],
        "w_ns": [row.checkpoint_ns for row in writes],
        "w_id": [row.checkpoint_id for row in writes],
        "w_task": [row.task_id for row in writes],
        "w_idx": [row.idx for row in writes],
        "w_path": [row.task_path for row in writes],
        "w_channel": [row.channel for row in writes],
        "w_type": [row.type for row in writes],
        "w_data": [row.data for row in writes],
    }
    async with database.connection() as connection:
        cursor = await connection.execute(_WRITE, parameters, prepare=True)
        return {(row["id"], row["epoch"]) for row in await cursor.fetchall()}


async def latest(database: Database, *, thread_id: str, checkpoint_ns: str) -> dict[str, Any] | None:
    """The newest checkpoint of a thread with its pending writes, or None."""
    return await _one(
        database, " ORDER BY c.checkpoint_id DESC LIMIT 1", {"thread": thread_id, "ns": checkpoint_ns}
    )


async def get(
    database: Database, *, thread_id: str, checkpoint_ns: str, checkpoint_id: str
) -> dict[str, Any] | None:
    """One checkpoint with its pending writes, or None."""
    return await _one(
        database,
        " AND c.checkpoint_id = %(id)s",
        {"thread": thread_id, "ns": checkpoint_ns, "id": checkpoint_id},
    )


async def history(
    database: Database, *, thread_id: str, checkpoint_ns: str, before: str | None, limit: int | None
) -> list[dict[str, Any]]:
    """A thread's checkpoints, newest first."""
    query = _SELECT
    if before:
        query += " AND c.checkpoint_id < %(before)s"
    query += " ORDER BY c.checkpoint_id DESC LIMIT %(limit)s"
    async with database.connection() as connection:
        cursor = await connection.execute(
            query, {"thread": thread_id, "ns": checkpoint_ns, "before": before, "limit": limit}, binary=True
        )
        return await cursor.fetchall()


async def _one(database: Database, condition: str, parameters: dict[str, Any]) -> dict[str, Any] | None:
    async with database.connection() as connection:
        cursor = await connection.execute(_SELECT + condition, parameters, binary=True, prepare=True)
        return await cursor.fetchone()
