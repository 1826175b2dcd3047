"""The engine `browser`: robots.txt before a tab, the turn with one, and hosts that are asked too often."""

from typing import Any

import pytest

from actors.systems.knowledge.browsing import browser_engine
from actors.systems.knowledge.browsing.browser_engine import BrowserEngine
from actors.systems.knowledge.browsing.visit import Rendered
from models.config import Config, OutgoingConfig
from models.knowledge.reach import PageReach
from tests.unit.knowledge.test_http_engine import Turns

URL = "https://example.com/a"


class Shown:
    """A browser that shows what it is told to, once it may ask for it."""

    answers: tuple[tuple[int, str | None], ...] = ((429, "7"), (200, None))

    def __init__(self, **given: Any) -> None:
        self._allow_first = given["allow_first"]
        self._answers = iter(self.answers)

    async def render(self, url: str, reach: PageReach | None = None) -> Rendered:
        await self._allow_first(url)
        status, retry_after = next(self._answers)
        facts = {"redirects": (), "refused": 0, "bytes": 0, "content_type": None, "html": b"<p>x"}
        return Rendered.model_validate(
            {**facts, "status": status, "final_url": url, "retry_after": retry_after}
        )


async def test_a_host_that_a_browser_asks_too_often_is_waited_for(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser_engine, "Browser", Shown)
    turns = Turns()
    outgoing = OutgoingConfig(allow_internal=())
    engine = BrowserEngine(settings=config.knowledge.scraping, outgoing=outgoing, turns=turns)
    page = await engine.fetch(URL)
    assert (page.status, page.headers["retry-after"], turns.told) == (429, "7", [(URL, 7.0)])
    await engine.fetch(URL)
    assert (turns.well, turns.asked, turns.sent_to) == ([URL], [URL, URL], [URL, URL])
