"""The agent `knowledge_index`: passages of a project's sources, found by meaning as soon as they are kept.

Whoever searches a project asks any of its replicas; that one asks for each segment the replica that holds it,
side by side. The truth is Postgres: an agent holds copies, and what is gone there is not found here.
"""

import asyncio
import contextlib
from collections.abc import Sequence
from typing import Any, NamedTuple

from actors.platform.search.embedder import Embedder, OpenAIEmbedder, vector_of_query
from actors.platform.search.index_files import normalised
from actors.platform.system import AgentDirectory
from actors.systems.knowledge.index.lru import BoundedCache
from actors.systems.knowledge.index.passage_embedding import PassageEmbedder
from actors.systems.knowledge.index.segment_search import SegmentSearch
from actors.systems.knowledge.index.source_passages import PassageCutter
from actors.systems.knowledge.index.unsegmented import FreshSearch, nearest_in
from models.config import (
    AgentConfig,
    BreakerConfig,
    EmbeddingConfig,
    IndexConfig,
    KnowledgeBaseConfig,
    SearchConfig,
)
from models.errors import AgentDied
from models.knowledge.passages import IndexSegment, PassageHit
from models.store.database import Database
from models.store.knowledge import passages, segments

ROLE = "knowledge_index"
_POOL_SIZE = 4
_PUT_TRIES = 3
# More is asked for than is wanted, because some of it may be gone; and still more where that was not enough.
_SPARE, _MORE = 10, 4
# How often the index may change under one search.
_LOOKS = 5


class _Looked(NamedTuple):
    """Cosines by passage; all that there are from `floor` up are among them. `more`: others may be below."""

    scores: dict[int, float]
    floor: float
    more: bool


