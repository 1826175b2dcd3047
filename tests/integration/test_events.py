"""Live events over real sockets: nothing is missed or repeated, and nobody sees what is not theirs."""

import asyncio
import contextlib
import json
import multiprocessing
import random
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
import uvicorn
from fastapi import FastAPI
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.rows import dict_row
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from cluster import postgres as embedded
from cluster.tokens import mint_token
from models.config import AuthConfig, Config
from models.events import Event
from models.scopes import parse_scope
from models.store import events, migrate, users
from models.store.database import Connection, Database
from serve.api import make_app
from serve.feed import Feed, Mark

Configure = Callable[..., Config]
SOON = 30.0


class Told:
    """A client of server-sent events by the book (HTML Living Standard §9.2.6): keeps what was whole."""

    def __init__(self) -> None:
        self.last_id = ""
        self.messages: list[tuple[str, Any]] = []

    @property
    def types(self) -> list[str]:
        """The types of what came."""
        return [type_ for type_, _ in self.messages]

    async def listen(
        self, url: str, headers: dict[str, str], until: Callable[["Told"], bool] = lambda told: False
    ) -> None:
        """Connect, go on from the last id, and hang up after the message that fulfils the condition."""
        more = {"Last-Event-ID": self.last_id} if self.last_id else {}
        async with (
            asyncio.timeout(2 * SOON),
            httpx.AsyncClient(timeout=SOON) as client,
            client.stream("GET", url, headers={**headers, **more}) as response,
        ):
            assert response.status_code == 200
            assert response.headers["content-type"].startswith("text/event-stream")
            fields: dict[str, str] = {}
            async for line in response.aiter_lines():
                if line:
                    name, _, value = line.partition(": ")
                    fields[name] = value
                    continue
                self.last_id = fields.get("id", self.last_id)
                if "data" in fields:
                    self.messages.append((fields.get("event", "message"), json.loads(fields["data"])))
                fields = {}
                if until(self):
                    return


@pytest.fixture
def config(configure: Configure) -> Config:
    """The configuration."""
    return configure()


@pytest.fixture
def auth(config: Config) -> AuthConfig:
    """How tokens are checked."""
    return config.auth


def token(auth: AuthConfig, *scopes: str, user: str = "ann", seconds: float | None = None) -> str:
    """A token; `seconds`: how long it still holds."""
    now = datetime.now(UTC)
    if seconds is not None:
        now += timedelta(seconds=seconds) - timedelta(minutes=auth.token_minutes)
    return mint_token(auth, user=user, scopes=scopes, now=now)


def bearer(auth: AuthConfig, *scopes: str, user: str = "ann", seconds: float | None = None) -> dict[str, str]:
    """The header of a user with scopes."""
    return {"Authorization": f"Bearer {token(auth, *scopes, user=user, seconds=seconds)}"}


class Server(uvicorn.Server):
    """A replica in this process, which leaves the signals alone."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Do nothing."""
        yield


@contextlib.asynccontextmanager
async def serving(app: FastAPI) -> AsyncIterator[str]:
    """The app on a free port of loopback; its address without the scheme."""
    server = Server(
        uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning", timeout_graceful_shutdown=5)
    )
    task = asyncio.create_task(server.serve())
    await until(lambda: server.started)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.should_exit = True
        await task


async def until(condition: Callable[[], bool]) -> None:
    """Wait for it."""
    async with asyncio.timeout(SOON):
        while not condition():  # noqa: ASYNC110  # others bring it about
            await asyncio.sleep(0.01)


@pytest.fixture
def app(config: Config, database_url: str) -> FastAPI:
    """The app."""
    return make_app(config, database_url)


@pytest.fixture
async def address(app: FastAPI) -> AsyncIterator[str]:
    """Where it is served."""
    async with serving(app) as address:
        yield address


@contextlib.asynccontextmanager
async def listening(
    url: str, headers: dict[str, str], until: Callable[[Told], bool] = lambda told: False
) -> AsyncIterator[Told]:
    """A listener that goes on meanwhile, from before the block's first event."""
    told = Told()
    task = asyncio.create_task(told.listen(url, headers, until))
    try:
        await changed(task, lambda: told.last_id != "")
        yield told
        await asyncio.wait_for(task, SOON)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def changed(task: asyncio.Task[None], condition: Callable[[], bool]) -> None:
    """Wait for a condition that a task brings about."""
    await until(lambda: task.done() or condition())
    if not condition():
        task.result()


async def write(database: Database, *types: str, **more: Any) -> None:
    """Append events, each in a transaction of its own."""
    for type_ in types:
        async with database.transaction() as connection:
            await events.append(connection, type_, more.pop("workflow_id", None), {}, **more)


