"""An event loop takes what comes of a thread, and ends without it."""

import asyncio
import threading
import time
from collections.abc import Iterator

import pytest

from pipelines.thread_items import thread_items


async def test_all_come_in_their_order_and_an_error_where_it_is_raised() -> None:
    def items() -> Iterator[int]:
        yield from range(100)
        raise ZeroDivisionError

    came: list[int] = []

    async def take() -> None:
        async for item in thread_items(items):
            came.append(item)

    with pytest.raises(ZeroDivisionError):
        await take()
    assert came == list(range(100))
    assert [item async for item in thread_items(tuple[int, ...])] == []


def test_a_loop_ends_while_the_next_item_is_waited_for() -> None:
    never = threading.Event()

    def items() -> Iterator[int]:
        yield 1
        never.wait(30)

    async def take() -> None:
        async def first_and_next() -> None:
            async for _ in thread_items(items):
                pass

        with pytest.raises(TimeoutError):
            await asyncio.wait_for(first_and_next(), 0.2)

    began = time.monotonic()
    asyncio.run(take())
    assert time.monotonic() - began < 10
    never.set()
