"""A batch of knowledge as a process of the campaign: pages are scraped into a project, indexed and extracted.

All three are the product's own, one after the other, less Ray: their stages work in this process, and hosts'
turns are played. It leaves its exit code once all three came to 0; whoever submitted it submits it again
until then, as after its death.
"""

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import ray.exceptions

from actors.platform.search.embedder import OpenAIEmbedder
from actors.platform.system import AgentDirectory
from models.config import Config
from models.knowledge.pages import ScrapedPage
from pipelines import index_knowledge_base, indexing_stages, scrape_urls, scraping_stages
from pipelines.extract_knowledge import extract
from pipelines.indexing_stages import IndexingWork, PassageEmbedding, built_segments
from pipelines.pipeline import BatchOptions
from pipelines.progress import say
from pipelines.scrape_urls import ScrapingOptions
from pipelines.scraping_stages import PageScraping, ScrapingWork, read_table
from pipelines.thread_items import thread_items
from pipelines.url_files import UrlRow
from tests.fakes.outside.open_turns import OpenTurns
from tests.faults.site.configuring import BATCH_SECONDS
from tests.faults.site.driver import crash_file, exit_file, is_explained, unwritten_file

TOPIC = "macro"
_SUBMITTER = "ann"
_ORDER = "order.json"
# So few that a batch dies between them.
_PAGES_AT_ONCE, _SOURCES_AT_ONCE = 2, 1


@dataclass(frozen=True)
class KnowledgeOrder:
    """What is to be read: a project by its name, addresses, and where the Parquet file goes."""

    project: str
    urls: tuple[str, ...]
    output: str


def put_order(folder: Path, order: KnowledgeOrder) -> None:
    """Write down what a driver over a folder is to do."""
    folder.mkdir(parents=True)
    (folder / _ORDER).write_text(json.dumps(asdict(order)), encoding="utf-8")


def drive(folder: Path, config: Config, database_url: str, directory: AgentDirectory) -> None:
    """Carry the three batches to their ends, until one comes to another exit code than 0, and leave a 0."""
    _be_without_ray()
    order = json.loads((folder / _ORDER).read_text(encoding="utf-8"))
    project = order["project"]

    async def scraped() -> int:
        options = ScrapingOptions(
            project=project,
            topic=TOPIC,
            engine="http",
            output=order["output"],
            again=False,
            submitter=_SUBMITTER,
        )
        rows = [UrlRow(url=url) for url in order["urls"]]
        return await scrape_urls.scrape(rows, config, database_url, options, root=folder)

    async def indexed() -> int:
        return await index_knowledge_base.index(
            config, database_url, project=project, topic=TOPIC, requested_by=_SUBMITTER
        )

    async def extracted() -> int:
        wishes = BatchOptions(submitter=_SUBMITTER, force=False, at_once=2)
        return await extract(config, database_url, wishes, directory, project=project, topic=TOPIC)

    batches: tuple[Callable[[], Coroutine[Any, Any, int]], ...] = (scraped, indexed, extracted)
    try:
        is_to_be_done_again = any(asyncio.run(batch()) for batch in batches)
    except Exception as error:
        if isinstance(error, OSError) and not isinstance(error, (TimeoutError, ConnectionError)):
            unwritten_file(folder).touch()
        if not is_explained(error):
            with open(crash_file(folder), "a", encoding="utf-8") as file:
                file.write(f"{type(error).__name__}: {error}\n")
        raise
    if not is_to_be_done_again:
        exit_file(folder).write_text("0", encoding="utf-8")


def _be_without_ray() -> None:
    """Put what works in this process where Ray is called, and leases that a campaign can wait for."""
    for module, name, other in (
        (scrape_urls, "_LEASE_SECONDS", BATCH_SECONDS),
        (scrape_urls, "ray", SimpleNamespace(remote=_Actor, exceptions=ray.exceptions)),
        (scrape_urls, "_tables", _tables),
        (scraping_stages, "ClusterTurns", lambda directory: OpenTurns()),
        (index_knowledge_base, "_LEASE_SECONDS", BATCH_SECONDS),
        (index_knowledge_base, "_rows", _rows),
        (index_knowledge_base, "_build", _build),
        (index_knowledge_base, "_wanting", lambda config: None),
        (indexing_stages, "embedder_of", _embedder),
    ):
        assert hasattr(module, name)
        setattr(module, name, other)


def _tables(urls: Sequence[str], work: ScrapingWork) -> Iterator[list[tuple[ScrapedPage, bool]]]:
    stage = PageScraping(work)
    for first in range(0, len(urls), _PAGES_AT_ONCE):
        yield read_table(stage(pa.table({"url": list(urls[first : first + _PAGES_AT_ONCE])})))


def _rows(groups: Sequence[list[int]], work: IndexingWork) -> Iterator[list[dict[str, Any]]]:
    stage = PassageEmbedding(work)
    ids = [id_ for group in groups for id_ in group]
    for first in range(0, len(ids), _SOURCES_AT_ONCE):
        for table in stage(pa.table({"ids": [ids[first : first + _SOURCES_AT_ONCE]]})):
            yield table.to_pylist()


async def _build(work: IndexingWork, made_with: str) -> None:
    async for segment in thread_items(lambda: built_segments(work, made_with, 1)):
        say(f"segment {segment.id} built")


def _embedder(config: Config, database_url: str) -> OpenAIEmbedder:
    return OpenAIEmbedder(settings=config.embedding, breaker=config.outages.breaker)


class _Actor:
    """A Ray actor that lives here, from its class on: `.options(…).remote()`, then `.verb.remote(…)`."""

    def __init__(self, kind: type) -> None:
        self._kind = kind

    def options(self, **_: Any) -> "_Actor":
        """There are no resources."""
        return self

    def remote(self) -> SimpleNamespace:
        """The actor."""
        one = self._kind()
        verbs = [name for name in vars(self._kind) if not name.startswith("_")]
        return SimpleNamespace(
            **{name: SimpleNamespace(remote=_answering(getattr(one, name))) for name in verbs}
        )


def _answering(verb: Callable[..., Any]) -> Callable[..., "_Answer"]:
    return lambda *given: _Answer(verb(*given))


class _Answer:
    """What a verb has answered, to be awaited or not."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __await__(self) -> Iterator[Any]:
        return self._value
        yield