# What readers of the table may rely on.


async def in_order(connection: Connection) -> list[int]:
    """The ids of all events, as readers get them."""
    cursor = await connection.execute("SELECT id FROM events ORDER BY xid, id")
    return [row["id"] for row in await cursor.fetchall()]


async def test_a_reader_does_not_pass_a_lower_id_of_a_younger_transaction(
    database: Database, database_url: str
) -> None:
    async with (
        await psycopg.AsyncConnection.connect(database_url) as older,
        await psycopg.AsyncConnection.connect(database_url) as younger,
    ):
        await older.execute("SELECT pg_current_xact_id()")
        await younger.execute("INSERT INTO events (type, data) VALUES ('first id', '{}')")
        await older.execute("INSERT INTO events (type, data) VALUES ('second id', '{}')")
        await older.commit()
        async with database.connection() as connection:
            seen = await events.read(connection, after=0)
            await younger.commit()
            seen += await events.read(connection, after=seen[-1].id)
            assert [(event.id, event.type) for event in seen] == [(2, "second id"), (1, "first id")]
            assert await events.newest_id(connection) == 1
            assert await events.read(connection, after=1) == []
            assert [await events.begin(connection, after) for after in (None, 0, 2, 3)] == [1, 0, 2, 1]


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

        @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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


async def write_in_disorder(url: str, rounds: int, *, goes_on: Callable[[int], bool]) -> None:
    """Overlapping transactions, that begin, write and commit in three different orders; 15 events a round."""
    order = random.Random(7)
    async with contextlib.AsyncExitStack() as stack:
        writers = [
            await stack.enter_async_context(await psycopg.AsyncConnection.connect(url, row_factory=dict_row))
            for _ in range(5)
        ]
        for number in range(rounds):
            await until(lambda number=number: goes_on(number))
            for writer in order.sample(writers, 5):
                await writer.execute("SELECT pg_current_xact_id()")
            for writer in order.sample(writers * 3, 15):
                await events.append(writer, "written", None, {}, topic="macro")
            for writer in order.sample(writers, 5):
                await writer.commit()
        await events.append(writers[0], "last", None, {}, topic="macro")
        await writers[0].commit()


async def test_killing_a_replica_in_mid_stream_loses_and_repeats_nothing(
    replicas: list[tuple[Any, str]], auth: AuthConfig, database: Database, database_url: str
) -> None:
    (first, dying), (_, living) = replicas
    headers = bearer(auth, "macro:reader")
    told, heard = Told(), list[Event]()
    begun, all_heard = asyncio.Event(), asyncio.Event()

    async def by_sse() -> None:
        with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
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
    assert there != sorted(there)
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
        async with httpx.AsyncClient(base_url=f"http://{address}", timeout=SOON) as client:
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
            "INSERT INTO events (type, topic, data) SELECT 'old', 'macro', '{}' "
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
            "INSERT INTO events (type, topic, data) SELECT 'not hers', 'equity', '{}' "
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
        assert [await anext(told) for _ in range(3)] == [Mark(after=1)] * 3
    await feed.close()


async def nothing() -> list[Any]:
    """No scopes."""
    return []


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
        assert await anext(told) == Mark(after=0)
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


# Nobody sees what is not theirs.


async def test_each_is_told_what_their_scopes_reach(
    address: str, auth: AuthConfig, database: Database
) -> None:
    people = {
        "ann": ["macro:reader"],
        "bob": ["macro:admin", "equity:reader"],
        "cem": ["global:editor"],
        "dee": ["credit:admin"],
    }
    url = f"http://{address}/api/events"
    async with contextlib.AsyncExitStack() as stack:
        told = {
            person: await stack.enter_async_context(
                listening(url, bearer(auth, *scopes, user=person), lambda told: "over" in told.types)
            )
            for person, scopes in people.items()
        }
        await write(database, "macro.read", topic="macro")
        await write(database, "macro.administer", topic="macro", role="admin")
        await write(database, "equity.edit", topic="equity", role="editor")
        await write(database, "no.topic")
        await write(database, "own", topic="macro", role="admin", person="ann")
        for person in people:
            await write(database, "over", role="admin", person=person)
    assert {person: found.types[:-1] for person, found in told.items()} == {
        "ann": ["macro.read", "own"],
        "bob": ["macro.read", "macro.administer", "own"],
        "cem": ["macro.read", "equity.edit", "no.topic"],
        "dee": [],
    }


