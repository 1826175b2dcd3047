"""The one order of events, under transactions that overlap, idle, roll back and die: each event is read
once, by every reader in the same ascending order, and after what it was caused by.
"""

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from models.store import events
from models.store.database import Connection, Database

TIMEOUT = 60.0


async def connect(url: str, *, autocommit: bool = False) -> Connection:
    """A connection of its own."""
    return await psycopg.AsyncConnection.connect(url, autocommit=autocommit, row_factory=dict_row)


@contextlib.asynccontextmanager
async def idle_writers(*urls: str) -> AsyncIterator[None]:
    """Transactions that have written and now do nothing: one in each of the databases."""
    async with contextlib.AsyncExitStack() as stack:
        for url in urls:
            connection = await stack.enter_async_context(await connect(url))
            await connection.execute("CREATE TEMP TABLE idle_writer (n int)")
            await connection.execute("SELECT pg_current_xact_id()")
        yield


async def test_an_idle_writing_transaction_holds_up_no_reader(
    database: Database, database_url: str, postgres: str
) -> None:
    async with idle_writers(database_url, postgres), database.connection() as connection:
        await events.append(connection, "told", None, {})
        assert [event.type for event in await events.read(connection, after=0)] == ["told"]
        assert await events.newest_id(connection) == 1


async def test_an_open_transaction_holds_up_only_its_own_events(
    database: Database, database_url: str
) -> None:
    async with await connect(database_url) as slow, database.connection() as connection:
        await events.append(slow, "early", None, {})
        await events.append(connection, "late", None, {})
        [seen] = await events.read(connection, after=0)
        assert seen.type == "late"
        await slow.commit()
        [then] = await events.read(connection, after=seen.id)
        assert (then.type, then.id > seen.id) == ("early", True)
        assert [await events.begin(connection, after) for after in (None, 0, seen.id, then.id + 1)] == [
            then.id,
            0,
            seen.id,
            then.id,
        ]


async def test_what_is_inserted_directly_is_put_in_order_too(database: Database, database_url: str) -> None:
    async with await connect(database_url) as old, database.connection() as connection:
        await old.execute("INSERT INTO events (type, data) VALUES ('of the last release', '{}')")
        await events.append(connection, "of this one", None, {})
        [first] = await events.read(connection, after=0)
        await old.commit()
        [second] = await events.read(connection, after=first.id)
    assert [first.type, second.type] == ["of this one", "of the last release"]
    assert first.id < second.id


async def test_in_a_transaction_nothing_is_moved(database: Database) -> None:
    async with database.transaction() as connection, database.connection() as other:
        assert await events.read(connection, after=0) == []
        await events.append(other, "told", None, {"article_id": 3})
        assert await events.read(connection, after=0) == []
        # The history of an article is whole all the same.
        assert [(e.id, e.type) for e in await events.about_article(connection, 3)] == [(0, "told")]
        # Nobody waits for this transaction.
        assert [event.type for event in await events.read(other, after=0)] == ["told"]


async def test_a_rolled_back_change_has_no_event(database: Database, database_url: str) -> None:
    async with await connect(database_url) as writer, database.connection() as connection:
        await events.append(writer, "never", None, {})
        await writer.rollback()
        await events.append(connection, "told", None, {})
        assert [event.type for event in await events.read(connection, after=0)] == ["told"]


@pytest.mark.parametrize("end", ["commits", "dies"])
async def test_nobody_overtakes_a_move_that_is_not_committed(
    database: Database, database_url: str, end: str
) -> None:
    async with (
        asyncio.timeout(TIMEOUT / 3),
        database.connection() as connection,
        await connect(database_url) as mover,
    ):
        await events.append(connection, "first", None, {})
        await mover.execute(events._MOVE, {"limit": 10})
        await events.append(connection, "second", None, {})
        assert await events.read(connection, after=0) == []
        if end == "commits":
            await mover.commit()
        else:
            cursor = await connection.execute("SELECT pg_terminate_backend(%s)", (mover.info.backend_pid,))
            assert await cursor.fetchone()
            with pytest.raises(psycopg.OperationalError):
                await mover.execute("SELECT 1")
        while len(told := await events.read(connection, after=0)) < 2:
            pass
    assert [event.type for event in told] == ["first", "second"]


