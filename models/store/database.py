"""The connection pool, and what to do when Postgres goes away for a while.

One `Database` per process, made by whoever owns the process. `transaction()` is one request's
transaction; `steadily()` repeats an idempotent call until Postgres is back.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import psycopg
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from models.errors import DatabaseUnavailable

T = TypeVar("T")
Connection = psycopg.AsyncConnection[DictRow]

# What a lost or restarting server raises. A statement refused for its content is not among them.
GONE = (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout)


class Database:
    """A pool of autocommit connections to one Postgres. Use as an async context manager."""

    def __init__(self, *, url: str, pool_size: int, patience_seconds: float = 60.0) -> None:
        self.url = url
        self._patience = patience_seconds
        self._pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
            url,
            connection_class=psycopg.AsyncConnection[DictRow],
            kwargs={"autocommit": True, "row_factory": dict_row, "connect_timeout": 10},
            min_size=min(2, pool_size),
            max_size=pool_size,
            open=False,
            timeout=10,
            reconnect_timeout=patience_seconds,
        )

    async def __aenter__(self) -> "Database":
        try:
            await self._pool.open(wait=True, timeout=15)
        except PoolTimeout as error:
            await self._pool.close()
            raise DatabaseUnavailable(
                "Postgres did not answer within 15 s: check database.url, or run `signoff up`"
            ) from error
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._pool.close()

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """An autocommit connection: each statement is its own transaction."""
        async with self._pool.connection() as connection:
            yield connection

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Connection]:
        """One transaction, committed at the end of the block."""
        async with self._pool.connection() as connection, connection.transaction():
            yield connection

    async def steadily(self, call: Callable[[], Awaitable[T]]) -> T:
        """Run `call`, again and again while Postgres is away; it must be idempotent.

        Raises:
            DatabaseUnavailable: Postgres stayed away for longer than `patience_seconds`.
        """
        deadline = time.monotonic() + self._patience
        pause = 0.05
        while True:
            try:
                return await call()
            except GONE as error:
                if time.monotonic() > deadline:
                    raise DatabaseUnavailable(f"Postgres stayed away: {error}") from error
                await asyncio.sleep(pause)
                pause = min(pause * 2, 1.0)

    async def listen(self, channel: str, heard: Callable[[str], None]) -> None:
        """Call `heard` with the payload of each NOTIFY on `channel`, until cancelled.

        After a reconnect it calls `heard("")`, because what was said meanwhile is lost.
        """
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(self.url, autocommit=True) as connection:
                    await connection.execute(f"LISTEN {channel}".encode())
                    heard("")
                    async for notice in connection.notifies():
                        heard(notice.payload)
            except GONE:
                await asyncio.sleep(0.2)
