"""Events: append in the change's own transaction, read in an order that never skips one.

Ids are given before commit, so a lower id can appear after a higher one. Readers therefore go by
(transaction, id) and stay below the oldest transaction still open (`pg_snapshot_xmin`): what they have
passed can't fill up later. Order by id alone would skip: whoever began last may have taken the lower id.
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
    """Up to `limit` events that come after the event `after`, with no gap that may still fill.

    Their ids need not ascend where transactions overlapped: go on from the last one, not from the highest.
    0, or an id that no event has, stands before every event with a higher id.
    """
    cursor = await connection.execute(
        """
        SELECT id, workflow_id, type, topic, role, person, data, at FROM events
        WHERE (xid, id) > (coalesce((SELECT xid FROM events WHERE id = %(after)s), '0'), %(after)s::bigint)
          AND (id > %(after)s OR EXISTS (SELECT 1 FROM events WHERE id = %(after)s))
          AND xid < pg_snapshot_xmin(pg_current_snapshot())
          AND (%(all)s OR workflow_id = ANY(%(ids)s))
        ORDER BY xid, id LIMIT %(limit)s
        """,
        {"after": after, "limit": limit, "all": workflow_ids is None, "ids": workflow_ids or []},
    )
    return [Event.model_validate(row) for row in await cursor.fetchall()]


async def about_article(connection: Connection, article_id: int, *, limit: int = 200) -> list[Event]:
    """What happened to an article, oldest first; the newest `limit` of it."""
    cursor = await connection.execute(
        """
        SELECT * FROM (
            SELECT id, workflow_id, type, topic, role, person, data, at FROM events
            WHERE data ->> 'article_id' = %s::text AND type <> 'notification'
            ORDER BY id DESC LIMIT %s
        ) newest ORDER BY id
        """,
        (article_id, limit),
    )
    return [Event.model_validate(row) for row in await cursor.fetchall()]


async def newest_id(connection: Connection) -> int:
    """The last event that a reader may stand at now; 0 when there are none."""
    cursor = await connection.execute(
        """SELECT id FROM events WHERE xid < pg_snapshot_xmin(pg_current_snapshot())
           ORDER BY xid DESC, id DESC LIMIT 1"""
    )
    row = await cursor.fetchone()
    return int(row["id"]) if row else 0


async def begin(connection: Connection, after: int | None) -> int:
    """Where a reader begins that was told of `after` last: there, or at the newest event.

    An id that was not given yet stands for nothing that could have been told.
    """
    cursor = await connection.execute("SELECT coalesce(max(id), 0) AS id FROM events")
    row = await cursor.fetchone()
    assert row is not None
    return await newest_id(connection) if after is None or after > row["id"] else after
