"""What a database holds, for `signoff backup` and `signoff restore`: over connections of their own."""

import secrets
from typing import Any

import psycopg
from psycopg import sql

from models.backup import Inventory
from models.store.connecting import connect

_TABLES = """
SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p') ORDER BY 1
"""
_SEQUENCES = """
SELECT sequencename, coalesce(last_value + increment_by, start_value) FROM pg_sequences
WHERE schemaname = 'public' ORDER BY 1
"""
# Columns that a sequence fills: which one, and of which table.
_FILLED = """
SELECT s.relname, t.relname, a.attname
FROM pg_depend d
JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S'
JOIN pg_class t ON t.oid = d.refobjid
JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = d.refobjsubid
JOIN pg_namespace n ON n.oid = t.relnamespace
WHERE n.nspname = 'public' AND d.deptype IN ('a', 'i') ORDER BY 1
"""

# What a restore puts aside is in a schema of such a name until it is done.
_ASIDE = "before_restore_"
_LOCK_TIMEOUT = "10s"

Connection = psycopg.Connection[Any]


def snapshot(connection: Connection) -> str:
    """The name under which others, such as pg_dump, see what the connection's transaction sees."""
    return str(_one(connection, "SELECT pg_export_snapshot()")[0])


def take(connection: Connection) -> Inventory:
    """Count everything, in the connection's transaction. Sequences are outside of any transaction."""
    [revision] = _one(connection, "SELECT version_num FROM alembic_version")
    [newest] = _one(connection, "SELECT coalesce(max(id), 0) FROM events")
    return Inventory(
        revision=revision,
        rows={name: _count(connection, name) for (name,) in connection.execute(_TABLES).fetchall()},
        sequences=sequences(connection),
        newest_event=newest,
    )


def sequences(connection: Connection) -> dict[str, int]:
    """What each would give next, now: also what open transactions took is gone."""
    return {name: int(value) for name, value in connection.execute(_SEQUENCES).fetchall()}


def is_empty(connection: Connection) -> bool:
    """Whether it has no table."""
    return not connection.execute(_TABLES).fetchall()


def live_runners(connection: Connection) -> int:
    """How many runners are at work on it."""
    if _one(connection, "SELECT to_regclass('public.runners')::text") == (None,):
        return 0
    return int(_one(connection, "SELECT count(*) FROM runners WHERE lease_until > now()")[0])


def at_work(connection: Connection) -> list[str]:
    """Other sessions of ours on this database, each with its process id; `signoff status` is none."""
    query = (
        "SELECT application_name || ' (pid ' || pid || ')' FROM pg_stat_activity WHERE datname = "
        "current_database() AND application_name LIKE 'signoff%' AND application_name <> 'signoff status' "
        "AND pid <> pg_backend_pid() ORDER BY 1"
    )
    return [name for (name,) in connection.execute(query).fetchall()]


def left_aside(connection: Connection) -> list[str]:
    """Schemas that hold what was here before a restore that was broken off."""
    query = "SELECT nspname FROM pg_namespace WHERE starts_with(nspname, %s) ORDER BY 1"
    return [name for (name,) in connection.execute(query, (_ASIDE,)).fetchall()]


def left_aside_at(url: str) -> list[str]:
    """The same for commands, over a connection of their own."""
    with connect(url, application="signoff up") as connection:
        return left_aside(connection)


def sequences_behind(connection: Connection) -> list[str]:
    """Columns that hold a number which their sequence has yet to give: writing there would fail."""
    behind = []
    for sequence, table, column in connection.execute(_FILLED).fetchall():
        query = sql.SQL("SELECT coalesce(max({}), 0) FROM {}").format(
            sql.Identifier(column), sql.Identifier(table)
        )
        row = connection.execute(query).fetchone()
        [given] = _one(
            connection,
            "SELECT coalesce(last_value, 0) FROM pg_sequences WHERE schemaname = 'public' "
            "AND sequencename = %s",
            sequence,
        )
        if row and row[0] > given:
            behind.append(f"{table}.{column}")
    return behind


def with_transaction_ids(connection: Connection) -> list[str]:
    """Columns that hold transaction ids: they mean nothing in another server."""
    return [
        f"{table}.{column}"
        for table, column in connection.execute(
            "SELECT table_name, column_name FROM information_schema.columns "
            "WHERE table_schema = 'public' AND udt_name IN ('xid', 'xid8') ORDER BY 1, 2"
        ).fetchall()
    ]


def put_aside(connection: Connection) -> str:
    """Rename what is there and begin with nothing; the name of what is put aside."""
    name = f"{_ASIDE}{secrets.token_hex(4)}"
    with connection.transaction():
        connection.execute(sql.SQL("ALTER SCHEMA public RENAME TO {}").format(sql.Identifier(name)))
        connection.execute("CREATE SCHEMA public")
    return name


def bring_back(connection: Connection, aside: str) -> None:
    """Put back what was put aside, in place of what has come since."""
    with connection.transaction():
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute(sql.SQL("ALTER SCHEMA {} RENAME TO public").format(sql.Identifier(aside)))


def drop(connection: Connection, aside: str) -> None:
    """Forget what was put aside, unless somebody else keeps a lock on it."""
    with connection.transaction():
        connection.execute(f"SET LOCAL lock_timeout = '{_LOCK_TIMEOUT}'".encode())
        connection.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(aside)))


def _count(connection: Connection, table: str) -> int:
    row = connection.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table))).fetchone()
    return int(row[0]) if row else 0


def _one(connection: Connection, query: str, *values: Any) -> tuple[Any, ...]:
    row = connection.execute(query.encode(), values).fetchone()
    if row is None:
        raise psycopg.errors.NoDataFound(f"no row: {query}")
    return tuple(row)
