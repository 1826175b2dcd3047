"""What a process scrapes with: the engines and the reader of its configuration, opened and closed together.

Agents and batches call it. All of it belongs to the event loop that it is opened in.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from actors.systems.knowledge.browsing.browser_engine import BrowserEngine
from actors.systems.knowledge.fetching.firecrawl_engine import FirecrawlEngine
from actors.systems.knowledge.fetching.http_engine import HttpEngine
from actors.systems.knowledge.fetching.turns import Turns
from actors.systems.knowledge.parsing.page_reader import PageReader
from actors.systems.knowledge.scraping.scraper import FetchesPages, Scraper
from actors.systems.knowledge.scraping.scraping_settings import ScrapingSettings


@asynccontextmanager
async def open_scraper(
    given: ScrapingSettings,
    turns: Turns,
    *,
    own_browser: bool = False,
    browser: FetchesPages | None = None,
) -> AsyncIterator[Scraper]:
    """A scraper.

    Args:
        own_browser: with a browser in this process.
        browser: another one.
    """
    settings, outgoing = given.scraping, given.outgoing
    async with AsyncExitStack() as opened:
        http = HttpEngine(settings=settings, outgoing=outgoing, turns=turns)
        opened.push_async_callback(http.close)
        reader = PageReader(scraping=settings, redaction=given.redaction, pdf=given.pdf)
        opened.push_async_callback(reader.close)
        if own_browser:
            engine = BrowserEngine(settings=settings, outgoing=outgoing, turns=turns)
            opened.push_async_callback(engine.close)
            browser = engine
        firecrawl = None
        if settings.firecrawl is not None:
            firecrawl = FirecrawlEngine(
                api=settings.firecrawl, settings=settings, outgoing=outgoing, turns=turns
            )
            opened.push_async_callback(firecrawl.close)
        yield Scraper(
            http=http,
            reader=reader,
            browser=browser,
            firecrawl=firecrawl,
            allow_internal=outgoing.allow_internal,
        )
