"""Events: append in the change's own transaction, read in the one order there is.

A change writes its event to `incoming_events`. Once it is committed, whoever reads next moves it to
`events`, which gives it its id: its place in the order. Moves are made one after the other, under a lock
and in one statement each, so an id can be seen only when all lower ones can. Readers go by id alone, and
no transaction of anybody else can hold them up. A cause is committed before its effect is written, so it
has the lower number in `incoming_events`, or was moved before: it comes first.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from psycopg.pq import TransactionStatus
from psycopg.types.json import Jsonb

from models.people.scopes import Role
from models.runtime.event_catalogue import EventData
from models.runtime.events import Event
from models.store.database import Connection

_MOVED_AT_ONCE = 2000
_TRIES, _PAUSE_SECONDS = 50, 0.01

# `events` diverts what is inserted there without the setting; see the migration "0005".
_MOVE = """
WITH waiting AS MATERIALIZED (
    SELECT EXISTS (SELECT 1 FROM incoming_events) AS any_there
), mine AS MATERIALIZED (
    SELECT any_there,
           CASE WHEN any_there THEN pg_try_advisory_xact_lock(hashtext('signoff-events')) END AS locked,
           set_config('signoff.moves_events', 'on', true) AS moves
    FROM waiting
), moved AS (
    DELETE FROM incoming_events
    WHERE (SELECT locked FROM mine)
      AND id IN (SELECT id FROM incoming_events ORDER BY id LIMIT %(limit)s)
    RETURNING id, type, workflow_id, topic, role, person, data, at
), placed AS (
    INSERT INTO events (type, workflow_id, topic, role, person, data, at)
    SELECT type, workflow_id, topic, role, person, data, at FROM moved ORDER BY id
    RETURNING 1
)
SELECT any_there AND NOT locked AS busy, (SELECT count(*) FROM placed) AS placed FROM mine
"""
_COLUMNS = b"id, workflow_id, type, topic, role, person, data, at"


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
    """Append an event in the caller's transaction. Who may see it: see `models.runtime.events.Event`."""
    await connection.execute(
        """INSERT INTO incoming_events (type, workflow_id, data, topic, role, person)
           VALUES (%s, %s, %s, %s, %s, %s)""",
        (type_, workflow_id, Jsonb(data), topic, role, person),
    )


async def tell(
    connection: Connection,
    data: EventData,
    workflow_id: str | None = None,
    *,
    topic: str | None = None,
    role: Role = "reader",
    person: str | None = None,
) -> None:
    """Append an event of the catalogue; see `append`."""
    await append(connection, data.type, workflow_id, data.as_json(), topic=topic, role=role, person=person)


async def move(connection: Connection, *, limit: int = _MOVED_AT_ONCE) -> int:
    """Give the events that are committed their place, up to `limit` of them; how many it were.

    While somebody else moves, it waits for them a little: what was committed before this call is readable
    after it. In a transaction nothing is moved, for the lock would be held until its end.
    """
    if not connection.autocommit or connection.info.transaction_status != TransactionStatus.IDLE:
        return 0
    for _ in range(_TRIES):
        cursor = await connection.execute(_MOVE, {"limit": limit})
        row = await cursor.fetchone()
        assert row is not None
        if not row["busy"]:
            return int(row["placed"])
        await asyncio.sleep(_PAUSE_SECONDS)
    return 0


async def read(
    connection: Connection, *, after: int, limit: int = 500, workflow_ids: list[str] | None = None
) -> list[Event]:
    """Up to `limit` events that come after the event `after`, in order: with no gap that may still fill."""
    await move(connection)
    # A statement of its own for each, so that a plan that is kept for one does not read as the other would.
    of_these = b"" if workflow_ids is None else b" AND workflow_id = ANY(%(ids)s)"
    cursor = await connection.execute(
        b"SELECT "
        + _COLUMNS
        + b" FROM events WHERE id > %(after)s"
        + of_these
        + b" ORDER BY id LIMIT %(limit)s",
        {"after": after, "limit": limit, "ids": workflow_ids},
    )
    return [Event.model_validate(row) for row in await cursor.fetchall()]


async def latest_before(
    connection: Connection, before: int, *, workflow_id: str, type_: str
) -> dict[str, Any] | None:
    """What a workflow's last event of a type says that came before the event `before`; None without one."""
    cursor = await connection.execute(
        """SELECT data FROM events WHERE workflow_id = %s AND type = %s AND id < %s
           ORDER BY id DESC LIMIT 1""",
        (workflow_id, type_, before),
    )
    row = await cursor.fetchone()
    return None if row is None else row["data"]


async def newest_about_article(connection: Connection, article_id: int, types: Sequence[str]) -> Event | None:
    """The newest event of these types about an article; what has no place yet has the id 0."""
    cursor = await connection.execute(
        b"""
        SELECT 0 AS incoming, """
        + _COLUMNS
        + b""" FROM events WHERE data ? 'article_id' AND data ->> 'article_id' = %(article)s::text
            AND type = ANY(%(types)s)
        UNION ALL
        SELECT id, 0, workflow_id, type, topic, role, person, data, at FROM incoming_events
        WHERE data ->> 'article_id' = %(article)s::text AND type = ANY(%(types)s)
        ORDER BY incoming DESC, id DESC LIMIT 1
        """,
        {"article": article_id, "types": list(types)},
    )
    row = await cursor.fetchone()
    return None if row is None else _placed(row)


async def about_article(connection: Connection, article_id: int, *, limit: int = 200) -> list[Event]:
    """What happened to an article, oldest first; the newest `limit` of it.

    What has no place yet comes last, with the id 0: this is asked within transactions, too.
    """
    await move(connection)
    cursor = await connection.execute(
        b"""
        SELECT * FROM (
            SELECT 0 AS incoming, """
        + _COLUMNS
        + b""" FROM events
            WHERE data ->> 'article_id' = %(article)s::text AND type <> 'notification'
            UNION ALL
            SELECT id, 0, workflow_id, type, topic, role, person, data, at FROM incoming_events
            WHERE data ->> 'article_id' = %(article)s::text AND type <> 'notification'
            ORDER BY incoming DESC, id DESC LIMIT %(limit)s
        ) newest ORDER BY incoming, id
        """,
        {"article": article_id, "limit": limit},
    )
    return [_placed(row) for row in await cursor.fetchall()]


def _placed(row: dict[str, Any]) -> Event:
    return Event.model_validate({name: value for name, value in row.items() if name != "incoming"})


async def newest_id(connection: Connection) -> int:
    """The last event that a reader may stand at now; 0 when there are none."""
    while await move(connection):
        pass
    cursor = await connection.execute("SELECT coalesce(max(id), 0) AS id FROM events")
    row = await cursor.fetchone()
    assert row is not None
    return int(row["id"])


async def begin(connection: Connection, after: int | None) -> int:
    """Where a reader begins that was told of `after` last: there, or at the newest event.

    An id that was not given yet stands for nothing that could have been told.
    """
    newest = await newest_id(connection)
    return newest if after is None or after > newest else after
