"""Events told over real sockets while transactions overlap, replicas die and Postgres restarts: nothing is
missed, and nothing told twice.
"""

import asyncio
import contextlib
import json
import multiprocessing
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
from fastapi import FastAPI
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from psycopg.rows import dict_row
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from cluster.postgres import server as embedded
from models.config import AuthConfig, Config
from models.runtime.events import Event
from models.store import events
from models.store.database import Connection, Database
from models.store.schema.migrate import migrate
from serve.api import make_app
from serve.streams.feed import Feed, Position
from tests.examples import examples
from tests.integration.events.event_streams import (
    SOON,
    Told,
    bearer,
    closed,
    listening,
    nothing,
    serving,
    until,
    write,
    write_in_disorder,
)

Configure = Callable[..., Config]


# What readers of the table may rely on.


async def in_order(connection: Connection) -> list[int]:
    """The ids of all events, as readers get them."""
    cursor = await connection.execute("SELECT id FROM events ORDER BY id")
    return [row["id"] for row in await cursor.fetchall()]


STEPS = st.lists(
    st.tuples(st.sampled_from(["begin", "write", "write", "commit", "roll back", "read"]), st.integers(0, 3)),
    max_size=40,
)


def test_whatever_the_order_of_transactions_each_event_is_read_once(database_url: str) -> None:
    with asyncio.Runner() as runner:
        opened = [
            runner.run(psycopg.AsyncConnection.connect(database_url, row_factory=dict_row)) for _ in range(5)
        ]
        reader, *writers = opened
        runner.run(reader.set_autocommit(True))

        async def play(steps: list[tuple[str, int]]) -> None:
            position = await events.newest_id(reader)
            got, before = list[int](), await in_order(reader)
            for step, number in [*steps, *(("commit", number) for number in range(4)), ("read", 0)]:
                writer = writers[number]
                if step == "begin":
                    await writer.execute("SELECT pg_current_xact_id()")
                elif step == "write":
                    await events.append(writer, "written", None, {})
                elif step == "commit":
                    await writer.commit()
                elif step == "roll back":
                    await writer.rollback()
                else:
                    while page := await events.read(reader, after=position, limit=2):
                        got += [event.id for event in page]
                        position = page[-1].id
            assert [*before, *got] == await in_order(reader)

        @examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
        @given(STEPS)
        def played(steps: list[tuple[str, int]]) -> None:
            runner.run(play(steps))

        try:
            played()
        finally:
            for connection in opened:
                runner.run(connection.close())


# Nothing is missed.


def replicate(config: Config, url: str, ready: Pipe) -> None:
    """A replica in a process of its own: say on which port, and serve until killed."""

    async def run() -> None:
        async with serving(make_app(config, url)) as address:
            ready.send(address)
            await asyncio.Event().wait()

    asyncio.run(run())


@pytest.fixture
def replicas(config: Config, database_url: str) -> Iterator[list[tuple[Any, str]]]:
    """Two replicas over one database: their processes and addresses."""
    spawn = multiprocessing.get_context("spawn")
    started = []
    for _ in range(2):
        ready, theirs = spawn.Pipe()
        process = spawn.Process(target=replicate, args=(config, database_url, theirs), daemon=True)
        process.start()
        started.append((process, ready))
    try:
        assert all(ready.poll(60) for _, ready in started)
        yield [(process, ready.recv()) for process, ready in started]
    finally:
        for process, _ in started:
            process.kill()
            process.join()


