"""Many follow one feed: one look at the database serves all, and who is slow holds up nobody."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from fastapi import FastAPI

from models.config import AuthConfig, Config
from models.errors import StreamTooSlow
from models.runtime.events import Event
from models.store.database import Connection, Database
from serve.api import make_app
from serve.streams.feed import Feed, Position
from tests.integration.events.event_streams import SOON, bearer, nothing, serving, until, write

Configure = Callable[..., Config]


@pytest.fixture
def app(configure: Configure, database_url: str) -> FastAPI:
    """The app."""
    return make_app(configure(), database_url)


@pytest.fixture
def auth(app: FastAPI) -> AuthConfig:
    """How tokens are checked."""
    config: Config = app.state.config
    return config.auth


@pytest.fixture
async def address(app: FastAPI) -> AsyncIterator[str]:
    """Where it is served."""
    async with serving(app) as address:
        yield address


class Counted:
    """A database that counts how often it is asked for a connection."""

    def __init__(self, database: Database) -> None:
        self._database, self.asked = database, 0

    @contextlib.asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """A connection of the database's."""
        self.asked += 1
        async with self._database.connection() as connection:
            yield connection


async def test_many_followers_are_handed_what_one_look_finds(database: Database) -> None:
    """Of one workflow, too: each would else ask for itself at every event."""
    counted: Any = Counted(database)
    feed = Feed(counted, look_seconds=0.05, heartbeat_seconds=SOON)
    got: dict[int, list[str]] = {n: [] for n in range(20)}
    standing: set[int] = set()

    async def follow(n: int) -> None:
        workflow = f"w{n % 4}" if n % 2 else None
        following = feed.follow(after=None, person="ann", scopes_now=nothing, workflow_id=workflow)
        async with contextlib.aclosing(following) as told:
            async for item in told:
                standing.add(n)
                if isinstance(item, Event):
                    got[n].append(item.type)
                    if item.type.startswith("last"):
                        return

    followers = [asyncio.create_task(follow(n)) for n in got]
    # Each knows from where on it is told.
    await until(lambda: len(standing) == 20 and feed._since is not None)
    await write(database, "first", workflow_id="w1", person="ann")
    await until(lambda: all(got[n] for n in got if n % 2 == 0 or n % 4 == 1))
    before, begun = counted.asked, asyncio.get_running_loop().time()
    for n in range(10):
        await write(database, f"more {n}", workflow_id=f"w{n % 4}", person="ann")
    for n in range(4):
        await write(database, f"last of w{n}", workflow_id=f"w{n}", person="ann")
    await asyncio.wait_for(asyncio.gather(*followers), SOON)
    looks = (asyncio.get_running_loop().time() - begun) / 0.05 + 14
    assert counted.asked - before <= looks
    assert got[1] == ["first", "more 1", "more 5", "more 9", "last of w1"]
    assert got[0] == ["first", *(f"more {n}" for n in range(10)), "last of w0"]
    await feed.close()


async def drain(told: AsyncIterator[Event | Position], into: list[Event]) -> None:
    """Take all there is."""
    async for item in told:
        into += [item] if isinstance(item, Event) else []


async def test_who_is_too_slow_is_ended_and_holds_up_nobody(database: Database) -> None:
    feed = Feed(database, look_seconds=0.01, heartbeat_seconds=SOON, held=20)
    slow = feed.follow(after=None, person="ann", scopes_now=nothing)
    async with contextlib.aclosing(slow):
        assert isinstance(await anext(slow), Position)
        # From here on it is handed what is held; whoever reads for itself is never too slow.
        await until(lambda: feed._since is not None)
        await write(database, *(f"n{n}" for n in range(2)), person="ann")
        first = await asyncio.wait_for(anext(slow), SOON)
        assert isinstance(first, Event)
        # It takes no more. Somebody else is told everything meanwhile.
        other = feed.follow(after=first.id, person="ann", scopes_now=nothing)
        async with contextlib.aclosing(other):
            heard: list[Event] = []
            for n in range(2, 62):
                await write(database, f"n{n}", person="ann")
                while len(heard) < n:
                    item = await asyncio.wait_for(anext(other), SOON)
                    heard += [item] if isinstance(item, Event) else []
        assert [event.type for event in heard] == [f"n{n}" for n in range(1, 62)]
        with pytest.raises(StreamTooSlow, match="Last-Event-ID") as ended:
            await asyncio.wait_for(drain(slow, rest := []), SOON)
        place = int(str(ended.value).rpartition(" ")[2])
    # It comes back, and misses nothing.
    again = feed.follow(after=place, person="ann", scopes_now=nothing)
    async with contextlib.aclosing(again):
        types = [event.type for event in (first, *rest)]
        while len(types) < 62:
            item = await asyncio.wait_for(anext(again), SOON)
            types += [item.type] if isinstance(item, Event) else []
    assert types == [f"n{n}" for n in range(62)]
    await feed.close()


async def test_a_client_that_takes_nothing_is_dropped(
    app: FastAPI, address: str, auth: AuthConfig, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("serve.routes.events.SEND_SECONDS", 0.2)
    host, port = address.split(":")
    headers = bearer(auth, "macro:reader")["Authorization"]
    _, writer = await asyncio.open_connection(host, int(port), limit=1024)
    writer.write(f"GET /api/events?after=0 HTTP/1.1\r\nHost: x\r\nAuthorization: {headers}\r\n\r\n".encode())
    await until(lambda: app.state.feed.followers == 1)
    async with database.connection() as connection:
        await connection.execute(
            "INSERT INTO incoming_events (type, topic, data) "
            "SELECT 'long', 'macro', jsonb_build_object('text', repeat('x', 100000)) "
            "FROM generate_series(1, 400)"
        )
    await until(lambda: app.state.feed.followers == 0)
    writer.close()
