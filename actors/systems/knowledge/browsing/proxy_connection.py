"""A connection from the browser to its proxy: requests, and their answers, an origin's or ours.

The proxy calls it once it knows whose request it is. Both sides' HTTP is parsed by h11 and written anew, so
that what the browser gets is framed by what was read, whatever an origin says of it.
"""

import asyncio

import h11
import httpcore2
from anyio import EndOfStream
from anyio.abc import ByteStream

from actors.systems.knowledge.browsing.origin import LONGEST_HEAD, Origin
from actors.systems.knowledge.browsing.page_egress import PageEgress
from actors.systems.knowledge.browsing.proxy_request import of_a_request, without_hops

# What the proxy says of an answer that is its own: why there is no other. Taken out of what origins say.
REFUSED = "X-Signoff-Refused"
# What is wrong with the other side, and not with us.
FAULTS = (httpcore2.TimeoutException, httpcore2.NetworkError, h11.RemoteProtocolError)
_CHUNK = 65_536
# What a WebSocket begins with. Nothing else may be made of a connection (RFC 6455 §4.1).
_UPGRADE = [(b"connection", b"Upgrade"), (b"upgrade", b"websocket")]
_CLOSE = [(b"connection", b"close")]


class Caller:
    """A connection from Chromium, or what is said within its tunnel."""

    def __init__(self, stream: ByteStream, idle_seconds: float) -> None:
        self._stream = stream
        self._idle = idle_seconds
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=LONGEST_HEAD)

    async def request(self) -> h11.Request | None:
        """The next one's head; None where the caller went away, or speaks no HTTP (and was told so)."""
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
        given = [*headers, ("Content-Type", "text/plain"), ("Content-Length", str(len(body)))]
        await self._send(
            h11.Response(status_code=status, headers=[*given, ("Connection", "close")]), h11.Data(data=body)
        )
        await self._send(h11.EndOfMessage())

    async def tunnel(self) -> bytes:
        """Say that there is one; what the caller has sent into it already."""
        await self._send(h11.Response(status_code=200, headers=[]))
        return self._http.trailing_data[0]

    async def forward(self, request: h11.Request, origin: Origin, path: bytes, way_out: PageEgress) -> bool:
        """Send a request on as an origin is asked, and its answer back; neither's framing is believed.

        Whether both may be used for another. Of a WebSocket, it returns when that has ended.
        """
        socket = any(n == b"upgrade" and v.lower() == b"websocket" for n, v in request.headers)
        last = _UPGRADE if socket else [] if origin.where.tunnel else _CLOSE
        headers = [(b"host", origin.where.as_written), *last, *of_a_request(request.headers)]
        try:
            await origin.ask(h11.Request(method=request.method, target=path, headers=headers))
            while not isinstance(event := await self._next(), h11.EndOfMessage):
                if not isinstance(event, h11.Data):
                    raise ConnectionAbortedError("the browser broke off")
                await origin.send(event)
            await origin.send(h11.EndOfMessage())
            if await self._answer_of(origin):
                await self._carry(origin)
                return False
        except FAULTS as error:
            # One that has ended while nothing was asked of it: the browser asks again, of a new one.
            if self._http.our_state is not h11.SEND_RESPONSE or origin.asked > 1:
                raise  # half an answer is there: it breaks off
            way_out.note(way_out.failed, str(origin.where), str(error) or type(error).__name__)
            late = isinstance(error, httpcore2.TimeoutException)
            await self.answer(504 if late else 502, "", (REFUSED, "timeout" if late else "away"))
            return False
        return self._again() and origin.again()

    async def _answer_of(self, origin: Origin) -> bool:
        """Pass an answer on; whether it makes a WebSocket of the connection."""
        while True:
            event = await origin.next_event()
            if isinstance(event, h11.InformationalResponse):
                if event.status_code == 101:
                    given = [*_UPGRADE, *without_hops(event.headers)]
                    await self._send(h11.InformationalResponse(status_code=101, headers=given))
                    return True
            elif isinstance(event, h11.Response):
                if event.status_code == 407:
                    raise h11.RemoteProtocolError("an origin asked for a proxy's password")
                last = _CLOSE if not origin.where.tunnel or _closes(event) else []
                await self._send(
                    h11.Response(
                        status_code=event.status_code,
                        headers=[*without_hops(event.headers), *last],
                        reason=event.reason,
                    )
                )
            elif isinstance(event, h11.EndOfMessage):
                await self._send(h11.EndOfMessage())
                return False
            elif isinstance(event, h11.Data):
                await self._send(event)
            else:
                raise h11.RemoteProtocolError("it broke off")

    async def _carry(self, origin: Origin) -> None:
        """Carry a WebSocket's bytes both ways until one side ends, or nothing was said for long."""
        quiet = asyncio.Event()

        async def out() -> None:
            data = self._http.trailing_data[0] or await self._read()
            while data:
                quiet.clear()
                await origin.write(data)
                data = await self._read()

        async def back() -> None:
            # A timeout is for both ways: one may be silent while the other is not.
            data = origin.early() or await origin.read()
            while data:
                quiet.clear()
                await self._write(data)
                data = await origin.read()

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

    async def _next(self) -> "h11.Event | type[h11.PAUSED]":
        while (event := self._http.next_event()) is h11.NEED_DATA:
            async with asyncio.timeout(self._idle):
                self._http.receive_data(await self._read())
        return event  # type: ignore[return-value]  # NEED_DATA has ended the loop

    def _again(self) -> bool:
        if self._http.our_state is not h11.DONE or self._http.their_state is not h11.DONE:
            return False
        self._http.start_next_cycle()
        return True

    async def _read(self) -> bytes:
        try:
            return await self._stream.receive(_CHUNK)
        except EndOfStream:
            return b""

    async def _send(self, *events: h11.Event) -> None:
        await self._write(b"".join(self._http.send(event) or b"" for event in events))

    async def _write(self, data: bytes) -> None:
        async with asyncio.timeout(self._idle):
            await self._stream.send(data)


def _closes(answer: h11.Response) -> bool:
    said = b",".join(value for name, value in answer.headers if name == b"connection").lower()
    return answer.http_version < b"1.1" or b"close" in said
