"""The search index: articles and resources found by meaning, within seconds of being written.

Runs as the agent `search_index`. Postgres has the passages and their vectors; here they are in memory.
What lacks passages is embedded by one task, and another follows the notices of changes and brings
memory in line with the database; both begin with the first call. It may lag, so whoever shows its
hits asks the database first (`models.store.search.visible`).
"""

import asyncio
import logging
import time
import uuid
from collections.abc import Collection, Sequence

from actors.platform.search.chunks import Chunker
from actors.platform.search.embedder import Embedder, OpenAIEmbedder, vector_of_query
from actors.platform.search.index_files import normalised
from actors.platform.search.partitions import Partitions
from models.config import BreakerConfig, EmbeddingConfig, KnowledgeBaseConfig, SearchConfig
from models.content.search import Hit, IndexStats, Place, Reach
from models.error_lines import error_line, logged
from models.errors import SignoffError
from models.store import passages
from models.store.database import GONE, Database

_EVERYTHING = ""  # as a notice: whatever may have changed
_MARK = "mark:"
_POOL_SIZE = 3
_POLL_SECONDS = 3.0
# A lost connection may go unnoticed, and notices with it: memory is compared with the database this often.
_COMPARE_SECONDS = 300.0
_PAGE = 2000
_ITEMS_AT_ONCE = 32
# What is written meanwhile waits for no more than these, or for one long text.
_PASSAGES_AT_ONCE = 64
_LONGEST_PAUSE_SECONDS = 10.0
_log = logging.getLogger(__name__)


