"""How much a page bears on what was asked: 0 to 1, and what that rests on. All weights are here.

Called by discovery. The score is a mean of likeness in meaning (`MEANING`), of the query's words and numbers
that are in title and snippet (`WORDS`), and, where a date range was asked for, of how recent the page is
(`RECENCY`). Without vectors, words have the weight of both. To it the site's rating of the domain is added
(`RATING`). Of several queries the one that fits best counts. The provider's order decides nothing but ties.
"""

import math
from collections.abc import Mapping, Sequence
from datetime import date
from operator import mul
from statistics import median
from typing import NamedTuple

from actors.platform.text.language import Language, language_of
from actors.platform.web.providers.freshness import DAYS
from actors.systems.research.discovery.query_terms import query_terms, share_of_terms
from models.content.outside import DateRange
from models.research.candidates import Rating

MEANING, WORDS, RECENCY = 0.55, 0.35, 0.10
# What a page whose date nobody knows has of `RECENCY`: less than most that are dated.
RECENCY_UNKNOWN = 0.25
RATING: dict[Rating, float] = {"trust": 0.10, "prefer": 0.05, "neutral": 0.0, "never": 0.0}
# What scores less has little to do with the question: it is shown only where there is too little else.
WEAK = 0.15

Vector = Sequence[float]
_Unit = tuple[float, ...]
_RATED: dict[Rating, str] = {"trust": "trusted domain", "prefer": "preferred domain"}


class QueryVectors(NamedTuple):
    """The vectors of the queries, in their order, and those of unlike texts by language."""

    queries: Sequence[Vector]
    backgrounds: Mapping[Language, Sequence[Vector]]


class Score(NamedTuple):
    """A score, and in short words what it rests on."""

    value: float
    why: str


class Scorer:
    """Scores pages for some queries. Without `vectors` there is no likeness in meaning."""

    def __init__(
        self, queries: Sequence[str], vectors: QueryVectors | None, *, date_range: DateRange, today: date
    ) -> None:
        self._terms = [query_terms(query) for query in queries]
        self._range = date_range
        self._today = today
        self._languages = [language_of(query) for query in queries]
        self._units: list[_Unit | None] = []
        self._unlike: list[dict[Language, float]] = []
        if vectors is not None:
            self._units = [_unit(vector) for vector in vectors.queries]
            grounds = {name: [_unit(one) for one in some] for name, some in vectors.backgrounds.items()}
            self._unlike = [
                {name: median(_cosine(unit, one) for one in some) for name, some in grounds.items() if some}
                for unit in self._units
            ]

    def score(
        self,
        *,
        title: str,
        snippet: str,
        language: str | None,
        vector: Vector | None,
        published: date | None,
        rating: Rating,
    ) -> Score:
        """Deterministic: the same page has the same score beside whatever others."""
        unit = _unit(vector) if vector is not None and self._units else None
        best, told = -1.0, (0.0, 0.0)
        for place, terms in enumerate(self._terms):
            words = share_of_terms(terms, title, snippet)
            meaning = self._meaning(place, unit, language)
            parts = [(WORDS, words)] if unit is None else [(WORDS, words), (MEANING, meaning)]
            # Of two that fit as well, the first.
            if (mean := _mean(parts)) > best:
                best, told = mean, (meaning, words)
        parts = [(MEANING + WORDS, best)]
        if self._range != "any":
            parts.append((RECENCY, self._recency(self._range, published)))
        value = round(min(1.0, _mean(parts) + RATING[rating]), 4)
        return Score(value, self._why(told, published, rating, with_meaning=unit is not None))

    def _meaning(self, place: int, unit: _Unit | None, language: str | None) -> float:
        """How much nearer a page is to a query than what has nothing to do with it: 0 to 1."""
        if unit is None:
            return 0.0
        cosine, unlike = _cosine(unit, self._units[place]), self._unlike[place]
        base = next(
            (level for name, level in unlike.items() if name == language),
            unlike.get(self._languages[place], 0.0),
        )
        return max(0.0, (cosine - base) / (1.0 - base)) if base < 1.0 else 0.0

    def _recency(self, date_range: DateRange, published: date | None) -> float:
        if published is None:
            return RECENCY_UNKNOWN
        age = max(0, (self._today - published).days)
        return max(0.0, 1.0 - age / DAYS[date_range])

    def _why(
        self, told: tuple[float, float], published: date | None, rating: Rating, *, with_meaning: bool
    ) -> str:
        meaning, words = told
        said = [f"meaning {meaning:.0%}"] if with_meaning else []
        said.append(f"words {words:.0%}")
        if self._range != "any":
            said.append("date unknown" if published is None else published.isoformat())
        if rating in _RATED:
            said.append(_RATED[rating])
        return ", ".join(said)


def _mean(parts: Sequence[tuple[float, float]]) -> float:
    return sum(weight * value for weight, value in parts) / sum(weight for weight, _ in parts)


def _unit(vector: Vector) -> _Unit | None:
    """A vector of length 1; None where it has no direction."""
    length = math.sqrt(sum(map(mul, vector, vector)))
    if not length or not math.isfinite(length):
        return None
    return tuple(value / length for value in vector)


def _cosine(one: _Unit | None, other: _Unit | None) -> float:
    """0 to 1: what is unlike is no more than that. Rounded, so that the last bits decide nothing."""
    if one is None or other is None or len(one) != len(other):
        return 0.0
    cosine: float = sum(map(mul, one, other))
    return round(min(1.0, max(0.0, cosine)), 6)
