"""Pages leave a stage, and are kept, soon after the first of them came, also where they come steadily."""

import asyncio

from models.knowledge.pages import ScrapedPage
from pipelines.scraping_stages import gathered

STEPS = 40
APART = 0.05


async def test_pages_that_come_one_after_the_other_are_not_held_back() -> None:
    """What is not kept when a batch is killed is fetched again: that must be little."""
    clock = asyncio.get_running_loop().time
    came: list[float] = []

    async def page(number: int) -> ScrapedPage:
        await asyncio.sleep(number * APART)
        came.append(clock())
        return ScrapedPage(url=f"https://example.com/{number}", fault="not_found", reason="404")

    tasks = [asyncio.ensure_future(page(number)) for number in range(STEPS)]
    left: list[list[ScrapedPage]] = []
    async for pages in gathered(tasks):
        held = len(came) - sum(map(len, left))
        assert held == len(pages)
        left.append(pages)
    assert sum(map(len, left)) == STEPS
    assert max(map(len, left)) < STEPS / 3
