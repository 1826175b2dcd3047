"""A connection from the browser to its proxy: one request, and its answer, a tunnel or ours.

The proxy calls it once it knows whose request it is. Both sides' HTTP is parsed by h11 and written anew, so
that what the browser gets is framed by what was read, whatever an origin says of it.
"""

import asyncio

import h11
import httpcore2

from actors.knowledge.browsing.proxied import Authority, without_hops
from actors.knowledge.browsing.way_out import WayOut

# What the proxy says of an answer that is its own: why there is no other. Taken out of what origins say.
REFUSED = "X-Signoff-Refused"
# What is wrong with the other side, and not with us.
FAULTS = (httpcore2.TimeoutException, httpcore2.NetworkError, h11.RemoteProtocolError)
_CHUNK = 65_536
# Of a request's or an answer's head, in bytes; Chromium itself takes four times that.
_LONGEST_HEAD = 65_536


class Caller:
    """A connection from Chromium: one request, and what answers it."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, idle_seconds: float
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._idle = idle_seconds
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=_LONGEST_HEAD)

    async def request(self) -> h11.Request | None:
        """Its head; None where the caller went away, or speaks no HTTP (and was told so)."""
        try:
            event = await self._next()
        except h11.RemoteProtocolError as error:
            if self._http.our_state is h11.IDLE:
                await self.answer(error.error_status_hint, "not understood")
            return None
        return event if isinstance(event, h11.Request) else None

    async def answer(self, status: int, said: str, *headers: tuple[str, str]) -> None:
        """Answer it here, and close."""
        body = said.encode()
        await self._send(
            h11.Response(
                status_code=status,
                headers=[
                    *headers,
                    ("Content-Type", "text/plain"),
                    ("Content-Length", str(len(body))),
                    ("Connection", "close"),
                ],
            )
        )
        await self._send(h11.Data(data=body))
        await self._send(h11.EndOfMessage())

    async def tunnel(self, upstream: httpcore2.AsyncNetworkStream, way_out: WayOut) -> None:
        """Carry bytes both ways until one side ends, or nothing was said for long."""
        await self._send(h11.Response(status_code=200, headers=[]))
        early, _ = self._http.trailing_data
        quiet = asyncio.Event()

        async def out() -> None:
            data = early or await self._reader.read(_CHUNK)
            while data:
                quiet.clear()
                way_out.took(data)
                await upstream.write(data, self._idle)
                data = await self._reader.read(_CHUNK)

        async def back() -> None:
            # A timeout is for both ways: one may be silent while the other is not.
            while data := await upstream.read(_CHUNK):
                quiet.clear()
                way_out.took(data)
                await self._write(data)

        async def watch() -> None:
            while not quiet.is_set():
                quiet.set()
                await asyncio.sleep(self._idle)

        tasks = [asyncio.create_task(part()) for part in (out, back, watch)]
        try:
            ended, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for task in ended:
            task.result()

    async def forward(
        self,
        request: h11.Request,
        where: Authority,
        upstream: httpcore2.AsyncNetworkStream,
        way_out: WayOut,
    ) -> None:
        """Send the request on as an origin is asked, and its answer back; neither's framing is believed."""
        origin = h11.Connection(h11.CLIENT, max_incomplete_event_size=_LONGEST_HEAD)

        async def send(event: h11.Event) -> None:
            data = origin.send(event)
            assert data is not None
            way_out.took(data)
            await upstream.write(data, self._idle)

        headers = [(b"host", where.as_written), (b"connection", b"close")]
        kept = [(n, v) for n, v in without_hops(request.headers) if n != b"host"]
        try:
            await send(h11.Request(method=request.method, target=where.path, headers=[*headers, *kept]))
            while not isinstance(event := await self._next(), h11.EndOfMessage):
                if not isinstance(event, h11.Data):
                    raise ConnectionAbortedError("the browser broke off")
                await send(event)
            await send(h11.EndOfMessage())
            await self._answer_of(origin, upstream, way_out)
        except FAULTS as error:
            way_out.note(way_out.failed, str(where), str(error) or type(error).__name__)
            if self._http.our_state is not h11.SEND_RESPONSE:
                raise  # half an answer is there: it breaks off
            late = isinstance(error, httpcore2.TimeoutException)
            await self.answer(504 if late else 502, "no answer", (REFUSED, "timeout" if late else "away"))

    async def _answer_of(
        self, origin: h11.Connection, upstream: httpcore2.AsyncNetworkStream, way_out: WayOut
    ) -> None:
        while True:
            event = origin.next_event()
            if event is h11.NEED_DATA:
                data = await upstream.read(_CHUNK, self._idle)
                way_out.took(data)
                origin.receive_data(data)
            elif isinstance(event, h11.Response):
                if event.status_code == 407:
                    raise h11.RemoteProtocolError("an origin asked for a proxy's password")
                headers = without_hops(event.headers)
                await self._send(
                    h11.Response(
                        status_code=event.status_code,
                        headers=[*headers, (b"connection", b"close")],
                        reason=event.reason,
                    )
                )
            elif isinstance(event, h11.Data):
                await self._send(event)
            elif isinstance(event, h11.EndOfMessage):
                await self._send(h11.EndOfMessage())
                return
            elif not isinstance(event, h11.InformationalResponse):
                raise h11.RemoteProtocolError("it broke off")

    async def _next(self) -> "h11.Event | type[h11.PAUSED]":
        while (event := self._http.next_event()) is h11.NEED_DATA:
            async with asyncio.timeout(self._idle):
                self._http.receive_data(await self._reader.read(_CHUNK))
        return event  # type: ignore[return-value]  # NEED_DATA has ended the loop

    async def _send(self, event: h11.Event) -> None:
        if (data := self._http.send(event)) is not None:
            await self._write(data)

    async def _write(self, data: bytes) -> None:
        self._writer.write(data)
        async with asyncio.timeout(self._idle):
            await self._writer.drain()
