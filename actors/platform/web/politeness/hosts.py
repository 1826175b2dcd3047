"""The hosts that are remembered: who waits for each, what its robots.txt says, and when it may be asked.

Used by `host_turns`. A host is forgotten only when it is free and nobody waits: forgetting breaks no rate.
"""

import asyncio
import math
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from typing import Generic, TypeVar

from actors.platform.web.politeness.robots import Rules

# How many hosts, and patterns of their robots.txt, are remembered, but for hosts that are to be waited for.
_MOST_HOSTS = 50_000
_MOST_PATTERNS = 500_000
# For each host that comes, as many are looked at that may leave.
_LOOKED_AT = 4

Answer = TypeVar("Answer")


@dataclass(eq=False)
class Waiter(Generic[Answer]):
    """One who waits for a turn, or `only_asks` what robots.txt says.

    `deadline` is on the clock; `caller` names the process that asks, and is empty where it is not told.
    """

    url: str
    origin: str
    deadline: float
    answer: asyncio.Future[Answer]
    caller: str = ""
    only_asks: bool = False


@dataclass(frozen=True)
class Known:
    """What an origin's robots.txt says to us, and until when that is believed."""

    rules: Rules
    until: float


@dataclass(eq=False)
class Host(Generic[Answer]):
    """A host, its callers in the order in which they came, and when it may be asked for something again."""

    name: str
    delay: float
    free_at: float
    origins: dict[str, Known] = field(default_factory=dict)
    waiters: dict[Waiter[Answer], None] = field(default_factory=dict)
    refusals: int = 0
    backs_off_until: float = -math.inf
    serving: asyncio.Task[None] | None = None
    # Set when the request whose turn it was is on its way; there is one while that is awaited.
    sent: asyncio.Event | None = None

    def known(self, origin: str, now: float) -> Known | None:
        """What is known of an origin, unless it is too old."""
        known = self.origins.get(origin)
        return known if known is not None and now < known.until else None

    def sure_of_turns(self, now: float) -> int:
        """How many wait whose robots.txt is known, and let them."""
        origins = {origin for origin in self.origins if self.known(origin, now) is not None}
        return sum(waiter.origin in origins for waiter in self.waiters)

    def idle(self, now: float) -> bool:
        """Whether nobody waits for it, and it need not be waited for."""
        return not self.waiters and self.serving is None and self.free_at <= now


class Hosts(Generic[Answer]):
    """Hosts by their names, the one that was asked for longest ago first."""

    def __init__(self, clock: Callable[[], float], *, delay: float, free_at: float) -> None:
        """None yet. `delay` and `free_at` are those of a host that is new."""
        self._clock = clock
        self._delay = delay
        self._free_at = free_at
        self._hosts: OrderedDict[str, Host[Answer]] = OrderedDict()
        self._patterns = 0

    def __len__(self) -> int:
        return len(self._hosts)

    def named(self, name: str) -> Host[Answer]:
        """The host of a name; a new one, where it is not remembered."""
        host = self._hosts.get(name)
        if host is None:
            self._forget()
            host = self._hosts[name] = Host(name, self._delay, self._free_at)
        self._hosts.move_to_end(name)
        return host

    def waited_for(self) -> list[Host[Answer]]:
        """Those that somebody waits for."""
        return [host for host in self._hosts.values() if host.waiters]

    def learn(self, host: Host[Answer], origin: str, known: Known) -> None:
        """Remember an origin's robots.txt; what is too old of others goes."""
        self._patterns -= _patterns(host)
        now = self._clock()
        host.origins = {name: kept for name, kept in host.origins.items() if now < kept.until}
        host.origins[origin] = known
        self._patterns += _patterns(host)

    def _forget(self) -> None:
        now = self._clock()
        for host in list(islice(self._hosts.values(), _LOOKED_AT)):
            old = all(known.until <= now for known in host.origins.values())
            if not host.idle(now):
                self._hosts.move_to_end(host.name)
            elif old or len(self._hosts) >= _MOST_HOSTS or self._patterns > _MOST_PATTERNS:
                del self._hosts[host.name]
                self._patterns -= _patterns(host)


def _patterns(host: Host[Answer]) -> int:
    return sum(known.rules.patterns for known in host.origins.values())
