"""A pool loses no cancellation and no connection, however its callers end; what is lost is found and told."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest

from models.config import Config
from models.store.database import Connection, Database
from serve.monitoring.readiness import Readiness
from tests.faults.site.proxy import Proxy
from tests.integration.store.test_observations import counted

SIZE = 8


@pytest.fixture
async def proxied(database_url: str) -> AsyncIterator[tuple[Proxy, Database]]:
    """A database behind a proxy, that is there and away as the proxy is."""
    parts = urlsplit(database_url)
    async with Proxy(Path(parse_qs(parts.query)["host"][0])) as proxy:
        user = parts.netloc.partition("@")[0]
        url = f"postgresql://{user}@127.0.0.1:{proxy.port}{parts.path}?sslmode=disable&gssencmode=disable"
        async with Database(url=url, pool_size=SIZE) as database:
            yield proxy, database


async def had(database: Database) -> set[int]:
    """The server's processes behind all connections that can be had at once."""
    async with AsyncExitStack() as stack:
        pids = set()
        for _ in range(SIZE):
            connection = await stack.enter_async_context(database.connection())
            pids.add(connection.info.backend_pid)
        return pids


async def lose(database: Database) -> Connection:
    """Take a connection behind the back of whoever counts what is lent."""
    return await database._pool._lending.pool.getconn()


def counts(database: Database) -> dict[str, Any]:
    """What the library tells of its pool."""
    return database._pool._lending.pool.get_stats()


async def until_somebody_waits(database: Database) -> None:
    """Until a caller stands in the library's queue, which tells nobody."""
    while not counts(database)["requests_waiting"]:  # noqa: ASYNC110
        await asyncio.sleep(0)


async def test_none_of_600_contended_time_limits_is_lost(database: Database) -> None:
    outcomes = []
    drawn = random.Random(1)

    async def hold(over: asyncio.Event) -> None:
        while not over.is_set():
            async with database.connection() as connection:
                await connection.execute("SELECT pg_sleep(0.002)")

    async def limited() -> None:
        me = asyncio.current_task()
        assert me is not None
        try:
            async with asyncio.timeout(drawn.uniform(0.001, 0.03)), database.connection() as connection:
                # It goes on after its limit: that was lost.
                outcomes.append("lost" if me.cancelling() else "had")
                await connection.execute("SELECT pg_sleep(0.002)")
        except TimeoutError:
            outcomes.append("over")

    over = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        for _ in range(2 * SIZE):
            group.create_task(hold(over))
        for _ in range(30):
            await asyncio.gather(*(limited() for _ in range(20)))
        over.set()
    assert len(outcomes) >= 600
    assert outcomes.count("over") > 0
    assert outcomes.count("lost") == 0


async def test_a_cancellation_in_the_same_moment_as_the_connection_is_not_lost(database: Database) -> None:
    cancellations = []

    async def wait() -> None:
        me = asyncio.current_task()
        assert me is not None
        async with database.connection():
            cancellations.append(me.cancelling())

    for turns in range(40):
        async with AsyncExitStack() as stack:
            for _ in range(SIZE):
                await stack.enter_async_context(database.connection())
            waiting = asyncio.create_task(wait())
            await until_somebody_waits(database)
            releasing = asyncio.create_task(stack.aclose())
            for _ in range(turns):
                await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            await releasing
    assert len(cancellations) < 40, "some were cancelled first"
    assert not any(cancellations), "they went on"
    assert len(await had(database)) == SIZE


async def test_after_1600_cancelled_callers_all_connections_can_be_had(database: Database) -> None:
    drawn = random.Random(2)

    async def call() -> None:
        for _ in range(3):
            async with database.transaction() as connection:
                await connection.execute("SELECT 1")

    async def cancelled() -> None:
        calling = asyncio.create_task(call())
        await asyncio.sleep(drawn.uniform(0, 0.03))
        calling.cancel()
        await asyncio.gather(calling, return_exceptions=True)

    for _ in range(40):
        await asyncio.gather(*(cancelled() for _ in range(40)))
    assert len(await had(database)) == SIZE
    assert database._pool._lending.missing == 0
    assert database._pool._lending.lent == 0


async def test_a_pool_that_lost_connections_is_replaced_and_that_is_told(
    database: Database, configure: Callable[..., Config]
) -> None:
    readiness = Readiness(config=configure(), database=database)

    async def reason() -> str | None:
        (needed, _, _) = await readiness._ask_database()
        return needed.reason

    before = await had(database)
    lost = [await lose(database) for _ in range(3)]
    await database.look()
    assert await reason() is None, "it may be about to be made"
    await database.look()
    assert await reason() == "3 of 8 connections can't be had"
    await database.look()
    assert await reason() is None
    assert not await had(database) & before
    async with database.connection() as connection:
        assert await counted(connection, "lost_connection") == {("signoff",): (3, 3.0)}
    for connection in lost:
        await connection.close()


async def test_who_waits_for_a_pool_that_lost_all_is_given_one_of_the_new_one(database: Database) -> None:
    lent = [await lose(database) for _ in range(SIZE)]
    waiting = asyncio.create_task(had(database))
    await until_somebody_waits(database)
    for _ in range(3):
        await database.look()
    assert len(await waiting) == SIZE
    for connection in lent:
        await connection.close()


async def test_what_is_lent_for_long_is_not_lost(database: Database) -> None:
    pool = database._pool._lending
    async with AsyncExitStack() as stack:
        for _ in range(SIZE):
            await stack.enter_async_context(database.connection())
        for _ in range(4):
            await database.look()
    assert database._pool._lending is pool
    assert database.short_of == 0


async def test_nothing_is_lost_while_postgres_is_away(proxied: tuple[Proxy, Database]) -> None:
    proxy, database = proxied
    pool = database._pool._lending
    lost = await lose(database)
    with proxy.refusing():
        await database.look()
        await database.look()
        with pytest.raises(psycopg.OperationalError):
            await database.look()
        assert database._pool._lending is pool
    await database.look()
    assert database._pool._lending is not pool
    await lost.close()


async def test_the_next_try_to_connect_is_soon_however_long_postgres_was_away(
    proxied: tuple[Proxy, Database], monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy, large = proxied
    # As after an outage of an hour: the library waits twice as long before each try.
    monkeypatch.setattr("psycopg_pool.base.AttemptWithBackoff.INITIAL_DELAY", 3600.0)
    async with Database(url=large.url, pool_size=1) as database:
        with proxy.refusing():
            with pytest.raises(psycopg.OperationalError):
                await database.ping()
            while not counts(database).get("connections_errors"):  # noqa: ASYNC110
                await asyncio.sleep(0)
        await database.ping()
