"""The stages of an indexing batch as Ray runs them: sources are cut and embedded, then segments are built.

`PassageEmbedding` is a pool of Ray Data's actors; it keeps each source's passages in Postgres before its row
leaves, so one that dies makes nothing again that it has made. `built_segments` is a task. Neither needs a
secret: where the embedding model is not the site's own, the agent `knowledge_index` asks it.
"""

import asyncio
import functools
import logging
import math
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import pyarrow as pa
import ray

from actors.platform import logs, systems
from actors.platform.runtime import outage
from actors.platform.runtime.directory import NAMESPACE, PREFIX, Directory
from actors.platform.search.embedder import Embedder
from actors.platform.search.encoder import EncoderHere, SentenceEncoder, embeddings_folder
from actors.systems.knowledge.index.building import SegmentBuilder
from actors.systems.knowledge.index.knowledge_index import ROLE
from actors.systems.knowledge.index.passage_embedding import Made, PassageEmbedder
from actors.systems.knowledge.index.source_passages import PassageCutter
from models.config import WITHHELD, Config, OutagesConfig
from models.config.own_endpoints import EMBEDDINGS, own_endpoints
from models.error_lines import error_line, logged
from models.errors import AgentDied, SignoffError
from models.knowledge.passages import IndexSegment, SourceText
from models.store.database import Database
from models.store.knowledge import passages
from pipelines import driver
from pipelines.loop_thread import LoopThread

_log = logging.getLogger(__name__)
ROLES = f"{systems.__name__}:roles"
Outcome = Literal["indexed", "there", "changed", "later", "failed"]
_SCHEMA = pa.schema(
    [("source_id", pa.int64()), ("outcome", pa.string()), ("passages", pa.int64()), ("reason", pa.string())]
)


@dataclass(frozen=True)
class IndexingWork:
    """What a stage works on, and with."""

    config: Config
    database_url: str
    project_id: int


class IndexedRow(NamedTuple):
    """What a source came to. `changed`: it was fetched anew meanwhile, or is gone."""

    source_id: int
    outcome: Outcome
    passages: int = 0
    reason: str | None = None


def cutter_of(config: Config) -> PassageCutter:
    """How this site's sources are cut."""
    return PassageCutter(settings=config.article_generation.knowledge_base, embedding=config.embedding)


class PassageEmbedding:
    """Makes the passages of sources, many sources together, and keeps them."""

    def __init__(self, work: IndexingWork) -> None:
        config = work.config
        logs.begin(config.monitoring.logs, process="indexing")
        self._loop = LoopThread()
        cutter = cutter_of(config)
        embedder = _Patient(embedder_of(config, work.database_url), config.outages)
        self._maker = PassageEmbedder(cutter=cutter, embedder=embedder)
        self._database = self._loop.run(self._open(work))

    async def _open(self, work: IndexingWork) -> Database:
        return await driver.patient_database(work.config, work.database_url).__aenter__()

    def close(self) -> None:
        """Let go of the database; Ray's actors end without it."""
        self._loop.run(self._database.__aexit__(None, None, None))

    def __call__(self, rows: pa.Table) -> Iterator[pa.Table]:
        """A table with `ids` in, a list of sources' ids in each row; tables of `IndexedRow` out."""
        for ids in rows.column("ids").to_pylist():
            yield from map(as_table, self._loop.each(functools.partial(self._rows, ids), ahead=2))

    async def _rows(self, ids: list[int]) -> AsyncIterator[list[IndexedRow]]:
        made_with = self._maker.made_with
        sources = await self._database.read(lambda connection: passages.texts(connection, ids, made_with))
        left = {source.id for source in sources}
        if there := [IndexedRow(id_, "there") for id_ in ids if id_ not in left]:
            yield there
        # What was made is kept while the next is made.
        keeping: asyncio.Task[list[IndexedRow]] | None = None
        try:
            async for group in self._maker.made(sources):
                if keeping is not None:
                    yield await keeping
                left.difference_update(source.id for source, _ in group)
                keeping = asyncio.create_task(self._keep(group))
        except SignoffError as error:  # an outage that outlasted patience
            yield [IndexedRow(id_, "later", reason=error_line(error)) for id_ in sorted(left)]
        if keeping is not None:
            yield await keeping

    async def _keep(self, group: Sequence[Made]) -> list[IndexedRow]:
        rows = []
        for source, made in group:
            if isinstance(made, Exception):
                why = logged(made, _log, f"source {source.id} can't be indexed")
                rows.append(IndexedRow(source.id, "failed", reason=why))
                continue

            async def keep(source: SourceText = source, made: Made = (source, made)) -> bool:
                assert not isinstance(made[1], Exception)
                async with self._database.transaction() as connection:
                    return await passages.keep(
                        connection, source, made_with=self._maker.made_with, passages=made[1]
                    )

            try:
                kept = await self._database.steadily(keep)
            except Exception as error:  # noqa: BLE001  # one source's trouble ends no other
                why = logged(error, _log, f"the passages of source {source.id} can't be kept")
                rows.append(IndexedRow(source.id, "failed", reason=why))
                continue
            rows.append(IndexedRow(source.id, "indexed" if kept else "changed", len(made) if kept else 0))
        return rows


