"""What a database, its role and what is before it must be, and what connections are set to all the same."""

import asyncio
import uuid
from collections.abc import Callable, Iterator

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from cluster.checks import check_database_fits, connections_needed
from models.config import Config
from models.errors import ClusterProblem, DatabaseUnavailable
from models.store import requirements
from models.store.connecting import connect
from models.store.database import Connection, Database
from models.store.runtime import workflows
from models.store.schema.migrate import migrate
from tests.fakes.pooler import NEEDS_PGBOUNCER, pgbouncer
from tests.integration.store.schemas import release

OTHER = {
    "TimeZone": "Asia/Tokyo",
    "DateStyle": "German",
    "IntervalStyle": "sql_standard",
    "extra_float_digits": "-5",
    "standard_conforming_strings": "off",
    "array_nulls": "off",
    "row_security": "on",
    "search_path": "nowhere",
    "default_transaction_isolation": "serializable",
    "default_transaction_deferrable": "on",
    "synchronous_commit": "off",
    "statement_timeout": "7s",
    "lock_timeout": "7s",
    "idle_in_transaction_session_timeout": "7s",
    "idle_session_timeout": "7s",
    "transaction_timeout": "7s",
    "client_encoding": "LATIN1",
}
HELD = {
    "TimeZone": "UTC",
    "DateStyle": "ISO, DMY",
    "IntervalStyle": "postgres",
    "extra_float_digits": "1",
    "standard_conforming_strings": "on",
    "array_nulls": "on",
    "row_security": "off",
    "search_path": "public",
    "default_transaction_isolation": "read committed",
    "default_transaction_deferrable": "off",
    "synchronous_commit": "on",
    "statement_timeout": "1min",
    "lock_timeout": "10s",
    "idle_in_transaction_session_timeout": "30s",
    "idle_session_timeout": "0",
    "transaction_timeout": "0",
    "client_encoding": "UTF8",
}


class Role:
    """A role that is no superuser, and the database that is its own."""

    def __init__(self, url: str, name: str) -> None:
        self.superuser_url, self.name = url, name
        self.url = url.replace("postgresql://postgres@", f"postgresql://{name}@")
        assert self.url != url
        self.database = conninfo_to_dict(url)["dbname"]

    def alter(self, *statements: str) -> None:
        """Run statements of the superuser's, in which `{role}` and `{database}` stand for theirs."""
        names = {"role": sql.Identifier(self.name), "database": sql.Identifier(str(self.database))}
        with psycopg.connect(self.superuser_url, autocommit=True) as connection:
            for statement in statements:
                connection.execute(sql.SQL(statement).format(**names))


@pytest.fixture
def role(database_url: str) -> Iterator[Role]:
    made = Role(database_url, f"ann_{uuid.uuid4().hex[:8]}")
    made.alter("CREATE ROLE {role} LOGIN")
    made.alter("GRANT ALL ON ALL TABLES IN SCHEMA public TO {role}")
    made.alter("GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO {role}")
    yield made
    made.alter("DROP OWNED BY {role}")
    made.alter("DROP ROLE {role}")


def told(url: str, *, connections: int = 20) -> str:
    """What is said of it; nothing where a site can work there."""
    try:
        asyncio.run(requirements.check(url, connections=connections))
    except ClusterProblem as error:
        return str(error)
    return ""


async def shown(connection: Connection) -> dict[str, str]:
    """What a connection is set to, of what its server has."""
    names = list(HELD)
    cursor = await connection.execute(
        "SELECT name, current_setting(name, true) AS setting FROM unnest(%s::text[]) AS name", (names,)
    )
    return {row["name"]: row["setting"] for row in await cursor.fetchall() if row["setting"] is not None}


@pytest.mark.parametrize(
    ("given", "held"),
    [("local", "on"), ("remote_write", "on"), ("off", "on"), ("remote_apply", "remote_apply")],
)
async def test_a_role_that_keeps_less_of_what_is_committed_keeps_all(
    role: Role, given: str, held: str
) -> None:
    role.alter(f"ALTER ROLE {{role}} SET synchronous_commit = '{given}'")
    async with Database(url=role.url, pool_size=1) as database, database.connection() as connection:
        assert (await shown(connection))["synchronous_commit"] == held


def test_an_ordinary_role_on_an_ordinary_database_is_right(role: Role, database_url: str) -> None:
    assert told(role.url) == ""
    assert told(database_url) == ""


