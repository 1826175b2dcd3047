"""Passages that are in no segment yet, held in memory: every one is looked at, so they are found at once.

Called by the agent `knowledge_index`. Which they are, Postgres says at each search; a passage's vector never
changes, so only what is new is fetched.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from actors.knowledge.index.held import Held
from models.errors import ModelReplyInvalid
from models.store.database import Database
from models.store.knowledge import passages

_PAGE = 2000


class FreshPassages(NamedTuple):
    """Passages' ids in ascending order, and their vectors, a row each."""

    ids: Any
    vectors: Any


async def fresh_block(
    database: Database, held: Held, project_id: int, ids: Sequence[int]
) -> FreshPassages | None:
    """The vectors of a project's fresh passages; None where there are none. What is gone is left out."""
    import numpy

    if not ids:
        held.drop(("fresh", project_id))
        return None
    wanted = numpy.sort(numpy.asarray(ids, dtype=numpy.int64))
    known: FreshPassages | None = held.get(("fresh", project_id))
    if known is not None and numpy.array_equal(known.ids, wanted):
        return known
    kept = None if known is None else numpy.isin(known.ids, wanted)
    missing = wanted if known is None else numpy.setdiff1d(wanted, known.ids, assume_unique=True)
    found: dict[int, bytes] = {}
    for first in range(0, len(missing), _PAGE):
        async with database.connection() as connection:
            found |= await passages.vectors(connection, missing[first : first + _PAGE].tolist())
    new_ids = numpy.asarray(list(found), dtype=numpy.int64)
    lengths = {len(vector) // 4 for vector in found.values()}
    if known is not None:
        lengths.add(known.vectors.shape[1])
    if len(lengths) > 1:
        raise ModelReplyInvalid(
            f"project {project_id}: its passages have vectors of different lengths: two models answer to the "
            "same name. Give embedding.model_name another one, so that all are embedded anew"
        )
    if not lengths:
        return None
    new = numpy.frombuffer(b"".join(found.values()), dtype="<f4").reshape(len(found), lengths.pop())
    if known is not None:
        new_ids = numpy.concatenate([known.ids[kept], new_ids])
        new = numpy.concatenate([known.vectors[kept], new])
    order = numpy.argsort(new_ids)
    block = FreshPassages(new_ids[order], new[order])
    held.put(("fresh", project_id), block, block.ids.nbytes + block.vectors.nbytes)
    return block


def nearest_in(block: FreshPassages, query: Any, limit: int) -> list[tuple[int, float]]:
    """The nearest of a block to one query (a row of length 1), best first: id and cosine."""
    import numpy

    if block.vectors.shape[1] != query.shape[1]:
        raise ModelReplyInvalid(
            f"the embedding model gave {query.shape[1]} numbers, but passages have {block.vectors.shape[1]}: "
            "another model answers to the same name. Correct embedding.model_name, and index anew"
        )
    scores = block.vectors @ query[0]
    few = min(limit, len(scores))
    places = numpy.argpartition(-scores, few - 1)[:few]
    places = places[numpy.argsort(-scores[places])]
    return list(zip(block.ids[places].tolist(), scores[places].tolist(), strict=True))
