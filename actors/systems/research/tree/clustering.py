"""Hierarchical clustering of points' vectors: from the top, each cluster is cut into a few by Ward's linkage.

Called by growing. Rows come in the order of their points' ids, so the same points make the same clusters in
whatever order they came. A cluster of many units is linked by a thousand middles of them: memory is linear.
Every row is in one leaf; no cluster is empty or has one part. What means the same counts once: a statement
that fifty sources make is no theme by that. A leaf has few of these, unless the levels are used up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from actors.systems.research.tree.linkage import Join, groups, ward
from actors.systems.research.tree.vectors import Units, near_same, weighted
from models.research.trees import TreeShape

if TYPE_CHECKING:
    import numpy

# As many vectors are linked at once; of more, their middles.
_MOST_LINKED = 1_024
_ROUNDS = 3
_BLOCK = 4_096
# Into how many parts a cluster is cut where that is for us to say; and by how much the vectors may differ.
_PARTS = 8
_FEWER, _MORE = 0.7, 1.4
# How full leaves are on the average.
_FILLED = 2 / 3
_HARDLY = 1e-9


class Cluster(NamedTuple):
    """Rows that belong together, ascending; its parts, if any, hold all of them, the larger first."""

    rows: tuple[int, ...]
    parts: tuple[Cluster, ...] = ()

    def leaves(self) -> Iterator[Cluster]:
        """Itself, or the leaves below it."""
        if not self.parts:
            yield self
        for part in self.parts:
            yield from part.leaves()


def clusters(
    vectors: numpy.ndarray, shape: TreeShape, *, most: int | None = None, same: float = 0.95
) -> tuple[Cluster, ...]:
    """The clusters at the top; none of no vectors, and one of vectors that a leaf holds.

    Args:
        vectors: rows of length 1, or 0.
        most: of clusters at the top, where that is other than the shape's number of children.
        same: the cosine from which two vectors mean the same, and are never parted.
    """
    import numpy

    if len(vectors) == 0:
        return ()
    cutting = _Cutting(near_same(vectors, same), shape)
    everything = numpy.arange(len(cutting.units.weights))
    most = shape.children if most is None else most
    if most < 2:
        return (cutting.cluster(everything, shape.levels),)
    parts = cutting.parts(everything, shape.levels, most)
    return parts or (cutting.cluster(everything, 1),)


class _Cutting:
    """Units, and how clusters of them are cut."""

    def __init__(self, units: Units, shape: TreeShape) -> None:
        import numpy

        self.units = units
        self._shape = shape
        order = units.labels.argsort(kind="stable")
        starts = numpy.flatnonzero(numpy.diff(units.labels[order], prepend=-1))
        self._rows = numpy.split(order, starts[1:])

    def cluster(self, units: numpy.ndarray, levels: int) -> Cluster:
        """A cluster of some units, with that many levels, its own among them."""
        import numpy

        rows = numpy.sort(numpy.concatenate([self._rows[unit] for unit in units]))
        parts = self.parts(units, levels - 1, self._shape.children) if levels > 1 else ()
        return Cluster(tuple(rows.tolist()), parts)

    def parts(self, units: numpy.ndarray, levels: int, most: int) -> tuple[Cluster, ...]:
        """What a cluster is cut into, with that many levels; nothing where it is better whole."""
        import numpy

        if len(units) <= self._shape.leaf_points:
            return ()
        means = self.units.means[units]
        labels = _middles(means)
        linked = weighted(labels, means, numpy.ones(len(units)))
        joins = ward(linked.means, linked.weights)
        found = groups(joins, _count(joins, _wanted(len(units), levels, most, self._shape)))
        points = numpy.bincount(labels, self.units.weights[units])
        found = _without_strays(found, linked, points)
        place_of = {middle: place for place, group in enumerate(found) for middle in group}
        places: list[list[int]] = [[] for _ in found]
        for unit, label in zip(units.tolist(), labels.tolist(), strict=True):
            places[place_of[label]].append(unit)
        parts = [self.cluster(numpy.array(some), levels) for some in places]
        return tuple(sorted(parts, key=lambda part: (-len(part.rows), part.rows)))


def _wanted(units: int, levels: int, most: int, shape: TreeShape) -> tuple[int, int]:
    """How many parts a cluster of so many units may be cut into, at least and at most."""
    leaves = max(units / (shape.leaf_points * _FILLED), 2.0)
    # Few levels are better than many; where there are fewer than it would take, more parts.
    taken = min(levels, max(math.ceil(math.log(leaves, min(_PARTS, shape.children)) - _HARDLY), 1))
    even = leaves ** (1 / taken)
    at_most = max(min(math.ceil(even * _MORE), most), 2)
    return min(max(math.floor(even * _FEWER), 2), at_most), at_most


def _count(joins: list[Join], wanted: tuple[int, int]) -> int:
    """Where the vectors fall apart most clearly: the next join would cost much more than the last one."""
    heights = [0.0, *(join.height for join in joins)]
    least, most = (min(count, len(heights)) for count in wanted)

    def gap(count: int) -> float:
        last = len(heights) - count
        return (heights[last + 1] + _HARDLY) / (heights[last] + _HARDLY)

    return max(range(least, most + 1), key=gap)


def _middles(vectors: numpy.ndarray) -> numpy.ndarray:
    """A label for each vector: its own where they are few, else that of the middle that it is nearest to.

    The middles begin with vectors evenly spread over the ids, and move a few times: no chance is in it.
    """
    import numpy

    if len(vectors) <= _MOST_LINKED:
        return numpy.arange(len(vectors))
    means = vectors[numpy.linspace(0, len(vectors) - 1, _MOST_LINKED).astype(numpy.int64)]
    labels: numpy.ndarray = numpy.zeros(len(vectors), dtype=numpy.int64)
    for _ in range(_ROUNDS):
        half = (means**2).sum(axis=1) / 2
        for start in range(0, len(vectors), _BLOCK):
            block = vectors[start : start + _BLOCK]
            labels[start : start + _BLOCK] = (block @ means.T - half).argmax(axis=1)
        # A middle that nobody is nearest to goes.
        _, labels = numpy.unique(labels, return_inverse=True)
        means = weighted(labels, vectors, numpy.ones(len(vectors))).means
    return labels


def _without_strays(found: list[list[int]], linked: Units, points: numpy.ndarray) -> list[list[int]]:
    """Groups of which none has a single point, unless there are only two: a stray goes to the nearest one."""

    def middle(group: list[int]) -> numpy.ndarray:
        weights = linked.weights[group]
        mean: numpy.ndarray = (linked.means[group] * weights[:, None]).sum(axis=0) / weights.sum()
        return mean

    kept = [list(group) for group in found]
    # One that another stray has come to is none any more.
    while len(kept) > 2 and (strays := [group for group in kept if points[group].sum() < 2]):
        stray = strays[0]
        kept.remove(stray)
        far = [float(((middle(group) - middle(stray)) ** 2).sum()) for group in kept]
        kept[far.index(min(far))].extend(stray)
    return kept
