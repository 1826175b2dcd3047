"""What Signoff needs of a server, a database and a role, asked before anything is started on them.

`signoff up` asks. What a connection can be set to is not asked for here: `models.store.session` does that.
Each answer is one sentence that says what to change.
"""

import asyncio
import uuid
from contextlib import AsyncExitStack
from typing import Any, LiteralString

import psycopg
from psycopg import sql
from psycopg.rows import DictRow

from models.errors import ClusterProblem
from models.store.database import Connection, Database

_SECONDS = 15.0
_POOLED = (
    "database.url leads to a pooler that gives each transaction another connection, so that settings, locks "
    "and LISTEN are lost: have it pool sessions (pgbouncer: pool_mode=session), or give Postgres' own address"
)
_TOO_FEW = (
    "database.url leads to a pooler that has no second connection to Postgres free within "
    f"{_SECONDS:g} s: let it open as many as docs/running.md says (pgbouncer: default_pool_size)"
)
_LOOK = """
SELECT session_user AS role, current_database() AS database, pg_is_in_recovery() AS standby,
       current_setting('server_encoding') AS encoding,
       current_setting('transaction_read_only') = 'on' AS reads_only,
       (SELECT source FROM pg_settings WHERE name = 'default_transaction_read_only') AS read_only_by,
       to_regnamespace('public') IS NOT NULL AS has_public,
       to_regclass('public.alembic_version') IS NULL AS empty,
       (SELECT min(relname) FROM pg_class
        WHERE relnamespace = to_regnamespace('public') AND relkind IN ('r', 'p')
              AND row_security_active(oid)) AS row_secured,
       coalesce(has_schema_privilege(to_regnamespace('public'), 'CREATE'), false) AS may_create,
       (SELECT CASE WHEN rolsuper OR rolconnlimit < 0 THEN NULL ELSE rolconnlimit END
        FROM pg_roles WHERE rolname = session_user) AS of_role,
       (SELECT CASE WHEN datconnlimit < 0 OR (SELECT rolsuper FROM pg_roles WHERE rolname = session_user)
                    THEN NULL ELSE datconnlimit END
        FROM pg_database WHERE datname = current_database()) AS of_database
"""
# Where the role's own search path leads, and whether a site's tables are there.
_ELSEWHERE = """
SELECT n.nspname AS schema FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.oid = to_regclass('alembic_version') AND n.nspname <> 'public'
      AND EXISTS (SELECT 1 FROM pg_class w WHERE w.relnamespace = n.oid AND w.relname = 'workflows')
"""


async def check(url: str, *, connections: int) -> None:
    """See whether a site can work there, which opens so many connections.

    Raises:
        ClusterProblem: it can't; the message says why, and what to change.
        psycopg.Error: it can't be reached.
    """
    database = Database(url=url, pool_size=1, application="signoff up")
    async with AsyncExitStack() as stack:
        one = await stack.enter_async_context(database.apart())
        try:
            async with asyncio.timeout(_SECONDS):
                other = await stack.enter_async_context(database.apart())
        except TimeoutError as error:
            raise ClusterProblem(_TOO_FEW) from error
        if not await _are_sessions(one, other):
            raise ClusterProblem(_POOLED)
        found = await _row(one, _LOOK)
        assert found is not None
        await one.execute("RESET search_path")
        elsewhere = await _row(one, _ELSEWHERE) if found["empty"] else None
    if told := _unmet(found, elsewhere, connections):
        raise ClusterProblem(told)


async def _are_sessions(one: Connection, other: Connection) -> bool:
    """Whether each has a process of the server to itself, keeps what it was set to, and hears the other."""
    mark = f"signoff_{uuid.uuid4().hex}"
    try:
        await one.execute(f"LISTEN {mark}".encode())
        await one.execute("SELECT set_config('signoff.session', %s, false)", (mark,))
        # Twice each: a pooler may give the last one that came back, or one after the other.
        ones = {await _process(one), await _process(one)}
        others = {await _process(other), await _process(other)}
        await other.execute("SELECT set_config('signoff.session', '', false)")
        kept = await _row(one, "SELECT current_setting('signoff.session', true) AS session")
        if len(ones) > 1 or len(others) > 1 or ones == others or kept != {"session": mark}:
            return False
        async with other.transaction():
            await other.execute("SELECT pg_notify(%s, 'heard')", (mark,))
    except psycopg.errors.ProtocolViolation:
        return False  # what pools statements refuses transactions
    return [notice.payload async for notice in one.notifies(timeout=_SECONDS, stop_after=1)] == ["heard"]


def _unmet(found: DictRow, elsewhere: DictRow | None, connections: int) -> str | None:
    """What is not as it must be, and what to do about it."""
    role, database = (sql.Identifier(found[name]).as_string() for name in ("role", "database"))
    if found["encoding"] != "UTF8":
        return (
            f"the database {database} is in {found['encoding']}, which does not hold every text: make "
            "another with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0, and set database.url to it"
        )
    if found["standby"]:
        return "database.url leads to a standby, which can't be written to: set it to the primary's address"
    if found["reads_only"] and found["read_only_by"] == "client":
        return (
            "connections are made to read only: take default_transaction_read_only out of database.url's "
            "options, and out of PGOPTIONS"
        )
    if found["reads_only"]:
        whose = {
            "user": f"ALTER ROLE {role}",
            "database": f"ALTER DATABASE {database}",
            "database user": f"ALTER ROLE {role} IN DATABASE {database}",
        }.get(found["read_only_by"], "ALTER SYSTEM")
        return (
            f"the role {role} only reads in the database {database}: SET default_transaction_read_only "
            f"= off, then {whose} RESET default_transaction_read_only"
        )
    if (table := found["row_secured"]) is not None:
        name = sql.Identifier(table).as_string()
        return (
            f"row security hides rows of the table {name} from the role {role}: ALTER ROLE {role} BYPASSRLS, "
            f"or of this and each other such table ALTER TABLE {name} DISABLE ROW LEVEL SECURITY"
        )
    if elsewhere is not None:
        schema = sql.Identifier(elsewhere["schema"]).as_string()
        return (
            f"a site's tables are in the schema {schema}, and Signoff keeps them in public: with nothing at "
            f"work, DROP SCHEMA public, which is empty, and ALTER SCHEMA {schema} RENAME TO public"
        )
    if not found["has_public"]:
        return f"the database {database} has no schema public: CREATE SCHEMA public AUTHORIZATION {role}"
    if found["empty"] and not found["may_create"]:
        return f"the role {role} may make no tables: GRANT CREATE ON SCHEMA public TO {role}"
    for limit, kind, name in (
        (found["of_role"], "ROLE", role),
        (found["of_database"], "DATABASE", database),
    ):
        if limit is not None and limit < connections:
            return (
                f"Signoff opens up to {connections} connections, the {kind.lower()} {name} may have {limit}: "
                f"ALTER {kind} {name} CONNECTION LIMIT {connections}, or lower database.pool_size"
            )
    return None


async def _process(connection: Connection) -> Any:
    row = await _row(connection, "SELECT pg_backend_pid() AS pid")
    return row and row["pid"]


async def _row(connection: Connection, query: LiteralString) -> DictRow | None:
    return await (await connection.execute(query)).fetchone()
