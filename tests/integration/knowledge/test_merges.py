"""Merges: what a person has parted stays parted, and nothing else parts or joins with it."""

import asyncio
import threading
from typing import Any

import pytest

from actors.systems.knowledge.entities import project_merging
from actors.systems.knowledge.entities.project_merging import merge_again
from models.errors import MergeNotFound
from models.knowledge.known import SourceEntity
from models.store.database import Database
from models.store.knowledge import entities, merges, sources
from tests.integration.knowledge.kept import (
    MODEL,
    blocked,
    fetched,
    groups,
    keep,
    known,
    merged,
    named,
    shown,
)


async def undo(database: Database, number: int, source: int, like: str | None = None) -> None:
    """Undo the merge of the one entity of a source, as the tool does."""
    [merge] = [
        merge
        for each in await shown(database, number)
        for merge in each.merges
        if merge.source_id == source and like in (None, merge.like)
    ]
    async with database.transaction() as connection:
        await merges.undo(connection, number, merge.id, by="ann")
        await merge_again(connection, number, model=MODEL, least_cosine=0.95)


def smith(mentions: int, name: str = "John Smith") -> SourceEntity:
    return named(name, kind="person", mentions=mentions)


async def test_one_of_a_name_that_is_parted_leaves_the_others_together(database: Database) -> None:
    number, [long, second, third] = await known(
        database,
        [named("International Business Machines", "IBM", mentions=9)],
        [named("IBM", mentions=2)],
        [named("IBM", mentions=1)],
    )
    await merged(database, number)
    assert await groups(database, number) == [(long, second, third)]
    await undo(database, number, third, like="IBM")
    assert await groups(database, number) == [(long, second), (third,)]
    assert await merged(database, number) == (0, 0)
    # One that comes later is of those that were not parted.
    [fourth] = await fetched(database, number, "text 3", first=3)
    await keep(database, fourth, "text 3", named("IBM", mentions=1))
    await merged(database, number)
    assert await groups(database, number) == [(long, second, fourth), (third,)]


async def test_a_name_that_is_parted_is_by_itself_and_stays_one(database: Database) -> None:
    number, [one, two, three, four] = await known(
        database,
        [named("Goldman Sachs", mentions=9)],
        [named("Goldmann Sachs", "GS", mentions=5)],
        [named("GS", mentions=2)],
        [named("GS", mentions=1)],
    )
    await merged(database, number)
    assert await groups(database, number) == [(one, two, three, four)]
    await undo(database, number, three)
    assert await groups(database, number) == [(one, two), (three, four)]
    assert await merged(database, number) == (0, 0)


async def test_what_is_parted_stays_so_when_a_third_goes(database: Database) -> None:
    number, [a, b, c] = await known(database, [smith(9)], [smith(8)], [smith(7)])
    await merged(database, number)
    await undo(database, number, c)
    assert await groups(database, number) == [(a, b), (c,)]
    async with database.transaction() as connection:
        await sources.delete(connection, number, a)
    await merged(database, number)
    assert await groups(database, number) == [(b,), (c,)]


async def test_undoing_again_changes_nothing_and_another_project_s_is_not_there(database: Database) -> None:
    number, _ = await known(database, [smith(9)], [smith(8)])
    await merged(database, number)
    [[merge]] = [each.merges for each in await shown(database, number)]
    for _ in range(2):
        async with database.transaction() as connection:
            assert await merges.undo(connection, number, merge.id, by="ann") == merge.entity_id
    async with database.connection() as connection:
        cursor = await connection.execute("SELECT count(*) AS n FROM entity_merges")
        assert await cursor.fetchone() == {"n": 1}
        with pytest.raises(MergeNotFound):
            await merges.undo(connection, number + 1, merge.id, by="ann")


async def test_what_is_parted_stays_so_when_its_source_is_read_anew(database: Database) -> None:
    number, [a, b] = await known(database, [smith(9)], [smith(8), named("Old")])
    await merged(database, number)
    before = {each.id for each in await shown(database, number)}
    await undo(database, number, b)
    await keep(database, b, "text 1", named("New"), smith(5, "John SMITH"), extracted_with="w2")
    await merged(database, number)
    after = {each.id: (each.name, each.mentions) for each in await shown(database, number)}
    assert sorted(after.values()) == [("John SMITH", 5), ("John Smith", 9), ("New", 1)]
    assert len(before & after.keys()) >= 1
    assert await groups(database, number) == [(a,), (b,), (b,)]


