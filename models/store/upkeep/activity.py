"""Who holds an old transaction on the server, how large the tables are, and what stands how in them.

An old transaction keeps dead rows from being cleared away, and holds its locks; what it belongs to is
named so that somebody can end it. Without the role `pg_read_all_stats` only one's own are seen.
"""

from psycopg.rows import dict_row

from models.record import Record
from models.runtime.workflow_kinds import Kinds
from models.store.connecting import connect
from models.store.database import Connection

_OLD = """
SELECT pid, coalesce(datname, '') AS database, coalesce(usename, '') AS role,
       coalesce(application_name, '') AS application, coalesce(state, '') AS state,
       extract(epoch FROM now() - xact_start)::float8 AS seconds
FROM pg_stat_activity
WHERE xact_start < now() - make_interval(secs => %(seconds)s) AND pid <> pg_backend_pid()
  AND backend_type = 'client backend'
UNION ALL
SELECT 0, database, owner, gid, 'prepared', extract(epoch FROM now() - prepared)::float8
FROM pg_prepared_xacts WHERE prepared < now() - make_interval(secs => %(seconds)s)
ORDER BY seconds DESC LIMIT 20
"""
_SIZES = """
SELECT c.relname AS name, pg_total_relation_size(c.oid) AS bytes, greatest(c.reltuples, 0)::bigint AS rows
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p')
ORDER BY bytes DESC, name
"""

# A workflow that came to its end without what was asked for has not "succeeded".
_OUTCOMES = """
SELECT CASE WHEN w.status = 'succeeded' THEN coalesce(nullif(w.result ->> e.field, e.reached), w.status)
            ELSE w.status END AS outcome, count(*)
FROM workflows w
LEFT JOIN unnest(%s::text[], %s::text[], %s::text[]) AS e (kind, field, reached) ON e.kind = w.kind
GROUP BY 1 ORDER BY 1
"""
# Further tables whose rows each have a status.
_COUNTED = ("approvals", "deliveries")


class OldTransaction(Record):
    """A transaction that has been open for long. `pid` is the server's process; 0 where it is prepared."""

    pid: int
    database: str
    role: str
    application: str
    state: str
    seconds: float

    def __str__(self) -> str:
        name = f"{self.application or 'without a name'}, role {self.role}, database {self.database}"
        return f"pid {self.pid} ({name}) has a transaction open for {self.seconds:.0f} s ({self.state})"


class TableSize(Record):
    """A table with its indexes, and about how many rows it has."""

    name: str
    bytes: int
    rows: int


async def old_transactions(connection: Connection, *, older_than_seconds: float) -> list[OldTransaction]:
    """The oldest first, of any database of the server."""
    cursor = await connection.execute(_OLD.encode(), {"seconds": older_than_seconds})
    return [OldTransaction.model_validate(row) for row in await cursor.fetchall()]


def old_transactions_at(url: str, *, older_than_seconds: float) -> list[OldTransaction]:
    """The same for commands, over a connection of their own."""
    with connect(url, application="signoff status", row_factory=dict_row) as connection:
        rows = connection.execute(_OLD.encode(), {"seconds": older_than_seconds}).fetchall()
        return [OldTransaction.model_validate(row) for row in rows]


def table_sizes_at(url: str) -> list[TableSize]:
    """The largest first."""
    with connect(url, application="signoff status", row_factory=dict_row) as connection:
        return [TableSize.model_validate(row) for row in connection.execute(_SIZES.encode()).fetchall()]


def counts_at(url: str, *, kinds: Kinds) -> dict[str, dict[str, int]]:
    """How many rows are in each status, by table; workflows by what they came to (`WorkflowKind.outcome`)."""
    endings = [(kind.name, kind.ending.field, kind.ending.reached) for kind in kinds.values() if kind.ending]
    told: list[list[str]] = [list(column) for column in zip(*endings, strict=True)] or [[], [], []]
    with connect(url, application="signoff status") as connection:
        found = {"workflows": connection.execute(_OUTCOMES.encode(), told).fetchall()}
        for table in _COUNTED:
            rows = connection.execute(f"SELECT status, count(*) FROM {table} GROUP BY 1 ORDER BY 1".encode())
            found[table] = rows.fetchall()
    return {table: {str(status): int(count) for status, count in rows} for table, rows in found.items()}
