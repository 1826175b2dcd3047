"""The clock by which a batch says how far it is, where that is a line for all rows together."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from pipelines.progress import say

SAY_SECONDS = 5.0


@asynccontextmanager
async def saying(line: Callable[[], Awaitable[str | None]]) -> AsyncIterator[None]:
    """Say a line every five seconds as long as the block lasts; none where there is nothing to say.

    The block ends with the error that `line` raises.
    """

    async def say_again() -> None:
        while True:
            await asyncio.sleep(SAY_SECONDS)
            if (told := await line()) is not None:
                say(told)

    try:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(say_again())
            yield
            task.cancel()
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from failed
