"""A process' pool of connections, in which no cancellation is lost, and no connection.

`Database` holds one. psycopg_pool waits by `asyncio.wait_for`, which before Python 3.12 returns what comes
together with a cancellation and forgets the latter; and it loses a connection whose giving back is cancelled.
So all that it does is done in tasks of their own, for which callers only wait: who is cancelled leaves at
once, and what was meant for him goes back. Nothing here knows more of the library than it documents.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import psycopg
from psycopg.rows import DictRow
from psycopg_pool import AsyncConnectionPool, PoolClosed

T = TypeVar("T")
Connection = psycopg.AsyncConnection[DictRow]
LibraryPool = AsyncConnectionPool[Connection]
# One that is missing at so many looks in a row is not just being made.
_TOLD_AFTER, _LOST_AFTER = 2, 3


@dataclass(eq=False)
class _Lending:
    pool: LibraryPool
    lent: int = 0

    @property
    def missing(self) -> int:
        """How many connections are counted, but neither free nor lent: they are being made, or are lost."""
        counted = self.pool.get_stats()
        return counted["pool_size"] - counted["pool_available"] - self.lent


class Pool:
    """A pool that knows what can be had of it, and gives way to a new one when it has lost connections.

    Args:
        make: makes one of the library's, not open yet.
    """

    def __init__(self, make: Callable[[], LibraryPool]) -> None:
        self._make = make
        self._lending = _Lending(make())
        self._looks: deque[int] = deque(maxlen=_LOST_AFTER)
        # The loop itself does not hold its tasks.
        self._tasks: set[asyncio.Task[Any]] = set()

    async def open(self, *, timeout_seconds: float) -> None:
        """Connect. Raises PoolTimeout."""
        try:
            await self._to_the_end(self._lending.pool.open(wait=True, timeout=timeout_seconds))
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Close what is not lent now, and the rest as it comes back."""
        await self._to_the_end(self._lending.pool.close())

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """A connection for the block. Raises PoolTimeout, PoolClosed."""
        lending, connection = await self._take()
        lending.lent += 1
        try:
            yield connection
        finally:
            await self._to_the_end(self._give_back(lending, connection))

    def look(self) -> int:
        """Count what is missing; how many connections are lost, having been missing for long."""
        self._looks.append(self._lending.missing)
        return min(self._looks) if len(self._looks) == _LOST_AFTER else 0

    @property
    def short_of(self) -> int:
        """How many connections can't be had, as far as is known."""
        last = list(self._looks)[-_TOLD_AFTER:]
        return min(last) if len(last) == _TOLD_AFTER else 0

    async def replace(self) -> None:
        """Make a new pool. What is lent of the old one is closed when it comes back."""
        await self._to_the_end(self._replace())

    async def _replace(self) -> None:
        old, new = self._lending, _Lending(self._make())
        await new.pool.open()
        if old.pool.closed:  # whoever had it is gone meanwhile
            await new.pool.close()
            return
        self._lending = new
        self._looks.clear()
        await old.pool.close()

    async def _take(self) -> tuple[_Lending, Connection]:
        while True:
            lending = self._lending
            taking = self._task(lending.pool.getconn())
            try:
                return lending, await asyncio.shield(taking)
            except asyncio.CancelledError:
                taking.cancel()
                taking.add_done_callback(partial(self._not_wanted, lending))
                raise
            except PoolClosed:
                if lending is self._lending:
                    raise

    def _not_wanted(self, lending: _Lending, taken: "asyncio.Task[Connection]") -> None:
        """Give back what came for a caller who was cancelled, if it came."""
        if not taken.cancelled() and taken.exception() is None:
            self._task(lending.pool.putconn(taken.result()))

    async def _give_back(self, lending: _Lending, connection: Connection) -> None:
        try:
            await lending.pool.putconn(connection)
        finally:
            lending.lent -= 1

    async def _to_the_end(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for work that goes on if the caller is cancelled."""
        return await asyncio.shield(self._task(work))

    def _task(self, work: Coroutine[Any, Any, T]) -> "asyncio.Task[T]":
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
