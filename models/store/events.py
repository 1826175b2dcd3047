"""Events: append in the change's own transaction, read in an order that never skips one.

Ids are given before commit, so a lower id can appear after a higher one. A reader therefore stays
below the oldest transaction still open (`pg_snapshot_xmin`): what it has passed can't fill up later.
"""

from typing import Any

from psycopg.types.json import Jsonb

from models.events import Event
from models.scopes import Role
from models.store.database import Connection


async def append(
    connection: Connection,
    type_: str,
    workflow_id: str | None,
    data: dict[str, Any],
    *,
    topic: str | None = None,
    role: Role = "reader",
    person: str | None = None,
) -> None:
    """Append an event in the caller's transaction. Who may see it: see `models.events.Event`."""
    await connection.execute(
        "INSERT INTO events (type, workflow_id, data, topic, role, person) VALUES (%s, %s, %s, %s, %s, %s)",
        (type_, workflow_id, Jsonb(data), topic, role, person),
    )


async def read(
    connection: Connection, *, after: int, limit: int = 500, workflow_ids: list[str] | None = None
) -> list[Event]:
    """Up to `limit` events after id `after`, in id order, with no gap that may still fill."""
    cursor = await connection.execute(
        """
        SELECT id, workflow_id, type, topic, role, person, data, at FROM events
        WHERE id > %(after)s AND xid < pg_snapshot_xmin(pg_current_snapshot())
          AND (%(all)s OR workflow_id = ANY(%(ids)s))
        ORDER BY id LIMIT %(limit)s
        """,
        {"after": after, "limit": limit, "all": workflow_ids is None, "ids": workflow_ids or []},
    )
    return [Event.model_validate(row) for row in await cursor.fetchall()]


async def newest_id(connection: Connection) -> int:
    """The highest id a reader may stand at now; 0 when there are no events."""
    cursor = await connection.execute(
        "SELECT coalesce(max(id), 0) AS id FROM events WHERE xid < pg_snapshot_xmin(pg_current_snapshot())"
    )
    row = await cursor.fetchone()
    assert row is not None
    return int(row["id"])
