"""What the site on loopback sees of a visitor: how many requests came, and which of them were impolite.

`site_server` keeps them. An offence is counted where it is seen, at the server, by its clock.
"""

from collections import Counter
from dataclasses import dataclass, field

from benchmarks.harness.site_pages import RETRY_AFTER_SECONDS, PageKind
from models.record import Record

# By so much a request may be seen too early. The site's own loop sees requests late by about this much on a
# busy machine (its report says by how much), each by another bit, so gaps look shorter than they were sent.
TOLERANCE_SECONDS = 0.005


class Visits(Record):
    """A visit. `answered` are pages with 200; `refused` were answered with 429 or 503.

    Offences: `too_close` (two requests to one host within the delay, robots.txt among them), `too_early`
    (to a host before its Retry-After was over), `closed` (pages that robots.txt closes), `twice` (pages that
    had been answered with 200 before). `smallest_gap` is of two requests to one host; `lateness` is by how
    much the site's own loop was late in 99 of 100 cases. In seconds.
    """

    requests: int = 0
    robots: int = 0
    answered: int = 0
    refused: int = 0
    too_close: int = 0
    too_early: int = 0
    closed: int = 0
    twice: int = 0
    hosts: int = 0
    smallest_gap: float = 0.0
    lateness: float = 0.0

    @property
    def offences(self) -> int:
        """All of them."""
        return self.too_close + self.too_early + self.closed + self.twice


@dataclass
class _Host:
    seen: float = float("-inf")
    busy_until: float = float("-inf")


@dataclass
class VisitLog:
    """What is seen, as it is seen. Times are seconds of one clock."""

    delay: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)
    smallest_gap: float = float("inf")
    lateness: list[float] = field(default_factory=list)
    _hosts: dict[str, _Host] = field(default_factory=dict)
    _answered: set[int] = field(default_factory=set)
    _refused: set[int] = field(default_factory=set)

    def request(self, host: str, now: float) -> None:
        """A request came in, for whatever it is."""
        known = self._hosts.setdefault(host, _Host())
        gap = now - known.seen
        self.smallest_gap = min(self.smallest_gap, gap)
        self.counts["requests"] += 1
        self.counts["too_close"] += gap < self.delay - TOLERANCE_SECONDS
        self.counts["too_early"] += now < known.busy_until - TOLERANCE_SECONDS
        known.seen = now

    def refuses(self, number: int, kind: PageKind, host: str, now: float) -> bool:
        """Whether this asking for the page is refused: the first, of a page that is limited."""
        if kind != "limited" or number in self._refused:
            return False
        self._refused.add(number)
        self._hosts[host].busy_until = now + RETRY_AFTER_SECONDS
        self.counts["refused"] += 1
        return True

    def page(self, number: int, kind: PageKind) -> None:
        """The page is answered with 200."""
        self.counts["closed"] += kind == "closed"
        self.counts["twice"] += number in self._answered
        self.counts["answered"] += 1
        self._answered.add(number)

    def told(self) -> Visits:
        """All of it by now."""
        late = sorted(self.lateness)
        return Visits(
            **self.counts,
            hosts=len(self._hosts),
            smallest_gap=self.smallest_gap if self.counts["requests"] > len(self._hosts) else 0.0,
            lateness=late[len(late) * 99 // 100] if late else 0.0,
        )