def as_table(rows: Sequence[IndexedRow]) -> pa.Table:
    """Rows on their way to the driver."""
    return pa.Table.from_pylist([row._asdict() for row in rows], schema=_SCHEMA)


def built_segments(work: IndexingWork, made_with: str, threads: int) -> Iterator[IndexSegment]:
    """Bring the project's index up to date; each segment that is made."""
    loop = LoopThread()

    async def build() -> AsyncIterator[IndexSegment]:
        async with driver.patient_database(work.config, work.database_url) as database:
            builder = SegmentBuilder(
                settings=work.config.knowledge.index,
                database=database,
                made_with=made_with,
                threads=threads,
            )
            async for segment in builder.build(work.project_id):
                yield segment

    yield from loop.each(build, ahead=1)


def embedder_of(config: Config, database_url: str) -> Embedder:
    """The site's own model in this process; another one by the agent that knows its endpoint's key."""
    own = own_endpoints(config.model_dump(mode="json"), {"withheld": True})
    served = config.serving.embeddings
    if served is not None and own.opens(config.embedding.api_base, EMBEDDINGS):
        threads = max(1, math.floor(config.knowledge.index.embedders.num_cpus))
        return EncoderHere(SentenceEncoder(embeddings_folder(served.source), threads))
    return _ByAgent(config, database_url)


class _ByAgent:
    """The agent `knowledge_index`, as an embedder."""

    def __init__(self, config: Config, database_url: str) -> None:
        self._agent = Directory(config=config, roles=ROLES, database_url=database_url).agent(ROLE)
        # Started from here it would have no key: then it must be there.
        self._must_be_there = config.embedding.api_key.get_secret_value() == WITHHELD

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """See `Embedder`."""
        if self._must_be_there:
            await asyncio.to_thread(_check_there)
        vectors: list[list[float]] = await self._agent.embed(list(texts))
        return vectors


def _check_there() -> None:
    try:
        ray.get_actor(f"{PREFIX}{ROLE}:0", namespace=NAMESPACE)
    except ValueError as error:
        raise AgentDied(
            f"the agent {ROLE}, which asks the embedding model's endpoint, does not run: search the project "
            "once, or submit with --config",
            waits_for=f"agent {ROLE}",
        ) from error


class _Patient:
    """An embedder that waits while its model is away."""

    def __init__(self, embedder: Embedder, settings: OutagesConfig) -> None:
        self._embedder = embedder
        self._settings = settings

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """See `Embedder`. Raises what is an outage when patience is over."""
        began = time.monotonic()
        while True:
            try:
                return await self._embedder.embed(texts)
            except SignoffError as error:
                pause = outage.pause_seconds(time.monotonic() - began, self._settings)
                if not error.outage or pause is None:
                    raise
                _log.warning("the embedding waits for %s: %s", outage.waits_for(error), error_line(error))
            await asyncio.sleep(pause)
