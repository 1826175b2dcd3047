"""A runner of a campaign counts the connections that it can have at once, when it gets `COUNTS`.

It takes them, as its work does. What a pool counts proves nothing, nor what the server does: a connection
that was lost is closed as soon as nobody refers to it, and the pool goes on counting it.
"""

import asyncio
import os
import signal
from contextlib import AsyncExitStack, suppress
from pathlib import Path

from psycopg_pool import PoolTimeout

from models.files import write_atomically
from models.store.database import GONE, Database

COUNTS = signal.SIGUSR2


def count_when_asked(database: Database, log: Path) -> None:
    """Have this process count when it gets the signal, and leave the answer beside its log."""
    counting: asyncio.Task[None] | None = None

    def begin() -> None:
        nonlocal counting
        if counting is None or counting.done():  # two at once would take each other's
            counting = asyncio.create_task(_tell(database, answer_of(log, os.getpid())))

    asyncio.get_running_loop().add_signal_handler(COUNTS, begin)


def answer_of(log: Path, pid: int) -> Path:
    """Where a process leaves how many it could have."""
    return log.with_name(f"{log.stem}.{pid}.had")


async def had(database: Database) -> int:
    """How many of its pool's connections a process can have at once."""
    taken = 0
    async with AsyncExitStack() as stack:
        with suppress(PoolTimeout):
            for _ in range(database.pool_size):
                await stack.enter_async_context(database.connection())
                taken += 1
    return taken


async def _tell(database: Database, path: Path) -> None:
    with suppress(*GONE):  # Postgres is away: it is asked again
        write_atomically(path, str(await had(database)))