async def test_types_and_workflow_narrow_the_stream(
    address: str, auth: AuthConfig, database: Database
) -> None:
    await write(database, "a.one", workflow_id="w1")
    await write(database, "b.two", workflow_id="w1")
    await write(database, "a.one", workflow_id="w2")
    await write(database, "c.three", workflow_id="w1")
    headers, url = bearer(auth, "global:reader"), f"http://{address}/api/events?after=0"
    told = Told()
    await told.listen(
        f"{url}&types=a.one,c.three&workflow_id=w1", headers, lambda told: len(told.messages) == 2
    )
    assert [(type_, data["id"]) for type_, data in told.messages] == [("a.one", 1), ("c.three", 4)]
    async with connect(
        f"ws://{address}/ws/ann?after=1&types=a.one,b.two", additional_headers=headers
    ) as socket:
        assert [json.loads(await socket.recv())["id"] for _ in range(2)] == [2, 3]


@pytest.mark.parametrize("taken", ["macro:reader", "*"])
async def test_a_scope_taken_away_stops_the_flow_at_once(
    address: str, auth: AuthConfig, database: Database, taken: str
) -> None:
    scopes, url = ("macro:reader", "equity:reader"), f"http://{address}/api/events"
    async with (
        listening(url, bearer(auth, *scopes), lambda told: "again" in told.types) as told,
        listening(url, bearer(auth, *scopes, user="bob"), lambda told: "again" in told.types) as bob,
    ):
        await write(database, "told", topic="macro")
        await until(lambda: told.types == ["told"])
        async with database.transaction() as connection:
            await users.revoke(connection, "ann", taken, reason="left the desk", revoked_by="cem")
        await write(database, "secret", topic="macro")
        await write(database, "other", topic="equity")
        await write(database, "own", person="ann")
        await until(lambda: "own" in told.types)
        async with database.transaction() as connection:
            await users.restore(connection, "ann", taken, restored_by="cem")
        await write(database, "again", topic="macro")
    assert told.types == ["told", *(["other"] if taken != "*" else []), "own", "again"]
    assert bob.types == ["told", "secret", "other", "again"]


async def test_scopes_are_asked_for_again_even_where_no_event_says_so(database: Database) -> None:
    scopes = [parse_scope("macro:reader")]

    async def scopes_now() -> list[Any]:
        return scopes

    feed = Feed(database, look_seconds=0.01, heartbeat_seconds=0.01, scopes_seconds=0)
    follow = feed.follow(after=0, person="ann", scopes_now=scopes_now, workflow_id="w")
    async with contextlib.aclosing(follow) as told:
        await write(database, "told", topic="macro", workflow_id="w")
        seen = [item async for item in first(told, lambda item: isinstance(item, Event))]
        assert seen[-1].type == "told"
        scopes.clear()
        await write(database, "secret", topic="macro", workflow_id="w")
        passed = [item async for item in first(told, lambda item: item == Mark(after=2))]
        assert not [item for item in passed if isinstance(item, Event)]
    await feed.close()


async def first(told: AsyncIterator[Any], wanted: Callable[[Any], bool]) -> AsyncIterator[Any]:
    """What comes up to the first that is wanted."""
    async with asyncio.timeout(SOON):
        async for item in told:
            yield item
            if wanted(item):
                return


async def test_a_stream_ends_with_its_token(address: str, auth: AuthConfig) -> None:
    headers = bearer(auth, "macro:reader", seconds=5)
    async with (
        connect(f"ws://{address}/ws/ann", additional_headers=headers) as socket,
        listening(f"http://{address}/api/events", headers) as told,
    ):
        code, reason = await closed(socket)
        assert (code, "token is over" in reason) == (4401, True)
    [(type_, data)] = told.messages
    assert (type_, data["reason"]) == ("end", "token_over")


# Doors.


async def closed(socket: ClientConnection) -> tuple[int, str]:
    """How the server closes it."""
    with contextlib.suppress(ConnectionClosed):
        async with asyncio.timeout(SOON):
            async for _ in socket:
                pass
    return socket.close_code or 0, socket.close_reason or ""


async def test_a_last_event_id_that_is_none_is_refused(address: str, auth: AuthConfig) -> None:
    headers = bearer(auth, "macro:reader")
    async with httpx.AsyncClient(base_url=f"http://{address}") as client:
        for bad in ("", "x", "-1", "1.5", str(2**63), "1,2"):
            answer = await client.get("/api/events", headers={**headers, "Last-Event-ID": bad})
            assert (bad, answer.status_code) == (bad, 422)
            assert answer.headers["content-type"] == "application/problem+json"
            assert "last-event-id" in answer.json()["detail"].lower()


