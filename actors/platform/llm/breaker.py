"""The breaker before an endpoint: when it is away, one call at a time finds out whether it is back.

Closed, every call goes through; after some outage faults in a row it is open, and calls fail at once. After
a pause one call is let through (half open): its answer closes the breaker, its fault doubles the pause. All
clients of a process share the breaker of their endpoint and model, so that one that wakes is not stampeded.
"""

import random
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime

from models.config import BreakerConfig

_NEVER = BreakerConfig(faults=sys.maxsize, pause_seconds=1, longest_pause_seconds=1)
# A pause is this much shorter or longer by chance, so that processes do not come back together.
_SPREAD = 0.25
# How many requests without an answer in time are remembered.
_REMEMBERED = 1000


class BreakerOpen(Exception):
    """The endpoint is away: nothing was sent. `retry_after_seconds` is when it is worth another try."""

    def __init__(self, retry_after_seconds: float, since: datetime) -> None:
        super().__init__(f"open since {since}")
        self.retry_after_seconds = retry_after_seconds
        self.since = since


class Attempt:
    """One call that was let through: whoever has it says how it went. After an answer it may break off."""

    def __init__(self, breaker: "Breaker", generation: int) -> None:
        self._breaker = breaker
        self.generation = generation
        self._answered = False
        self._ended = False

    @property
    def begun(self) -> bool:
        """Whether the endpoint has begun to answer it."""
        return self._answered

    def answered(self) -> None:
        """The endpoint answered, be it with a refusal of this one request."""
        if not (self._answered or self._ended):
            self._answered = True
            self._breaker.note_answer(self)

    def failed(self, retry_after: float | None = None) -> None:
        """The endpoint is not well; `retry_after` are the seconds that it asked for."""
        if not self._ended:
            self._ended = True
            self._breaker.note_fault(self, retry_after)

    def silent(self, request: str) -> None:
        """No answer in time. However often one request is tried, it counts once: it may be its own fault."""
        if not (self._answered or self._ended):
            self._ended = True
            self._breaker.note_silence(self, request)

    def left(self) -> None:
        """The call is over. Where nothing was said of it the caller went away, and nothing is known."""
        if not (self._answered or self._ended):
            self._ended = True
            self._breaker.note_leaving(self)


class Breaker:
    """One endpoint's breaker. `clock` counts seconds, `wall` tells the time of day, `chance` gives 0 to 1."""

    def __init__(
        self,
        settings: BreakerConfig,
        *,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], datetime] = lambda: datetime.now(UTC),
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._wall = wall
        self._chance = chance
        self._faults = 0
        self._silent: set[str] = set()
        self._late: dict[str, None] = {}  # as a set, but in order
        self._since: datetime | None = None
        self._until: float | None = None  # None: closed
        self._pause = 0.0
        self._probe: Attempt | None = None
        # Every opening and closing begins a new one: what calls of an earlier one came to says nothing now.
        self._generation = 0
        self._answered_at = float("-inf")

    @property
    def since(self) -> datetime | None:
        """When the present faults began; None while the endpoint is well."""
        return self._since

    @property
    def retry_after_seconds(self) -> float | None:
        """In how many seconds a call may go through; None while it is closed."""
        if self._until is None:
            return None
        left = max(0.0, self._until - self._clock())
        # Whether it is back is known when the probe is: nobody can say how soon.
        return max(left, self._settings.pause_seconds) if self._probe is not None else left

    def enter(self) -> Attempt:
        """Let a call through. Whoever gets an attempt tells it how it ended, whatever happens.

        Raises:
            BreakerOpen: not now.
        """
        attempt = Attempt(self, self._generation)
        if self._until is not None:
            if self._probe is not None or self._clock() < self._until:
                assert self._since is not None
                assert self.retry_after_seconds is not None
                raise BreakerOpen(self.retry_after_seconds, self._since)
            self._probe = attempt
        return attempt

    def now(self) -> float:
        """The clock's seconds."""
        return self._clock()

    def answered_since(self, moment: float) -> bool:
        """Whether any call was answered after `moment` of the clock."""
        return self._answered_at > moment

    def late_before(self, request: str) -> bool:
        """Whether this request was let through before, and had no answer in time."""
        return request in self._late

    def forget(self, request: str) -> None:
        """This request was answered."""
        self._late.pop(request, None)

    def note_answer(self, attempt: Attempt) -> None:
        """See `Attempt.answered`."""
        self._answered_at = self._clock()
        if attempt.generation != self._generation:
            return
        if self._until is not None:
            self._until = None
            self._pause = 0.0
            self._begin_generation()
        self._faults = 0
        self._silent.clear()
        self._since = None

    def note_fault(self, attempt: Attempt, retry_after: float | None) -> None:
        """See `Attempt.failed`."""
        if attempt.generation != self._generation:
            return
        self._since = self._since or self._wall()
        if self._until is not None:
            self._open(self._pause * 2, retry_after)
            return
        self._faults += 1
        if self._faults >= self._settings.faults:
            self._open(self._settings.pause_seconds, retry_after)

    def note_silence(self, attempt: Attempt, request: str) -> None:
        """See `Attempt.silent`."""
        self._late[request] = None
        if len(self._late) > _REMEMBERED:
            del self._late[next(iter(self._late))]
        if attempt.generation == self._generation and (attempt is self._probe or request not in self._silent):
            self._silent.add(request)
            self.note_fault(attempt, None)

    def note_leaving(self, attempt: Attempt) -> None:
        """See `Attempt.left`."""
        if attempt is self._probe:
            self._probe = None  # the next to come is let through in its place

    def _open(self, pause: float, retry_after: float | None) -> None:
        longest = self._settings.longest_pause_seconds
        self._pause = min(pause, longest)
        spread = 1 + _SPREAD * (2 * self._chance() - 1)
        self._until = self._clock() + min(max(self._pause * spread, retry_after or 0.0), longest)
        self._begin_generation()

    def _begin_generation(self) -> None:
        self._generation += 1
        self._probe = None


# Of this process: what its clients share. An agent, a runner and a replica are processes of their own.
_BREAKERS: dict[tuple[str, str], Breaker] = {}


def breaker_of(api_base: str, model: str, settings: BreakerConfig | None) -> Breaker:
    """This process' breaker of a model at an endpoint; the first to ask makes it.

    Without settings it is the client's own, and never opens.
    """
    if settings is None:
        return Breaker(_NEVER)
    return _BREAKERS.setdefault((api_base.rstrip("/"), model), Breaker(settings))
