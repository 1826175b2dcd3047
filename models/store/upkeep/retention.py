"""Delete what is older than it is kept for, a step at a time: each is one short transaction.

What an approval rests on stays: the approval and its votes, its workflow with documents and events, and
what happened to the article that it is about. A row that somebody holds is left for the next sweep.
Tables are walked by their key, so that what stays is passed once a sweep and not at each step.
"""

from datetime import UTC, datetime
from typing import Literal, NamedTuple

from models.store.database import Connection

Walked = Literal["events", "tool_calls", "model_calls"]

_LOCK = "SELECT pg_try_advisory_lock(hashtext('signoff-retention')) AS got"
_UNLOCK = "SELECT pg_advisory_unlock(hashtext('signoff-retention'))"
# What may go, of a row `r`.
_FREE: dict[Walked, str] = {
    "events": """
        NOT EXISTS (SELECT 1 FROM approvals a WHERE a.workflow_id = r.workflow_id)
        AND NOT EXISTS (SELECT 1 FROM approvals a WHERE a.about = 'article:' || (r.data ->> 'article_id'))
        AND NOT EXISTS (SELECT 1 FROM workflows w WHERE w.id = r.workflow_id AND w.finished_at IS NULL)""",
    "tool_calls": "true",
    "model_calls": """
        NOT EXISTS (SELECT 1 FROM workflows w WHERE w.id = r.workflow_id AND w.finished_at IS NULL)""",
}


class WalkPosition(NamedTuple):
    """Where a walk stands: after the row of this time (where the walk goes by time) and id."""

    at: datetime
    id: str


class Step(NamedTuple):
    """What a step came to: rows deleted, and where the next one begins; None at the end."""

    gone: int
    next: WalkPosition | None


START = WalkPosition(datetime.min.replace(tzinfo=UTC), "0")


async def lock(connection: Connection) -> bool:
    """Become the one who prunes, as long as this connection lives; False where somebody else does."""
    row = await (await connection.execute(_LOCK)).fetchone()
    return bool(row and row["got"])


async def unlock(connection: Connection) -> None:
    """Let somebody else prune."""
    await connection.execute(_UNLOCK)


async def walk(
    connection: Connection, table: Walked, *, days: float, after: WalkPosition, limit: int
) -> Step:
    """Look at the next `limit` rows of a table whose ids ascend, and delete those that may go."""
    cursor = await connection.execute(
        f"""
        WITH seen AS MATERIALIZED (
            SELECT id, at < now() - make_interval(secs => %(seconds)s) AS old
            FROM {table} WHERE id > %(after)s ORDER BY id LIMIT %(limit)s
        ), gone AS (
            DELETE FROM {table} WHERE id IN (
                SELECT r.id FROM {table} r JOIN seen ON seen.id = r.id
                WHERE seen.old AND {_FREE[table]} FOR UPDATE OF r SKIP LOCKED)
            RETURNING 1
        )
        SELECT (SELECT count(*) FROM gone) AS gone, max(id) AS last,
               count(*) = %(limit)s AND bool_or(old) AS more
        FROM seen
        """.encode(),
        {"seconds": days * 86_400, "after": int(after.id), "limit": limit},
    )
    row = await cursor.fetchone()
    assert row is not None
    return Step(row["gone"], WalkPosition(START.at, str(row["last"])) if row["more"] else None)


async def walk_documents(connection: Connection, *, days: float, after: WalkPosition, limit: int) -> Step:
    """Delete the documents of the next `limit` workflows that ended for good and had nothing to decide.

    What a workflow came to (its document `result`) stays: a file that is lost is written again from it, and
    a batch that is submitted again answers by it. Of a workflow whose files are still due all stay.
    """
    cursor = await connection.execute(
        """
        WITH seen AS MATERIALIZED (
            SELECT id, finished_at, status, projection_due,
                   finished_at < now() - make_interval(secs => %(seconds)s) AS old
            FROM workflows
            WHERE finished_at IS NOT NULL AND (finished_at, id) > (%(at)s, %(id)s)
            ORDER BY finished_at, id LIMIT %(limit)s
        ), gone AS (
            DELETE FROM documents WHERE ctid IN (
                SELECT d.ctid FROM documents d JOIN seen ON seen.id = d.workflow_id
                WHERE seen.old AND seen.status IN ('succeeded', 'cancelled')
                  AND d.key <> 'result' AND NOT seen.projection_due
                  AND NOT EXISTS (SELECT 1 FROM approvals a WHERE a.workflow_id = seen.id)
                FOR UPDATE OF d SKIP LOCKED)
            RETURNING 1
        )
        SELECT (SELECT count(*) FROM gone) AS gone, count(*) = %(limit)s AND bool_or(old) AS more,
               max(finished_at) AS at, (array_agg(id ORDER BY finished_at DESC, id DESC))[1] AS last
        FROM seen
        """,
        {"seconds": days * 86_400, "at": after.at, "id": after.id, "limit": limit},
    )
    row = await cursor.fetchone()
    assert row is not None
    return Step(row["gone"], WalkPosition(row["at"], row["last"]) if row["more"] else None)


async def take_deliveries(connection: Connection, *, days: float, limit: int) -> int:
    """Delete up to `limit` deliveries that ended long ago, sent or given up."""
    return await _take(
        connection,
        """DELETE FROM deliveries WHERE id IN (
               SELECT id FROM deliveries
               WHERE ended_at < now() - make_interval(secs => %(seconds)s) AND status <> 'pending'
               ORDER BY ended_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED)""",
        days,
        limit,
    )


async def take_conversations(connection: Connection, *, days: float, limit: int) -> int:
    """Delete up to `limit` conversations that nobody has gone on with, and their messages."""
    return await _take(
        connection,
        """DELETE FROM conversations WHERE id IN (
               SELECT id FROM conversations WHERE updated_at < now() - make_interval(secs => %(seconds)s)
               ORDER BY updated_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED)""",
        days,
        limit,
    )


async def take_rate_limits(connection: Connection, *, limit: int) -> int:
    """Delete up to `limit` buckets that have been empty for a day: they say the same as none."""
    return await _take(
        connection,
        """DELETE FROM rate_limits WHERE (person, tool) IN (
               SELECT person, tool FROM rate_limits
               WHERE empty_at < now() - make_interval(secs => %(seconds)s)
               LIMIT %(limit)s FOR UPDATE SKIP LOCKED)""",
        1,
        limit,
    )


async def _take(connection: Connection, statement: str, days: float, limit: int) -> int:
    cursor = await connection.execute(statement.encode(), {"seconds": days * 86_400, "limit": limit})
    return cursor.rowcount