@pytest.mark.parametrize("of", ["ROLE {role}", "DATABASE {database}", "ROLE {role} IN DATABASE {database}"])
async def test_what_a_role_or_a_database_would_set_is_set_as_it_must_be(role: Role, of: str) -> None:
    with psycopg.connect(role.url) as connection:
        known = {
            name for (name,) in connection.execute("SELECT name FROM pg_settings").fetchall() if name in OTHER
        }
    for name in known:
        role.alter(f"ALTER {of} SET {name} = '{OTHER[name]}'")
    expected = {name: value for name, value in HELD.items() if name in known}
    async with (
        Database(url=role.url, pool_size=1) as database,
        database.connection() as pooled,
        database.apart() as apart,
    ):
        assert await shown(pooled) == expected
        assert await shown(apart) == expected

    def command() -> dict[str, str]:
        with connect(role.url, application="signoff status") as connection:
            return {name: connection.execute(f"SHOW {name}".encode()).fetchone()[0] for name in expected}  # type: ignore[index]

    assert await asyncio.to_thread(command) == expected
    assert await asyncio.to_thread(told, role.url) == ""


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_a_database_that_does_not_hold_every_text_is_refused(postgres: str, encoding: str) -> None:
    name = f"test_{encoding.lower()}_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(
            (
                f"CREATE DATABASE {name} ENCODING '{encoding}' LOCALE 'C' LOCALE_PROVIDER libc "
                "TEMPLATE template0"
            ).encode()
        )
    said = told(postgres.replace("/signoff?", f"/{name}?"))
    assert said == (
        f'the database "{name}" is in {encoding}, which does not hold every text: make another with '
        "CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0, and set database.url to it"
    )


@pytest.mark.parametrize("of", ["ROLE {role}", "DATABASE {database}", "ROLE {role} IN DATABASE {database}"])
def test_who_only_reads_is_refused_and_told_where_that_is_set(role: Role, of: str) -> None:
    role.alter(f"ALTER {of} SET default_transaction_read_only = on")
    said = told(role.url)
    assert said.startswith(f'the role "{role.name}" only reads in the database "{role.database}": ')
    first, second = said.partition(": ")[2].split(", then ")
    assert second.startswith("ALTER ")
    # What it says is what helps.
    role.alter(first, second)
    assert told(role.url) == ""


def test_who_connects_to_read_only_is_told_of_the_address(role: Role) -> None:
    said = told(f"{role.url}&options=-c%20default_transaction_read_only%3Don")
    assert said.startswith("connections are made to read only: take default_transaction_read_only out of ")


async def test_rows_that_are_hidden_are_refused_not_taken_for_none(role: Role) -> None:
    """A role that is not the tables' own, on a database whose host turns row security on for each table."""
    role.alter(
        "ALTER TABLE workflows ENABLE ROW LEVEL SECURITY",
        "ALTER TABLE articles ENABLE ROW LEVEL SECURITY",
        "CREATE POLICY few ON workflows USING (false)",
    )
    async with Database(url=role.url, pool_size=1) as database, database.connection() as connection:
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
            await connection.execute("SELECT count(*) FROM workflows")
    said = await asyncio.to_thread(told, role.url)
    assert said.startswith(f'row security hides rows of the table "articles" from the role "{role.name}": ')
    # What it says is what helps.
    role.alter(said.partition(": ")[2].partition(", or ")[0])
    assert await asyncio.to_thread(told, role.url) == ""


def test_what_the_server_refuses_of_a_revision_is_said_in_one_line(role: Role) -> None:
    """An event trigger, such as hosts of databases have."""
    release(role.superuser_url, "0.1.0")
    role.alter(
        "CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'no tables are changed here'; END $$",
        "CREATE EVENT TRIGGER refuse ON ddl_command_start EXECUTE FUNCTION refuse()",
    )
    try:
        with pytest.raises(DatabaseUnavailable) as refused:
            migrate(role.superuser_url)
    finally:
        role.alter("DROP EVENT TRIGGER refuse", "DROP FUNCTION refuse()")
    assert "no tables are changed here" in str(refused.value)
    assert "\n" not in str(refused.value)
    migrate(role.superuser_url)


@pytest.mark.parametrize("of", ["ROLE {role}", "DATABASE {database}"])
def test_fewer_connections_than_a_site_opens_are_refused(role: Role, of: str) -> None:
    role.alter(f"ALTER {of} CONNECTION LIMIT 19")
    said = told(role.url, connections=20)
    assert said.startswith("Signoff opens up to 20 connections, the ")
    assert " may have 19: ALTER " in said
    role.alter(f"ALTER {of} CONNECTION LIMIT 20")
    assert told(role.url, connections=20) == ""


