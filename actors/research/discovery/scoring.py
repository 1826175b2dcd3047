"""How much a page bears on what was asked: 0 to 1, and what that rests on. All weights are here.

Called by discovery. The score is a mean of likeness in meaning (`MEANING`), of the query's words and numbers
that are in title and snippet (`WORDS`), and, where a date range was asked for, of how recent the page is
(`RECENCY`); what can't be known is left out of the mean. To it the site's rating of the domain is added
(`RATING`). Of several queries the one that fits best counts. The provider's order decides nothing but ties.
"""

import math
from collections.abc import Sequence
from datetime import date
from operator import mul
from typing import NamedTuple

from actors.outside.web.freshness import DAYS
from actors.research.discovery.query_terms import QueryTerm, query_terms, share_of_terms
from models.content.outside import DateRange
from models.research.candidates import Rating

MEANING, WORDS, RECENCY = 0.55, 0.35, 0.10
# What a page whose date nobody knows has of `RECENCY`: less than most that are dated.
RECENCY_UNKNOWN = 0.25
RATING: dict[Rating, float] = {"trust": 0.10, "prefer": 0.05, "neutral": 0.0, "never": 0.0}
# What scores less has little to do with the question: it is shown only where there is too little else.
WEAK = 0.15

Vector = Sequence[float]
_WORDS_OF: dict[Rating, str] = {"trust": "trusted domain", "prefer": "preferred domain"}


class Score(NamedTuple):
    """A score, and in short words what it rests on."""

    value: float
    why: str


class Scorer:
    """Scores pages for some queries. `vectors` are the queries'; None: there is no likeness in meaning."""

    def __init__(
        self,
        queries: Sequence[str],
        vectors: Sequence[Vector] | None,
        *,
        date_range: DateRange,
        today: date,
    ) -> None:
        self._terms: list[tuple[QueryTerm, ...]] = [query_terms(query) for query in queries]
        self._units = [_unit(vector) for vector in vectors] if vectors is not None else []
        self._range = date_range
        self._today = today

    def score(
        self, *, title: str, snippet: str, vector: Vector | None, published: date | None, rating: Rating
    ) -> Score:
        """Deterministic: the same page has the same score beside whatever others."""
        unit = _unit(vector) if vector is not None and self._units else None
        best, told = 0.0, (0.0, 0.0)
        for place, terms in enumerate(self._terms):
            words = share_of_terms(terms, title, snippet)
            cosine = 0.0
            parts = [(WORDS, words)] if terms else []
            if unit is not None:
                cosine = _cosine(unit, self._units[place])
                parts.append((MEANING, cosine))
            mean = _mean(parts)
            # Of two that fit as well, the first.
            if mean > best:
                best, told = mean, (cosine, words)
        whole = MEANING + WORDS if unit is not None else WORDS
        parts = [(whole, best)]
        if self._range != "any":
            parts.append((RECENCY, self._recency(published)))
        value = round(min(1.0, _mean(parts) + RATING[rating]), 4)
        return Score(value, self._why(told, published, rating, meaning=unit is not None))

    def _recency(self, published: date | None) -> float:
        if published is None or self._range == "any":
            return RECENCY_UNKNOWN
        age = max(0, (self._today - published).days)
        return max(0.0, 1.0 - age / DAYS[self._range])

    def _why(
        self, told: tuple[float, float], published: date | None, rating: Rating, *, meaning: bool
    ) -> str:
        cosine, words = told
        said = [f"meaning {cosine:.2f}"] if meaning else []
        said.append(f"words {words:.0%}")
        if self._range != "any":
            said.append("date unknown" if published is None else published.isoformat())
        if rating in _WORDS_OF:
            said.append(_WORDS_OF[rating])
        return ", ".join(said)


def _mean(parts: Sequence[tuple[float, float]]) -> float:
    whole = sum(weight for weight, _ in parts)
    return sum(weight * value for weight, value in parts) / whole if whole else 0.0


def _unit(vector: Vector) -> tuple[float, ...] | None:
    """A vector of length 1; None where it has no direction."""
    length = math.sqrt(sum(map(mul, vector, vector)))
    if not length or not math.isfinite(length):
        return None
    return tuple(value / length for value in vector)


def _cosine(one: tuple[float, ...], other: tuple[float, ...] | None) -> float:
    """0 to 1: what is unlike is no more than that. Rounded, so that the last bits decide nothing."""
    if other is None or len(one) != len(other):
        return 0.0
    cosine = sum(map(mul, one, other))
    return round(min(1.0, max(0.0, cosine)), 6)
