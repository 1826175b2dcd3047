"""How much of the true nearest an index finds: asked for what lies beside its own vectors, not for these.

Called when a segment is built. The truth is computed here, with every vector looked at, and not by the index
that is measured. Queries lie as far from a passage as questions do (a cosine of 0.7), in no direction that
passages prefer: for graphs and inverted lists that is harder than the passages themselves. The same vectors
give the same queries.
"""

from collections.abc import Callable
from typing import Any

NEAREST = 10
_QUERIES = 100
_SEED = 20_231
_BLOCK = 8192
# By how much less a quarter of the queries may find where all find enough.
_FEW_MISS = 0.02


def queries_beside(vectors: Any, *, count: int = _QUERIES, seed: int = _SEED) -> Any:
    """At most `count` queries for normalised vectors, as rows of length 1."""
    import numpy

    random = numpy.random.default_rng(seed)
    chosen = random.choice(len(vectors), size=min(count, len(vectors)), replace=False)
    noise = random.standard_normal((len(chosen), vectors.shape[1])).astype(numpy.float32)
    noise /= numpy.linalg.norm(noise, axis=1, keepdims=True)
    queries = vectors[numpy.sort(chosen)] + noise
    return queries / numpy.linalg.norm(queries, axis=1, keepdims=True)


def truly_nearest(queries: Any, vectors: Any, ids: Any, nearest: int = NEAREST) -> Any:
    """The ids of the nearest vectors of each query, all looked at: a row for each query, in no order."""
    import numpy

    best: Any = numpy.empty((len(queries), 0), dtype=numpy.float32)
    who: Any = numpy.empty((len(queries), 0), dtype=numpy.int64)
    for first in range(0, len(vectors), _BLOCK):
        scores = queries @ vectors[first : first + _BLOCK].T
        block = ids[first : first + _BLOCK]
        if best.shape[1] == nearest:
            # Only these columns are among the best of any query: sorting all takes longer than the products.
            better = numpy.flatnonzero((scores > best.min(axis=1, keepdims=True)).any(axis=0))
            scores, block = scores[:, better], block[better]
        best = numpy.concatenate([best, scores], axis=1)
        who = numpy.concatenate([who, numpy.broadcast_to(block, scores.shape)], axis=1)
        if best.shape[1] > nearest:
            places = numpy.argpartition(-best, nearest - 1, axis=1)[:, :nearest]
            best, who = numpy.take_along_axis(best, places, 1), numpy.take_along_axis(who, places, 1)
    return who


def recall(found: Any, truth: Any) -> float:
    """The share of the true nearest that were found."""
    hits = sum(len(set(mine) & set(true)) for mine, true in zip(found.tolist(), truth.tolist(), strict=True))
    return float(hits / truth.size)


def least_effort(
    search: Callable[[Any, int], Any], queries: Any, truth: Any, efforts: list[int], least: float
) -> tuple[int, float] | None:
    """The first effort that finds enough, and what it finds; None where none of them does.

    What finds too little for the first few queries is not tried with all.

    Args:
        search: what an effort finds for queries, as rows of ids.
    """
    few = slice(0, max(1, len(queries) // 4))
    for effort in efforts:
        if recall(search(queries[few], effort), truth[few]) < least - _FEW_MISS:
            continue
        reached = recall(search(queries, effort), truth)
        if reached >= least:
            return effort, reached
    return None
