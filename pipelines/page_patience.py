"""How long a stage waits for a page: for its host's turn, and for what of the site's own is away.

Neither is a verdict on the page. Of those that wait, only the first in each host's line have a place among
those that are under way at once; what waits for longer comes behind those that have not been asked for yet.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from weakref import WeakValueDictionary

from actors.platform.runtime import outage
from actors.platform.web.page_urls import host_of
from models.config import OutagesConfig
from models.error_lines import error_line, logged
from models.errors import SignoffError
from models.knowledge.pages import ScrapedPage
from pipelines.page_turns import PLACE_IN_LINE, NoTurnYet, PageTurns

_log = logging.getLogger(__name__)
_REFUSALS = (429, 503)
# Pages of one host that wait for its turn with a place of those under way: so that the next is ready when one
# is asked for, and no more, for the places are the other hosts', too.
_IN_LINE = 2


class PagePatience:
    """Has pages asked for, so many at once, until there is an answer.

    Args:
        longest_wait: seconds for which a host's line is waited in (`politeness.longest_wait_seconds`).
        waits: is told in words what is waited for, whenever it is.
    """

    def __init__(
        self,
        turns: PageTurns,
        outages: OutagesConfig,
        *,
        at_once: int,
        longest_wait: float,
        waits: Callable[[str], None] = lambda what: None,
    ) -> None:
        self._turns = turns
        self._outages = outages
        self._at_once = asyncio.Semaphore(at_once)
        self._longest_wait = longest_wait
        self._waits = waits
        self._away_since: float | None = None
        self._lines: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def page(self, url: str, ask: Callable[[], Awaitable[ScrapedPage]]) -> ScrapedPage:
        """What comes of a page. Whatever goes wrong with it is its fault, never an error."""
        while True:
            try:
                async with self._place(url):
                    page = await ask()
                self._away_since = None
                if page.status is not None and page.status not in _REFUSALS:
                    self._turns.answered(page.final_url or url)
                return page
            except NoTurnYet as none:
                # By half of what a full line holds there is room again, and its host never waits for us.
                pause = min(none.wait_seconds, self._longest_wait / 2)
            except Exception as error:  # noqa: BLE001  # one page's trouble ends no other
                if not (isinstance(error, SignoffError) and error.outage):
                    reason = logged(error, _log, f"{url} can't be scraped")
                    return ScrapedPage(url=url, fault="error", reason=reason)
                # Of all pages together: it is away for none of them longer than for the others.
                now = time.monotonic()
                self._away_since = self._away_since or now
                left = outage.pause_seconds(now - self._away_since, self._outages)
                if left is None:
                    return _later(url, error_line(error))
                pause = left
                self._waits(outage.waits_for(error) or error_line(error))
            await asyncio.sleep(pause)

    @asynccontextmanager
    async def _place(self, url: str) -> AsyncIterator[None]:
        """A place of those that are under way, and first one in its host's line, until it has a turn."""
        line = self._lines.setdefault(host_of(url), asyncio.Semaphore(_IN_LINE))
        async with AsyncExitStack() as waiting:
            await waiting.enter_async_context(line)
            asked = PLACE_IN_LINE.set(waiting)
            try:
                async with self._at_once:
                    yield
            finally:
                PLACE_IN_LINE.reset(asked)


def _later(url: str, reason: str) -> ScrapedPage:
    return ScrapedPage(url=url, fault="later", reason=reason)
