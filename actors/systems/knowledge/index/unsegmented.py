"""Passages that are in no segment yet, held in memory: every one is looked at, so they are found at once.

Called by the agent `knowledge_index`. Which they are, Postgres says at each search; a passage's vector never
changes, so only what is new is fetched.
"""

import asyncio
from collections.abc import Sequence
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from actors.systems.knowledge.index.lru import BoundedCache
from models.errors import ModelReplyInvalid
from models.store.database import Database
from models.store.knowledge import passages

_PAGE = 2000


class FreshPassages(NamedTuple):
    """Passages' ids in ascending order, and their vectors, a row each."""

    ids: Any
    vectors: Any


class FreshSearch:
    """The fresh passages of the projects that are asked for."""

    def __init__(self, held: BoundedCache) -> None:
        self._held = held
        # Of one project they are loaded once at a time: who asks meanwhile finds them. A lock goes with the
        # last that has it.
        self._loading: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()

    async def block(self, database: Database, project_id: int, ids: Sequence[int]) -> FreshPassages | None:
        """The vectors of a project's fresh passages; None where there are none. What is gone is left out.

        Raises:
            ModelReplyInvalid: they are of different lengths.
        """
        async with self._loading.setdefault(project_id, asyncio.Lock()):
            return await self._block(database, project_id, ids)

    async def _block(self, database: Database, project_id: int, ids: Sequence[int]) -> FreshPassages | None:
        import numpy

        if not ids:
            self._held.drop(("fresh", project_id))
            return None
        wanted = numpy.sort(numpy.asarray(ids, dtype=numpy.int64))
        known: FreshPassages | None = self._held.get(("fresh", project_id))
        if known is not None and numpy.array_equal(known.ids, wanted):
            return known
        parts: list[FreshPassages] = []
        missing = wanted
        if known is not None:
            kept = numpy.isin(known.ids, wanted)
            parts.append(FreshPassages(known.ids[kept], known.vectors[kept]))
            missing = numpy.setdiff1d(wanted, known.ids, assume_unique=True)
        parts += await self._loaded(database, missing)
        lengths = {part.vectors.shape[1] for part in parts}
        if len(lengths) > 1:
            raise _of_two_models(project_id)
        if not lengths:
            return None
        new_ids = numpy.concatenate([part.ids for part in parts])
        order = numpy.argsort(new_ids)
        block = FreshPassages(new_ids[order], numpy.concatenate([part.vectors for part in parts])[order])
        self._held.put(("fresh", project_id), block, block.ids.nbytes + block.vectors.nbytes)
        return block

    async def _loaded(self, database: Database, ids: Any) -> list[FreshPassages]:
        """Pages of passages; of one page, vectors of each length by themselves."""
        import numpy

        parts: list[FreshPassages] = []
        for first in range(0, len(ids), _PAGE):
            async with database.connection() as connection:
                page = await passages.vectors(connection, ids[first : first + _PAGE].tolist())
            for length in {len(vector) for vector in page.values()}:
                if not parts:
                    self._held.make_room(len(ids) * (length + 8))
                some = {id_: vector for id_, vector in page.items() if len(vector) == length}
                rows = numpy.frombuffer(b"".join(some.values()), dtype="<f4").reshape(len(some), -1)
                parts.append(FreshPassages(numpy.asarray(list(some), dtype=numpy.int64), rows))
        return parts


def _of_two_models(project_id: int) -> ModelReplyInvalid:
    return ModelReplyInvalid(
        f"project {project_id}: its passages have vectors of different lengths: two models answer to the "
        "same name. Give embedding.model_name another one, so that all are embedded anew"
    )


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
