"""The stages of a scraping batch as Ray Data runs them, each a pool of actors with resources of its own.

`PageScraping` fetches by HTTP, `PageBrowsing` goes on with what needs a browser. What a page comes to is kept
in Postgres before its row leaves the stage, so a stage that dies fetches nothing again that it has. One bad
page is a row like any other.
"""

import asyncio
import functools
import logging
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import pyarrow as pa

from actors import systems
from actors.knowledge.fetching.turns import ClusterTurns
from actors.knowledge.scraping.open_scraper import open_scraper
from actors.knowledge.scraping.scraper import Scraper
from actors.knowledge.scraping.scraping_settings import ScrapingSettings
from actors.knowledge.scraping.source_pages import page_of
from actors.runtime.directory import Directory
from models.config import Config
from models.error_lines import error_line, logged
from models.errors import SignoffError
from models.knowledge.pages import EngineChoice, ScrapedPage
from models.knowledge.sources import KnowledgeSource
from models.store.database import Database
from models.store.knowledge import sources
from pipelines import driver
from pipelines.loop_thread import LoopThread

_log = logging.getLogger(__name__)
ROLES = f"{systems.__name__}:roles"
# Rows that are kept together and leave a stage, at most, and how long the first of them waits for the others:
# what is not kept when a batch is killed is fetched again.
_ROWS, _SECONDS = 32, 0.2
_LOOK_SECONDS = 1.0


@dataclass(frozen=True)
class ScrapingWork:
    """What a stage works on, and with."""

    config: Config
    database_url: str
    project_id: int
    batch_id: str
    engine: EngineChoice
    again: bool


class _Stage:
    """What both stages have: a loop, a database, a scraper, and rows that are settled together."""

    def __init__(self, work: ScrapingWork, *, own_browser: bool) -> None:
        self._work = work
        self._loop = LoopThread()
        self._database, self._scraper = self._loop.run(self._open(own_browser))

    async def _open(self, own_browser: bool) -> tuple[Database, Scraper]:
        work = self._work
        database = driver.patient_database(work.config, work.database_url)
        await database.__aenter__()
        directory = Directory(config=work.config, roles=ROLES, database_url=work.database_url)
        # Kept, because what it opens is closed when nobody holds it any more.
        given = ScrapingSettings.of(work.config)
        self._engines = open_scraper(given, ClusterTurns(directory), own_browser=own_browser)
        return database, await self._engines.__aenter__()

    async def _settle(self, pages: list[ScrapedPage]) -> None:
        work = self._work

        async def keep() -> None:
            async with self._database.transaction() as connection:
                await sources.settle(
                    connection, project_id=work.project_id, batch_id=work.batch_id, pages=pages
                )

        if pages:
            await self._database.steadily(keep)


class PageScraping(_Stage):
    """Claims addresses and fetches them by HTTP (or by the engine that was asked for)."""

    def __init__(self, work: ScrapingWork) -> None:
        super().__init__(work, own_browser=work.engine == "browser")

    def __call__(self, rows: pa.Table) -> Iterator[pa.Table]:
        """A table with `url` in; tables with `page` (JSON) and `held` out, as pages come in."""
        urls = rows.column("url").to_pylist()
        yield from map(as_table, self._loop.each(functools.partial(self._pages, urls), ahead=2))

    async def _pages(self, urls: list[str]) -> AsyncIterator[list[tuple[ScrapedPage, bool]]]:
        at_once = asyncio.Semaphore(self._work.config.knowledge.scraping.in_flight)

        async def one(url: str) -> ScrapedPage:
            async with at_once:
                return await _scraped(self._scraper, url, self._work.engine)

        while True:
            claims = await self._claim(urls)
            if held := await self._held(list(claims.held)):
                yield [(page, True) for page in held]
            async for pages in gathered([asyncio.ensure_future(one(url)) for url in claims.ours]):
                await self._settle([page for page in pages if not page.needs_browser])
                yield [(page, False) for page in pages]
            if not (urls := list(claims.elsewhere)):
                return
            # Another batch is at them: its pages are ours, too, and what it leaves we fetch.
            await asyncio.sleep(_LOOK_SECONDS)

    async def _claim(self, urls: list[str]) -> sources.Claims:
        work = self._work

        async def claim() -> sources.Claims:
            async with self._database.transaction() as connection:
                return await sources.claim(
                    connection,
                    project_id=work.project_id,
                    urls=urls,
                    batch_id=work.batch_id,
                    again=work.again,
                )

        return await self._database.steadily(claim)

    async def _held(self, urls: list[str]) -> list[ScrapedPage]:
        async def look() -> dict[str, KnowledgeSource]:
            async with self._database.connection() as connection:
                return await sources.by_urls(connection, self._work.project_id, urls)

        return [page_of(source) for source in (await self._database.steadily(look)).values()]


