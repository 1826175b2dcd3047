"""What work waits for, and whether runners live: read for `/health/ready` and `signoff status`."""

from psycopg.rows import dict_row

from models.outages import Parked
from models.store.connecting import connect
from models.store.database import Connection

_PARKED = b"""
    SELECT coalesce(parked_for, 'something') AS waits_for, count(*) AS workflows,
           coalesce(min(parked_since), min(updated_at)) AS since
    FROM workflows WHERE status = 'parked' GROUP BY 1 ORDER BY 3, 1
"""


async def parked(connection: Connection) -> list[Parked]:
    """What parked work waits for, the longest first."""
    cursor = await connection.execute(_PARKED)
    return [Parked.model_validate(row) for row in await cursor.fetchall()]


def parked_at(url: str) -> list[Parked]:
    """The same for `signoff status`, over a connection of its own."""
    with connect(url, application="signoff status", row_factory=dict_row) as connection:
        return [Parked.model_validate(row) for row in connection.execute(_PARKED).fetchall()]


async def runners_alive(connection: Connection) -> int:
    """How many runners hold a live lease."""
    cursor = await connection.execute("SELECT count(*) AS alive FROM runners WHERE lease_until > now()")
    row = await cursor.fetchone()
    assert row is not None
    return int(row["alive"])
