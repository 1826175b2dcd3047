"""The head of a request, bounded before anybody is asked who sends it: in size, lines and time.

uvicorn's protocol has no bound for any of them (httptools keeps what comes, in quadratic time), so this is
the one that every server of ours speaks with; see `serve.admission.sockets`. What is over a bound is answered
with 431, what does not come in time with 408, and the connection is closed. What ends a body in chunks (its
trailers) has the bounds of a head again, and is read for nothing else. Every answer has `KEPT_BY_NOBODY`,
whoever gives it: the app, Serve's proxy, or uvicorn where neither did.
"""

import asyncio
import json
from http import HTTPStatus
from typing import Any, Final

from starlette.datastructures import MutableHeaders
from starlette.types import Message, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from serve.admission.taken import LetsGo

# An answer is somebody's own, and what its type says: no cache keeps it, no browser guesses.
KEPT_BY_NOBODY: Final = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
HEAD_BYTES: Final = 64 * 1024
LINE_BYTES: Final = 16 * 1024  # a token of an issuer with many groups fits
MOST_HEADERS: Final = 100
HEAD_SECONDS: Final = 10.0
# Requests that were sent before the answers to those before them.
MOST_WAITING: Final = 32
# What is looked at between two looks at the bounds.
_PIECE = 8 * 1024
# Of a body in chunks, beside it: lengths and line ends of chunks.
_BESIDE_BODY = 16


class _OverBound(Exception):
    """Raised in the parser's callbacks; it passes on a refusal of its own."""


class BoundedHeads(LetsGo, HttpToolsProtocol):
    """uvicorn's protocol, with bounds. One for each connection."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._in_head = True
        self._size = self._count = self._body = self._beside = self._since = self._messages = 0
        self._timer: asyncio.TimerHandle | None = None
        self._answered: Any = None  # the request that is, while others may wait behind it
        self._fault: tuple[int, str] | None = None

    def connection_made(self, transport: Any) -> None:
        """Somebody is there: the head must come."""
        super().connection_made(transport)
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nobody is there any more."""
        self._forget_timer()
        self._left()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read what came piece by piece, until a bound is passed."""
        for start in range(0, len(data), _PIECE):
            if self.transport.is_closing() or self.transport.get_protocol() is not self:
                return
            self._read(data[start : start + _PIECE])

    def _read(self, piece: bytes) -> None:
        in_head, body, message = self._in_head, self._body, self._messages
        if in_head:
            self._expect_head()
            self._size += len(piece)
        super().data_received(piece)
        if self.transport.is_closing() or (in_head, message) != (self._in_head, self._messages):
            return
        if in_head and self._size > HEAD_BYTES:
            self._refuse(431, f"the head is over {HEAD_BYTES} bytes: send less")
        elif not in_head:
            came = self._body - body
            self._beside += len(piece) - came
            self._since = 0 if came else self._since + len(piece)
            if self._since > HEAD_BYTES:
                self._refuse(431, f"what follows the body is over {HEAD_BYTES} bytes: send fewer trailers")
            elif self._beside > HEAD_BYTES + _BESIDE_BODY * self._body:
                self._refuse(431, "what is sent beside the body is too much: send it in larger chunks")

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._messages += 1
        self._count = self._body = self._beside = self._since = 0

    def on_url(self, url: bytes) -> None:
        """The parser has a piece of the address."""
        super().on_url(url)
        self._check_line(len(self.url), "the address")

    def on_header(self, name: bytes, value: bytes) -> None:
        """The parser has a header, or a trailer."""
        self._count += 1
        if self._count > MOST_HEADERS:
            self._fault = (431, f"there are more than {MOST_HEADERS} headers: send fewer")
            raise _OverBound
        self._check_line(len(name) + len(value), "a header")
        if self._in_head:  # what comes after the body was checked by nobody as a header
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The head is whole."""
        if self.parser.should_upgrade() and self._should_upgrade() and self._announces_body():
            said = "Content-Length and Transfer-Encoding"
            self._fault = (400, f"a WebSocket is opened by a request without a body: leave out {said}")
            raise _OverBound
        if len(self.pipeline) >= MOST_WAITING:
            self._fault = (431, f"more than {MOST_WAITING} requests wait for answers: send fewer at once")
            raise _OverBound
        self._in_head, self._count = False, 0
        self._forget_timer()
        before = self.cycle
        super().on_headers_complete()
        if self.cycle is not before:
            cycle: Any = self.cycle
            cycle.send = _kept_by_nobody(cycle.send)

    def on_body(self, body: bytes) -> None:
        """The parser has a piece of the body."""
        self._body += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """What comes next is another head."""
        self._in_head, self._size = True, 0
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what the parser does not read, for a reason of ours where there is one."""
        if self._fault is None:
            self._fault = (400, "this can't be read as a request: send HTTP/1.1")
        self._refuse(*self._fault)

    def _start_asgi_task(self, cycle: Any, app: Any) -> None:
        self._answered = cycle
        super()._start_asgi_task(cycle, app)

    def _left(self) -> None:
        """Tell whoever answers that nobody is there: uvicorn tells the last request alone."""
        if self._answered is not None and not self._answered.response_complete:
            self._answered.disconnected = True
            self._answered.message_event.set()

    def _announces_body(self) -> bool:
        given = dict(self.headers)
        return b"transfer-encoding" in given or int(given.get(b"content-length", 0)) > 0

    def _check_line(self, size: int, what: str) -> None:
        if size > LINE_BYTES:
            self._fault = (431, f"{what} is over {LINE_BYTES} bytes: send less")
            raise _OverBound

    def _expect_head(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(HEAD_SECONDS, self._is_late)

    def _is_late(self) -> None:
        self._timer = None
        if self._answering():
            # What follows a request that is being answered was not read, so it can't be whole.
            self._expect_head()
        else:
            self._refuse(408, f"the head did not come whole within {HEAD_SECONDS:g} s: send it again")

    def _answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _forget_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, status: int, detail: str) -> None:
        """Answer, unless another answer is under way, and close."""
        self._forget_timer()
        if self._answering() and (self._in_head or self.pipeline or self.cycle.response_started):
            self._left()
            self.transport.abort()
            return
        self.transport.write(refusal(status, detail))
        self.transport.close()


def refusal(status: int, detail: str) -> bytes:
    """An answer that is made before any app is asked."""
    title = HTTPStatus(status).phrase
    problem = {
        "type": "urn:signoff:problem:HttpError",
        "title": title,
        "status": status,
        "detail": detail,
    }
    body = json.dumps(problem).encode()
    head = (
        f"HTTP/1.1 {status} {title}\r\ncontent-type: application/problem+json\r\n"
        + "".join(f"{name}: {value}\r\n" for name, value in KEPT_BY_NOBODY.items())
        + f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
    )
    return head.encode() + body


def _kept_by_nobody(send: Send) -> Send:
    """Give an answer what every one has; what it says itself stays."""

    async def told(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(
                raw=[(name.lower(), value) for name, value in message.get("headers", ())]
            )
            for name, value in KEPT_BY_NOBODY.items():
                headers.setdefault(name, value)
            message = {**message, "headers": headers.raw}
        await send(message)

    return told