class PageBrowsing(_Stage):
    """Goes on, with a browser, with the pages that need one; the others pass."""

    def __init__(self, work: ScrapingWork) -> None:
        super().__init__(work, own_browser=True)

    def __call__(self, rows: pa.Table) -> Iterator[pa.Table]:
        """Tables as those of `PageScraping`, in and out."""
        pages = read_table(rows)
        ready = [pair for pair in pages if not pair[0].needs_browser]
        if ready:
            yield as_table(ready)
        needing = [page for page, _ in pages if page.needs_browser]
        if needing:
            yield from map(as_table, self._loop.each(functools.partial(self._pages, needing), ahead=2))

    async def _pages(self, pages: list[ScrapedPage]) -> AsyncIterator[list[tuple[ScrapedPage, bool]]]:
        at_once = asyncio.Semaphore(self._work.config.knowledge.scraping.browser.tabs)

        async def one(page: ScrapedPage) -> ScrapedPage:
            async with at_once:
                try:
                    return await self._scraper.beyond_http(page)
                except Exception as error:  # noqa: BLE001  # one page's trouble ends no other
                    return _broken(page.url, error)

        async for found in gathered([asyncio.ensure_future(one(page)) for page in pages]):
            await self._settle(found)
            yield [(page, False) for page in found]


async def gathered(tasks: list["asyncio.Future[ScrapedPage]"]) -> AsyncIterator[list[ScrapedPage]]:
    """What comes of tasks, in groups as they end; they are cancelled when nobody wants the rest."""
    waiting = set(tasks)
    ready: list[ScrapedPage] = []
    until: float | None = None
    clock = asyncio.get_running_loop().time
    try:
        while waiting:
            left = None if until is None else max(until - clock(), 0.0)
            done, waiting = await asyncio.wait(waiting, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            ready += [task.result() for task in done]
            until = until or clock() + _SECONDS
            if len(ready) >= _ROWS or not waiting or clock() >= until:
                yield ready
                ready, until = [], None
    finally:
        for task in waiting:
            task.cancel()


def as_table(pages: list[tuple[ScrapedPage, bool]]) -> pa.Table:
    """Pages on their way between stages."""
    return pa.table(
        {"page": [page.model_dump_json() for page, _ in pages], "held": [held for _, held in pages]},
        schema=pa.schema([("page", pa.string()), ("held", pa.bool_())]),
    )


def read_table(rows: pa.Table) -> list[tuple[ScrapedPage, bool]]:
    """What `as_table` has made."""
    texts, held = rows.column("page").to_pylist(), rows.column("held").to_pylist()
    return [(ScrapedPage.model_validate_json(text), was) for text, was in zip(texts, held, strict=True)]


async def _scraped(scraper: Scraper, url: str, engine: EngineChoice) -> ScrapedPage:
    try:
        return await scraper.by_http(url) if engine == "auto" else await scraper.scrape(url, engine)
    except Exception as error:  # noqa: BLE001  # one page's trouble ends no other
        return _broken(url, error)


def _broken(url: str, error: Exception) -> ScrapedPage:
    away = isinstance(error, SignoffError) and error.outage
    reason = error_line(error) if away else logged(error, _log, f"{url} can't be scraped")
    return ScrapedPage(url=url, fault="later" if away else "error", reason=reason)
