"""Scrapy on the same pages, in a process of its own: what people crawl with who want it polite and in Python.

    python -m benchmarks.contestants.scrapy_peer --config FILE --urls FILE --url URL --output FILE [--apart]

It reads pages by the very function that Signoff's readers call (main text, title, date, language, links,
personal data taken out), keeps them in the same tables of Postgres, in groups of as many, and writes the
same Parquet rows. Delay, pages at once, robots.txt, retries and time are the configuration's. Pages are read
in its callback, in its own process; with `--apart` in a process of their own, as Signoff reads them.

What it does not do: judge pages (walls, empty shells), go on after it was killed, guard addresses, keep the
rate for several machines.
"""

import hashlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import pyarrow.fs
import scrapy
import typer
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.spidermiddlewares.httperror import HttpError

from actors.platform.systems import load
from actors.systems.knowledge.parsing.page_reading import PageReading, read_html_page
from actors.systems.knowledge.parsing.reading_pool import ReadingPool
from models.config import Config
from models.knowledge.pages import PageFault, ScrapedPage
from models.store.database import Database
from models.store.knowledge import sources
from models.store.runtime import batches
from pipelines.page_table import PageTable
from pipelines.site_options import named_project

# As many as leave a stage of Signoff's together, at most.
_TOGETHER = 32
_PAGE_BYTES = 20_000
_LEASE_SECONDS = 7200.0  # nobody renews it


class PageSpider(scrapy.Spider):
    """Asks for each address once, and reads what comes."""

    name = "pages"

    def __init__(self, *, config: Config, urls: list[str], apart: bool, **more: Any) -> None:
        super().__init__(**more)
        self._redaction = config.knowledge.redaction
        self._urls = urls
        given = config.knowledge.scraping
        self._pool = ReadingPool(readers=given.readers, seconds=given.reading_seconds) if apart else None

    async def start(self) -> AsyncIterator[scrapy.Request]:
        """The addresses in their order."""
        for url in self._urls:
            yield scrapy.Request(url, callback=self.read, errback=self.fail)

    async def read(self, response: Response) -> AsyncIterator[dict[str, Any]]:
        """What is in a page."""
        header = response.headers.get("Content-Type")
        content_type = header.decode("latin-1") if header else None
        kinds, names = self._redaction.kinds, self._redaction.names_model
        arguments = (response.body, response.url, content_type, kinds, names)
        if self._pool is None:
            reading = read_html_page(*arguments)
        else:
            reading = await self._pool.read(read_html_page, *arguments, shape=PageReading)
        page = ScrapedPage(
            url=response.request.url if response.request else response.url,
            final_url=response.url,
            engine="http",
            status=response.status,
            fetched_at=datetime.now(UTC),
            content_type=content_type,
            sha256=hashlib.sha256(response.body).hexdigest(),
            bytes=len(response.body),
            page=reading.page,
            redacted=reading.redacted,
        )
        yield {"page": page}

    async def fail(self, failure: Any) -> AsyncIterator[dict[str, Any]]:
        """Why there is none."""
        fault: PageFault = "unreachable"
        if failure.check(HttpError):
            fault = "later" if failure.value.response.status in (429, 503) else "http_error"
        elif failure.check(IgnoreRequest):
            fault = "refused_by_robots"
        yield {"page": ScrapedPage(url=failure.request.url, fault=fault, reason=str(failure.value)[:200])}

    async def close_readers(self) -> None:
        """End the readers, where there are some."""
        if self._pool is not None:
            await self._pool.close()


class PageKeeper:
    """Scrapy's item pipeline: pages into Postgres and into a Parquet file, so many together."""

    def __init__(self, crawler: Any) -> None:
        self._crawler = crawler
        self._waiting: list[ScrapedPage] = []
        self._opened = AsyncExitStack()

    @classmethod
    def from_crawler(cls, crawler: Any) -> "PageKeeper":
        """As Scrapy makes it."""
        return cls(crawler)

    async def open_spider(self) -> None:
        """Make the project and the batch, and open the file."""
        settings, opened = self._crawler.settings, self._opened
        config: Config = settings["KEEPER_CONFIG"]
        database = Database(url=settings["KEEPER_URL"], pool_size=config.database.pool_size)
        self._database = await opened.enter_async_context(database)
        project = await named_project(database, config, project="P", topic="macro", make_as="bench")
        assert project is not None
        self._project_id = project.id
        self._batch_id = await batches.begin(database, requested_by="bench", lease_seconds=_LEASE_SECONDS)
        output = settings["KEEPER_OUTPUT"]
        self._table = opened.enter_context(PageTable(pyarrow.fs.LocalFileSystem(), output))

    async def process_item(self, item: dict[str, Any]) -> dict[str, Any]:
        """Keep a page, with others."""
        self._waiting.append(item["page"])
        if len(self._waiting) >= _TOGETHER:
            await self._keep()
        return item

    async def close_spider(self) -> None:
        """Keep the rest."""
        await self._keep()
        await self._crawler.spider.close_readers()
        await self._opened.aclose()

    async def _keep(self) -> None:
        pages, self._waiting = self._waiting, []
        if not pages:
            return
        async with self._database.transaction() as connection:
            urls = [page.url for page in pages]
            await sources.claim(connection, project_id=self._project_id, urls=urls, batch_id=self._batch_id)
            await sources.settle(
                connection, project_id=self._project_id, batch_id=self._batch_id, pages=pages
            )
        self._table.add([(page, False) for page in pages])


def main(
    config: Annotated[Path, typer.Option()],
    urls: Annotated[Path, typer.Option(help="A line each.")],
    url: Annotated[str, typer.Option(help="Of the database.")],
    output: Annotated[Path, typer.Option(help="The Parquet file.")],
    apart: Annotated[bool, typer.Option("--apart", help="Read in a process apart.")] = False,
) -> None:
    """Crawl the addresses of a file."""
    given = load(config, root=config.parent)
    scraping = given.knowledge.scraping
    at_once = scraping.in_flight * given.agent("scraper").replicas
    crawling = AsyncCrawlerProcess(
        {
            "USER_AGENT": scraping.user_agent,
            "ROBOTSTXT_OBEY": True,
            "DOWNLOAD_DELAY": scraping.politeness.delay_seconds,
            "DOWNLOAD_DELAY_JITTER": 0,  # as long as the delay at least
            "CONCURRENT_REQUESTS": at_once,
            # Signoff's pages at once are also those that are being read; here they are told in bytes.
            "SCRAPER_SLOT_MAX_ACTIVE_SIZE": at_once * _PAGE_BYTES,
            "DOWNLOAD_TIMEOUT": scraping.timeout_seconds,
            "DOWNLOAD_MAXSIZE": scraping.max_bytes,
            "RETRY_TIMES": scraping.politeness.retries,
            "COOKIES_ENABLED": False,
            "TELNETCONSOLE_ENABLED": False,
            "LOG_LEVEL": "ERROR",
            "ITEM_PIPELINES": {PageKeeper: 300},
            "KEEPER_CONFIG": given,
            "KEEPER_URL": url,
            "KEEPER_OUTPUT": str(output),
        }
    )
    lines = urls.read_text(encoding="ascii").split()
    crawling.crawl(PageSpider, config=given, urls=lines, apart=apart)
    crawling.start()


if __name__ == "__main__":
    typer.run(main)
