"""Ward's linkage of weighted vectors: which two are joined first, so that groups stay round and even.

Called by clustering, with some thousand vectors at most: it takes memory quadratic in their number. Average
linkage leaves one heap and many strays of embedded texts; Ward's does not. Chains of nearest neighbours find
it in quadratic time (Murtagh 1983). Of several as near, the first counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy


class Join(NamedTuple):
    """That the groups of two vectors, by their places, are joined; `height` is the variance that it costs."""

    one: int
    other: int
    height: float


def ward(vectors: numpy.ndarray, weights: numpy.ndarray) -> list[Join]:
    """The joins of all vectors to one group, the cheapest first: one less than there are vectors."""
    import numpy

    count = len(vectors)
    distances = _costs(vectors, weights)
    weight: numpy.ndarray = weights.astype(numpy.float64)
    joins: list[Join] = []
    chain: list[int] = []
    active: numpy.ndarray = numpy.ones(count, dtype=bool)
    while len(joins) < count - 1:
        if not chain:
            chain.append(int(active.argmax()))
        while True:
            row = distances[chain[-1]]
            nearest = int(row.argmin())
            # Whom we came from, where several are as near: so a chain never goes in a circle.
            if len(chain) > 1 and row[chain[-2]] <= row[nearest]:
                break
            chain.append(nearest)
        kept, gone = sorted((chain.pop(), chain.pop()))
        height = float(distances[kept, gone])
        joins.append(Join(kept, gone, height))
        active[gone] = False
        rows = distances[kept], distances[gone]
        both = weight[kept] + weight[gone]
        row = ((weight[kept] + weight) * rows[0] + (weight[gone] + weight) * rows[1] - weight * height) / (
            both + weight
        )
        # A joined group is no nearer to others than its nearer part was; rounding must not make it so.
        row = numpy.maximum(row, numpy.minimum(*rows))
        row[~active] = numpy.inf
        row[kept] = numpy.inf
        distances[kept] = distances[:, kept] = row
        distances[gone] = distances[:, gone] = numpy.inf
        weight[kept] = both
    return sorted(joins, key=lambda join: join.height)


def groups(joins: list[Join], count: int) -> list[list[int]]:
    """The vectors in `count` groups, by the joins that come first; groups lie by their first vectors."""
    heads = list(range(len(joins) + 1))

    def head(place: int) -> int:
        while heads[place] != place:
            heads[place] = place = heads[heads[place]]
        return place

    for join in joins[: len(heads) - count]:
        one, other = sorted((head(join.one), head(join.other)))
        heads[other] = one
    found: dict[int, list[int]] = {}
    for place in range(len(heads)):
        found.setdefault(head(place), []).append(place)
    return list(found.values())


def _costs(vectors: numpy.ndarray, weights: numpy.ndarray) -> numpy.ndarray:
    """By how much each two raise the variance within groups when they are joined."""
    import numpy

    exact: numpy.ndarray = vectors.astype(numpy.float64)
    squares = (exact**2).sum(axis=1)
    distances: numpy.ndarray = squares[:, None] + squares[None, :] - 2 * (exact @ exact.T)
    # Both halves alike to the last digit, and nothing below 0 by rounding.
    distances = numpy.maximum(numpy.minimum(distances, distances.T), 0)
    share = weights[:, None] * weights[None, :] / (weights[:, None] + weights[None, :])
    distances *= share
    numpy.fill_diagonal(distances, numpy.inf)
    return distances
