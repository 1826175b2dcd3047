"""The agent `scraper`: pages by their addresses, for tools and workflows. Seed 002 §7.2, ScraperAgent.

What needs a browser goes on in the agent `browser`. It keeps nothing: whoever calls keeps what it brings.
"""

import asyncio

from actors.platform.system import AgentDirectory
from actors.systems.knowledge.fetching.turns import ClusterTurns
from actors.systems.knowledge.parsing.page_reading import PageReading
from actors.systems.knowledge.scraping.open_scraper import open_scraper
from actors.systems.knowledge.scraping.scraper import Scraper
from actors.systems.knowledge.scraping.scraping_settings import ScrapingSettings
from models.knowledge.pages import EngineChoice, PageText, ScrapedPage
from models.knowledge.reach import PageReach


class PageScraper:
    """Scrapes pages with the engines of `knowledge.scraping`."""

    def __init__(self, *, settings: ScrapingSettings, directory: AgentDirectory) -> None:
        self._settings = settings
        self._directory = directory
        self._opening = asyncio.Lock()
        self._scraper: Scraper | None = None

    async def scrape(
        self, url: str, engine: EngineChoice = "auto", reach: PageReach | None = None
    ) -> ScrapedPage:
        """What an address came to; it may be written as people write it. It leads no further than `reach`."""
        return await (await self._open()).scrape(url, engine, reach)

    async def read_text(self, page: PageText) -> PageReading:
        """A text that somebody has, without personal data.

        Raises:
            UnreadablePage: it took too long.
        """
        return await (await self._open()).read_text(page)

    async def _open(self) -> Scraper:
        async with self._opening:
            if self._scraper is None:
                # Kept, because what it opens is closed when nobody holds it any more.
                self._engines = open_scraper(
                    self._settings, ClusterTurns(self._directory), browser=self._directory.agent("browser")
                )
                self._scraper = await self._engines.__aenter__()
            return self._scraper
