"""Several things at once, of which one that fails holds up no other."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

from models.errors import Fenced

T = TypeVar("T")


async def gather_all(some: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """What all come to. Where one raises, the others are still done and kept; then its error goes on.

    Raises:
        Fenced: the workflow was stopped or taken over: nothing of the others could be kept, so they end, and
            those that have not begun ask nobody for anything.
    """
    tasks = [asyncio.ensure_future(one) for one in some]

    def end_the_others(task: "asyncio.Task[T]") -> None:
        if not task.cancelled() and isinstance(task.exception(), Fenced):
            for other in tasks:
                other.cancel()

    for task in tasks:
        task.add_done_callback(end_the_others)
    came = await asyncio.gather(*tasks, return_exceptions=True)
    failed = [one for one in came if isinstance(one, BaseException)]
    if failed:
        raise next((one for one in failed if isinstance(one, Fenced)), failed[0])
    return [one for one in came if not isinstance(one, BaseException)]
