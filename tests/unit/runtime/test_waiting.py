"""How a runner waits for news: until there is some, for a while at most, and never past being stopped."""

import asyncio

import pytest

from actors.platform.runtime.runner import _wait


@pytest.mark.parametrize("ticks", range(5))
async def test_whoever_is_cancelled_as_the_news_comes_ends(ticks: int) -> None:
    event = asyncio.Event()
    waiting = asyncio.create_task(_wait(event, 60))
    await asyncio.sleep(0)
    event.set()
    for _ in range(ticks):
        await asyncio.sleep(0)
    if waiting.done():
        return
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_news_end_the_wait_and_are_taken() -> None:
    event = asyncio.Event()
    event.set()
    await _wait(event, 60)
    assert not event.is_set()


async def test_without_news_it_waits_for_so_long() -> None:
    await _wait(asyncio.Event(), 0.01)
