"""How far a scraping batch is: its stages tell what they have kept, its driver asks now and then.

Rows leave a stage by the block, so the driver alone would know it late. It is a Ray actor, and no truth:
where it dies, nothing is lost but a line.
"""

from collections import Counter
from collections.abc import Mapping

from models.record import Record


class PagesSoFar(Record):
    """Pages by what they came to (`kept`, `held` or a fault), and what was waited for of late."""

    counts: Mapping[str, int]
    waits_for: str | None


class PageCounts:
    """Counts pages."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._waits_for: str | None = None

    def add(self, counts: Mapping[str, int]) -> None:
        """Pages that were settled, or were there."""
        self._counts.update(counts)

    def waits(self, what: str) -> None:
        """Pages wait for something that is away."""
        self._waits_for = what

    def told(self) -> PagesSoFar:
        """All so far."""
        waits_for, self._waits_for = self._waits_for, None
        return PagesSoFar(counts=dict(self._counts), waits_for=waits_for)
