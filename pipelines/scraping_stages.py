"""The stages of a scraping batch as Ray Data runs them, each a pool of actors with resources of its own.

`PageScraping` fetches by HTTP, `PageBrowsing` goes on with what needs a browser. What a page comes to is kept
in Postgres while its block is under way, so a stage that dies fetches nothing again that it has. A block's
rows leave together, for Ray Data begins a block anew as a whole. One bad page is a row like any other.
"""

import asyncio
import functools
import logging
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from actors.platform import logs, systems
from actors.platform.runtime.directory import Directory
from actors.systems.knowledge.fetching.turns import ClusterTurns
from actors.systems.knowledge.scraping.open_scraper import open_scraper
from actors.systems.knowledge.scraping.scraper import Scraper, page_of
from actors.systems.knowledge.scraping.scraping_settings import ScrapingSettings
from models.config import Config
from models.error_lines import logged
from models.errors import SignoffError
from models.knowledge.pages import EngineChoice, ScrapedPage
from models.store.database import Database
from models.store.knowledge import sources
from pipelines import driver
from pipelines.loop_thread import LoopThread
from pipelines.page_patience import PagePatience
from pipelines.page_turns import PageTurns

_log = logging.getLogger(__name__)
ROLES = f"{systems.__name__}:roles"
# Rows that are kept together, at most, and how long the first of them waits for the others: what is not kept
# when a batch is killed is fetched again.
_ROWS, _SECONDS = 32, 0.2
_LOOK_SECONDS = 1.0
Keep = Callable[[Sequence[ScrapedPage]], Awaitable[None]]


@dataclass(frozen=True)
class ScrapingWork:
    """What a stage works on, and with. `counts`: the batch's `PageCounts`, as a Ray actor."""

    config: Config
    database_url: str
    project_id: int
    batch_id: str
    engine: EngineChoice
    again: bool
    counts: Any


class _Stage:
    """What both stages have: a loop, a database, a scraper, patience, and rows that are settled together.

    Several blocks are under way in one stage at once, each in a thread of Ray Data's; they share all of it.
    """

    def __init__(self, work: ScrapingWork, *, own_browser: bool, at_once: int) -> None:
        logs.begin(work.config.monitoring.logs, process="scraping")
        self._work = work
        self._loop = LoopThread()
        self._turns = PageTurns(
            ClusterTurns(Directory(config=work.config, roles=ROLES, database_url=work.database_url)),
            work.config.knowledge.scraping.politeness,
        )
        self._patience = PagePatience(
            self._turns,
            work.config.outages,
            at_once=at_once,
            longest_wait=work.config.knowledge.scraping.politeness.longest_wait_seconds,
            waits=work.counts.waits.remote,
        )
        self._database, self._scraper = self._loop.run(self._open(own_browser))

    async def _open(self, own_browser: bool) -> tuple[Database, Scraper]:
        work = self._work
        database = driver.patient_database(work.config, work.database_url)
        await database.__aenter__()
        # Kept, because what it opens is closed when nobody holds it any more.
        given = ScrapingSettings.of(work.config)
        self._engines = open_scraper(given, self._turns, own_browser=own_browser)
        return database, await self._engines.__aenter__()

    async def _settle(self, pages: Sequence[ScrapedPage]) -> list[ScrapedPage]:
        """Keep what pages came to, and count it: as they are kept."""
        settled = await settled_by(self._keep, pages)
        self._count(page.fault or "kept" for page in settled)
        return settled

    def _count(self, outcomes: Iterable[str]) -> None:
        if counts := Counter(outcomes):
            self._work.counts.add.remote(dict(counts))

    async def _keep(self, pages: Sequence[ScrapedPage]) -> None:
        work = self._work
        await self._database.write(
            lambda connection: sources.settle(
                connection, project_id=work.project_id, batch_id=work.batch_id, pages=pages
            )
        )


