"""Texts that are ready at the same time are one piece; nothing is lost, reordered or left running."""

import asyncio
from collections.abc import AsyncGenerator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.chat.turn.joined_pieces import merged
from models.chat import Piece, Said, ToolUsed

PIECES = st.lists(
    st.builds(Said, text=st.text(max_size=3)) | st.builds(ToolUsed, name=st.just("t"), status=st.just("ok"))
)


async def stream(pieces: list[Piece], error: Exception | None = None) -> AsyncGenerator[Piece, None]:
    for piece in pieces:
        yield piece
    if error is not None:
        raise error


def told(pieces: list[Piece]) -> list[str]:
    """The texts and tools in order, whatever pieces the texts came in."""
    found: list[str] = []
    for piece in pieces:
        if isinstance(piece, Said) and found and found[-1].startswith("said "):
            found[-1] += piece.text
        else:
            found.append(f"said {piece.text}" if isinstance(piece, Said) else "tool")
    return found


@given(PIECES)
def test_nothing_is_lost_or_reordered(pieces: list[Piece]) -> None:
    async def collect() -> list[Piece]:
        return [piece async for piece in merged(stream(pieces))]

    assert told(asyncio.run(collect())) == told(pieces)


async def test_what_is_ready_is_joined_and_the_first_waits_for_nothing() -> None:
    go_on, said_all = asyncio.Event(), asyncio.Event()

    async def slow() -> AsyncGenerator[Piece, None]:
        yield Said(text="a")
        await go_on.wait()
        for letter in "bcd":
            yield Said(text=letter)
        said_all.set()

    pieces = merged(slow())
    assert await anext(pieces) == Said(text="a")
    go_on.set()
    await said_all.wait()
    assert [piece async for piece in pieces] == [Said(text="bcd")]


async def test_an_error_comes_after_what_was_said_before_it() -> None:
    pieces = merged(stream([Said(text="a")], ValueError("broken")))
    assert await anext(pieces) == Said(text="a")
    with pytest.raises(ValueError, match="broken"):
        await anext(pieces)


async def test_leaving_stops_what_is_under_way() -> None:
    stopped = asyncio.Event()

    async def endless() -> AsyncGenerator[Piece, None]:
        try:
            yield Said(text="a")
            await asyncio.Event().wait()
        finally:
            stopped.set()

    pieces = merged(endless())
    await anext(pieces)
    await pieces.aclose()
    assert stopped.is_set()
