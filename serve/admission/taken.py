"""Whether what is sent is taken: who takes nothing of it for ten seconds is let go, and what waits for him.

The protocols of `heads` and `frames` are made with `LetsGo`. A transport that is closed goes on holding
what it could not send, without an end, so it is looked at until all is taken or the connection is lost.
"""

import asyncio
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

TAKE_SECONDS: Final = 10.0
# What the kernel holds unsent before a transport does: without that it would hold megabytes for anybody, and
# a slow reader would be seen to take something only now and then.
_UNSENT_BYTES = 64 * 1024


class Taken:
    """Of one connection; see `LetsGo`."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._left = 0
        self._timer: asyncio.TimerHandle | None = None
        # Told at once of whatever the kernel does not take.
        transport.set_write_buffer_limits(high=0)
        with suppress(OSError):  # a socket of another kind than TCP's
            opened = transport.get_extra_info("socket")
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, _UNSENT_BYTES)
        if transport.get_write_buffer_size():  # as the protocol before has left it
            self.wait()

    def wait(self) -> None:
        """Something is there that is not taken yet."""
        if self._timer is None:
            self._left = self._transport.get_write_buffer_size()
            self._timer = self._loop.call_later(TAKE_SECONDS, self._look)

    def end(self) -> None:
        """All was taken, or nobody is there any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        self._timer = None
        if self._transport.get_write_buffer_size() < self._left:
            self.wait()
        else:
            self._transport.abort()


if TYPE_CHECKING:
    _Protocol = asyncio.Protocol
else:
    _Protocol = object


class LetsGo(_Protocol):
    """A part of a protocol of uvicorn's, before it in its bases: whoever takes nothing is let go."""

    loop: asyncio.AbstractEventLoop

    def connection_made(self, transport: Any) -> None:
        """Somebody is there."""
        super().connection_made(transport)
        self._taken = Taken(transport, self.loop)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nobody is there any more."""
        self._taken.end()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Something is not taken yet."""
        self._taken.wait()
        super().pause_writing()

    def resume_writing(self) -> None:
        """All was taken."""
        self._taken.end()
        super().resume_writing()
