"""A connection that checks each part right before the system takes it, as `actors.platform.sending` wants it.

An event loop's own connections keep what the system does not take at once, and send it on by themselves: the
rest of a large body would go out long after its clearance. Here nothing is kept, so what is late is not sent.
"""

import asyncio
import socket
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import anyio
import anyio.abc
import anyio.lowlevel
import httpcore2

# Not offered by the library, which makes one of whatever anyio calls a stream.
from httpcore2._backends.anyio import AnyIOStream

from actors.platform import sending


class LookedAtStream(anyio.abc.ByteStream):
    """One connected socket, for one task at a time in each direction."""

    def __init__(self, connected: socket.socket) -> None:
        connected.setblocking(False)
        self._socket = connected
        self._waiting: set[asyncio.Future[None]] = set()

    async def receive(self, max_bytes: int = 65536) -> bytes:
        """What has come. Raises EndOfStream, BrokenResourceError, ClosedResourceError."""
        await anyio.lowlevel.checkpoint()
        loop = asyncio.get_running_loop()
        while True:
            try:
                data = self._socket.recv(max_bytes)
            except BlockingIOError:
                await self._ready(loop.add_reader, loop.remove_reader)
            except OSError as error:
                raise self._broken() from error
            else:
                if not data:
                    raise anyio.EndOfStream
                return data

    async def send(self, item: bytes) -> None:
        """Have the system take it all.

        Raises:
            NotSent: it is too late for what is left of it; the connection is to be closed.
            BrokenResourceError, ClosedResourceError: nobody takes it any more.
        """
        loop, rest = asyncio.get_running_loop(), memoryview(item)
        while rest:
            sending.look()
            try:
                rest = rest[self._socket.send(rest) :]
            except BlockingIOError:
                await self._ready(loop.add_writer, loop.remove_writer)
            except OSError as error:
                raise self._broken() from error

    async def send_eof(self) -> None:
        """Nothing more is sent."""
        self._socket.shutdown(socket.SHUT_WR)

    async def aclose(self) -> None:
        """Close it. Whoever waits for it is told."""
        if not self._is_closed():
            loop = asyncio.get_running_loop()
            loop.remove_reader(self._socket)
            loop.remove_writer(self._socket)
            self._socket.close()
        for ready in self._waiting:
            _set(ready)

    @property
    def extra_attributes(self) -> Mapping[Any, Callable[[], Any]]:
        """What anyio and httpcore2 ask for."""
        return {anyio.abc.SocketAttribute.raw_socket: lambda: self._socket}

    def _is_closed(self) -> bool:
        return self._socket.fileno() < 0

    def _broken(self) -> Exception:
        return anyio.ClosedResourceError() if self._is_closed() else anyio.BrokenResourceError()

    async def _ready(self, add: Callable[..., Any], remove: Callable[..., Any]) -> None:
        ready = asyncio.get_running_loop().create_future()
        self._waiting.add(ready)
        add(self._socket, _set, ready)
        try:
            await ready
        finally:
            self._waiting.discard(ready)
            if not self._is_closed():
                remove(self._socket)


def _set(ready: "asyncio.Future[None]") -> None:
    if not ready.done():
        ready.set_result(None)


class LookedAtBackend(httpcore2.AsyncNetworkBackend):
    """Makes such connections for httpcore2; TLS goes over them as over any other."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect to the first of a host's addresses that takes it, each within its share of `timeout`.

        Raises:
            ConnectError, ConnectTimeout: none does.
        """
        try:
            async with asyncio.timeout(timeout):
                found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
            for left in range(len(found), 0, -1):
                share = None if timeout is None else timeout / len(found)
                family, kind, protocol, _, address = found[-left]
                made = socket.socket(family, kind, protocol)
                try:
                    await _connect(made, address, share, local_address, socket_options or ())
                except BaseException as error:
                    made.close()
                    if left == 1 or not isinstance(error, OSError):  # a TimeoutError is one
                        raise
                else:
                    return AnyIOStream(LookedAtStream(made))
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout(f"{host} does not answer in time") from error
        except OSError as error:
            raise httpcore2.ConnectError(str(error)) from error
        raise httpcore2.ConnectError(f"{host} has no address")

    async def sleep(self, seconds: float) -> None:
        """Wait; httpcore2 asks for it between its own retries, of which there are none here."""
        await asyncio.sleep(seconds)


async def _connect(
    made: socket.socket,
    address: Any,
    timeout: float | None,
    local_address: str | None,
    options: Iterable[httpcore2.SOCKET_OPTION],
) -> None:
    made.setblocking(False)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for option in options:
        made.setsockopt(*option)
    if local_address is not None:
        made.bind((local_address, 0))
    async with asyncio.timeout(timeout):
        await asyncio.get_running_loop().sock_connect(made, address)