class SearchIndex:
    """Passages of all articles and resources by who may see them, kept up to date with the database."""

    def __init__(
        self,
        *,
        settings: KnowledgeBaseConfig,
        embedding: EmbeddingConfig,
        search: SearchConfig,
        database_url: str,
        embedder: Embedder | None = None,
        breaker: BreakerConfig | None = None,
    ) -> None:
        self._settings = settings
        self._embedding = embedding
        self._search = search
        self._embedder = embedder or OpenAIEmbedder(settings=embedding, breaker=breaker)
        self._database_url = database_url
        self._database: Database | None = None
        self._partitions = Partitions()
        self._chunker: Chunker | None = None
        self._running: asyncio.Task[None] | None = None
        self._loaded = asyncio.Event()
        self._news = asyncio.Event()
        self._to_embed = asyncio.Event()
        self._marks: dict[str, asyncio.Event] = {}
        self._changed: set[str] = set()
        self._applying = False
        self._problems: dict[str, str] = {}

    async def search(
        self,
        query: str,
        *,
        kinds: Collection[str],
        topics: Collection[str] | None,
        reach: Reach,
        include_drafts: bool,
        limit: int,
    ) -> list[Hit]:
        """At most `limit` articles and resources, best first; `score` is the cosine of the best passage.

        What is less near than `knowledge_base.min_score` is not found. A blank query finds nothing.

        Raises:
            ModelUnavailable: the query's vector was not there within `search.timeout_seconds`.
            DatabaseUnavailable: the index can't be read.
        """
        await self._ready()
        if limit < 1 or not query.strip():
            return []
        assert self._chunker is not None
        clipped = await asyncio.to_thread(self._chunker.clip, query)
        vector = await vector_of_query(
            clipped, self._embedder, within=self._search.timeout_seconds, embedding=self._embedding
        )

        def wanted(place: Place) -> bool:
            return (
                place.source in kinds
                and (topics is None or place.topic in topics)
                and place.visible_to(reach, include_drafts=include_drafts)
            )

        return await asyncio.to_thread(
            self._partitions.nearest, vector, wanted, limit=limit, min_score=self._settings.min_score
        )

    async def caught_up(self) -> bool:
        """Whether all that was committed before this call is found; the first call starts the index."""
        database = await self._ready()
        # Notices come in the order of commits: when ours is here, so are those before it.
        mark = f"{_MARK}{uuid.uuid4().hex}"
        heard = self._marks[mark] = asyncio.Event()
        try:
            async with asyncio.timeout(_POLL_SECONDS), database.connection() as connection:
                if await passages.count_unindexed(connection):
                    return False
                await connection.execute("SELECT pg_notify(%s, %s)", (passages.CHANNEL, mark))
                await heard.wait()
                return not self._changed and not self._applying
        except (TimeoutError, *GONE):
            return False
        finally:
            del self._marks[mark]

    async def stats(self) -> IndexStats:
        """What the index holds, what waits for its passages, and why."""
        database = await self._ready()
        async with database.connection() as connection:
            waiting = await passages.count_unindexed(connection)
        return IndexStats(
            passages=len(self._partitions),
            items=self._partitions.items,
            waiting=waiting,
            problem="; ".join(self._problems.values()) or None,
        )

    async def close(self) -> None:
        """Stop following; what was embedded is in the database."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)

    async def _ready(self) -> Database:
        """Wait until memory has been filled; the first to come starts that, as does one after a failure."""
        if self._running is None or self._running.done():
            self._loaded.clear()
            self._running = asyncio.create_task(self._run())
        if not self._loaded.is_set():
            loaded = asyncio.create_task(self._loaded.wait())
            try:
                await asyncio.wait({loaded, self._running}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                loaded.cancel()
            if self._running.done():
                self._running.result()
        assert self._database is not None
        return self._database

    async def _run(self) -> None:
        if self._chunker is None:
            self._chunker = await asyncio.to_thread(
                lambda: Chunker(settings=self._settings, embedding=self._embedding)
            )
        async with Database(url=self._database_url, pool_size=_POOL_SIZE) as database:
            self._database = database
            async with database.transaction() as connection:
                await passages.forget_other_models(connection, self._embedding.model_name)
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(database.listen(passages.CHANNEL, self._hear))
                tasks.create_task(self._follow(database))
                tasks.create_task(self._embed(database, self._chunker))

    def _hear(self, notice: str) -> None:
        if notice.startswith(_MARK):
            if mark := self._marks.get(notice):
                mark.set()
            return
        self._changed.add(notice)
        self._news.set()

    # Following: memory is brought in line with the database

    async def _follow(self, database: Database) -> None:
        self._changed.add(_EVERYTHING)
        compared = time.monotonic()
        while True:
            if time.monotonic() > compared + _COMPARE_SECONDS:
                self._changed.add(_EVERYTHING)
            notices, self._changed = self._changed, set()
            self._news.clear()
            self._applying = bool(notices)
            try:
                if _EVERYTHING in notices:
                    await self._compare(database)
                    compared = time.monotonic()
                    self._loaded.set()
                elif notices:
                    await self._apply(database, notices)
                self._problems.pop("following", None)
            except Exception as error:  # noqa: BLE001  # whatever it was: it is told, and tried again
                self._changed |= notices
                self._tell("following", "the changes can't be followed", error)
                await asyncio.sleep(1)
                continue
            finally:
                self._applying = False
            self._to_embed.set()
            await _wait(self._news, _POLL_SECONDS)

    async def _compare(self, database: Database) -> None:
        async with database.transaction() as connection:
            await passages.settle(connection, None)
        gone = self._partitions.ids()
        after = -1
        while True:
            async with database.connection() as connection:
                page = await passages.load(connection, after=after, limit=_PAGE)
            if not page:
                break
            after = page[-1].id
            gone.difference_update(passage.id for passage in page)
            await self._place(database, page, set())
        await self._place(database, [], gone)

    async def _apply(self, database: Database, notices: Collection[str]) -> None:
        article_ids, resource_ids = _numbers("article", notices), _numbers("resource", notices)
        async with database.transaction() as connection:
            await passages.settle(connection, article_ids)
        async with database.connection() as connection:
            # Who sees an article's resources changes with it.
            resource_ids += await passages.attached(connection, article_ids)
            placed = await passages.load_of(connection, article_ids, resource_ids)
        here = self._partitions.ids_of("article", article_ids)
        here |= self._partitions.ids_of("resource", resource_ids)
        await self._place(database, placed, here.difference(passage.id for passage in placed))

    async def _place(self, database: Database, placed: list[passages.Placed], gone: set[int]) -> None:
        missing = self._partitions.misplaced(placed)
        vectors: dict[int, bytes] = {}
        if missing:
            async with database.connection() as connection:
                vectors = await passages.vectors(connection, [passage.id for passage in missing])
        gone = gone.union(passage.id for passage in missing)
        if gone:
            await asyncio.to_thread(self._partitions.change, gone=gone, placed=missing, vectors=vectors)

    # Embedding: what lacks passages gets them

    async def _embed(self, database: Database, chunker: Chunker) -> None:
        """Embed what waits, the newest first. What fails on its own goes last, and holds up nothing."""
        await self._loaded.wait()
        at_once, pause = _ITEMS_AT_ONCE, 1.0
        failed: set[str] = set()
        while True:
            self._to_embed.clear()
            waiting: list[passages.Unindexed] = []
            try:
                async with database.connection() as connection:
                    waiting = await passages.next_unindexed(connection, limit=at_once, skip=list(failed))
                if waiting:
                    await self._embed_some(database, chunker, waiting)
                    at_once, pause = min(at_once * 2, _ITEMS_AT_ONCE), 1.0
            except Exception as error:  # noqa: BLE001  # whatever it was: it is told, and tried again
                self._tell("embedding", "nothing new is found by meaning for now", error)
                if len(waiting) == 1:
                    failed.add(waiting[0].key)
                at_once = 1
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)
                continue
            if not failed:
                self._problems.pop("embedding", None)
            if not waiting:
                failed.clear()
                await _wait(self._to_embed, _POLL_SECONDS)

    async def _embed_some(
        self, database: Database, chunker: Chunker, waiting: Sequence[passages.Unindexed]
    ) -> None:
        """Embed the first of the texts, as many as make a handful of passages, and keep these."""
        cut: list[tuple[passages.Unindexed, list[str]]] = []
        texts: list[str] = []
        for item in waiting:
            pieces = await asyncio.to_thread(chunker.split, item.text)
            if texts and len(texts) + len(pieces) > _PASSAGES_AT_ONCE:
                break
            cut.append((item, pieces))
            texts += pieces
        rows: list[bytes] = []
        if texts:
            matrix = normalised(await self._embedder.embed(texts))
            self._partitions.check(matrix.shape[1])
            rows = [row.astype("<f4").tobytes() for row in matrix]
        vectors = iter(rows)
        for item, pieces in cut:
            made = [(text, next(vectors)) for text in pieces]
            async with database.transaction() as connection:
                await passages.put(connection, item, model=self._embedding.model_name, passages=made)

    def _tell(self, task: str, what: str, error: Exception) -> None:
        expected = isinstance(error, (SignoffError, *GONE))
        why = error_line(error) if expected else logged(error, _log, "the search index")
        self._problems[task] = f"{what}: {why}"
        if expected:
            _log.warning("the search index: %s: %s", what, why)


def _numbers(kind: str, notices: Collection[str]) -> list[int]:
    """The ids in notices `{kind}:{id}`."""
    found = (notice.partition(":") for notice in notices)
    return [int(number) for name, _, number in found if name == kind and number.isdecimal()]


async def _wait(event: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        pass
