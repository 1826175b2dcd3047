"""One segment searched: held in memory within a bound, or mapped, or while its file is damaged in Postgres.

Called by the agent `knowledge_index`. What a search gives never depends on what is held; only its time does.
"""

import asyncio
import logging
from typing import Any, NamedTuple

from actors.systems.knowledge.index import faiss_index
from actors.systems.knowledge.index.building import SegmentBuilder
from actors.systems.knowledge.index.lru import BoundedCache
from actors.systems.knowledge.index.segment_files import SegmentFiles
from actors.systems.knowledge.index.unsegmented import FreshPassages, nearest_in
from models.config import IndexConfig
from models.error_lines import logged
from models.knowledge.passages import IndexSegment
from models.store.database import Database
from models.store.knowledge import segments

_PAGE = 2000
# What a mapped index has in memory beside its pages, which the system takes back when it wants to.
_MAPPED_BYTES = 1 << 20
# The answers that `effort` was measured for: for more, more is looked at.
_USUAL = 50
_log = logging.getLogger(__name__)


class _Loaded(NamedTuple):
    index: Any


class SegmentSearch:
    """The segments of this process."""

    def __init__(self, *, settings: IndexConfig, held: BoundedCache) -> None:
        self._settings = settings
        self._held = held
        self._files = SegmentFiles(settings.dir)
        # One is loaded at a time: the bound holds while it comes.
        self._loading = asyncio.Lock()
        self._mending: dict[str, asyncio.Task[None]] = {}

    async def nearest(
        self, database: Database, segment: IndexSegment, query: Any, limit: int
    ) -> list[tuple[int, float]] | None:
        """At most `limit` passages, best first: id and cosine; None where it is no segment any more."""
        loaded = await self._load(segment)
        if loaded is None:
            async with database.connection() as connection:
                if not await segments.exists(connection, segment):
                    return None
            self._mend(database, segment)
            return await self._in_postgres(database, segment, query, limit)
        return await asyncio.to_thread(_in_index, loaded.index, segment, query, limit)

    async def _load(self, segment: IndexSegment) -> _Loaded | None:
        known: _Loaded | None = self._held.get(segment.file)
        if known is not None:
            return known
        async with self._loading:
            again: _Loaded | None = self._held.get(segment.file)
            if again is not None:
                return again
            mapped = not self._held.fits(segment.bytes)
            size = _MAPPED_BYTES if mapped else segment.bytes
            self._held.make_room(size)
            index = await asyncio.to_thread(self._files.read, segment, mapped=mapped)
            if index is None:
                return None
            if mapped:
                _log.warning(
                    "segment %d has %d MB, more than knowledge.index.max_memory_mb (%d): it is read from its "
                    "file, which takes longer",
                    *(segment.id, segment.bytes >> 20, self._settings.max_memory_mb),
                )
            loaded = _Loaded(index)
            self._held.put(segment.file, loaded, size)
            return loaded

    async def _in_postgres(
        self, database: Database, segment: IndexSegment, query: Any, limit: int
    ) -> list[tuple[int, float]]:
        """Every vector of a segment looked at, a page at a time."""
        import numpy

        best: list[tuple[int, float]] = []
        after = 0
        while True:
            async with database.connection() as connection:
                page = await segments.members(
                    connection,
                    segment.project_id,
                    segment.made_with,
                    segment_ids=[segment.id],
                    fresh=False,
                    after=after,
                    until=2**62,
                    limit=_PAGE,
                )
            if not page:
                return best
            after = page[-1].id
            rows = numpy.frombuffer(b"".join(member.vector for member in page), dtype="<f4")
            block = FreshPassages(numpy.asarray([member.id for member in page]), rows.reshape(len(page), -1))
            best = sorted(best + nearest_in(block, query, limit), key=lambda hit: -hit[1])[:limit]

    def _mend(self, database: Database, segment: IndexSegment) -> None:
        """Have a damaged segment made anew, beside what is asked; once."""
        if segment.file in self._mending:
            return
        if not self._held.fits(segment.bytes):
            _log.warning(
                "the file of segment %d is damaged: submit index_knowledge_base, which makes it anew",
                segment.id,
            )
            return

        async def mend() -> None:
            builder = SegmentBuilder(settings=self._settings, database=database, made_with=segment.made_with)
            try:
                self._held.make_room(segment.bytes)
                await builder.mend(segment)
            except Exception as error:  # noqa: BLE001  # it is told; searches go on in Postgres
                logged(error, _log, f"segment {segment.id} can't be made anew")
            finally:
                del self._mending[segment.file]

        self._mending[segment.file] = asyncio.create_task(mend())

    async def close(self) -> None:
        """End what is under way."""
        mending = list(self._mending.values())
        for task in mending:
            task.cancel()
        await asyncio.gather(*mending, return_exceptions=True)


def _in_index(index: Any, segment: IndexSegment, query: Any, limit: int) -> list[tuple[int, float]]:
    import faiss

    faiss.omp_set_num_threads(1)  # of this thread; one query is one thread's work
    few = min(limit, segment.vectors)
    effort = segment.effort * -(-few // _USUAL)
    scores, ids = faiss_index.found(index, segment.kind, query, few, effort)
    return [(id_, score) for id_, score in zip(ids[0].tolist(), scores[0].tolist(), strict=True) if id_ >= 0]
