"""A TCP proxy before Postgres that reads along, and so can cut a connection after a commit was done and
before its answer arrives; it also stalls, delays, cuts and refuses.

A connection is known by its `application_name`.
"""

import asyncio
import contextlib
import random
import re
import struct
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

_WRITES = re.compile(rb"\b(INSERT|UPDATE|DELETE|COMMIT)\b", re.IGNORECASE)
_NO_STARTUP = {80877102, 80877103, 80877104}  # cancel, TLS, GSS


@dataclass(eq=False)
class _Link:
    """One connection, and what is known of it."""

    client: asyncio.StreamWriter
    server: asyncio.StreamWriter
    owner: str = ""
    statements: dict[bytes, bool] = field(default_factory=dict)
    writing: bool = False
    # Of a transaction under way: what was given to its statements that write.
    given: bytes = b""

    def cut(self) -> None:
        for end in (self.client, self.server):
            with contextlib.suppress(Exception):
                end.transport.abort()


class Proxy:
    """Listens on loopback. Use as an async context manager; `socket` is the folder of the server's socket."""

    def __init__(self, socket: Path) -> None:
        self.socket = socket
        self.lost = 0
        # How many answers were delayed, messages held up, and connections cut or refused.
        self.hits: Counter[str] = Counter()
        self._losing = 0
        self._delay = 0.0
        self._refusing = False
        self._stalled: set[str] = set()
        self._at_commit: list[tuple[tuple[bytes, ...], Callable[[str], None]]] = []
        self._moving = asyncio.Event()
        self._links: set[_Link] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, backlog=512)
        self.port = int(self._server.sockets[0].getsockname()[1])
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def lose(self, commits: int) -> None:
        """Cut the connections of the next commits, each done and not yet answered."""
        self._losing += commits

    def cut(self, owner: str = "") -> int:
        """Cut all connections whose name contains `owner`; how many."""
        found = [link for link in self._links if owner in link.owner]
        for link in found:
            link.cut()
        return len(found)

    @contextlib.contextmanager
    def refusing(self) -> "contextlib.AbstractContextManager[None]":  # type: ignore[misc]
        """Cut everything, and take no connection, for as long as the block."""
        self._refusing = True
        self.hits["refused"] += self.cut()
        try:
            yield
        finally:
            self._refusing = False

    @contextlib.contextmanager
    def stalled(self, owner: str) -> "contextlib.AbstractContextManager[None]":  # type: ignore[misc]
        """Let nothing through of those whose name contains `owner`, and lose nothing either."""
        self._stalled.add(owner)
        try:
            yield
        finally:
            self._stalled.discard(owner)
            self._moving.set()
            self._moving = asyncio.Event()

    @contextlib.contextmanager
    def at_commit(
        self, words: tuple[bytes, ...], act: Callable[[str], None]
    ) -> "contextlib.AbstractContextManager[None]":  # type: ignore[misc]
        """Do `act` at each commit that has written something with all these words, before that is answered.

        It is given the connection's name.
        """
        entry = (words, act)
        self._at_commit.append(entry)
        try:
            yield
        finally:
            self._at_commit.remove(entry)

    @contextlib.contextmanager
    def delayed(self, seconds: float) -> "contextlib.AbstractContextManager[None]":  # type: ignore[misc]
        """Let every answer come later, by so much on average, so that some overtake others."""
        self._delay += seconds
        try:
            yield
        finally:
            self._delay = max(0.0, self._delay - seconds)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            if self._refusing:
                self.hits["refused"] += 1
            else:
                await self._serve(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the server is away, somebody went, or the campaign is over
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers, server = await asyncio.open_unix_connection(str(self.socket / ".s.PGSQL.5432"))
        link = _Link(writer, server)
        self._links.add(link)
        try:
            head = await reader.readexactly(4)
            startup = await reader.readexactly(struct.unpack("!I", head)[0] - 4)
            if struct.unpack("!I", startup[:4])[0] not in _NO_STARTUP:
                words = startup[4:].split(b"\0")
                said = dict(zip(words[::2], words[1::2], strict=False))
                link.owner = said.get(b"application_name", b"").decode()
            server.write(head + startup)
            pumps = (
                asyncio.create_task(self._pump(link, reader, server, _note_question, 0)),
                asyncio.create_task(self._pump(link, answers, writer, self._note_answer, 1)),
            )
            try:
                await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for pump in pumps:
                    pump.cancel()
        finally:
            self._links.discard(link)
            link.cut()

    async def _pump(
        self,
        link: _Link,
        source: asyncio.StreamReader,
        target: asyncio.StreamWriter,
        note: Callable[[_Link, bytes], bool],
        delayed: int,
    ) -> None:
        """Hand on whole messages, until one must not be handed on or an end is closed."""
        with contextlib.suppress(OSError):
            buffer = b""
            while chunk := await source.read(65536):
                buffer += chunk
                at = 0
                while len(buffer) - at >= 5:
                    end = at + 1 + struct.unpack_from("!I", buffer, at + 1)[0]
                    if end > len(buffer):
                        break
                    if not note(link, buffer[at:end]):
                        return
                    at = end
                if self._delay and delayed:
                    self.hits["delayed"] += 1
                    await asyncio.sleep(random.uniform(0, 2 * self._delay))
                while any(owner in link.owner for owner in self._stalled):
                    self.hits["stalled"] += 1
                    await self._moving.wait()
                target.write(buffer[:at])
                buffer = buffer[at:]
                await target.drain()

    def _note_answer(self, link: _Link, message: bytes) -> bool:
        """Whether an answer may be handed on."""
        if message[:1] != b"Z" or message[5:6] != b"I" or not link.writing:
            return True
        link.writing, given, link.given = False, link.given, b""
        for words, act in list(self._at_commit):
            if all(word in given for word in words):
                act(link.owner)
        if self._losing == 0:
            return True
        self._losing -= 1
        self.lost += 1
        return False


def _note_question(link: _Link, message: bytes) -> bool:
    """Remember whether something is written."""
    kind, body = message[:1], message[5:]
    if kind == b"Q":
        link.writing |= bool(_WRITES.search(body))
    elif kind == b"P":
        name, query, _ = body.split(b"\0", 2)
        link.statements[name] = bool(_WRITES.search(query))
    elif kind == b"B":
        _, name, given = body.split(b"\0", 2)
        if link.statements.get(name, False):
            link.writing = True
            link.given += given
    return True
