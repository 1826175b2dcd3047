"""The engine `browser`: a page as its scripts make it, in its turn and as robots.txt allows.

The batch's browsers and the agent `browser` have one each. A page takes one turn of its host; what it loads
of its own follows at once, as in anybody's browser, and no part of it that robots.txt closes. While a host
makes its page wait, the page holds no tab: a slow host is in no other's way.
"""

from datetime import UTC, datetime

from actors.platform.system import AgentDirectory
from actors.systems.knowledge.browsing.browser import Browser
from actors.systems.knowledge.fetching.fetched_page import FetchedPage
from actors.systems.knowledge.fetching.turns import (
    ClusterTurns,
    Refusals,
    Turns,
    granted_or_raised,
    take_turn,
)
from models.config import OutgoingConfig, ScrapingConfig
from models.knowledge.reach import PageReach

# For how long a tab that is ready is kept for its host's turn: a few turns of a usual host.
_SECONDS_AT_A_TAB = 3.0


class PageBrowser:
    """Fetches pages as a browser shows them."""

    def __init__(
        self, *, scraping: ScrapingConfig, outgoing: OutgoingConfig, directory: AgentDirectory
    ) -> None:
        self._engine = BrowserEngine(settings=scraping, outgoing=outgoing, turns=ClusterTurns(directory))

    async def fetch(self, url: str, reach: PageReach | None = None) -> FetchedPage:
        """The page; see `BrowserEngine.fetch`. PageFailed where it has none."""
        return await self._engine.fetch(url, reach)


class BrowserEngine:
    """Fetches pages by a browser, which is begun with the first of them. Use it in one event loop."""

    def __init__(self, *, settings: ScrapingConfig, outgoing: OutgoingConfig, turns: Turns) -> None:
        self._settings = settings
        self._outgoing = outgoing
        self._turns = turns
        self._refusals = Refusals(turns)
        self._browser: Browser | None = None

    async def close(self) -> None:
        """End the browser."""
        if self._browser is not None:
            await self._browser.close()
            self._browser = None

    async def fetch(self, url: str, reach: PageReach | None = None) -> FetchedPage:
        """The page; see `Browser.render`. With `reach`, it and its parts lead no further than that.

        Raises:
            PageFailed: it has none, or robots.txt or its host let it not be had.
            BrowserUnavailable: there is no browser here.
        """
        if self._browser is None:
            self._browser = Browser(
                settings=self._settings.browser,
                scraping=self._settings,
                outgoing=self._outgoing,
                allow=self._take_turn,
                allow_first=self._take_first_turn,
                patience=self._settings.politeness.longest_wait_seconds,
                allow_part=self._allowed,
            )
        # It is known then, and not waited for with a tab at hand.
        granted_or_raised(await self._turns.allowed(url))
        page = await self._browser.render(url, reach)
        headers = {} if page.retry_after is None else {"retry-after": page.retry_after}
        await self._refusals.heard(page.final_url, page.status, headers)
        return FetchedPage(
            url=page.final_url,
            engine="browser",
            status=page.status,
            headers={**headers, "content-type": "text/html; charset=utf-8"},
            body=page.html,
            fetched_at=datetime.now(UTC),
        )

    async def _allowed(self, url: str) -> bool:
        return (await self._turns.allowed(url)).granted

    async def _take_first_turn(self, url: str) -> None:
        await take_turn(self._turns, url, patience=_SECONDS_AT_A_TAB)
        await self._turns.sent(url)  # it follows at once: the tab is there

    async def _take_turn(self, url: str) -> None:
        """For where a page that is open leads to: no longer than the page may be open."""
        politeness, browser = self._settings.politeness, self._settings.browser
        patience = min(politeness.longest_wait_seconds, browser.timeout_seconds)
        await take_turn(self._turns, url, patience=patience)
        await self._turns.sent(url)
