"""What work waits for, and whether runners live: read for `/health/ready` and `signoff status`."""

from psycopg.rows import dict_row

from models.runtime.outages import Parked
from models.store.connecting import connect
from models.store.database import Connection

_PARKED = """
    SELECT coalesce(parked_for, 'something') AS waits_for, count(*) AS workflows,
           coalesce(min(parked_since), min(updated_at)) AS since
    FROM workflows w WHERE status = 'parked' {and_so} GROUP BY 1 ORDER BY 3, 1
"""
# What is due says nothing of what it waited for, and what only batches hold that are over is not tried.
_PAUSES = """AND not_before > now() AND (
    NOT EXISTS (SELECT 1 FROM batch_workflows bw WHERE bw.workflow_id = w.id)
    OR EXISTS (SELECT 1 FROM batch_workflows bw JOIN batches b ON b.id = bw.batch_id
               WHERE bw.workflow_id = w.id AND b.lease_until > now()))"""


async def to_be_tried(connection: Connection) -> list[Parked]:
    """What parked work waits for that was tried in vain, and will be again after its pause."""
    cursor = await connection.execute(_PARKED.format(and_so=_PAUSES).encode())
    return [Parked.model_validate(row) for row in await cursor.fetchall()]


def parked_at(url: str) -> list[Parked]:
    """What all parked work waits for, the longest first, over a connection of its own."""
    with connect(url, application="signoff status", row_factory=dict_row) as connection:
        cursor = connection.execute(_PARKED.format(and_so="").encode())
        return [Parked.model_validate(row) for row in cursor.fetchall()]


async def runners_alive(connection: Connection) -> int:
    """How many runners hold a live lease."""
    cursor = await connection.execute("SELECT count(*) AS alive FROM runners WHERE lease_until > now()")
    row = await cursor.fetchone()
    assert row is not None
    return int(row["alive"])
