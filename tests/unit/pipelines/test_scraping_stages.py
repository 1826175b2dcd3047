"""Pages are kept soon after the first of them came, also where they come steadily, and whatever one holds."""

import asyncio
from collections.abc import Sequence

import psycopg
import pytest

from models.errors import DatabaseUnavailable
from models.knowledge.pages import ScrapedPage
from pipelines.scraping_stages import gathered, settled_by

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


def page(number: int) -> ScrapedPage:
    return ScrapedPage(url=f"https://example.com/{number}", status=200)


async def test_a_page_that_cant_be_kept_ends_no_other() -> None:
    kept: list[ScrapedPage] = []

    async def keep(pages: Sequence[ScrapedPage]) -> None:
        if any(page.url.endswith("/3") and page.fault is None for page in pages):
            raise psycopg.DataError("PostgreSQL text fields cannot contain NUL (0x00) bytes")
        kept.extend(pages)

    settled = await settled_by(keep, [page(number) for number in range(5)])
    assert [page.fault for page in settled] == [None, None, None, "error", None]
    assert "NUL" in str(settled[3].reason)
    assert kept == settled


async def test_a_page_that_cant_even_be_kept_as_broken_is_a_row_all_the_same() -> None:
    async def keep(pages: Sequence[ScrapedPage]) -> None:
        raise psycopg.DataError("not this one")

    [settled] = await settled_by(keep, [page(1)])
    assert settled.fault == "error"


async def test_an_outage_is_no_pages_fault() -> None:
    async def keep(pages: Sequence[ScrapedPage]) -> None:
        raise DatabaseUnavailable("away", waits_for="Postgres")

    with pytest.raises(DatabaseUnavailable):
        await settled_by(keep, [page(1), page(2)])
