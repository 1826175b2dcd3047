"""A webhook target over real HTTP on loopback: it keeps what it gets, and answers as a test says.

`async with WebhookReceiver() as receiver:` runs it in the test's own loop. What is not scripted for a
path is answered with 200. Tests wait by `until`, which wakes whenever something arrives.
"""

import asyncio
import ssl
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Self


@dataclass(frozen=True)
class Got:
    """A request as it came: headers with lower-case names, and the body's bytes."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Reply:
    """An answer. `hold` keeps it back until `release`; `endless` sends its body, or headers, for ever.

    `hints` is the `Link` of an answer before it (103).
    """

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b"ok"
    hold: bool = False
    endless: Literal["no", "body", "headers"] = "no"
    hints: str = ""


class WebhookReceiver:
    """The target. `url` is its address, and `at(path)` an address of its own for each webhook."""

    def __init__(self, ssl_context: ssl.SSLContext | None = None) -> None:
        self.got: list[Got] = []
        self.under_way: dict[str, int] = defaultdict(int)
        self.most_under_way: dict[str, int] = defaultdict(int)
        self._ssl = ssl_context
        self._script: dict[str, deque[Reply]] = defaultdict(deque)
        self._always: dict[str, Reply] = {}
        self._released = asyncio.Event()
        self._changed = asyncio.Condition()
        self._connections: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, ssl=self._ssl, backlog=1024)
        self.port = int(self._server.sockets[0].getsockname()[1])
        self.url = f"{'https' if self._ssl else 'http'}://127.0.0.1:{self.port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def at(self, path: str) -> str:
        """The URL of a path."""
        return self.url + path

    def script(self, path: str, *replies: Reply) -> None:
        """Answer the next requests to a path with these, in order."""
        self._script[path].extend(replies)

    def always(self, path: str, reply: Reply) -> None:
        """Answer requests to a path with this once its script is used up."""
        self._always[path] = reply

    def release(self) -> None:
        """Let every held answer go, and those to come."""
        self._released.set()

    def to(self, path: str) -> list[Got]:
        """What came to a path, in order."""
        return [got for got in self.got if got.path == path]

    async def until(self, condition: Callable[[], bool], *, timeout: float = 30) -> None:
        """Wait until `condition` holds; it is looked at whenever a request comes or has been answered."""
        async with asyncio.timeout(timeout), self._changed:
            await self._changed.wait_for(condition)

    async def until_got(self, count: int, path: str, *, timeout: float = 30) -> list[Got]:
        """Wait for so many requests to a path, and return them."""
        await self.until(lambda: len(self.to(path)) >= count, timeout=timeout)
        return self.to(path)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            while True:
                await self._serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the caller went away, or the test is over
        finally:
            self._connections.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ", 2)
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        queue = self._script[path]
        reply = queue.popleft() if queue else self._always.get(path, Reply())
        self.got.append(Got(method=method, path=path, headers=headers, body=body))
        await self._moved(path, 1)
        try:
            if reply.hold:
                gone = asyncio.create_task(reader.read())  # the caller closing ends the wait
                released = asyncio.create_task(self._released.wait())
                await asyncio.wait({gone, released}, return_when=asyncio.FIRST_COMPLETED)
                for waiting in (gone, released):
                    waiting.cancel()
            await self._answer(writer, reply)
        finally:
            await self._moved(path, -1)

    async def _answer(self, writer: asyncio.StreamWriter, reply: Reply) -> None:
        head = dict(reply.headers)
        if reply.hints:
            writer.write(f"HTTP/1.1 103 Early Hints\r\nLink: {reply.hints}\r\n\r\n".encode("latin-1"))
        if reply.endless == "no":
            head["Content-Length"] = str(len(reply.body))
        lines = [f"HTTP/1.1 {reply.status} Said", *(f"{name}: {value}" for name, value in head.items())]
        end = [""] if reply.endless == "headers" else ["", ""]
        writer.write("\r\n".join([*lines, *end]).encode("latin-1"))
        if reply.endless == "headers":
            writer.write(b"X-Drip: ")
        while True:
            writer.write(b"x" if reply.endless == "headers" else reply.body)
            await writer.drain()
            if reply.endless == "no":
                return
            await asyncio.sleep(0.01)  # a trickle: each single read is short

    async def _moved(self, path: str, step: int) -> None:
        async with self._changed:
            self.under_way[path] += step
            self.most_under_way[path] = max(self.most_under_way[path], self.under_way[path])
            self._changed.notify_all()
