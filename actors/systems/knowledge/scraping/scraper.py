"""The scraper: a page by its address, read, judged, and free of personal data; whatever engine it takes.

The tool `scrape_urls` and the batch call it. `auto` begins with `http` and goes on to the browser, and to
Firecrawl where that is configured, when the page needs it. A page's fault is an answer, never an error: one
bad page is in nobody's way.
"""

import hashlib
import logging
from typing import Protocol

from actors.platform.web.page_urls import page_url
from actors.systems.knowledge.fetching.fetched_page import FetchedPage
from actors.systems.knowledge.parsing.page_reading import PageReading, UnreadablePage
from actors.systems.knowledge.parsing.page_signs import PageSigns
from actors.systems.knowledge.scraping.block_detection import KEEP, verdict
from models.errors import BrowserUnavailable, PageFailed
from models.knowledge.pages import EngineChoice, PageFault, PageText, ScrapedPage
from models.knowledge.reach import PageReach
from models.knowledge.sources import KnowledgeSource

_log = logging.getLogger("signoff.scraper")

_MOST_REFRESHES = 3
# How much longer a browser's text must be than what was there without it.
_MORE = 1.3
_SAID_BY_THE_PAGE = frozenset[PageFault | None](("not_found", "login", "consent"))
_OF_THE_ENGINE = frozenset[PageFault | None](("unreachable", "timeout", "later", "error", "http_error"))

_SHARED = set(ScrapedPage.model_fields) & set(KnowledgeSource.model_fields)
_OF_TEXT = set(PageText.model_fields)


class FetchesPages(Protocol):
    """The seam to an engine."""

    async def fetch(self, url: str, reach: PageReach | None = None) -> FetchedPage:
        """The page, or PageFailed; with `reach`, nothing is asked for beyond that."""
        ...


class ReadsPages(Protocol):
    """The seam to what reads pages; see `actors.systems.knowledge.parsing.page_reader.PageReader`."""

    async def read(self, page: FetchedPage) -> PageReading:
        """What is in a page, or UnreadablePage."""
        ...

    async def read_text(self, page: PageText) -> PageReading:
        """What is text already, without personal data."""
        ...


class Scraper:
    """Scrapes pages. `browser` and `firecrawl` absent: there is none, or others go on from here.

    Args:
        allow_internal: as in `outgoing.allow_internal`.
    """

    def __init__(
        self,
        *,
        http: FetchesPages,
        reader: ReadsPages,
        browser: FetchesPages | None = None,
        firecrawl: FetchesPages | None = None,
        allow_internal: tuple[str, ...] = (),
    ) -> None:
        self._engines = {"http": http, "browser": browser, "firecrawl": firecrawl}
        self._reader = reader
        self._allow_internal = allow_internal

    async def scrape(
        self, url: str, engine: EngineChoice = "auto", reach: PageReach | None = None
    ) -> ScrapedPage:
        """The page at `url`, an address in its one form, or the fault that it came to.

        Args:
            reach: how far it may lead; absent: wherever the URL guard lets it.
        """
        if engine != "auto":
            return await self._by(engine, url, reach)
        page = await self.by_http(url, reach)
        return await self.beyond_http(page, reach) if page.needs_browser else page

    async def read_text(self, page: PageText) -> PageReading:
        """A text that somebody has, as the text of a page is kept: without personal data."""
        return await self._reader.read_text(page)

    async def by_http(self, url: str, reach: PageReach | None = None) -> ScrapedPage:
        """The first part of `auto`: where the page needs a browser, it says so."""
        return await self._by("http", url, reach)

    async def beyond_http(self, page: ScrapedPage, reach: PageReach | None = None) -> ScrapedPage:
        """Go on with a page that a browser might say more of; as it is, where none does.

        A browser that does not start is none: what there is stays, and its reason says what is missing.
        """
        best = page
        # Firecrawl goes wherever a page leads.
        for engine in ("browser", "firecrawl") if reach is None else ("browser",):
            if self._engines[engine] is not None:
                try:
                    best = _better(best, await self._by(engine, page.url, reach))
                except BrowserUnavailable as error:
                    _log.warning("%s is as it was without a browser: %s", page.url, error)
                    if best.page is None:
                        best = best.model_copy(update={"reason": f"{best.reason}; {error}"})
                if best.page is not None or best.fault in _SAID_BY_THE_PAGE:
                    break
        return best.model_copy(update={"needs_browser": False})

    async def _by(self, engine: str, url: str, reach: PageReach | None) -> ScrapedPage:
        fetches = self._engines[engine]
        if fetches is None:
            return _failed(url, PageFailed(f"there is no engine {engine} here", fault="error"))
        try:
            at = page_url(url, allow_internal=self._allow_internal)
            if reach is not None:
                reach.check(at)
            return await self._fetched_and_read(fetches, url, at, reach)
        except PageFailed as failed:
            return _failed(url, failed)

    async def _fetched_and_read(
        self, engine: FetchesPages, url: str, at: str, reach: PageReach | None
    ) -> ScrapedPage:
        for _ in range(_MOST_REFRESHES + 1):
            fetched = await engine.fetch(at, reach)
            if reach is not None:
                reach.check(fetched.url)
            try:
                reading = await self._reader.read(fetched)
            except UnreadablePage as unreadable:
                if fetched.status < 400:
                    return _page(url, fetched, fault=unreadable.fault, reason=str(unreadable))
                reading = PageReading()  # its status says enough
            target = reading.signs.refresh if reading.signs else None
            if target is None or fetched.engine != "http" or len(reading.text) > 400:
                break
            at = page_url(target, base=fetched.url, allow_internal=self._allow_internal)
            if at == fetched.url:
                break
            if reach is not None:
                reach.check(at)
        return _judged(url, fetched, reading)


