"""Every connection to Postgres has the same settings, whoever makes it: none waits for ever."""

import ast
import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest

from models.store.connecting import UNHURRIED, connect
from models.store.database import Database
from tests.faults.site.proxy import Proxy

ROOT = Path(__file__).resolve().parents[3]
FLOORS = ("models", "actors", "serve", "pipelines", "cluster")
TIMES = {"statement_timeout": "1min", "lock_timeout": "10s", "idle_in_transaction_session_timeout": "30s"}
SOCKET = {
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE): 1,
    (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE): 10,
    (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL): 5,
    (socket.IPPROTO_TCP, socket.TCP_KEEPCNT): 3,
    (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT): 20_000,
}
# Whoever else connects must do it through these.
MAKERS = {
    ("models/store/connecting.py", "psycopg.connect"),
    ("models/store/database.py", "AsyncConnectionPool"),
    ("models/store/database.py", "psycopg.AsyncConnection[DictRow].connect"),
    # Of its own, for whoever sends: see there.
    ("models/store/runtime/claim_hold.py", "psycopg.AsyncConnection.connect"),
    ("models/store/schema/migrate.py", "sa.create_engine"),
}


def made_in(source: str) -> Iterator[str]:
    """What a module calls that makes a connection of its own."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module == "psycopg":
            yield from (f"psycopg.{name.name}" for name in node.names if name.name == "connect")
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            of_psycopg = called.endswith(".connect") and ("psycopg" in called or "Connection" in called)
            pools = ("AsyncConnectionPool", "ConnectionPool", "AsyncNullConnectionPool", "NullConnectionPool")
            engine = called.endswith(("create_engine", "create_async_engine"))
            if of_psycopg or engine or called.split("[")[0] in pools:
                yield called


def options(file: int) -> dict[tuple[int, int], int]:
    """What the kernel says of a connection's socket."""
    with socket.socket(fileno=socket.dup(file)) as copy:
        return {option: copy.getsockopt(*option) for option in SOCKET}


@pytest.fixture
async def by_tcp(database_url: str) -> AsyncIterator[str]:
    """The URL of the fresh database over TCP: a Unix socket has no such options."""
    parts = urlsplit(database_url)
    async with Proxy(Path(parse_qs(parts.query)["host"][0])) as proxy:
        user = parts.netloc.partition("@")[0]
        # What the proxy reads along is not encrypted.
        plain = "sslmode=disable&gssencmode=disable"
        yield f"postgresql://{user}@127.0.0.1:{proxy.port}{parts.path}?{plain}"


def test_connections_are_made_in_one_place_each() -> None:
    found = {
        (str(path.relative_to(ROOT)), call)
        for floor in FLOORS
        for path in (ROOT / floor).rglob("*.py")
        if "node_modules" not in path.parts
        for call in made_in(path.read_text())
    }
    assert found == MAKERS


def test_the_walk_sees_what_makes_a_connection() -> None:
    for line in (
        "psycopg.connect(url)",
        "from psycopg import connect",
        "psycopg.Connection.connect(url)",
        "await AsyncConnection.connect(url)",
        "ConnectionPool[Any](url)",
        "create_engine(url)",
    ):
        assert list(made_in(line)), line


async def test_a_command_s_connection_has_the_settings_of_every_connection(by_tcp: str) -> None:
    def look() -> None:
        with connect(by_tcp, application="signoff status") as connection:
            for name, value in {**TIMES, "application_name": "signoff status"}.items():
                assert connection.execute(f"SHOW {name}".encode()).fetchone() == (value,), name
            assert options(connection.fileno()) == SOCKET
            assert connection.info.get_parameters()["connect_timeout"] == "10"

    await asyncio.to_thread(look)


async def test_one_that_may_take_long_says_so_and_keeps_the_rest(by_tcp: str) -> None:
    def look() -> None:
        with connect(by_tcp, application="a", settings={**UNHURRIED, "lock_timeout": "400ms"}) as connection:
            for name, value in {**dict.fromkeys(TIMES, "0"), "lock_timeout": "400ms"}.items():
                assert connection.execute(f"SHOW {name}".encode()).fetchone() == (value,), name
            assert options(connection.fileno()) == SOCKET

    await asyncio.to_thread(look)


async def test_so_have_a_pool_s_connections_and_those_beside_it(by_tcp: str) -> None:
    async with (
        Database(url=by_tcp, pool_size=1) as database,
        database.connection() as pooled,
        database.apart() as apart,
    ):
        for connection in (pooled, apart):
            for name, value in TIMES.items():
                row = await (await connection.execute(f"SHOW {name}".encode())).fetchone()
                assert row == {name: value}
            assert options(connection.fileno()) == SOCKET


async def test_what_the_url_says_itself_stays(by_tcp: str) -> None:
    def look() -> None:
        url = f"{by_tcp}&options=-c%20lock_timeout%3D7s&application_name=mine&keepalives_idle=99"
        with connect(url, application="signoff status") as connection:
            shown = [
                connection.execute(f"SHOW {name}".encode()).fetchone()
                for name in ("lock_timeout", "application_name", "statement_timeout")
            ]
            assert shown == [("7s",), ("mine",), ("1min",)]
            assert options(connection.fileno())[socket.IPPROTO_TCP, socket.TCP_KEEPIDLE] == 99

    await asyncio.to_thread(look)


def test_nobody_there_is_an_error_of_psycopg() -> None:
    with pytest.raises(psycopg.OperationalError):
        connect("postgresql://127.0.0.1:1/nobody", application="a")
