"""Several things at once: what one that fails, or was stopped, means for the others."""

import asyncio

import pytest

from actors.platform.runtime.concurrency import gather_all
from models.errors import Fenced


async def test_where_one_fails_the_others_are_still_done() -> None:
    done: list[int] = []

    async def one(number: int) -> int:
        if number == 1:
            raise ValueError("1 fails")
        await asyncio.sleep(0)
        done.append(number)
        return number

    with pytest.raises(ValueError, match="1 fails"):
        await gather_all(one(number) for number in range(3))
    assert done == [0, 2]
    assert await gather_all(one(number) for number in (4, 5)) == [4, 5]


async def test_where_it_was_stopped_no_other_asks_for_anything() -> None:
    room, asked = asyncio.Semaphore(1), list[int]()

    async def one(number: int) -> None:
        async with room:
            await asyncio.sleep(0)  # as it looks what the project holds first
            asked.append(number)
            await asyncio.sleep(0)
            raise Fenced("it was stopped")

    with pytest.raises(Fenced):
        await gather_all(one(number) for number in range(4))
    assert asked == [0]