async def test_killing_a_replica_in_mid_stream_loses_and_repeats_nothing(
    replicas: list[tuple[Any, str]], auth: AuthConfig, database: Database, database_url: str
) -> None:
    (first, dying), (_, living) = replicas
    headers = bearer(auth, "macro:reader")
    told, heard = Told(), list[Event]()
    begun, all_heard = asyncio.Event(), asyncio.Event()

    async def by_sse() -> None:
        with pytest.raises((httpx2.RemoteProtocolError, httpx2.ReadError)):
            await told.listen(f"http://{dying}/api/events", headers)
        await told.listen(f"http://{living}/api/events", headers, lambda told: told.types[-1:] == ["last"])

    async def by_websocket() -> None:
        after: int | None = None
        for address in (dying, living):
            resume = "" if after is None else f"?after={after}"
            with contextlib.suppress(ConnectionClosed):
                async with connect(f"ws://{address}/ws/ann{resume}", additional_headers=headers) as socket:
                    while not heard or heard[-1].type != "last":
                        said = json.loads(await socket.recv())
                        begun.set()
                        if said["type"] == "position":
                            after = said["after"]
                            continue
                        heard.append(Event.model_validate(said))
                        after = heard[-1].id
        all_heard.set()

    async with asyncio.timeout(120), asyncio.TaskGroup() as group:
        group.create_task(by_sse())
        group.create_task(by_websocket())
        await asyncio.wait_for(begun.wait(), SOON)
        await until(lambda: told.last_id != "")
        # It writes on while the first replica dies.
        writing = group.create_task(
            write_in_disorder(database_url, 200, goes_on=lambda n: len(told.messages) >= 15 * (n - 60))
        )
        await until(lambda: len(told.messages) > 700 and len(heard) > 700)
        assert not writing.done()
        first.kill()
    async with database.connection() as connection:
        there = await in_order(connection)
    assert len(there) == 3001
    assert [data["id"] for _, data in told.messages] == there
    assert [event.id for event in heard] == there


@pytest.fixture
def own_postgres() -> Iterator[tuple[Path, str]]:
    """A Postgres that a test may restart: its folder and URL."""
    folder = Path(tempfile.mkdtemp(prefix="signoff-pg-", dir="/tmp"))
    try:
        url = embedded.start(folder)
        migrate(url)
        yield folder, url
    finally:
        embedded.stop(folder)
        shutil.rmtree(folder, ignore_errors=True)


async def test_restarting_postgres_in_mid_stream_ends_no_stream_and_loses_nothing(
    own_postgres: tuple[Path, str], config: Config
) -> None:
    folder, url = own_postgres
    app, headers = make_app(config, url), bearer(config.auth, "global:reader")

    async def write_here(type_: str) -> None:
        async with await psycopg.AsyncConnection.connect(url, row_factory=dict_row) as connection:
            await events.append(connection, type_, "w", {})

    async with contextlib.AsyncExitStack() as stack:
        address = await stack.enter_async_context(serving(app))
        # One that reads the database at every heartbeat, and so while it is away.
        app.state.feed = Feed(app.state.database, heartbeat_seconds=0.1)
        socket = await stack.enter_async_context(
            connect(f"ws://{address}/ws/ann", additional_headers=headers)
        )
        url_of_one = f"http://{address}/api/events?workflow_id=w"
        told = await stack.enter_async_context(
            listening(url_of_one, headers, lambda told: "after" in told.types)
        )
        assert json.loads(await socket.recv()) == {"type": "position", "after": 0}
        await write_here("before")
        await until(lambda: told.types == ["before"])
        await asyncio.to_thread(embedded.stop, folder)
        assert embedded.url(folder) is None
        async with httpx2.AsyncClient(base_url=f"http://{address}", timeout=SOON) as client:
            assert (await client.get("/api/events", headers=headers)).status_code == 503
        await asyncio.to_thread(embedded.start, folder)
        await write_here("after")
        heard: list[str] = []
        while heard[-1:] != ["after"]:
            said = json.loads(await asyncio.wait_for(socket.recv(), SOON))
            heard += [said["type"]] if said["type"] != "position" else []
        assert heard == ["before", "after"]
    assert told.types == ["before", "after"]


async def test_a_stream_ends_where_postgres_stays_away(
    own_postgres: tuple[Path, str], config: Config
) -> None:
    folder, url = own_postgres
    app, headers = make_app(config, url), bearer(config.auth, "global:reader")
    async with serving(app) as address:
        app.state.feed = Feed(app.state.database, patience_seconds=0.1)
        async with (
            connect(f"ws://{address}/ws/ann", additional_headers=headers) as socket,
            listening(f"http://{address}/api/events", headers) as told,
        ):
            await socket.recv()
            await asyncio.to_thread(embedded.stop, folder)
            assert (await closed(socket))[0] == 4503
        [(type_, data)] = told.messages
        assert (type_, data["reason"]) == ("end", "database_away")
        await app.state.feed.close()


