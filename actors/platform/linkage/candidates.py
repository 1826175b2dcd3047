"""Which pairs of records are looked at: those whose texts have rare words, or parts of words, in common.

Called by `records`. Each record is looked up in an index of the others, and its nearest are kept: so the
number of pairs grows with the records, not with their square. What is in many records is no reason to look.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy

_GRAM = 3
_MOST_GRAMS = 300
# What more records than these have is no reason to look: a share of them, and a number at most.
_COMMON_SHARE, _LEAST_COMMON, _MOST_COMMON = 0.1, 50, 1_000
# Of a record in another table; in its own one it may have many twins.
_NEAREST, _MOST_TWINS = 30, 100
LEAST_OF_BEST = 0.3


class Candidates(NamedTuple):
    """Pairs of places, a row each, in order, and how near their texts are: the cosine, 0 to 1."""

    pairs: numpy.ndarray
    nearness: numpy.ndarray


def candidates(left: Sequence[str], right: Sequence[str] | None) -> Candidates:
    """The pairs of texts that are looked at; of one list, if there is no other: each pair once."""
    import numpy

    ours = [_parts(text) for text in left]
    theirs = ours if right is None else [_parts(text) for text in right]
    pairs: dict[tuple[int, int], float] = {}
    index = _PartIndex(theirs)
    for place, parts in enumerate(ours):
        for other, nearness in index.nearest(parts, place if right is None else None):
            pairs[(min(place, other), max(place, other)) if right is None else (place, other)] = nearness
    if right is not None:
        # One on the right may have its nearest where that one has nearer ones.
        index = _PartIndex(ours)
        for place, parts in enumerate(theirs):
            for other, nearness in index.nearest(parts, None):
                pairs.setdefault((other, place), nearness)
    ordered = sorted(pairs)
    return Candidates(
        numpy.array(ordered, dtype=numpy.int64).reshape(-1, 2), numpy.array([pairs[pair] for pair in ordered])
    )


class _PartIndex:
    """Texts by their parts, weighed by how rare these are."""

    def __init__(self, texts: Sequence[list[str]]) -> None:
        import numpy

        places: dict[str, list[int]] = defaultdict(list)
        for place, parts in enumerate(texts):
            for part in parts:
                places[part].append(place)
        self._size = len(texts)
        self._weights = {
            part: float(numpy.log((self._size + 1) / len(some)) ** 2) for part, some in places.items()
        }
        self._of_new = float(numpy.log(self._size + 1) ** 2)
        self._norms = numpy.array([self._norm(parts) for parts in texts])
        most = min(max(_COMMON_SHARE * self._size, _LEAST_COMMON), _MOST_COMMON)
        self._places = {
            part: numpy.array(some, dtype=numpy.int64) for part, some in places.items() if len(some) <= most
        }

    def nearest(self, parts: list[str], itself: int | None) -> list[tuple[int, float]]:
        """The places of the texts that are nearest to one, with the cosines."""
        import numpy

        known = [part for part in parts if part in self._places]
        if not known:
            return []
        rows = [self._places[part] for part in known]
        worth: numpy.ndarray = numpy.repeat(
            [self._weights[part] for part in known], [len(some) for some in rows]
        )
        scores = numpy.bincount(numpy.concatenate(rows), worth, minlength=self._size)
        scores /= self._norms * self._norm(parts)
        if itself is not None:
            scores[itself] = 0.0
        size = min(_NEAREST if itself is None else _MOST_TWINS, self._size)
        best = numpy.argpartition(-scores, size - 1)[:size]
        least = scores[best].max() * LEAST_OF_BEST
        return [(int(place), min(float(scores[place]), 1.0)) for place in best if scores[place] > least]

    def _norm(self, parts: list[str]) -> float:
        return sum(self._weights.get(part, self._of_new) for part in parts) ** 0.5 or 1.0


def _parts(text: str) -> list[str]:
    """The words of a text, and each three letters of a word on end."""
    some: dict[str, None] = {}
    for word in text.split():
        some[word] = None
        padded = f"_{word}_"
        if len(word) >= _GRAM:
            some.update(dict.fromkeys(padded[at : at + _GRAM] for at in range(len(padded) - _GRAM + 1)))
        if len(some) >= _MOST_GRAMS:
            break
    return list(some)