def _judged(url: str, fetched: FetchedPage, reading: PageReading) -> ScrapedPage:
    if reading.signs is None and fetched.status < 400:  # no HTML: what is there, is there
        found = KEEP if reading.text.strip() else KEEP._replace(fault="no_text", reason="it holds no text")
    else:
        found = verdict(
            status=fetched.status,
            url=fetched.url,
            asked=url,
            engine=fetched.engine,
            signs=reading.signs or PageSigns(),
            text=reading.text,
        )
    if found.fault is None:
        return _page(url, fetched, page=reading.page, redacted=reading.redacted, needs_browser=found.browser)
    return _page(url, fetched, fault=found.fault, reason=found.reason, needs_browser=found.browser)


def _better(before: ScrapedPage, after: ScrapedPage) -> ScrapedPage:
    """Which of two engines is believed: a later one only where it says more, or why there is nothing."""
    if after.page is not None:
        more = before.page is None or len(after.page.text) > _MORE * len(before.page.text)
        return after if more else before
    if before.page is not None:
        return after if after.fault in _SAID_BY_THE_PAGE else before
    # What the page said over HTTP is worth more than that the browser could not have it.
    return before if after.fault in _OF_THE_ENGINE and before.fault != "no_text" else after


def _page(url: str, fetched: FetchedPage, **facts: object) -> ScrapedPage:
    return ScrapedPage.model_validate(
        {
            "url": url,
            "final_url": fetched.url,
            "engine": fetched.engine,
            "status": fetched.status,
            "fetched_at": fetched.fetched_at,
            "content_type": fetched.content_type,
            "sha256": hashlib.sha256(fetched.body).hexdigest(),
            "bytes": len(fetched.body),
            **facts,
        }
    )


def _failed(url: str, failed: PageFailed) -> ScrapedPage:
    return ScrapedPage(
        url=url,
        fault=failed.facts["fault"],
        reason=str(failed),
        retry_after_seconds=failed.facts.get("retry_after_seconds"),
    )


def page_of(source: KnowledgeSource) -> ScrapedPage:
    """The page, with its text where there is one."""
    text = None
    if source.text is not None:
        text = PageText.model_validate(source.model_dump(include=_OF_TEXT))
    return ScrapedPage(**source.model_dump(include=_SHARED), page=text)
