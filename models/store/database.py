"""The connection pool, and what to do when Postgres goes away for a while.

One `Database` per process, made by whoever owns the process. `transaction()` is one request's
transaction; `steadily()` repeats an idempotent call until Postgres is back.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import psycopg
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from models.errors import DatabaseUnavailable
from models.monitoring import Observed
from models.store.pool import Connection as Connection
from models.store.pool import Pool
from models.store.session import begin, connection_parameters, settings_of

T = TypeVar("T")
_log = logging.getLogger("signoff.database")
_SAY_AGAIN_SECONDS = 30.0
_LOOK_SECONDS = 10.0
# The library waits longer before each try to connect: begun anew, the next one is soon.
_RECONNECT_SECONDS = 5.0

# What a lost, restarting, full or read-only server raises, what waited too long for a lock, and what was
# asleep in a transaction. `is_gone` leaves out what was refused for its content.
GONE = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    psycopg.errors.ReadOnlySqlTransaction,
    psycopg.errors.IdleInTransactionSessionTimeout,
    PoolTimeout,
)


def is_gone(error: BaseException) -> bool:
    """Whether Postgres, or a row there, can't be had now, and the same statement may do later."""
    return isinstance(error, GONE) and not isinstance(error, psycopg.errors.ProgramLimitExceeded)


def missing(error: BaseException) -> str:
    """What has to be there again where `is_gone`: Postgres itself, or a row that somebody else has locked."""
    held = isinstance(error, psycopg.errors.LockNotAvailable | psycopg.errors.DeadlockDetected)
    return "a row that somebody else holds" if held else "Postgres"


def unavailable(error: BaseException) -> DatabaseUnavailable:
    """The same, for whoever asked."""
    what = missing(error)
    said = "the database is away" if what == "Postgres" else f"it needs {what}"
    return DatabaseUnavailable(f"{said}: try again in a moment")


_TOO_SLOW = psycopg.errors.QueryCanceled


class Database:
    """A pool of autocommit connections to one Postgres. Use as an async context manager.

    Args:
        patience_seconds: how long `steadily` goes on; `math.inf` never gives up.
        application: how the server names these connections.
    """

    def __init__(
        self,
        *,
        url: str,
        pool_size: int,
        patience_seconds: float = 60.0,
        application: str = "signoff",
    ) -> None:
        self.url = url
        self.pool_size = pool_size
        self._patience = patience_seconds
        self._application = application
        self._parameters = connection_parameters(url, application=application)
        self._settings = settings_of(url)
        self._pool = Pool(
            lambda: AsyncConnectionPool(
                connection_class=psycopg.AsyncConnection[DictRow],
                kwargs={**self._parameters, "autocommit": True, "row_factory": dict_row},
                min_size=min(2, pool_size),
                max_size=pool_size,
                open=False,
                configure=self._begin,
                timeout=10,
                reconnect_timeout=_RECONNECT_SECONDS,
            )
        )
        self._watching: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "Database":
        try:
            await self._pool.open(timeout_seconds=15)
        except PoolTimeout as error:
            raise DatabaseUnavailable(
                "Postgres did not answer within 15 s: check database.url, or run `signoff up`"
            ) from error
        self._watching = asyncio.get_running_loop().create_task(self._watch())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._watching is not None:
            self._watching.cancel()
        await self._pool.close()

    async def _begin(self, connection: Connection) -> None:
        await begin(connection, self._settings)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """An autocommit connection: each statement is its own transaction."""
        async with self._pool.connection() as connection:
            try:
                yield connection
            except psycopg.errors.ReadOnlySqlTransaction:
                # A server that was demoted keeps its connections: another one may be written to.
                await connection.close()
                raise

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Connection]:
        """One transaction, committed at the end of the block."""
        async with self.connection() as connection, connection.transaction():
            yield connection

    @asynccontextmanager
    async def apart(self) -> AsyncIterator[Connection]:
        """An autocommit connection outside the pool, for what must not wait for a free one."""
        connection = await psycopg.AsyncConnection[DictRow].connect(
            **self._parameters, autocommit=True, row_factory=dict_row
        )
        try:
            await self._begin(connection)
            yield connection
        finally:
            # At once, also for who is cancelled. What is not committed by then is not.
            await connection.close()

    async def read(self, call: Callable[[Connection], Awaitable[T]]) -> T:
        """Run `call` on a connection, again while Postgres can't be had; see `steadily`."""

        async def once() -> T:
            async with self.connection() as connection:
                return await call(connection)

        return await self.steadily(once)

    async def write(self, call: Callable[[Connection], Awaitable[T]]) -> T:
        """Run `call` in a transaction, again while Postgres can't be had; see `steadily`."""

        async def once() -> T:
            async with self.transaction() as connection:
                return await call(connection)

        return await self.steadily(once)

    async def steadily(self, call: Callable[[], Awaitable[T]]) -> T:
        """Run `call`, again and again while Postgres, or a row, can't be had; it must be idempotent.

        Raises:
            DatabaseUnavailable: it could not be had for longer than `patience_seconds`.
        """
        told = started = time.monotonic()
        pause = 0.05
        while True:
            try:
                return await call()
            except GONE as error:
                if not is_gone(error):
                    raise
                # One that takes longer than any statement may will not be quicker the next time.
                patience = min(self._patience, 60.0) if isinstance(error, _TOO_SLOW) else self._patience
                if time.monotonic() > started + patience:
                    raise DatabaseUnavailable(
                        f"waited too long for {missing(error)}: {error}", waits_for=missing(error)
                    ) from error
                if time.monotonic() > told + _SAY_AGAIN_SECONDS:
                    told = time.monotonic()
                    _log.warning("%.0f s without %s: %s", told - started, missing(error), error)
                await asyncio.sleep(pause)
                pause = min(pause * 2, 1.0)

    async def ping(self) -> None:
        """Ask for nothing: it is there if that is answered."""
        async with self.connection() as connection:
            await connection.execute("SELECT 1")

    @property
    def short_of(self) -> int:
        """How many of the pool's connections can't be had, as far as is known."""
        return self._pool.short_of

    async def look(self) -> None:
        """Count the connections that can be had. A pool that has lost some is replaced, and that is told.

        Raises:
            psycopg.Error: Postgres is away, so that none can be had: none is lost.
        """
        from models.store.upkeep import observations

        if not (lost := self._pool.look()):
            return
        told = Observed(
            measure="lost_connection", labels=(self._application,), value=0.0, times=lost, total=lost
        )
        async with self.apart() as connection:
            await observations.put(connection, [told])
        _log.warning(
            "%s: %s of %s connections were lost: a new pool", self._application, lost, self.pool_size
        )
        await self._pool.replace()

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            try:
                await self.look()
            except psycopg.Error as error:
                _log.warning("%s: some connections can't be had: %s", self._application, error)
            except Exception:  # noqa: BLE001  # whatever it was: what is lost later is looked for all the same
                _log.exception("%s: its pool can't be looked at", self._application)

    async def listen(self, channel: str, heard: Callable[[str], None]) -> None:
        """Call `heard` with the payload of each NOTIFY on `channel`, until cancelled.

        After a reconnect it calls `heard("")`, because what was said meanwhile is lost.
        """
        while True:
            try:
                async with self.apart() as connection:
                    await connection.execute(f"LISTEN {channel}".encode())
                    heard("")
                    async for notice in connection.notifies():
                        heard(notice.payload)
            except GONE:
                await asyncio.sleep(0.2)
