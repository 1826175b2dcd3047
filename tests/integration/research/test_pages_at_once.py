"""How many pages of one research are read at once: a few, or one after the other."""

from typing import Any

import pytest

from tests.fakes.outside.page_site import PageSite
from tests.integration.research.research_desk import ResearchDesk


class _Counting:
    """The scraper; `most` is how many pages it was at, at once."""

    def __init__(self, scraper: Any) -> None:
        self._scraper, self._now, self.most = scraper, 0, 0

    async def scrape(self, *of: Any) -> Any:
        self._now += 1
        self.most = max(self.most, self._now)
        try:
            return await self._scraper.scrape(*of)
        finally:
            self._now -= 1


@pytest.mark.parametrize(("parallel", "most"), [(True, 4), (False, 1)])
async def test_a_research_takes_a_few_places_of_the_scraper(
    desk: ResearchDesk, site: PageSite, parallel: bool, most: int
) -> None:
    async with desk.running():
        desk.agents["scraper"] = counting = _Counting(desk.agents["scraper"])
        research = await desk.start(
            task_type="scrape",
            urls=[f"{site.origin}/{number}" for number in range(12)],
            config={"language": "any", "scrape_parallel": parallel},
        )
        await desk.approve(await desk.gate(research))
        await desk.gate(research)
    assert counting.most == most
    assert len(site.hits) >= 12