WRONG = [
    "after=-1",
    "after=x",
    "types=",
    "types=a,,b",
    "types=A%20b",
    "workflow_id=%00",
    "since=1",
    "token=x",
]


async def test_wrong_parameters_are_refused(address: str, auth: AuthConfig) -> None:
    headers = bearer(auth, "macro:reader")
    async with httpx.AsyncClient(base_url=f"http://{address}") as client:
        for query in WRONG:
            answer = await client.get(f"/api/events?{query}", headers=headers)
            assert (query, answer.status_code, answer.json()["status"]) == (query, 422, 422)
            assert (await client.get(f"/api/events?{query}")).status_code == 401
            async with connect(f"ws://{address}/ws/ann?{query}", additional_headers=headers) as socket:
                code, reason = await closed(socket)
            if query == "token=x":
                assert (code, "URL" in reason) == (4401, True)
            else:
                assert (query, code, query.partition("=")[0] in reason) == (query, 4422, True)


async def test_last_event_id_goes_before_after(address: str, auth: AuthConfig, database: Database) -> None:
    await write(database, "one", "two", topic="macro")
    told = Told()
    told.last_id = "1"
    url = f"http://{address}/api/events?after=0"
    await told.listen(url, bearer(auth, "macro:reader"), lambda told: bool(told.messages))
    assert told.types == ["two"]


async def test_a_socket_is_its_own_users_alone(address: str, auth: AuthConfig, database: Database) -> None:
    async with httpx.AsyncClient(base_url=f"http://{address}") as client:
        for user in ("ann", "bob"):  # seen, so that they have numbers
            await client.get("/api/workflows", headers=bearer(auth, "global:admin", user=user))
    ann, bob = "1", "2"
    headers = bearer(auth, "global:admin")
    await write(database, "told")
    for mine in ("ann", ann):
        async with connect(f"ws://{address}/ws/{mine}?after=0", additional_headers=headers) as socket:
            assert json.loads(await socket.recv())["type"] == "told"
    for other in ("bob", bob, "Ann", "0", "01", "ann%00"):
        async with connect(f"ws://{address}/ws/{other}?after=0", additional_headers=headers) as socket:
            code, reason = await closed(socket)
        assert (code, "yours is /ws/1" in reason) == (4403, True)


async def test_the_token_of_a_socket_comes_in_a_header_or_as_a_subprotocol(
    address: str, auth: AuthConfig
) -> None:
    good, url = token(auth, "macro:reader"), f"ws://{address}/ws/ann"
    protocols: list[Any] = ["signoff", f"bearer.{good}"]
    async with connect(url, subprotocols=protocols) as socket:
        assert socket.subprotocol == "signoff"
        assert json.loads(await socket.recv())["type"] == "position"
    refused: list[dict[str, Any]] = [
        {},
        {"subprotocols": ["signoff"]},
        {"subprotocols": ["signoff", "bearer.rubbish"]},
        {"subprotocols": [f"bearer.{good}"]},
        {"additional_headers": {"Authorization": "Basic YTpi"}, "subprotocols": protocols},
        {"additional_headers": {"Authorization": "Bearer rubbish"}},
        {"additional_headers": bearer(auth, "macro:reader", seconds=-5)},
    ]
    for options in refused:
        async with connect(url, **options) as socket:
            assert (await closed(socket))[0] == 4401
    for query in (f"token={good}", f"access_token={good}"):
        for options in (
            {},
            {"subprotocols": protocols},
            {"additional_headers": bearer(auth, "macro:reader")},
        ):
            async with connect(f"{url}?{query}", **options) as socket:
                code, reason = await closed(socket)
            assert (code, "in the URL is refused" in reason, good in reason) == (4401, True, False)


async def test_a_socket_answers_pings_and_nothing_else(app: FastAPI, address: str, auth: AuthConfig) -> None:
    url, headers = f"ws://{address}/ws/ann", bearer(auth, "macro:reader")
    async with connect(url, additional_headers=headers) as socket:
        await socket.recv()
        for said in ("{", "[" * 4000, "null", '"ping"', '{"type": "pong"}', '{"type": ["ping"]}', ""):
            await socket.send(said)
        await socket.send('{"type": "ping"}')
        assert json.loads(await socket.recv()) == {"type": "pong"}
    await until(lambda: app.state.feed.followers == 0)
    for said, expected in ((b"ping", 1003), ("x" * 4097, 1009)):
        async with connect(url, additional_headers=headers) as socket:
            await socket.recv()
            await socket.send(said)
            assert (await closed(socket))[0] == expected
    await until(lambda: app.state.feed.followers == 0)
