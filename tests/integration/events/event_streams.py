"""What the tests of live events share: clients of both kinds, tokens, a replica in this process."""

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import psycopg
import uvicorn
from fastapi import FastAPI
from psycopg.rows import dict_row
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from cluster.cli.tokens import mint_token
from models.config import AuthConfig
from models.store import events
from models.store.database import Database
from serve.admission.sockets import server_options

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
            httpx2.AsyncClient(timeout=SOON) as client,
            client.stream("GET", url, headers={**headers, **more}) as response,
        ):
            assert response.status_code == 200
            async for event in httpx2.EventSource(response):
                self.last_id = event.id or self.last_id
                if event.data:
                    self.messages.append((event.event, event.json()))
                if until(self):
                    return


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
        uvicorn.Config(
            app,
            host="127.0.0.1",
            port=0,
            log_level="warning",
            timeout_graceful_shutdown=5,
            **server_options(),
        )
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


async def closed(socket: ClientConnection) -> tuple[int, str]:
    """How the server closes it."""
    with contextlib.suppress(ConnectionClosed):
        async with asyncio.timeout(SOON):
            async for _ in socket:
                pass
    return socket.close_code or 0, socket.close_reason or ""


async def nothing() -> list[Any]:
    """No scopes."""
    return []
