"""How alike two records are, column by column, in levels: 0 for what cannot be said, 1 for not alike.

Called by `records`. Short values are compared letter by letter (rapidfuzz), long ones by the words they have
in common, the rare ones first. Besides the columns there are the whole text, and by how much the two are
nearer to each other than to any other.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from actors.platform.linkage.candidates import LEAST_OF_BEST, Candidates
from actors.platform.linkage.columns import Column, joined

if TYPE_CHECKING:
    import numpy

_LEVELS = (0.25, 0.5, 0.7, 0.84, 0.92, 0.999)
_MARGINS = (0.65, 0.8, 1.0, 1.12, 1.3, 1.7)
LEVELS = len(_LEVELS) + 2
# Values of no more words, on the average, are compared letter by letter.
_SHORT = 3.0


class Comparison(NamedTuple):
    """The level of each pair in one respect, and of equal values how frequent they are, 0 of others."""

    levels: numpy.ndarray
    frequencies: numpy.ndarray


def comparisons(columns: Sequence[Column], found: Candidates, *, same: bool) -> list[Comparison]:
    """All respects in which pairs are compared; `same`: both sides are one table."""
    import numpy

    known: numpy.ndarray = numpy.zeros(len(found.pairs), dtype=bool)
    nothing = numpy.zeros(len(found.pairs))
    compared = [_of_column(column, found.pairs, same=same) for column in columns]
    compared.append(Comparison(_levels(found.nearness, known, _LEVELS), nothing))
    # Of one table a record may have many twins, each as near as the other.
    if not same:
        compared.append(Comparison(_levels(_margins(found), known, _MARGINS), nothing))
    return compared


def _margins(found: Candidates) -> numpy.ndarray:
    """How many times as near a pair is as the nearest other one of either of its records."""
    import numpy

    others = [_best_other(found.nearness, found.pairs[:, side]) for side in (0, 1)]
    # What is less near was not looked at.
    least = numpy.maximum(LEAST_OF_BEST * found.nearness, 1e-9)
    margins: numpy.ndarray = found.nearness / numpy.maximum(numpy.maximum(others[0], others[1]), least)
    return margins


def _best_other(values: numpy.ndarray, records: numpy.ndarray) -> numpy.ndarray:
    """For each row the highest value of the other rows of its record; 0 where there is none."""
    import numpy

    order = numpy.lexsort((-values, records))
    starts = numpy.flatnonzero(numpy.diff(records[order], prepend=-1))
    sizes = numpy.diff(starts, append=len(order))
    highest = values[order][starts]
    second = numpy.where(sizes > 1, values[order][numpy.minimum(starts + 1, len(order) - 1)], 0.0)
    others: numpy.ndarray = numpy.repeat(highest, sizes)
    others[starts] = second
    found: numpy.ndarray = numpy.empty(len(order))
    found[order] = others
    return found


def best_of(
    values: numpy.ndarray, pairs: numpy.ndarray, *, same: bool
) -> tuple[numpy.ndarray, numpy.ndarray]:
    """For each pair the highest value of all pairs that its left one is in, and of those of its right one."""
    import numpy

    left = numpy.full(int(pairs.max()) + 1, -math.inf)
    right = left if same else left.copy()
    numpy.maximum.at(left, pairs[:, 0], values)
    numpy.maximum.at(right, pairs[:, 1], values)
    return left[pairs[:, 0]], right[pairs[:, 1]]


def _of_column(column: Column, pairs: numpy.ndarray, *, same: bool) -> Comparison:
    import numpy
    from rapidfuzz import fuzz, process
    from rapidfuzz.distance import OSA

    left = [column.left[place] for place in pairs[:, 0].tolist()]
    right = [column.right[place] for place in pairs[:, 1].tolist()]
    missing = numpy.array([not one or not other for one, other in zip(left, right, strict=True)], dtype=bool)
    counts = Counter(filter(None, column.left if same else [*column.left, *column.right]))
    total = sum(counts.values())
    if sum(len(value.split()) * count for value, count in counts.items()) <= _SHORT * total:
        letters = process.cpdist(left, right, scorer=OSA.normalized_similarity)
        alike = numpy.maximum(letters, process.cpdist(left, right, scorer=fuzz.token_sort_ratio) / 100)
    else:
        alike = _by_words(column, pairs)
    frequencies = [
        counts[one] / total if one and one == other else 0.0 for one, other in zip(left, right, strict=True)
    ]
    return Comparison(_levels(alike, missing, _LEVELS), numpy.array(frequencies))


def _by_words(column: Column, pairs: numpy.ndarray) -> numpy.ndarray:
    """The cosines of pairs' words, weighed by how rare these are in the column."""
    import numpy

    left, right = ([joined(value).split() for value in side] for side in (column.left, column.right))
    counts = Counter(word for words in (*left, *right) for word in set(words))
    rarity = {word: math.log((len(left) + len(right) + 1) / count) for word, count in counts.items()}
    one_side, other_side = (
        [{word: rarity[word] for word in words} for words in side] for side in (left, right)
    )
    one_norms, other_norms = (
        [math.sqrt(sum(weight * weight for weight in weights.values())) or 1.0 for weights in side]
        for side in (one_side, other_side)
    )
    cosines = numpy.empty(len(pairs))
    for row, (one, other) in enumerate(pairs.tolist()):
        ours, theirs = one_side[one], other_side[other]
        common = sum(weight * weight for word, weight in ours.items() if word in theirs)
        cosines[row] = common / (one_norms[one] * other_norms[other])
    return cosines


def _levels(alike: numpy.ndarray, missing: numpy.ndarray, steps: Sequence[float]) -> numpy.ndarray:
    import numpy

    levels: numpy.ndarray = numpy.ones(len(alike), dtype=numpy.int64)
    levels += numpy.searchsorted(numpy.array(steps), alike, side="right")
    levels[missing] = 0
    return levels
