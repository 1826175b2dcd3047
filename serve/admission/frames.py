"""The WebSockets that every server of ours speaks: uncompressed, and bounded in what is no message.

An app counts messages, and sees nothing else: pings, which are answered at once, and pieces of messages,
which may be empty, are counted here. What came together is read a little at a time, and nothing further while
messages wait, so a flood of either holds up nobody else. See `serve.admission.sockets`.
"""

from typing import Any, Final

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import SecurityError
from websockets.frames import Frame
from websockets.http11 import MAX_LINE_LENGTH, Response
from websockets.server import ServerProtocol

from serve.admission.heads import KEPT_BY_NOBODY, refusal
from serve.admission.taken import LetsGo

# Pings, pongs and pieces of messages on one socket. A message of the largest size comes in 64 of 1 KiB.
MOST_PIECES: Final = 2_000
PIECES_SECONDS: Final = 60.0
TOO_OFTEN: Final = 4429
# Messages whose sender may not know yet that the app has closed: to break off could lose him the reason.
MOST_UNHEARD: Final = 20_000
_READ_AT_ONCE = 8 * 1024


class _Handshakes(ServerProtocol):
    """Answers of a WebSocket's handshake, refusals among them."""

    def send_response(self, response: Response) -> None:
        """Send one, with what every answer has."""
        for name, value in KEPT_BY_NOBODY.items():
            response.headers.setdefault(name, value)
        super().send_response(response)


class BoundedFrames(LetsGo, WebSocketsSansIOProtocol):
    """uvicorn's WebSocket, without compression whatever uvicorn is told. One for each connection."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn = _Handshakes(max_size=self.config.ws_max_size, logger=self.logger)
        self._unread = bytearray()
        self._pieces, self._since = 0, self.loop.time()
        self._unheard = 0

    def data_received(self, data: bytes) -> None:
        """Keep what came, and read of it as long as no message waits."""
        self._unread += data
        self._read()

    async def receive(self) -> Any:
        """The next message, for the app."""
        message = await super().receive()
        self._read()
        return message

    def handle_ping(self) -> None:
        """Answer one, if there were not too many."""
        if self._one_more():
            super().handle_ping()

    def handle_pong(self, event: Frame) -> None:
        """Note one, if there were not too many."""
        if self._one_more():
            super().handle_pong(event)

    def handle_cont(self, event: Frame) -> None:
        """Put a piece to its message, if there were not too many."""
        if self._one_more():
            super().handle_cont(event)

    def handle_text(self, event: Frame) -> None:
        """Hear a message; once the app has closed, none is heard, and they are counted."""
        if not self._unheard_too():
            super().handle_text(event)

    def handle_bytes(self, event: Frame) -> None:
        """Hear a message of bytes, likewise."""
        if not self._unheard_too():
            super().handle_bytes(event)

    def _read(self) -> None:
        while self._unread and not self.read_paused and not self.transport.is_closing():
            piece = bytes(self._unread[:_READ_AT_ONCE])
            del self._unread[:_READ_AT_ONCE]
            super().data_received(piece)
        # uvicorn answers nothing to a head that this library does not read, and keeps the connection.
        if not self.handshake_initiated and (fault := self.conn.handshake_exc) is not None:
            self._unread.clear()
            self._refuse(fault)

    def _refuse(self, fault: BaseException) -> None:
        if isinstance(fault, SecurityError):
            answer = refusal(431, f"a line of a WebSocket's head is over {MAX_LINE_LENGTH} bytes: send less")
        else:
            answer = refusal(400, "this can't be read as the opening of a WebSocket: see RFC 6455")
        self.transport.write(answer)
        self.transport.close()

    def _unheard_too(self) -> bool:
        self._unheard += self.close_sent
        if self._unheard > MOST_UNHEARD:
            self.transport.close()
        return self.close_sent

    def _one_more(self) -> bool:
        now = self.loop.time()
        if now - self._since > PIECES_SECONDS:
            self._pieces, self._since = 0, now
        self._pieces += 1
        if self._pieces <= MOST_PIECES:
            return True
        if not self.transport.is_closing():
            self._end()
        return False

    def _end(self) -> None:
        if not self.handshake_complete:
            self.transport.abort()
            return
        reason = f"more than {MOST_PIECES:,} pings and pieces of messages in {PIECES_SECONDS:g} s"
        self.conn.fail(TOO_OFTEN, f"{reason}: wait a while")
        if self.conn.close_sent is None:
            self.transport.abort()
        else:
            self.handle_parser_exception()
            self.disconnected = True  # whoever goes on talking is told, and not that he may not
