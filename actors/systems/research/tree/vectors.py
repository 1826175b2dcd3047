"""Points' vectors: in the order of their ids, checked, of length 1; and which of them mean the same.

Called by clustering and growing. What means the same is never parted: it is one unit from here on. Memory is
linear in the number of points.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from models.research.trees import TreePoint

if TYPE_CHECKING:
    import numpy

# As many are compared with all units at once.
_BLOCK = 512


class Units(NamedTuple):
    """Points that mean the same, together. `labels` are the units of the points, in their order.

    `means` are the units' middles, a row for each, and `weights` how many points each one holds.
    """

    labels: numpy.ndarray
    means: numpy.ndarray
    weights: numpy.ndarray


def by_id(points: Sequence[TreePoint], vectors: numpy.ndarray) -> tuple[list[TreePoint], numpy.ndarray]:
    """The points in the order of their ids, and their vectors, of length 1. One without a direction stays 0.

    Args:
        vectors: a row for each point, in the order of `points`.

    Raises:
        ValueError: there is not one finite vector for each point, or two points have one id.
    """
    import numpy

    matrix = numpy.asarray(vectors, dtype=numpy.float32)
    if len(matrix) != len(points) or (len(points) and matrix.ndim != 2):
        raise ValueError(f"vectors: {len(matrix)} rows for {len(points)} points, give one for each")
    if len({point.id for point in points}) < len(points):
        raise ValueError("points: two have one id, give each once")
    if not points:
        return [], numpy.zeros((0, 1), dtype=numpy.float32)
    order = sorted(range(len(points)), key=lambda place: points[place].id)
    return [points[place] for place in order], _of_length_one(matrix[order])


def near_same(vectors: numpy.ndarray, least: float) -> Units:
    """Units of vectors of length 1: each holds what is as near as `least`, a cosine, to the first in it.

    Takes time quadratic in the number of units: 20,000 of 384 numbers take seconds.
    """
    import numpy

    count = len(vectors)
    labels: numpy.ndarray = numpy.zeros(count, dtype=numpy.int64)
    firsts: numpy.ndarray = numpy.empty_like(vectors)
    known = 0
    blank = ~vectors.any(axis=1)
    for start in range(0, count, _BLOCK):
        block = vectors[start : start + _BLOCK]
        waiting = numpy.arange(len(block))
        if known:
            cosines = block @ firsts[:known].T
            near = cosines.max(axis=1) >= least
            labels[start + waiting[near]] = cosines.argmax(axis=1)[near]
            waiting = waiting[~near]
        own = block[waiting] @ block[waiting].T
        leading: list[int] = []
        for place, row in enumerate(waiting):
            cosines = own[place, leading]
            if leading and cosines.max() >= least:
                labels[start + row] = known - len(leading) + int(cosines.argmax())
            else:
                labels[start + row] = known
                firsts[known] = block[row]
                leading.append(place)
                known += 1
    if blank.any():  # vectors without a direction are all the same one
        labels[blank] = labels[blank].min()
        _, labels = numpy.unique(labels, return_inverse=True)
    return weighted(labels, vectors, numpy.ones(count))


def weighted(labels: numpy.ndarray, vectors: numpy.ndarray, weights: numpy.ndarray) -> Units:
    """The middles of groups of weighted vectors. Groups are numbered from 0, and none is empty."""
    import numpy

    order = labels.argsort(kind="stable")
    starts = numpy.flatnonzero(numpy.diff(labels[order], prepend=-1))
    sums = numpy.add.reduceat(vectors[order] * weights[order, None], starts, axis=0)
    totals = numpy.add.reduceat(weights[order], starts)
    return Units(labels, (sums / totals[:, None]).astype(numpy.float32), totals)


def _of_length_one(matrix: numpy.ndarray) -> numpy.ndarray:
    import numpy

    if not numpy.isfinite(matrix).all():
        raise ValueError("vectors: a number is not finite, embed these texts again")
    # In double precision: the squares of what is far too short would be 0.
    exact: numpy.ndarray = matrix.astype(numpy.float64)
    lengths = numpy.linalg.norm(exact, axis=1, keepdims=True)
    units: numpy.ndarray = (exact / numpy.where(lengths > 0, lengths, 1)).astype(numpy.float32)
    return units