class KnowledgeIndex:
    """Finds passages by meaning, and makes those of a single source."""

    def __init__(
        self,
        *,
        settings: IndexConfig,
        chunks: KnowledgeBaseConfig,
        embedding: EmbeddingConfig,
        search: SearchConfig,
        resources: AgentConfig,
        database_url: str,
        directory: AgentDirectory,
        breaker: BreakerConfig | None = None,
        embedder: Embedder | None = None,
    ) -> None:
        self._settings = settings
        self._chunks = chunks
        self._embedding = embedding
        self._search = search
        self._resources = resources
        self._database_url = database_url
        self._directory = directory
        self._embedder = embedder or OpenAIEmbedder(settings=embedding, breaker=breaker)
        self._held = BoundedCache(settings.max_memory_mb << 20)
        self._fresh = FreshSearch(self._held)
        self._segments = SegmentSearch(settings=settings, held=self._held)
        self._opening = asyncio.Lock()
        self._database: Database | None = None
        self._cutter: PassageCutter | None = None
        self._searches = 0

    async def search(self, project_id: int, query: str, limit: int) -> list[PassageHit]:
        """At most `limit` passages of a project, best first; what is under `min_score` is not found.

        Approximate as the segments' measured recall says. A blank query finds nothing, and one that is longer
        than the embedding model reads is cut there.

        Raises:
            ModelUnavailable: the query's vector was not there within `search.timeout_seconds`.
            DatabaseUnavailable: the index can't be read.
        """
        database, cutter = await self._ready()
        if limit < 1 or not query.strip():
            return []
        vector = await self._vector_of(query, cutter)
        self._searches += 1
        try:
            return await self._live(database, cutter.made_with, project_id, vector, limit)
        finally:
            self._searches -= 1

    async def search_segment(
        self, segment: IndexSegment, vector: list[float], limit: int
    ) -> list[PassageHit] | None:
        """At most `limit` passages of one segment, best first; None where it is no segment any more."""
        database, _ = await self._ready()
        found = await self._segments.nearest(database, segment, normalised([vector]), limit)
        return None if found is None else [PassageHit(passage_id=id_, score=score) for id_, score in found]

    async def put_source(self, source_id: int) -> int:
        """Cut, embed and keep a source now, unless its passages are there: how many passages were made.

        Raises:
            ModelUnavailable: the embedding model is away; ModelRefused, ModelReplyInvalid: it is its fault.
        """
        database, cutter = await self._ready()
        maker = PassageEmbedder(cutter=cutter, embedder=self._embedder)
        for _ in range(_PUT_TRIES):
            async with database.connection() as connection:
                sources = await passages.texts(connection, [source_id], maker.made_with)
            async for group in maker.made(sources):
                for source, made in group:
                    if isinstance(made, Exception):
                        raise made
                    async with database.transaction() as connection:
                        kept = await passages.keep(
                            connection, source, made_with=maker.made_with, passages=made
                        )
                    if kept:
                        return len(made)
            if not sources:
                break
        return 0

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Vectors of texts, for whoever may not know the key of the embedding model's endpoint."""
        return await self._embedder.embed(texts)

    async def close(self) -> None:
        """Let go of the database."""
        await self._segments.close()
        if self._database is not None:
            await self._database.__aexit__(None, None, None)

    async def _ready(self) -> tuple[Database, PassageCutter]:
        async with self._opening:
            if self._cutter is None:
                self._cutter = await asyncio.to_thread(
                    lambda: PassageCutter(settings=self._chunks, embedding=self._embedding)
                )
            if self._database is None:
                self._database = await Database(url=self._database_url, pool_size=_POOL_SIZE).__aenter__()
        return self._database, self._cutter

    async def _vector_of(self, query: str, cutter: PassageCutter) -> list[float]:
        clipped = await asyncio.to_thread(cutter.clip, query)
        found = await vector_of_query(
            clipped, self._embedder, within=self._search.timeout_seconds, embedding=self._embedding
        )
        vector: list[float] = normalised([found])[0].tolist()
        return vector

    async def _live(
        self, database: Database, made_with: str, project_id: int, vector: list[float], limit: int
    ) -> list[PassageHit]:
        """What is found and still there. The best of it only, though some of what was found is gone."""
        asked = 2 * limit + _SPARE
        while True:
            found = await self._look(database, made_with, project_id, vector, asked)
            async with database.connection() as connection:
                living = await passages.living(connection, project_id, list(found.scores))
            hits = sorted(
                (PassageHit(passage_id=id_, score=found.scores[id_]) for id_ in living),
                key=lambda hit: (-hit.score, hit.passage_id),
            )
            sure = sum(hit.score >= found.floor for hit in hits)
            if sure >= limit or not found.more:
                return hits[:limit]
            asked *= _MORE

    async def _look(
        self, database: Database, made_with: str, project_id: int, vector: list[float], asked: int
    ) -> _Looked:
        """Look into all segments, and the fresh passages, as of one moment."""
        for _ in range(_LOOKS):
            async with database.connection() as connection:
                whole = await segments.whole(
                    connection, project_id, made_with, most_fresh=self._settings.flat_up_to
                )
            fresh, *parts = await asyncio.gather(
                self._in_fresh(database, project_id, whole.fresh, vector, asked),
                *(self._in_segment(segment, vector, asked) for segment in whole.segments),
            )
            # One that is gone by now has been put into another.
            if all(part is not None for part in parts):
                break
        sizes = [len(whole.fresh), *(segment.vectors for segment in whole.segments)]
        return self._merged([fresh or [], *(part or [] for part in parts)], sizes, asked)

    def _merged(self, parts: list[list[PassageHit]], sizes: list[int], asked: int) -> _Looked:
        least = self._settings.min_score
        scores: dict[int, float] = {}
        floor, more = -1.0, False
        for hits, size in zip(parts, sizes, strict=True):
            for hit in hits:
                if hit.score >= least:
                    scores[hit.passage_id] = hit.score
            # There may be more of it, none of it better than the last that was found.
            if asked < size and hits and hits[-1].score >= least:
                floor, more = max(floor, hits[-1].score), True
        return _Looked(scores, floor, more)

    async def _in_fresh(
        self, database: Database, project_id: int, ids: Sequence[int], vector: list[float], asked: int
    ) -> list[PassageHit]:
        block = await self._fresh.block(database, project_id, ids)
        if block is None:
            return []
        found = await asyncio.to_thread(nearest_in, block, normalised([vector]), asked)
        return [PassageHit(passage_id=id_, score=score) for id_, score in found]

    async def _in_segment(
        self, segment: IndexSegment, vector: list[float], asked: int
    ) -> list[PassageHit] | None:
        """By the replica that holds it. By this one where it is alone, and where too many searches wait here:

        searches that fill all places would wait for each other's segments for ever.
        """
        crowded = self._searches * 2 > self._resources.max_concurrency
        if self._resources.replicas > 1 and not crowded:
            agent: Any = self._directory.agent(ROLE, shard=str(segment.id))
            with contextlib.suppress(AgentDied):
                hits: list[PassageHit] | None = await agent.search_segment(segment, vector, asked)
                return hits
        return await self.search_segment(segment, vector, asked)
