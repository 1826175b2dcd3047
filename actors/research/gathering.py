"""Several things at once, of which one that fails holds up no other."""

import asyncio
from collections.abc import Awaitable, Iterable
from typing import TypeVar

T = TypeVar("T")


async def all_of(some: Iterable[Awaitable[T]]) -> list[T]:
    """What all come to. Where one raises, the others are still done and kept; then its error goes on."""
    came = await asyncio.gather(*some, return_exceptions=True)
    for one in came:
        if isinstance(one, BaseException):
            raise one
    return [one for one in came if not isinstance(one, BaseException)]
