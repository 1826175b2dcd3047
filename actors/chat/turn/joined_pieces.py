"""Puts pieces of text together that are there at the same time, so that a fast model costs few messages.

`main_chat` streams through it: each piece that leaves an agent's process costs about a millisecond. The first
piece waits for nothing.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import aclosing
from itertools import groupby

from models.chat import Piece, Said


async def merged(pieces: AsyncGenerator[Piece, None]) -> AsyncGenerator[Piece, None]:
    """The same pieces in the same order, texts that are ready joined. Closing it closes `pieces`.

    Raises:
        What `pieces` raises, after all that came before.
    """
    # As long as an answer, which has its budget; None is its end.
    ready: asyncio.Queue[Piece | None] = asyncio.Queue()

    async def fetch() -> None:
        try:
            async with aclosing(pieces):
                async for piece in pieces:
                    ready.put_nowait(piece)
                    # What is read from a full buffer waits for nothing, and would let nobody else run.
                    await asyncio.sleep(0)
        finally:
            ready.put_nowait(None)

    fetching = asyncio.create_task(fetch())
    try:
        ended = False
        while not ended:
            batch = [await ready.get()]
            while not ready.empty():
                batch.append(ready.get_nowait())
            ended = batch[-1] is None
            for piece in _joined(piece for piece in batch if piece is not None):
                yield piece
        await fetching
    finally:
        fetching.cancel()
        await asyncio.gather(fetching, return_exceptions=True)


def _joined(pieces: Iterable[Piece]) -> Iterator[Piece]:
    for said, group in groupby(pieces, lambda piece: isinstance(piece, Said)):
        if said:
            yield Said(text="".join(piece.text for piece in group if isinstance(piece, Said)))
        else:
            yield from group
