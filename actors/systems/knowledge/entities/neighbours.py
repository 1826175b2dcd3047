"""Which of many vectors are nearest to each other, without comparing all with all.

Called by merging. Many vectors are sorted into buckets by the sides of random planes on which they lie,
several times over; the planes are the same each time, so the same vectors have the same neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy

_SEED = 12
# As many are compared with each other at once; a bucket with more is divided further.
_BUCKET = 256
_MOST_AT_ONCE = 1_024
_TABLES = 16
_MORE_BITS = 12


def nearest_pairs(
    vectors: Sequence[Sequence[float]], least: float, *, below: float
) -> dict[tuple[int, int], float]:
    """The pairs of places, the lower first, whose vectors are each other's nearest, and their cosine.

    It is `least` or more, and less than `below`; a vector that has one as near as that has no pair. Exact up
    to 1,024 vectors. Of more, nearly all: a heap of over 1,024 that no 12 further planes divide is left out.
    Vectors without a direction are near none. Of several as near, the first counts.
    """
    import numpy

    if len(vectors) == 0:
        return {}
    matrix = numpy.asarray(vectors, dtype=numpy.float32)
    lengths = numpy.linalg.norm(matrix, axis=1)
    usable = numpy.flatnonzero(numpy.isfinite(lengths) & (lengths > 0))
    units = matrix[usable] / lengths[usable, None]
    cosine: numpy.ndarray = numpy.full(len(units), -2.0, dtype=numpy.float32)
    nearest: numpy.ndarray = numpy.full(len(units), -1)
    for bucket in _buckets(units):
        if len(bucket) < 2:
            continue
        some = units[bucket]
        cosines = some @ some.T
        numpy.fill_diagonal(cosines, -2.0)
        first = cosines.argmax(axis=1)
        top = cosines[numpy.arange(len(bucket)), first]
        nearer = top > cosine[bucket]
        cosine[bucket[nearer]] = top[nearer]
        nearest[bucket[nearer]] = bucket[first[nearer]]
    mutual = (nearest >= 0) & (nearest[nearest] == numpy.arange(len(units)))
    found = numpy.flatnonzero(mutual & (cosine >= least) & (cosine < below))
    return {
        (int(usable[place]), int(usable[nearest[place]])): float(cosine[place])
        for place in found
        if place < nearest[place]
    }


def _buckets(units: numpy.ndarray) -> Iterator[numpy.ndarray]:
    import numpy

    everything = numpy.arange(len(units))
    if len(units) <= _MOST_AT_ONCE:
        yield everything
        return
    random = numpy.random.default_rng(_SEED)
    bits = math.ceil(math.log2(len(units) / _BUCKET))
    # Embeddings of one kind of text lie to one side: planes through their middle divide them better.
    centred = units - units.mean(axis=0)
    for _ in range(_TABLES):
        planes = random.standard_normal((units.shape[1], bits + _MORE_BITS)).astype(numpy.float32)
        sides = centred @ planes > 0
        yield from _divided(everything, sides, bits)


def _divided(places: numpy.ndarray, sides: numpy.ndarray, bits: int) -> Iterator[numpy.ndarray]:
    """The places by their sides of the first planes; of more planes, where too many are still together."""
    import numpy

    keys = sides[places, :bits] @ (1 << numpy.arange(bits, dtype=numpy.int64))
    order = numpy.argsort(keys, kind="stable")
    for bucket in numpy.split(places[order], numpy.flatnonzero(numpy.diff(keys[order])) + 1):
        if len(bucket) <= _MOST_AT_ONCE:
            if len(bucket) > 1:
                yield bucket
        elif bits < sides.shape[1]:
            yield from _divided(bucket, sides, bits + 1)
