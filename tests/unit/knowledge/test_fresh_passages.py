"""Fresh passages: of one project they are loaded once, and room for them is made before they come."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import numpy
import pytest

from actors.systems.knowledge.index import unsegmented
from actors.systems.knowledge.index.lru import BoundedCache
from actors.systems.knowledge.index.unsegmented import FreshSearch
from models.errors import ModelReplyInvalid

ROW = numpy.zeros(4, dtype="<f4").tobytes()


class Stored:
    """A database that answers when a test lets it, and counts what it was asked for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[list[int]] = []
        self.begun, self.goes_on = asyncio.Event(), asyncio.Event()
        self.rows: dict[int, bytes] = {}
        monkeypatch.setattr(unsegmented.passages, "vectors", self.vectors)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[None]:
        """Nothing is needed of it."""
        yield

    async def vectors(self, connection: Any, ids: Sequence[int]) -> dict[int, bytes]:
        """Those that there are."""
        self.asked.append(list(ids))
        self.begun.set()
        await self.goes_on.wait()
        return {id_: self.rows.get(id_, ROW) for id_ in ids if id_ >= 0}


async def test_many_searches_at_once_load_them_once(monkeypatch: pytest.MonkeyPatch) -> None:
    stored: Any = Stored(monkeypatch)
    held = BoundedCache(10_000)
    search = FreshSearch(held)
    many = [asyncio.create_task(search.block(stored, 1, [3, 1, 2])) for _ in range(5)]
    await stored.begun.wait()
    other = asyncio.create_task(search.block(stored, 2, [7]))
    stored.goes_on.set()
    blocks = await asyncio.gather(*many)
    assert [block.ids.tolist() for block in blocks if block is not None] == [[1, 2, 3]] * 5
    await other
    assert stored.asked == [[1, 2, 3], [7]]
    # Only what is new is asked for, and what is gone goes.
    block = await search.block(stored, 1, [2, 3, 4, -1])
    assert block is not None
    assert (block.ids.tolist(), stored.asked[2:]) == ([2, 3, 4], [[-1, 4]])
    assert await search.block(stored, 1, []) is None
    assert ("fresh", 1) not in held


async def test_room_is_made_before_all_of_them_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unsegmented, "_PAGE", 2)
    stored: Any = Stored(monkeypatch)
    held = BoundedCache(100)
    held.put("a segment", 1, 60)
    search = FreshSearch(held)
    first = asyncio.create_task(search.block(stored, 1, [1, 2, 3, 4]))
    await stored.begun.wait()
    assert "a segment" in held
    stored.begun.clear()
    stored.goes_on.set()
    await stored.begun.wait()
    assert "a segment" not in held
    assert await first is not None
    assert held.bytes == 4 * (16 + 8)


async def test_vectors_of_two_lengths_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    stored: Any = Stored(monkeypatch)
    stored.goes_on.set()
    stored.rows[2] = ROW * 2
    with pytest.raises(ModelReplyInvalid, match="project 1: its passages have vectors of different lengths"):
        await FreshSearch(BoundedCache(1000)).block(stored, 1, [1, 2])