class Storm:
    """Writers, readers and movers at once. Every event carries what was committed before it was written."""

    def __init__(self, url: str, seed: int) -> None:
        self._url = url
        self._chance = random.Random(seed)
        self._number = 0
        self.committed: set[int] = set()
        self.causes: dict[int, frozenset[int]] = {}
        self.writing = True

    async def write(self, transactions: int) -> None:
        """Transactions of some events each, some long, some rolled back, some of the last release."""
        async with await connect(self._url) as connection:
            for _ in range(transactions):
                written = set()
                for _ in range(self._chance.randint(1, 4)):
                    self._number += 1
                    number = self._number
                    self.causes[number] = frozenset(self.committed)
                    if self._chance.random() < 0.2:
                        await connection.execute(
                            "INSERT INTO events (type, data) VALUES ('w', jsonb_build_object('n', %s::int))",
                            (number,),
                        )
                    else:
                        await events.append(connection, "w", None, {"n": number})
                    written.add(number)
                    for _ in range(self._chance.choice((0, 0, 1, 20))):
                        await connection.execute("SELECT 1")
                if self._chance.random() < 0.2:
                    await connection.rollback()
                else:
                    await connection.commit()
                    self.committed |= written

    async def read(self) -> list[tuple[int, int]]:
        """What a reader gets, as (id, number), up to the end; it may be cut off at any time."""
        got: list[tuple[int, int]] = []
        last = False
        while True:
            try:
                async with await connect(self._url, autocommit=True) as connection:
                    while True:
                        last = not self.writing
                        page = await events.read(
                            connection, after=got[-1][0] if got else 0, limit=self._chance.randint(1, 40)
                        )
                        got += [(event.id, event.data["n"]) for event in page]
                        if last and not page:
                            return got
                        await asyncio.sleep(0)
            except psycopg.OperationalError:
                continue

    async def move(self) -> None:
        """Move on and on, a few at a time."""
        while self.writing:
            with contextlib.suppress(psycopg.OperationalError):
                async with await connect(self._url, autocommit=True) as connection:
                    while self.writing:
                        await events.move(connection, limit=self._chance.randint(1, 5))
                        await asyncio.sleep(0)

    async def cut(self) -> int:
        """End backends in the middle of a move, again and again; how many it were."""
        ended = 0
        async with await connect(self._url, autocommit=True) as connection:
            while self.writing:
                cursor = await connection.execute(
                    """SELECT count(pg_terminate_backend(pid)) AS n FROM (
                           SELECT pid FROM pg_stat_activity
                           WHERE datname = current_database() AND pid <> pg_backend_pid()
                             AND query LIKE '%%incoming_events ORDER BY id LIMIT%%'
                           ORDER BY random() LIMIT 1) one"""
                )
                row = await cursor.fetchone()
                ended += row["n"] if row else 0
                await asyncio.sleep(self._chance.random() / 20)
        return ended


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_in_a_storm_each_event_is_read_once_in_one_order_after_its_causes(
    database_url: str, postgres: str, seed: int
) -> None:
    storm = Storm(database_url, seed)
    async with asyncio.timeout(TIMEOUT), idle_writers(database_url, postgres):
        async with asyncio.TaskGroup() as group:
            readers = [group.create_task(storm.read()) for _ in range(3)]
            others: list[asyncio.Task[Any]] = [group.create_task(storm.move()) for _ in range(2)]
            cut = group.create_task(storm.cut())
            await asyncio.gather(*(storm.write(60) for _ in range(6)))
            storm.writing = False
        assert all(task.done() for task in others)
    assert cut.result() > 3
    told = readers[0].result()
    assert [reader.result() for reader in readers] == [told] * 3
    ids, numbers = [id_ for id_, _ in told], [number for _, number in told]
    assert ids == sorted(set(ids))
    assert sorted(numbers) == sorted(storm.committed)
    place = {number: n for n, number in enumerate(numbers)}
    late = [n for n in numbers if any(place[cause] > place[n] for cause in storm.causes[n])]
    assert late == []
