"""Passages' vectors in memory, apart by who may see them: a search only ever touches what it may show.

Called by `SearchIndex`, in threads. One FAISS index for each `Place`. Every vector is looked at, but as
16-bit numbers, for memory is what takes the time: of 100,000 passages of MiniLM (384 numbers) a search
takes 8 ms, and finds 99 of the 100 that are nearest.
"""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from actors.platform.search.index_files import normalised
from models.content.search import FoundKind, Hit, Place
from models.errors import ModelReplyInvalid
from models.store.passages import Placed

# An item's passages crowd the top: this many times as many passages are looked at as items are wanted.
_PASSAGES_PER_ITEM = 4


class _Entry(NamedTuple):
    kind: FoundKind
    id: int
    version: int | None
    place: Place


class _Partition:
    """The vectors of one place. FAISS can't search and change at the same time, hence the lock."""

    def __init__(self, dimensions: int) -> None:
        import faiss

        vectors = faiss.IndexScalarQuantizer(
            dimensions, faiss.ScalarQuantizer.QT_bf16, faiss.METRIC_INNER_PRODUCT
        )
        self.index: Any = faiss.IndexIDMap2(vectors)
        self.lock = threading.Lock()


class Partitions:
    """All that is found by meaning. One thread changes it at a time; any may search."""

    def __init__(self) -> None:
        self._partitions: dict[Place, _Partition] = {}
        self._entries: dict[int, _Entry] = {}
        self._items: dict[tuple[FoundKind, int], set[int]] = {}
        self.dimensions: int | None = None

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def items(self) -> int:
        """How many articles and resources have passages here."""
        return len(self._items)

    def ids(self) -> set[int]:
        """The passages that are here."""
        return set(self._entries)

    def ids_of(self, kind: FoundKind, ids: Iterable[int]) -> set[int]:
        """The passages of some articles or resources that are here."""
        return {passage for id_ in ids for passage in self._items.get((kind, id_), ())}

    def misplaced(self, placed: Iterable[Placed]) -> list[Placed]:
        """Those of the passages that are not here, or elsewhere."""
        return [
            passage
            for passage in placed
            if (entry := self._entries.get(passage.id)) is None or entry.place != passage.place
        ]

    def check(self, dimensions: int) -> None:
        """Raise ModelReplyInvalid unless vectors of this length belong here."""
        if self.dimensions not in (None, dimensions):
            raise ModelReplyInvalid(
                f"the embedding model gave {dimensions} numbers, but the search index has {self.dimensions}: "
                "another model answers to the same name. Correct embedding.model_name, so "
                "that the index is built anew"
            )

    def change(self, *, gone: Iterable[int], placed: Sequence[Placed], vectors: Mapping[int, bytes]) -> None:
        """Take passages out, and put others in: what has moved is in both."""
        import numpy

        for place, ids in _grouped((self._entries[id_].place, id_) for id_ in gone if id_ in self._entries):
            partition = self._partitions[place]
            with partition.lock:
                partition.index.remove_ids(numpy.asarray(ids, dtype=numpy.int64))
            if not partition.index.ntotal:
                del self._partitions[place]
            for id_ in ids:
                entry = self._entries.pop(id_)
                siblings = self._items[entry.kind, entry.id]
                siblings.discard(id_)
                if not siblings:
                    del self._items[entry.kind, entry.id]
        for place, passages in _grouped(
            (passage.place, passage) for passage in placed if passage.id in vectors
        ):
            matrix = numpy.stack([numpy.frombuffer(vectors[p.id], dtype="<f4") for p in passages])
            self.check(matrix.shape[1])
            self.dimensions = matrix.shape[1]
            for passage in passages:
                entry = _Entry(passage.kind, passage.item_id, passage.version, place)
                self._entries[passage.id] = entry
                self._items.setdefault((entry.kind, entry.id), set()).add(passage.id)
            partition = self._partitions.setdefault(place, _Partition(matrix.shape[1]))
            with partition.lock:
                partition.index.add_with_ids(matrix, numpy.asarray([p.id for p in passages], numpy.int64))

    def nearest(
        self, vector: Sequence[float], wanted: Callable[[Place], bool], *, limit: int, min_score: float
    ) -> list[Hit]:
        """At most `limit` articles and resources in the wanted places, each by its best passage, best first.

        Scores are cosines, `min_score` or more.
        """
        import faiss

        query = normalised([list(vector)])
        self.check(query.shape[1])
        faiss.omp_set_num_threads(1)  # of this thread; one query is one thread's work
        near: list[tuple[float, int]] = []
        for place, partition in list(self._partitions.items()):
            if wanted(place):
                near += self._nearest_in(partition, query, limit, min_score)
        hits: dict[tuple[FoundKind, int], Hit] = {}
        for score, id_ in sorted(near, reverse=True):
            entry = self._entries.get(id_)
            if entry is not None and (entry.kind, entry.id) not in hits and len(hits) < limit:
                hits[entry.kind, entry.id] = Hit(
                    kind=entry.kind, id=entry.id, version=entry.version, score=score, passage_id=id_
                )
        return list(hits.values())

    def _nearest_in(
        self, partition: _Partition, query: Any, limit: int, min_score: float
    ) -> list[tuple[float, int]]:
        """The best passage of each of the `limit` best articles and resources: score and passage."""
        asked = limit * _PASSAGES_PER_ITEM
        while True:
            with partition.lock:
                total = partition.index.ntotal
                scores, ids = partition.index.search(query, max(1, min(asked, total)))
            found: dict[tuple[FoundKind, int], tuple[float, int]] = {}
            for score, id_ in zip(scores[0].tolist(), ids[0].tolist(), strict=True):
                entry = self._entries.get(id_)
                if entry is not None and score >= min_score:
                    found.setdefault((entry.kind, entry.id), (score, id_))
            # As many items as wanted, or no passage left that would do.
            if len(found) >= limit or asked >= total or scores[0][-1] < min_score:
                return list(found.values())[:limit]
            asked *= _PASSAGES_PER_ITEM


def _grouped(pairs: Iterable[tuple[Place, Any]]) -> list[tuple[Place, list[Any]]]:
    groups: dict[Place, list[Any]] = {}
    for place, what in pairs:
        groups.setdefault(place, []).append(what)
    return list(groups.items())
