"""Two readers of the events, who must see each once and in one order: by polling, and over SSE."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import httpx2

from cluster.cli.tokens import mint_token
from models.runtime.events import Event
from models.store import events
from models.store.database import GONE
from tests.faults.site.world import World


class Readers:
    """Both of them, from before the first event on."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.polled: list[Event] = []
        self.streamed: list[int] = []
        self._place = 0

    async def poll(self) -> None:
        """Read on, again and again."""
        while True:
            with contextlib.suppress(*GONE):
                await self._read_on()
            await asyncio.sleep(0.2)

    async def _read_on(self) -> None:
        async with self._world.database.connection() as connection:
            after = self.polled[-1].id if self.polled else 0
            self.polled += await events.read(connection, after=after)

    async def stream(self) -> None:
        """Follow over SSE, and go on from the last id when the replica is gone."""
        base = f"http://127.0.0.1:{self._world.port}"
        async with httpx2.AsyncClient(base_url=base, trust_env=False, timeout=30) as http:
            while True:
                with contextlib.suppress(httpx2.HTTPError, httpx2.StreamError):
                    await self._follow(http)
                await asyncio.sleep(0.2)

    async def _follow(self, http: httpx2.AsyncClient) -> None:
        token = mint_token(
            self._world.config.auth, user="watcher", scopes=("global:admin",), now=datetime.now(UTC)
        )
        headers = {"Authorization": f"Bearer {token}"}
        headers["Last-Event-ID"] = str(self._place)
        async with http.stream("GET", "/api/events", headers=headers) as answer:
            if answer.status_code != 200:
                return
            async for event in httpx2.EventSource(answer):
                if event.event == "end":
                    return
                if event.id:
                    self._place = int(event.id)
                    if event.data:
                        self.streamed.append(self._place)


@asynccontextmanager
async def reading(world: World) -> AsyncIterator[Readers]:
    """Readers, for as long as the block."""
    readers = Readers(world)
    tasks: list[asyncio.Task[Any]] = [
        asyncio.create_task(readers.poll()),
        asyncio.create_task(readers.stream()),
    ]
    try:
        yield readers
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