async def test_a_text_that_changes_takes_its_own_merges_and_no_others(database: Database) -> None:
    number, [a, b, c, d, e] = await known(
        database,
        [named("Acme", mentions=9)],
        [named("Acme", mentions=8)],
        [named("Acme", mentions=7)],
        [named("Acme Laboratories", mentions=6)],
        [named("Acme Laboratories", mentions=5)],
    )
    await merged(database, number)
    assert await groups(database, number) == [(a, b, c), (d, e)]
    [[first, _], [other]] = [each.merges for each in await shown(database, number)]
    await fetched(database, number, "another text")
    assert await groups(database, number) == [(b, c), (d, e)]
    # It is what a comparison finds, and what it had nothing to do with is untouched.
    assert await merged(database, number) == (0, 0)
    assert [each.merges for each in await shown(database, number)][1] == (other,)
    assert first.source_id == b
    # With the last that gives the name, nothing is left of it.
    await fetched(database, number, "another text", first=1)
    assert await groups(database, number) == [(c,), (d, e)]


async def test_a_merge_by_a_name_that_only_the_changed_text_gives_goes(database: Database) -> None:
    number, [a, b, c] = await known(
        database,
        [named("International Business Machines", "IBM", mentions=9)],
        [named("International Business Machines", mentions=8)],
        [named("IBM", mentions=7)],
    )
    await merged(database, number)
    assert await groups(database, number) == [(a, b, c)]
    await fetched(database, number, "another text")
    assert await groups(database, number) == [(b,), (c,)]
    assert await merged(database, number) == (0, 0)


class Comparing:
    """The comparison, held up for as long as a test wants."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.loop = asyncio.get_running_loop()
        self.begun: asyncio.Queue[int] = asyncio.Queue()
        self.goes_on = threading.Semaphore(0)
        real = project_merging.merges

        def compare(*given: Any, **more: Any) -> Any:
            self.loop.call_soon_threadsafe(self.begun.put_nowait, 1)
            assert self.goes_on.acquire(timeout=60)
            return real(*given, **more)

        monkeypatch.setattr(project_merging, "merges", compare)


async def test_comparing_holds_nobody_up_and_sees_what_changes_meanwhile(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    number, [a, b, c] = await known(database, [smith(9)], [smith(8)], [smith(7)])
    await merged(database, number)
    comparing = Comparing(monkeypatch)
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        task = tasks.create_task(merged(database, number))
        await comparing.begun.get()
        async with database.connection() as connection:
            cursor = await connection.execute(
                """SELECT 1 FROM pg_stat_activity
                   WHERE datname = current_database() AND state LIKE 'idle in transaction%'"""
            )
            assert await cursor.fetchone() is None
        [[_, last]] = [each.merges for each in await shown(database, number)]
        async with database.transaction() as connection:
            await merges.undo(connection, number, last.id, by="ann")
        comparing.goes_on.release()
        # What it found is of a state that is gone: it looks again.
        await comparing.begun.get()
        comparing.goes_on.release()
        assert await task == (0, 0)
    assert await groups(database, number) == [(a, b), (c,)]


async def test_what_changes_all_the_time_waits_in_the_end(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    number, [a, b] = await known(database, [smith(9)], [smith(8)])
    comparing = Comparing(monkeypatch)
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        task = tasks.create_task(merged(database, number))
        for place in range(project_merging._TRIES):
            await comparing.begun.get()
            await keep(database, b, "text 1", smith(20 + place), extracted_with=f"w{place}")
            comparing.goes_on.release()
        await comparing.begun.get()
        gone = tasks.create_task(_gone(database, number, a))
        await blocked(database)
        comparing.goes_on.release()
        assert await task == (1, 0)
        await gone
    assert await groups(database, number) == [(b,)]


async def _gone(database: Database, number: int, source: int) -> None:
    async with database.transaction() as connection:
        await sources.delete(connection, number, source)


async def test_an_entity_tells_how_many_points_there_are(database: Database) -> None:
    number, _ = await known(database, [named("Acme")])
    [acme] = await shown(database, number)
    async with database.connection() as connection:
        assert await entities.count_relations(connection, [acme.id]) == 0
