"""The site on loopback, a process of its own: `python -m benchmarks.harness.site_server`.

It listens on 127.0.1.1 to 127.0.1.100 and on 127.0.0.1, on one port, which it prints; it ends when its
standard input closes. The hundred are hosts with pages; on 127.0.0.1 the benchmark asks what was seen:

    /begin/DELAY    forget all visits; from now on the polite delay is so long
    /answered/N     how many pages were answered: at once where it is N or more, else a second later
    /visits         `Visits` as JSON

HTTP is spoken by hand, just as much as takes: what the site costs is in nobody's figures, but on his cores.
"""

import asyncio
import functools
import os
import sys
import time
from contextlib import suppress
from typing import cast

import uvloop

from benchmarks.harness.site_pages import (
    RETRY_AFTER_SECONDS,
    ROBOTS,
    SLOW_SECONDS,
    SitePages,
    kind_of,
    number_at,
)
from benchmarks.harness.site_visits import VisitLog

HOSTS = tuple(f"127.0.1.{number}" for number in range(1, 101))
CONTROL = "127.0.0.1"
_TICK_SECONDS = 0.05
_LONGEST_LOOK = 1.0
_HTML, _PLAIN = "text/html; charset=utf-8", "text/plain; charset=utf-8"


class _Site:
    """The pages and who asked for them."""

    def __init__(self) -> None:
        self.pages = SitePages()
        self.log = VisitLog()
        self.progress = asyncio.Event()

    def answer(self, host: str, path: str, now: float) -> tuple[float, bytes]:
        """In how many seconds which answer is sent."""
        self.log.request(host, now)
        if path == "/robots.txt":
            self.log.counts["robots"] += 1
            return 0.0, _answer("200 OK", _PLAIN, ROBOTS)
        number = number_at(path)
        if number is None:
            return 0.0, _answer("404 Not Found", _PLAIN, b"no such page")
        kind = kind_of(number)
        if self.log.refuses(number, kind, host, now):
            status = "429 Too Many Requests" if number % 2 else "503 Service Unavailable"
            return 0.0, _answer(status, _PLAIN, b"later", f"Retry-After: {RETRY_AFTER_SECONDS:.0f}\r\n")
        self.log.page(number, kind)
        self.progress.set()
        return SLOW_SECONDS if kind == "slow" else 0.0, _answer("200 OK", _HTML, self.pages.body(number))

    async def control(self, path: str) -> bytes:
        """The answer to the benchmark."""
        _, what, *rest = path.split("/")
        if what == "begin":
            self.log = VisitLog(delay=float(rest[0]))
        elif what == "answered":
            await self._until(int(rest[0]))
            return _answer("200 OK", _PLAIN, str(self.log.counts["answered"]).encode())
        return _answer("200 OK", _PLAIN, self.log.told().model_dump_json().encode())

    async def watch(self) -> None:
        """Note by how much this loop is late, again and again."""
        while True:
            due = time.monotonic() + _TICK_SECONDS
            await asyncio.sleep(_TICK_SECONDS)
            self.log.lateness.append(max(time.monotonic() - due, 0.0))

    async def _until(self, pages: int) -> None:
        try:
            async with asyncio.timeout(_LONGEST_LOOK):
                while self.log.counts["answered"] < pages:
                    self.progress.clear()
                    await self.progress.wait()
        except TimeoutError:
            return


class _Connection(asyncio.Protocol):
    """Requests without bodies, one after the other; the host is the address that they came to."""

    def __init__(self, site: _Site) -> None:
        self._site = site
        self._loop = asyncio.get_running_loop()
        self._got = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's are of no class of asyncio's
        self._host = str(transport.get_extra_info("sockname")[0])

    def data_received(self, data: bytes) -> None:
        now = time.monotonic()  # uvloop's own time is of the turn's begin, and in milliseconds
        self._got += data
        while (end := self._got.find(b"\r\n\r\n")) >= 0:
            path = self._got.split(b" ", 2)[1].decode("ascii")
            self._got = self._got[end + 4 :]
            if self._host == CONTROL:
                asked = self._loop.create_task(self._site.control(path))
                asked.add_done_callback(lambda done: self._send(done.result()))
                continue
            seconds, answer = self._site.answer(self._host, path, now)
            if seconds:
                self._loop.call_later(seconds, self._send, answer)
            else:
                self._send(answer)

    def _send(self, answer: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(answer)


def _answer(status: str, kind: str, body: bytes, more: str = "") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{more}Content-Length: {len(body)}\r\n\r\n"
    return head.encode("ascii") + body


async def main() -> None:
    """Serve until standard input closes."""
    with suppress(PermissionError):  # who may, sees requests when they come, however busy the machine is
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    loop, site = asyncio.get_running_loop(), _Site()
    connect = functools.partial(_Connection, site)
    site.pages.body(0)  # its blocks are made before anybody asks
    first = await loop.create_server(connect, CONTROL, 0)
    port = first.sockets[0].getsockname()[1]
    # Kept, for a server that nobody holds is closed.
    servers = [first, await loop.create_server(connect, HOSTS, port, backlog=512)]
    watching = asyncio.create_task(site.watch())
    print(port, flush=True)
    await asyncio.to_thread(sys.stdin.read)
    watching.cancel()
    for server in servers:
        server.close()


if __name__ == "__main__":
    uvloop.run(main())