class PageScraping(_Stage):
    """Claims addresses and fetches them by HTTP (or by the engine that was asked for)."""

    def __init__(self, work: ScrapingWork) -> None:
        at_once = work.config.knowledge.scraping.in_flight
        super().__init__(work, own_browser=work.engine == "browser", at_once=at_once)

    def __call__(self, rows: pa.Table) -> pa.Table:
        """A table with `url` in; one with `page` (JSON) and `held` out."""
        return as_table(self._loop.run(self._pages(rows.column("url").to_pylist())))

    async def _pages(self, urls: list[str]) -> list[tuple[ScrapedPage, bool]]:
        came: list[tuple[ScrapedPage, bool]] = []
        while True:
            claims = await self._claim(urls)
            held = await self._held(list(claims.held)) if claims.held else []
            self._count("held" for _ in held)
            came += [(page, True) for page in held]
            async for pages in gathered([asyncio.ensure_future(self._one(url)) for url in claims.ours]):
                came += [(page, False) for page in pages if page.needs_browser]
                settled = await self._settle([page for page in pages if not page.needs_browser])
                came += [(page, False) for page in settled]
            if not (urls := list(claims.elsewhere)):
                return came
            # Another batch is at them: its pages are ours, too, and what it leaves we fetch.
            await asyncio.sleep(_LOOK_SECONDS)

    async def _one(self, url: str) -> ScrapedPage:
        scraper, engine = self._scraper, self._work.engine

        async def ask() -> ScrapedPage:
            return await (scraper.by_http(url) if engine == "auto" else scraper.scrape(url, engine))

        return await self._patience.page(url, ask)

    async def _claim(self, urls: list[str]) -> sources.Claims:
        work = self._work
        return await self._database.write(
            lambda connection: sources.claim(
                connection,
                project_id=work.project_id,
                urls=urls,
                batch_id=work.batch_id,
                again=work.again,
            )
        )

    async def _held(self, urls: list[str]) -> list[ScrapedPage]:
        return [
            page_of(source)
            for source in (
                await self._database.read(
                    lambda connection: sources.by_urls(connection, self._work.project_id, urls)
                )
            ).values()
        ]


class PageBrowsing(_Stage):
    """Goes on, with a browser, with the pages that need one; the others pass."""

    def __init__(self, work: ScrapingWork) -> None:
        # The browser itself bounds its tabs: who waits for a host has none.
        super().__init__(work, own_browser=True, at_once=work.config.knowledge.scraping.in_flight)

    def __call__(self, rows: pa.Table) -> pa.Table:
        """Tables as those of `PageScraping`, in and out."""
        pages = read_table(rows)
        needing = [page for page, _ in pages if page.needs_browser]
        if not needing:
            return rows
        ready = [pair for pair in pages if not pair[0].needs_browser]
        return as_table(ready + self._loop.run(self._pages(needing)))

    async def _pages(self, pages: list[ScrapedPage]) -> list[tuple[ScrapedPage, bool]]:
        came: list[tuple[ScrapedPage, bool]] = []
        async for found in gathered([asyncio.ensure_future(self._one(page)) for page in pages]):
            came += [(page, False) for page in await self._settle(found)]
        return came

    async def _one(self, page: ScrapedPage) -> ScrapedPage:
        return await self._patience.page(page.url, functools.partial(self._scraper.beyond_http, page))


async def settled_by(keep: Keep, pages: Sequence[ScrapedPage]) -> list[ScrapedPage]:
    """Have pages kept together, and as they are kept: where that fails for one of them, it has the fault.

    Raises:
        SignoffError: an outage, which lies with no page.
    """
    if not pages:
        return []
    try:
        await keep(pages)
        return list(pages)
    except Exception as error:
        if isinstance(error, SignoffError) and error.outage:
            raise
        if len(pages) > 1:
            return [settled for page in pages for settled in await settled_by(keep, [page])]
        [page] = pages
        reason = logged(error, _log, f"{page.url} can't be kept")
        broken = ScrapedPage(url=page.url, fault="error", reason=reason)
        # Not even that it is broken, where it can't be kept a second time: then its row alone says it.
        return [broken] if page.fault == "error" else await settled_by(keep, [broken])


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