async def test_a_long_backlog_is_told_whole(address: str, auth: AuthConfig, database: Database) -> None:
    async with database.connection() as connection:
        await connection.execute(
            "INSERT INTO incoming_events (type, topic, data) SELECT 'old', 'macro', '{}' "
            "FROM generate_series(1, 12345)"
        )
    told = Told()
    url = f"http://{address}/api/events?after=5"
    await told.listen(url, bearer(auth, "macro:reader"), lambda told: len(told.messages) == 12340)
    assert [data["id"] for _, data in told.messages] == list(range(6, 12346))


async def test_the_place_moves_on_past_what_is_not_shown(
    address: str, auth: AuthConfig, database: Database
) -> None:
    async with database.connection() as connection:
        await connection.execute(
            "INSERT INTO incoming_events (type, topic, data) SELECT 'not hers', 'equity', '{}' "
            "FROM generate_series(1, 1234)"
        )
    told = Told()
    headers = bearer(auth, "macro:reader")
    await told.listen(f"http://{address}/api/events?after=0", headers, lambda told: told.last_id == "1000")
    await write(database, "hers", topic="macro")
    await told.listen(f"http://{address}/api/events", headers, lambda told: bool(told.messages))
    assert [(type_, data["id"]) for type_, data in told.messages] == [("hers", 1235)]


async def test_a_quiet_stream_says_where_it_stands(database: Database) -> None:
    await write(database, "old", topic="macro")
    feed = Feed(database, heartbeat_seconds=0.01)
    async with contextlib.aclosing(feed.follow(after=None, person="ann", scopes_now=nothing)) as told:
        assert [await anext(told) for _ in range(3)] == [Position(after=1)] * 3
    await feed.close()


async def test_followers_share_one_watch_which_rests_without_them(
    app: FastAPI, address: str, auth: AuthConfig, database: Database
) -> None:
    feed, headers, url = app.state.feed, bearer(auth, "macro:reader"), f"http://{address}/api/events"
    done = lambda told: bool(told.messages)  # noqa: E731
    for _ in range(2):
        async with listening(url, headers, done) as one, listening(url, headers, done) as two:
            await until(lambda: feed.followers == 2)
            await write(database, "told", topic="macro")
        assert one.messages == two.messages
        # They have hung up: their generators end, and so does the watch.
        await until(lambda: feed.followers == 0 and feed._watcher.done())


class Held:
    """A database whose second connection, the watch's first, waits to be let in."""

    def __init__(self, database: Database) -> None:
        self._database, self._asked, self.let_in = database, 0, asyncio.Event()

    @contextlib.asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """A connection of the database's."""
        self._asked += 1
        if self._asked == 2:
            await self.let_in.wait()
        async with self._database.connection() as connection:
            yield connection


async def test_what_comes_while_the_watch_begins_is_told_at_once(database: Database) -> None:
    held: Any = Held(database)
    feed = Feed(held, heartbeat_seconds=10 * SOON)
    async with contextlib.aclosing(feed.follow(after=None, person="ann", scopes_now=nothing)) as told:
        assert await anext(told) == Position(after=0)
        await write(database, "hers", person="ann")
        held.let_in.set()
        event = await asyncio.wait_for(anext(told), SOON)
        assert isinstance(event, Event)
    await feed.close()


async def test_what_ends_the_watch_ends_the_streams(database: Database) -> None:
    feed = Feed(database, look_seconds=0.01)
    async with contextlib.aclosing(feed.follow(after=None, person="ann", scopes_now=nothing)) as told:
        await anext(told)
        async with database.connection() as connection:
            await connection.execute("ALTER TABLE events RENAME TO elsewhere")
        with pytest.raises(psycopg.errors.UndefinedTable):
            await asyncio.wait_for(anext(told), SOON)
    await feed.close()
