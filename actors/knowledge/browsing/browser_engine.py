"""The engine `browser`: a page as its scripts make it, in its turn and as robots.txt allows.

The batch's browsers and the agent `browser` have one each. A page takes one turn of its host; what it loads
of its own follows at once, as in anybody's browser, and no part of it that robots.txt closes.
"""

from datetime import UTC, datetime

from actors.knowledge.browsing.browser import Browser
from actors.knowledge.fetching.fetched_page import FetchedPage
from actors.knowledge.fetching.turns import Turns
from models.config import OutgoingConfig, ScrapingConfig
from models.errors import PageFailed


class BrowserEngine:
    """Fetches pages by a browser, which is begun with the first of them. Use it in one event loop."""

    def __init__(self, *, settings: ScrapingConfig, outgoing: OutgoingConfig, turns: Turns) -> None:
        self._settings = settings
        self._outgoing = outgoing
        self._turns = turns
        self._browser: Browser | None = None

    async def close(self) -> None:
        """End the browser."""
        if self._browser is not None:
            await self._browser.close()
            self._browser = None

    async def fetch(self, url: str) -> FetchedPage:
        """The page; see `Browser.render`.

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
                allow_part=self._allowed,
            )
        page = await self._browser.render(url)
        return FetchedPage(
            url=page.final_url,
            engine="browser",
            status=page.status,
            headers={"content-type": "text/html; charset=utf-8"},
            body=page.html,
            fetched_at=datetime.now(UTC),
        )

    async def _allowed(self, url: str) -> bool:
        return (await self._turns.allowed(url)).granted

    async def _take_turn(self, url: str) -> None:
        turn = await self._turns.turn(url, patience=self._settings.politeness.longest_wait_seconds)
        if not turn.granted:
            assert turn.fault is not None, "a turn that is not granted says why"
            raise PageFailed(turn.reason or "its host has no turn for it", fault=turn.fault)
        await self._turns.sent(url)  # it follows at once: the tab is there
