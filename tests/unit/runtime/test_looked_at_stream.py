"""What is held up on its way is not sent on by the event loop: not a byte goes out late, however large."""

import asyncio
import os
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpcore2
import mcp_types as types
import pytest
from mcp.shared.message import SessionMessage

from actors.platform import sending
from actors.platform.checked_stream import LookedAtBackend, LookedAtStream
from actors.platform.mcp.exchange import CURRENT, Exchange
from actors.platform.mcp.http_wire import http_client
from actors.platform.mcp.program import ServerProgram
from actors.platform.sending import Sender, sending_for
from actors.platform.web.url_guard import guarded_client
from models.config import HttpServer, OutgoingConfig, StdioServer
from models.errors import NotSent
from tests.unit.outside.certificates import certificate

LOOPBACK = OutgoingConfig(allow_internal=("127.0.0.1/32",))
# More than the system keeps for both sides.
LARGE = 48 * 1024 * 1024


class Clock:
    """A clock that jumps when it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ahead, real = 0.0, sending.now
        monkeypatch.setattr(sending, "now", lambda: real() + self.ahead)


@pytest.fixture(name="clock")
def make_clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


@dataclass
class Slow:
    """A server that takes what comes up to `most`, says so, and takes the rest when it is told to."""

    most: int
    url: str = ""
    came: int = 0
    full: asyncio.Event = field(default_factory=asyncio.Event)
    goes_on: asyncio.Event = field(default_factory=asyncio.Event)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while self.came < self.most and (part := await reader.read(65536)):
            self.came += len(part)
        self.full.set()
        await self.goes_on.wait()
        with suppress(ConnectionResetError):  # whoever sent it has broken it off
            while self.came < LARGE and (part := await reader.read(65536)):
                self.came += len(part)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
        writer.close()
        self.over.set()


@asynccontextmanager
async def slow(over: ssl.SSLContext | None = None) -> AsyncIterator[Slow]:
    found = Slow(1)
    server = await asyncio.start_server(found.serve, "127.0.0.1", 0, ssl=over)
    found.url = f"{'http' if over is None else 'https'}://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    try:
        yield found
    finally:
        server.close()


@pytest.mark.parametrize("secure", [False, True], ids=["http", "https"])
async def test_the_rest_of_a_large_body_is_not_sent_late(clock: Clock, secure: bool, tmp_path: Path) -> None:
    of, trusting = certificate(tmp_path, "hooks.example.com") if secure else (None, None)
    allowed = OutgoingConfig(allow_internal=("hooks.example.com", "127.0.0.1/32"))

    async def here(_: str) -> list[str]:
        return ["127.0.0.1"]

    client = guarded_client(allowed, timeout=60, resolve=here, ssl_context=trusting)
    async with slow(of) as to, client:
        where = to.url.replace("127.0.0.1", "hooks.example.com")
        with sending_for(Sender(until=sending.now() + 60)):
            posting = asyncio.create_task(client.post(where, content=b"a" * LARGE))
        await to.full.wait()
        clock.ahead = 60
        to.goes_on.set()
        with pytest.raises(NotSent):
            await posting
        await to.over.wait()
        assert 0 < to.came < LARGE


async def test_a_large_body_is_sent_in_time_and_whoever_sends_for_nobody_has_all_time(clock: Clock) -> None:
    for sender in (Sender(until=sending.now() + 60), Sender()):
        async with slow() as to, guarded_client(LOOPBACK, timeout=60) as client:
            with sending_for(sender):
                posting = asyncio.create_task(client.post(to.url, content=b"a" * LARGE))
            await to.full.wait()
            clock.ahead += 59
            to.goes_on.set()
            assert (await posting).status_code == 200
            assert to.came >= LARGE


@pytest.mark.parametrize("writes", [False, True], ids=["reads", "writes"])
async def test_the_rest_of_a_large_call_is_not_sent_to_a_server_late(clock: Clock, writes: bool) -> None:
    with sending_for(Sender(until=sending.now() + 60)):
        exchange = Exchange(acts=True, writes=writes)
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"text": "a" * LARGE}}
    async with slow() as to, http_client(HttpServer(url=to.url), max_bytes=1000, timeout=60) as client:
        token = CURRENT.set(exchange)
        posting = asyncio.create_task(client.post(to.url, json=call))
        CURRENT.reset(token)
        await to.full.wait()
        clock.ahead = 60
        to.goes_on.set()
        assert (await posting).status_code == 503
        await to.over.wait()
        assert to.came < LARGE
    # A part of it was sent, so nobody says that nothing was.
    assert (exchange.sent, exchange.withheld) == (True, None)


async def test_the_rest_of_a_large_call_is_not_written_to_a_program_late(
    clock: Clock, tmp_path: Path
) -> None:
    for name in ("told", "goes_on"):
        os.mkfifo(tmp_path / name)
    steps = (
        f"cd {tmp_path}; head -c 1 > first; echo > told",
        "cat goes_on; wc -c > rest; echo > told",
        "sleep 60",  # its output stays open
    )
    settings = StdioServer(command=("/bin/sh", "-c", "; ".join(steps)))
    params = {"name": "send", "arguments": {"text": "a" * LARGE}}
    call = types.JSONRPCRequest(jsonrpc="2.0", id=1, method="tools/call", params=params)
    with sending_for(Sender(until=sending.now() + 60)):
        exchange = Exchange(acts=True, writes=True)
    program = ServerProgram(settings, max_bytes=1000)
    async with program.streams() as (answers, to_it):
        token = CURRENT.set(exchange)
        await to_it.send(SessionMessage(call))
        CURRENT.reset(token)
        await asyncio.to_thread((tmp_path / "told").read_bytes)
        clock.ahead = 60
        await asyncio.to_thread((tmp_path / "goes_on").write_bytes, b"")
        refused: Any = (await answers.receive()).message  # type: ignore[union-attr]
        assert "held up" in refused.error.message
        # Half a line was written: its input ends, for what came next would be taken for the rest of it.
        await asyncio.to_thread((tmp_path / "told").read_bytes)
        assert 0 < int((tmp_path / "rest").read_text()) < LARGE
    assert (exchange.sent, exchange.withheld) == (True, None)


async def test_who_waits_for_what_comes_is_told_when_it_is_closed() -> None:
    ours, its = socket.socketpair()
    with its:
        stream = LookedAtStream(ours)
        receiving = asyncio.create_task(stream.receive())
        sending_all = asyncio.create_task(stream.send(b"a" * LARGE))
        its.setblocking(False)
        await asyncio.get_running_loop().sock_recv(its, 1)
        await stream.aclose()
        for one in (receiving, sending_all):
            with pytest.raises(anyio.ClosedResourceError):
                await one
        await stream.aclose()


async def test_what_the_other_side_sends_comes_to_its_end() -> None:
    ours, its = socket.socketpair()
    stream = LookedAtStream(ours)
    its.sendall(b"hello")
    assert await stream.receive() == b"hello"
    receiving = asyncio.create_task(stream.receive())
    its.close()
    with pytest.raises(anyio.EndOfStream):
        await receiving
    with pytest.raises(anyio.BrokenResourceError):
        await stream.send(b"hello")
    await stream.aclose()


async def test_a_host_s_next_address_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.get_running_loop()
    closed = socket.create_server(("127.0.0.1", 0))
    at = closed.getsockname()
    closed.close()

    async def found(*_: Any, **__: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 0, "", each) for each in addresses]

    monkeypatch.setattr(loop, "getaddrinfo", found)
    async with slow() as to:
        there = ("127.0.0.1", int(to.url.rstrip("/").rpartition(":")[2]))
        addresses = [at, there]
        stream = await LookedAtBackend().connect_tcp("two", 80, timeout=20)
        await stream.write(b"a")
        await to.full.wait()
        to.goes_on.set()
        await stream.aclose()
        await to.over.wait()
        for none in ([at], [at, at], []):
            addresses = none
            with pytest.raises(httpcore2.ConnectError):
                await LookedAtBackend().connect_tcp("two", 80, timeout=20)
