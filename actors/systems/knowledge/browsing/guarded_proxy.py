"""Chromium's only way out, an HTTP/1.1 proxy on loopback: each request is judged here, whoever makes it.

Chromium resolves nothing itself: it names a host, here it is judged, resolved and connected to, in one step.
TLS ends here, too, so that whole addresses are seen, whatever part or worker of a page asks for them; what is
no HTTP in a tunnel goes nowhere. Each page has a `PageEgress` with a credential of its own, which no other
process knows; it counts what the page takes, and closes all that the page had open.
"""

import asyncio
import logging
import secrets
import ssl
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

import anyio
import h11
import httpcore2
import httpx2

from actors.platform.web.url_guard import Resolve, guarded_connection
from actors.systems.knowledge.browsing.browser_side import BrowserSide, OwnCertificate
from actors.systems.knowledge.browsing.origin import Origin
from actors.systems.knowledge.browsing.page_egress import AllowPart, OverBounds, PageEgress
from actors.systems.knowledge.browsing.proxy_connection import FAULTS, REFUSED, Caller
from actors.systems.knowledge.browsing.proxy_request import (
    Authority,
    NotProxied,
    of_a_worker,
    path_of,
    target_of,
)
from models.config import OutgoingConfig
from models.errors import AddressRefused
from models.knowledge.reach import PageReach

_log = logging.getLogger("signoff.browser")

_CHUNK = 65_536
_HEAD_SECONDS = 10.0
_MOST_CONNECTIONS = 512
_REALM = "signoff"
_GONE = (anyio.BrokenResourceError, anyio.ClosedResourceError)


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
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """Nothing is open yet. `tls` checks servers' certificates; by those known to the system if absent."""
        self._outgoing = outgoing
        self._connect_seconds = connect_seconds
        self._idle_seconds = idle_seconds
        self._head_seconds = head_seconds
        self._resolve = resolve
        self._tls = tls
        self._ways_out: dict[str, PageEgress] = {}
        self._open: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._certificate = await asyncio.to_thread(OwnCertificate)
        if self._tls is None:
            self._tls = await asyncio.to_thread(_trusted)
        self.key_digest = self._certificate.digest
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
        allow: AllowPart | None = None,
        reach: PageReach | None = None,
    ) -> Iterator[PageEgress]:
        """A way out for one page. When it ends, so does all that the page had open."""
        way_out = PageEgress(max_bytes=max_bytes, connections=connections, allow=allow, reach=reach)
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
            await self._serve(BrowserSide(reader, writer))
            writer.close()
        except (OSError, OverBounds, h11.ProtocolError, anyio.EndOfStream, *_GONE, *FAULTS) as error:
            _log.debug("a connection broke off: %r", error)
        except asyncio.CancelledError:
            _log.debug("a connection was ended, as its page was")
        finally:
            self._open.discard(task)
            if not writer.is_closing():
                writer.transport.abort()

    async def _serve(self, side: BrowserSide) -> None:
        caller = Caller(side, self._idle_seconds)
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
            await self._pass(caller, side, request, way_out)

    async def _pass(
        self, caller: Caller, side: BrowserSide, request: h11.Request, way_out: PageEgress
    ) -> None:
        try:
            where = target_of(request)
        except NotProxied as error:
            await caller.answer(400, str(error))
            return
        refused = None
        if where.tunnel:
            if way_out.reach is not None and not way_out.reach.admits(where.host, where.port):
                refused = "reach"
        else:
            refused = await _why_not(request, where.url(where.path), way_out)
        if refused is not None:
            await _refuse(caller, way_out, refused)
            return
        stream = await self._connect(caller, where, way_out)
        if stream is None:
            return
        try:
            if where.tunnel:
                await self._serve_within(caller, side, stream, where, way_out)
            else:
                origin = Origin(stream, where, way_out=way_out, idle_seconds=self._idle_seconds)
                await caller.forward(request, origin, where.path, way_out)
        finally:
            await stream.aclose()

    async def _connect(
        self, caller: Caller, where: Authority, way_out: PageEgress
    ) -> httpcore2.AsyncNetworkStream | None:
        """A connection to where it leads; None where there is none, and the caller was told why."""
        try:
            return await guarded_connection(
                where.host,
                where.port,
                outgoing=self._outgoing,
                timeout=self._connect_seconds,
                resolve=self._resolve,
            )
        except AddressRefused as error:
            way_out.note(way_out.refused, str(where), str(error))
            await _refuse(caller, way_out, "guard")
        except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
            late = isinstance(error, httpcore2.ConnectTimeout)
            way_out.note(way_out.failed, str(where), str(error) or type(error).__name__)
            await caller.answer(504 if late else 502, "", (REFUSED, "timeout" if late else "away"))
        return None

    async def _serve_within(
        self,
        caller: Caller,
        side: BrowserSide,
        stream: httpcore2.AsyncNetworkStream,
        where: Authority,
        way_out: PageEgress,
    ) -> None:
        """Judge and pass on requests within a tunnel, its TLS ended here; what is no HTTP goes nowhere."""
        side.put_back(await caller.tunnel())
        async with asyncio.timeout(self._idle_seconds):
            secured = await self._certificate.end_tls(side)
        where = where.within(secure=secured is not None)
        origin = Origin(
            stream,
            where,
            way_out=way_out,
            idle_seconds=self._idle_seconds,
            tls=None if secured is None else self._tls,
        )
        inner = Caller(secured or side, self._idle_seconds)
        while (request := await inner.request()) is not None:
            try:
                path = path_of(request)
            except NotProxied as error:
                await inner.answer(400, str(error))
                return
            if (refused := await _why_not(request, where.url(path), way_out)) is not None:
                await _refuse(inner, way_out, refused)
                return
            if not await inner.forward(request, origin, path, way_out):
                return

    def _way_out(self, request: h11.Request) -> PageEgress | None:
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


async def _why_not(request: h11.Request, url: str, way_out: PageEgress) -> str | None:
    """Why a page may not ask for an address; None where it may."""
    if of_a_worker(request):
        return "worker"
    if way_out.reach is not None and not way_out.reach.lets(url):
        return "reach"
    if way_out.allow is not None and not await way_out.allow(url):
        return "robots"
    return None


async def _refuse(caller: Caller, way_out: PageEgress, why: str) -> None:
    """Nothing is said in words: what a frame shows would be read as the page's."""
    way_out.refusals += 1
    await caller.answer(403, "", (REFUSED, why))


def _trusted() -> ssl.SSLContext:
    """Whose certificates are believed: those that the system and certifi know."""
    context = httpx2.create_ssl_context(trust_env=False)
    context.load_default_certs()
    context.set_alpn_protocols(["http/1.1"])
    return context
