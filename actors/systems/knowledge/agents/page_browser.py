"""The agent `browser`: a Chromium behind the URL guard, for pages that are made by scripts.

The agent `scraper` asks it. The browser is begun on first use, and anew after so many pages or too much
memory.
"""

from actors.platform.system import AgentDirectory
from actors.systems.knowledge.browsing.browser_engine import BrowserEngine
from actors.systems.knowledge.fetching.fetched_page import FetchedPage
from actors.systems.knowledge.fetching.turns import ClusterTurns
from models.config import OutgoingConfig, ScrapingConfig
from models.knowledge.reach import PageReach


class PageBrowser:
    """Fetches pages as a browser shows them."""

    def __init__(
        self, *, scraping: ScrapingConfig, outgoing: OutgoingConfig, directory: AgentDirectory
    ) -> None:
        self._engine = BrowserEngine(settings=scraping, outgoing=outgoing, turns=ClusterTurns(directory))

    async def fetch(self, url: str, reach: PageReach | None = None) -> FetchedPage:
        """The page; see `BrowserEngine.fetch`. PageFailed where it has none."""
        return await self._engine.fetch(url, reach)
