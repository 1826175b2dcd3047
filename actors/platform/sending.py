"""Whether something may still go out, asked in the process that sends it, right before it does.

What is done under a claim carries its mark from the runner through every agent that works for it. Whatever
sends takes a `Clearance` for each request, after connecting: it sees that the claim stands, holds it while
the request goes out, and sends nothing that is late by its own clock. So no two clocks are ever compared.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from models.errors import NotSent
from models.runtime.workflows import ClaimMark

if TYPE_CHECKING:
    from models.store.runtime.claim_hold import Looking

# From before the look at the claim until the request must be out. Postgres ends the look no sooner; and who
# has waited so long since a workflow was taken over knows that nothing of the claim before goes out any more.
SECONDS = 2.0
# How long a look may take, and how many a process has at once: each is a connection to Postgres.
_LOOK_SECONDS, LOOKS = 10.0, 4
# Goes on while the machine sleeps, where the system has such a clock.
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def now() -> float:
    """Seconds by a clock that nobody sets."""
    return time.clock_gettime(_CLOCK)


@dataclass(frozen=True)
class Sender:
    """What this task sends for: a claim, and where that is looked up; or until a time of `now`."""

    claim: ClaimMark | None = None
    database_url: str | None = None
    until: float | None = None


_NOBODY = Sender()
_current: ContextVar[Sender] = ContextVar("sender", default=_NOBODY)


# What goes out now in this task, part by part.
_going: ContextVar["Clearance | None"] = ContextVar("going", default=None)

# A semaphore belongs to the loop that waits for it.
_PLACES: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


def _places() -> asyncio.Semaphore:
    return _PLACES.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(LOOKS))


def take(sender: Sender) -> None:
    """From here on, this task sends for that."""
    _current.set(sender)


def sender() -> Sender:
    """What this task sends for."""
    return _current.get()


def claim() -> ClaimMark | None:
    """The claim that this task works under."""
    return _current.get().claim


@contextmanager
def sending_for(sender: Sender = _NOBODY) -> Iterator[None]:
    """What is sent inside is sent for that; without one, for nobody in particular, as what is shared."""
    before = _current.set(sender)
    try:
        yield
    finally:
        _current.reset(before)


def look() -> None:
    """See that what this task sends is not too late, right before the system takes a part. Raises NotSent."""
    if (clearance := _going.get()) is not None:
        clearance.look()


class Clearance:
    """That one request may go out: `take` it right before, and `end` it. `look` says that it is not late yet.

    `through` has every part looked at that a `LookedAtStream` sends from then on, until it ends.
    """

    def __init__(self, *, due: bool = False, sender: Sender | None = None) -> None:
        """`due`: it goes out under a claim, or until a time, and not for nobody in particular.

        `sender`: what it is sent for, where another task sends it; without one, what this task sends for.
        """
        self._due = due
        self._sender = _current.get() if sender is None else sender
        self._until = self._sender.until
        self._ended = False
        self._looking: Looking | None = None
        self._place: asyncio.Semaphore | None = None

    async def take(self) -> None:
        """See that it may.

        Raises:
            Fenced: its claim is over. NotSent: it can't be told, or this process was held up for too long.
        """
        if self._sender.claim is not None:
            await self._hold(self._sender.claim)
        elif self._due and self._until is None:
            raise NotSent(
                "it may go out under a claim alone, and there is no claim here: whoever asks for it is of an "
                "earlier release; run `signoff up`",
                waits_for="runners of this release",
            )
        self.look()

    def look(self) -> None:
        """See that it is not too late. Raises NotSent."""
        if not self._ended and self._until is not None and now() >= self._until:
            raise NotSent(
                "this process was held up right before it was sent, and it may not be any more",
                waits_for="a process that is held up",
            )

    async def through(self) -> None:
        """Take it, and have it looked at before each part."""
        await self.take()
        _going.set(self)

    async def end(self) -> None:
        """It is out, or will not be sent: the claim is let go."""
        self._ended = True
        place, self._place = self._place, None
        try:
            if self._looking is not None:
                await self._looking.close()
                self._looking = None
        finally:
            if place is not None:
                place.release()

    def around(self, extensions: Mapping[str, Any]) -> dict[str, Any]:
        """The extensions of an HTTP request that takes it when its headers are about to be written."""
        heard: Callable[[str, Any], Awaitable[None]] | None = extensions.get("trace")

        async def trace(event: str, info: Any) -> None:
            if event.endswith("send_request_headers.started"):
                await self.through()
            elif event.endswith("send_request_body.started"):
                self.look()
            elif event.endswith("send_request_body.complete"):
                await self.end()
            if heard is not None:
                await heard(event, info)

        return {**extensions, "trace": trace}

    async def _hold(self, claim: ClaimMark) -> None:
        """Look, for a while of its own: Postgres is waited for here, and not whom the request is for."""
        try:
            async with asyncio.timeout(_LOOK_SECONDS):
                places = _places()
                await places.acquire()
                self._place = places
                await self._look_up(claim)
        except TimeoutError:
            raise NotSent("Postgres does not say in time whether it may be", waits_for="Postgres") from None

    async def _look_up(self, claim: ClaimMark) -> None:
        import psycopg

        from models.store.database import missing
        from models.store.runtime import claim_hold

        if self._sender.database_url is None:
            raise NotSent("this process has no database to look its claim up in", waits_for="Postgres")
        try:
            self._looking = await claim_hold.connected(self._sender.database_url)
            self._until = now() + SECONDS
            await claim_hold.hold(self._looking, claim, seconds=SECONDS)
        except psycopg.Error as error:
            raise NotSent(
                f"without {missing(error)} nobody says whether it may be: {error}", waits_for=missing(error)
            ) from error