def test_a_limit_that_is_reached_now_is_said_in_one_line(
    role: Role, configure: Callable[..., Config]
) -> None:
    role.alter("ALTER ROLE {role} CONNECTION LIMIT 1")
    with psycopg.connect(role.url), pytest.raises(ClusterProblem, match="too many connections") as refused:
        check_database_fits(configure(), role.url)
    assert "\n" not in str(refused.value)


def test_a_site_opens_a_pool_in_each_process(configure: Callable[..., Config]) -> None:
    configured = configure()
    pools = configured.runners.count + configured.http.replicas + 2
    assert connections_needed(configured) > pools * configured.database.pool_size


def test_who_may_make_no_tables_is_refused_where_there_are_none(postgres: str, role: Role) -> None:
    name = f"test_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    url = role.url.replace(f"/{role.database}?", f"/{name}?")
    assert told(url) == (
        f'the role "{role.name}" may make no tables: GRANT CREATE ON SCHEMA public TO "{role.name}"'
    )
    with psycopg.connect(postgres.replace("/signoff?", f"/{name}?"), autocommit=True) as connection:
        connection.execute(f"GRANT CREATE ON SCHEMA public TO {role.name}".encode())
        assert told(url) == ""
        connection.execute("DROP SCHEMA public CASCADE")
        assert "has no schema public: CREATE SCHEMA public AUTHORIZATION" in told(url)
        connection.execute("CREATE SCHEMA public")


def test_tables_that_a_search_path_put_elsewhere_are_not_taken_for_an_empty_site(role: Role) -> None:
    role.alter("ALTER SCHEMA public RENAME TO app")
    role.alter("CREATE SCHEMA public")
    role.alter("GRANT CREATE, USAGE ON SCHEMA public TO {role}")
    role.alter("GRANT USAGE ON SCHEMA app TO {role}")
    role.alter("ALTER ROLE {role} SET search_path = app")
    said = told(role.url)
    assert said.startswith('a site\'s tables are in the schema "app", and Signoff keeps them in public: ')
    role.alter("DROP SCHEMA public")
    role.alter("ALTER SCHEMA app RENAME TO public")
    assert told(role.url) == ""


@NEEDS_PGBOUNCER
@pytest.mark.parametrize("mode", ["transaction", "statement"])
@pytest.mark.parametrize("more", [{}, {"server_round_robin": 1, "min_pool_size": 4}])
def test_a_pooler_of_transactions_is_refused_with_what_to_change(
    database_url: str, mode: str, more: dict[str, int]
) -> None:
    with pgbouncer(database_url, mode=mode, **more) as url:
        for _ in range(5):
            assert told(url) == (
                "database.url leads to a pooler that gives each transaction another connection, so that "
                "settings, locks and LISTEN are lost: have it pool sessions (pgbouncer: pool_mode=session), "
                "or give Postgres' own address"
            )


@NEEDS_PGBOUNCER
async def test_a_pooler_of_sessions_is_right_and_everything_works_through_it(database_url: str) -> None:
    with pgbouncer(database_url, mode="session") as url:
        assert await asyncio.to_thread(told, url) == ""
        async with Database(url=url, pool_size=4) as database:
            heard: asyncio.Queue[str] = asyncio.Queue()
            listening = asyncio.create_task(database.listen(workflows.CHANNEL, heard.put_nowait))
            assert await heard.get() == ""
            async with database.connection() as connection:
                found = await shown(connection)
                assert {name: found[name] for name in ("TimeZone", "statement_timeout", "lock_timeout")} == {
                    name: HELD[name] for name in ("TimeZone", "statement_timeout", "lock_timeout")
                }
                for _ in range(8):  # psycopg prepares what it is asked again
                    await connection.execute("SELECT count(*) FROM workflows WHERE id = %s", ("w",))
                await connection.execute("SELECT pg_notify(%s, 'w')", (workflows.CHANNEL,))
            assert await heard.get() == "w"
            listening.cancel()


@NEEDS_PGBOUNCER
def test_a_pooler_of_too_few_sessions_is_refused(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements, "_SECONDS", 0.5)
    with pgbouncer(database_url, mode="session", default_pool_size=1) as url:
        assert "has no second connection to Postgres free" in told(url)
