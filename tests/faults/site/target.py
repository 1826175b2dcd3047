"""The webhooks' target: it notes what it gets and how it answered.

A fault lets it refuse, hang or hang up.
"""

import asyncio
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Self

Mood = Literal["refuses", "hangs", "hangs up"]
_PATH = "/hook"


@dataclass(frozen=True)
class Taken:
    """A request that arrived whole: its `webhook-id`, its body, and the status it was answered; 0: none."""

    id: str
    body: bytes
    status: int


class Target:
    """Listens on loopback. Use as an async context manager."""

    def __init__(self) -> None:
        self.taken: list[Taken] = []
        self._mood: Mood | None = None
        self._better = asyncio.Event()
        self._connections: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, backlog=256)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}{_PATH}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    @property
    def refused(self) -> int:
        """How many requests it has not taken."""
        return sum(one.status != 200 for one in self.taken)

    @contextlib.contextmanager
    def being(self, mood: Mood) -> Iterator[None]:
        """Take nothing, for as long as the block."""
        self._mood = mood
        try:
            yield
        finally:
            self._mood = None
            self._better.set()
            self._better = asyncio.Event()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            while await self._serve(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # whoever asked went away, or the campaign is over
        finally:
            self._connections.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; whether another may follow."""
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        pairs = (line.partition(":") for line in lines[1:])
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        status = {None: 200, "refuses": 503}.get(self._mood, 0)
        self.taken.append(Taken(headers.get("webhook-id", ""), body, status))
        if self._mood == "hangs":
            await self._better.wait()
        if status == 0:
            return False
        writer.write(f"HTTP/1.1 {status} Said\r\nContent-Length: 2\r\n\r\nok".encode("latin-1"))
        await writer.drain()
        return True
