"""An HTTP/1.1 forward proxy on loopback, Chromium's only way out: the URL guard sees all that it asks for.

Chromium resolves nothing itself: it names a host, here it is judged, resolved and connected to, in one step.
Each page has a `WayOut` with a credential of its own, which no other process knows; it counts what the page
takes, and closes all that the page had open. TLS and WebSockets go through tunnels (RFC 9110 §9.3.6).
"""

import asyncio
import logging
import secrets
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

import h11
import httpcore2

from actors.knowledge.browsing.caller import FAULTS, REFUSED, Caller
from actors.knowledge.browsing.proxied import Authority, NotProxied, target_of
from actors.knowledge.browsing.way_out import AllowRequest, OverBounds, WayOut
from actors.outside.url_guard import Resolve, guarded_connection
from models.config import OutgoingConfig
from models.errors import AddressRefused
from models.knowledge.reach import PageReach

_log = logging.getLogger("signoff.browser")

_CHUNK = 65_536
_HEAD_SECONDS = 10.0
_MOST_CONNECTIONS = 512
_REALM = "signoff"


class GuardedProxy:
    """The proxy of one browser. `async with` it; `url` is where it listens."""

    def __init__(
        self,
        outgoing: OutgoingConfig,
        *,
        connect_seconds: float = 10.0,
        idle_seconds: float = 60.0,
        head_seconds: float = _HEAD_SECONDS,
        resolve: Resolve | None = None,
    ) -> None:
        self._outgoing = outgoing
        self._connect_seconds = connect_seconds
        self._idle_seconds = idle_seconds
        self._head_seconds = head_seconds
        self._resolve = resolve
        self._ways_out: dict[str, WayOut] = {}
        self._open: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=_CHUNK)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    @contextmanager
    def way_out(
        self,
        *,
        max_bytes: int,
        connections: int = 64,
        allow: AllowRequest | None = None,
        reach: PageReach | None = None,
    ) -> Iterator[WayOut]:
        """A way out for one page. When it ends, so does all that the page had open."""
        way_out = WayOut(max_bytes=max_bytes, connections=connections, allow=allow, reach=reach)
        self._ways_out[way_out.user] = way_out
        try:
            yield way_out
        finally:
            del self._ways_out[way_out.user]
            way_out.close()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        if len(self._open) >= _MOST_CONNECTIONS:
            writer.transport.abort()
            return
        self._open.add(task)
        try:
            await self._serve(Caller(reader, writer, self._idle_seconds))
            writer.close()
        except (ConnectionError, TimeoutError, OverBounds, h11.ProtocolError, *FAULTS) as error:
            _log.debug("a connection broke off: %r", error)
        except asyncio.CancelledError:
            _log.debug("a connection was ended, as its page was")
        finally:
            self._open.discard(task)
            if not writer.is_closing():
                writer.transport.abort()

    async def _serve(self, caller: Caller) -> None:
        async with asyncio.timeout(self._head_seconds):
            request = await caller.request()
        if request is None:
            return
        way_out = self._way_out(request)
        if way_out is None:
            challenge = ("Proxy-Authenticate", f'Basic realm="{_REALM}"')
            await caller.answer(407, "this proxy is for its own browser alone", challenge)
            return
        with way_out.connection():
            await self._pass(caller, request, way_out)

    async def _pass(self, caller: Caller, request: h11.Request, way_out: WayOut) -> None:
        try:
            where = target_of(request)
        except NotProxied as error:
            await caller.answer(400, str(error))
            return
        if way_out.reach is not None and not way_out.reach.admits(where.host, where.port):
            way_out.refusals += 1
            await caller.answer(403, "not approved", (REFUSED, "reach"))
            return
        try:
            if not await self._allowed(request, where, way_out):
                way_out.refusals += 1
                await caller.answer(403, "not allowed to robots", (REFUSED, "robots"))
                return
            upstream = await guarded_connection(
                where.host,
                where.port,
                outgoing=self._outgoing,
                timeout=self._connect_seconds,
                resolve=self._resolve,
            )
        except AddressRefused as error:
            way_out.refusals += 1
            way_out.note(way_out.refused, str(where), str(error))
            await caller.answer(403, "refused by the URL guard", (REFUSED, "guard"))
            return
        except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
            late = isinstance(error, httpcore2.ConnectTimeout)
            way_out.note(way_out.failed, str(where), str(error) or type(error).__name__)
            await caller.answer(504 if late else 502, "not reached", (REFUSED, "timeout" if late else "away"))
            return
        try:
            if where.tunnel:
                await caller.tunnel(upstream, way_out)
            else:
                await caller.forward(request, where, upstream, way_out)
        finally:
            await upstream.aclose()

    async def _allowed(self, request: h11.Request, where: Authority, way_out: WayOut) -> bool:
        if where.tunnel or way_out.allow is None:
            return True
        resource = next((v.decode("latin-1") for n, v in request.headers if n == b"sec-fetch-dest"), "")
        return await way_out.allow(request.target.decode("ascii"), resource)

    def _way_out(self, request: h11.Request) -> WayOut | None:
        given = [value for name, value in request.headers if name == b"proxy-authorization"]
        if len(given) != 1:
            return None
        scheme, _, encoded = given[0].partition(b" ")
        try:
            user, _, password = b64decode(encoded.strip(), validate=True).partition(b":")
        except NotBase64:
            return None
        way_out = self._ways_out.get(user.decode("latin-1"))
        known = way_out is not None and secrets.compare_digest(password, way_out.password.encode())
        return way_out if known and scheme.lower() == b"basic" else None
