"""Building a project's index: one segment after another, until what is planned is what there is.

Called by the batch, and by the agent `knowledge_index` for a segment whose file is damaged. One at a time
builds for a project, under a lock that falls with its connection; killed at any point, the next one goes on
from what there is, and whoever searches meanwhile finds each passage.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any

from actors.systems.knowledge.index import faiss_index
from actors.systems.knowledge.index.merge_policy import SegmentPlan, next_part, to_remove
from actors.systems.knowledge.index.segment_files import SegmentFiles
from models.config import IndexConfig
from models.errors import ModelReplyInvalid
from models.knowledge.passages import IndexSegment
from models.store.database import Connection, Database
from models.store.knowledge import segments

_PAGE = 2000
# Rows that are locked together for as long as their statement takes.
_MOVED = 500
_LOCK_SECONDS = 0.5
# A file that no segment names is needed by whoever has just read that one did.
_GRACE_SECONDS = 3600.0
# Passages of another model that a segment is not kept for.
_FEW = 1000
_log = logging.getLogger(__name__)


class SegmentBuilder:
    """Builds segments of passages that were made in one way."""

    def __init__(
        self, *, settings: IndexConfig, database: Database, made_with: str, threads: int = 1
    ) -> None:
        self._settings = settings
        self._database = database
        self._made_with = made_with
        self._threads = threads
        self._files = SegmentFiles(settings.dir)

    async def build(self, project_id: int) -> AsyncIterator[IndexSegment]:
        """Bring a project's index up to date: each segment that is made, when it can be searched.

        What comes to the project meanwhile is left for the next time.
        """
        database = self._database

        async def look(connection: Connection) -> list[IndexSegment]:
            return [filling.segment for filling in await segments.fillings(connection, project_id)]

        until = await database.read(lambda connection: segments.newest(connection, project_id))
        damaged = {
            segment.file
            for segment in await database.read(look)
            if not await asyncio.to_thread(self._files.is_whole, segment)
        }
        while True:
            made = await database.steadily(lambda: self._next(project_id, until, damaged))
            if made is None:
                break
            yield made
        await database.steadily(self._sweep)

    async def mend(self, segment: IndexSegment) -> None:
        """Make a segment anew whose file is damaged, unless somebody has."""
        async with self._database.apart() as connection:
            await self._lock(connection, segment.project_id)
            if await segments.exists(connection, segment) and not await asyncio.to_thread(
                self._files.is_whole, segment
            ):
                part = SegmentPlan((segment.id,), fresh=False, passages=segment.vectors)
                await self._make(connection, segment.project_id, part, until=2**62, before=[segment])

    async def _next(self, project_id: int, until: int, damaged: set[str]) -> IndexSegment | None:
        """Make what is planned next; None where nothing is."""
        # What has lost its connection has lost the lock, and can't write either.
        async with self._database.apart() as connection:
            await self._lock(connection, project_id)
            while True:
                fillings = await segments.fillings(connection, project_id)
                gone = to_remove(fillings, self._made_with, few=_FEW)
                before = [filling.segment for filling in fillings]
                await self._remove(connection, [segment for segment in before if segment.id in gone])
                fresh = await segments.count_fresh(connection, project_id, self._made_with, until=until)
                part = next_part(
                    [filling for filling in fillings if filling.segment.id not in gone],
                    fresh,
                    made_with=self._made_with,
                    most=self._settings.segment_vectors,
                    damaged=damaged,
                )
                if part is None:
                    return None
                made = await self._make(connection, project_id, part, until=until, before=before)
                if made is not None:
                    return made

    async def _lock(self, connection: Connection, project_id: int) -> None:
        while not await segments.try_lock(connection, project_id):  # noqa: ASYNC110  # another process has it
            await asyncio.sleep(_LOCK_SECONDS)

    async def _make(
        self,
        connection: Connection,
        project_id: int,
        part: SegmentPlan,
        *,
        until: int,
        before: list[IndexSegment],
    ) -> IndexSegment | None:
        """Make a segment, and put it in place of those it holds; None where their passages are gone."""
        old = [segment for segment in before if segment.id in part.segment_ids]
        read = await self._read(connection, project_id, part, until)
        made = None
        if read is not None:
            ids, vectors = read
            built = await asyncio.to_thread(
                faiss_index.build, ids, vectors, self._settings, threads=self._threads
            )
            del vectors
            written = await asyncio.to_thread(self._files.write, project_id, built.index)
            segment = IndexSegment(
                id=0,
                project_id=project_id,
                kind=built.kind,
                file=written.file,
                sha256=written.sha256,
                vectors=len(ids),
                bytes=written.bytes,
                recall=built.recall,
                effort=built.effort,
                made_with=self._made_with,
            )
            made = await segments.add(connection, segment)
            # From here on both are searched; then the passages are said to be in the new one, bit by bit.
            for first in range(0, len(ids), _MOVED):
                await segments.move(connection, made, ids[first : first + _MOVED].tolist())
        await self._remove(connection, old)
        return made

    async def _remove(self, connection: Connection, old: list[IndexSegment]) -> None:
        for segment in old:
            await asyncio.to_thread(self._files.touch, segment.file)
        if old:
            await segments.remove(connection, [segment.id for segment in old])

    async def _read(
        self, connection: Connection, project_id: int, part: SegmentPlan, until: int
    ) -> tuple[Any, Any] | None:
        """The ids and vectors of a part, at most a segment's; each is in memory once."""
        import numpy

        most = min(part.passages, self._settings.segment_vectors)
        ids: Any = numpy.empty(most, dtype=numpy.int64)
        vectors: Any = None
        count = after = 0
        while count < most:
            page = await segments.members(
                connection,
                project_id,
                self._made_with,
                segment_ids=part.segment_ids,
                fresh=part.fresh,
                after=after,
                until=until,
                limit=min(_PAGE, most - count),
            )
            if not page:
                break
            if vectors is None:
                vectors = numpy.empty((most, len(page[0].vector) // 4), dtype=numpy.float32)
            if {len(member.vector) for member in page} != {vectors.shape[1] * 4}:
                raise ModelReplyInvalid(
                    f"project {project_id}: its passages have vectors of different lengths: two models "
                    "answer to the same name. Give embedding.model_name another, and all are embedded anew"
                )
            ids[count : count + len(page)] = [member.id for member in page]
            vectors[count : count + len(page)] = numpy.frombuffer(
                b"".join(member.vector for member in page), dtype="<f4"
            ).reshape(len(page), -1)
            count, after = count + len(page), page[-1].id
        return None if vectors is None else (ids[:count], vectors[:count])

    async def _sweep(self) -> None:
        """Files are looked at after the names are: what is named meanwhile is young."""
        async with self._database.connection() as connection:
            named = await segments.named_files(connection)
        removed = await asyncio.to_thread(self._files.sweep, named, older_than_seconds=_GRACE_SECONDS)
        if removed:
            _log.info("%d files of former segments removed", removed)
