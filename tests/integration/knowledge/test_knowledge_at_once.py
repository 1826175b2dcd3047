"""Those who read, fetch, save and delete one source at once: what is kept is of the text there is."""

import asyncio
from collections.abc import Awaitable, Callable

import psycopg
import pytest

from models.errors import SourceNotFound
from models.knowledge.known import SourceKnowledge
from models.knowledge.passages import IndexSegment, MadePassage, SourceText
from models.store.database import Connection, Database
from models.store.knowledge import entities, passages, points, segments, sources
from tests.integration.knowledge.kept import (
    MODEL,
    PAGES,
    blocked,
    digest,
    fact,
    fetched,
    groups,
    keep,
    known,
    merged,
    named,
    shown,
)
from tests.integration.knowledge.test_sources import batch, claim, project, read, settle


async def keep_points(connection: Connection, source: int, number: int) -> None:
    knowledge = SourceKnowledge(entities=(named("X"),), points=(fact("old text"),), chunks=())
    assert await points.keep(
        connection, source, knowledge, text_sha256=digest("old text"), extracted_with="w"
    )


async def keep_passages(connection: Connection, source: int, number: int) -> None:
    text = SourceText(id=source, project_id=number, text="old text", text_sha256=digest("old text"))
    made = [MadePassage(0, 8, "old text", b"\0\0\0\0")]
    assert await passages.keep(connection, text, made_with="w", passages=made)


async def save_point(connection: Connection, source: int, number: int) -> None:
    found = await sources.get(connection, number, source, lock=True)
    assert found.text == "old text"
    await points.save(connection, number, source, fact("old text"), saved_by="ann")


@pytest.mark.parametrize("write", [keep_points, keep_passages, save_point])
async def test_what_is_kept_while_a_text_comes_goes_with_the_text_before(
    database: Database, write: Callable[[Connection, int, int], Awaitable[None]]
) -> None:
    number = await project(database)
    [source] = await fetched(database, number, "old text")
    batch_id = await batch(database)
    await claim(database, number, batch_id, PAGES[:1], again=True)
    async with database.transaction() as connection:
        await write(connection, source, number)
        settling = asyncio.create_task(settle(database, number, batch_id, read(PAGES[0], "new")))
        await blocked(database)
    await settling
    async with database.connection() as connection:
        assert (await sources.get(connection, number, source)).text == "new"
        assert await points.of_source(connection, source) == []
        for table in ("source_passages", "knowledge_entities", "knowledge_chunks"):
            cursor = await connection.execute(f"SELECT 1 FROM {table}".encode())
            assert await cursor.fetchone() is None


async def test_a_text_that_is_being_replaced_is_waited_for_by_whoever_writes_of_it(
    database: Database,
) -> None:
    number = await project(database)
    [source] = await fetched(database, number, "old text")
    batch_id = await batch(database)
    await claim(database, number, batch_id, PAGES[:1], again=True)

    async def text() -> str | None:
        async with database.transaction() as connection:
            return (await sources.get(connection, number, source, lock=True)).text

    async with database.transaction() as connection:
        await sources.settle(connection, project_id=number, batch_id=batch_id, pages=[read(PAGES[0], "new")])
        keeping = asyncio.create_task(keep(database, source, "old text", named("X")))
        reading = asyncio.create_task(text())
        await blocked(database, 2)
    assert (await keeping, await reading) == (False, "new")


async def test_the_same_saved_twice_at_once_is_saved_once(database: Database) -> None:
    number = await project(database)
    [source] = await fetched(database, number, "a text")

    async def save() -> int:
        async with database.transaction() as connection:
            return await points.save(connection, number, source, fact("a text"), saved_by="ann")

    async with database.transaction() as connection:
        first = await points.save(connection, number, source, fact("a text"), saved_by="ann")
        second = asyncio.create_task(save())
        await blocked(database)
    assert await second == first
    async with database.transaction() as connection:
        with pytest.raises(SourceNotFound):
            await points.save(connection, number, 9999, fact("a text"), saved_by="ann")


async def test_entities_are_compared_while_a_source_is_read_anew(database: Database) -> None:
    number, [a, b] = await known(database, [named("Acme")], [named("Acme")])
    knowledge = SourceKnowledge(entities=(named("Other"),), points=(), chunks=())
    async with database.transaction() as connection:
        assert await points.keep(connection, b, knowledge, text_sha256=digest("text 1"), extracted_with="w2")
        merging = asyncio.create_task(merged(database, number))
        await blocked(database)
    assert await merging == (0, 0)
    assert await groups(database, number) == [(a,), (b,)]


async def test_all_who_take_entities_away_or_join_them_do_so_one_after_the_other(
    database: Database,
) -> None:
    many = [named(f"Mill {letter}") for letter in "ABCDEFGHIJ"]
    number, ids = await known(database, *([many] * 6))
    await merged(database, number)

    async def anew(place: int) -> None:
        await fetched(database, number, f"text {place} anew", first=place)

    async def again(place: int) -> None:
        await keep(database, ids[place], f"text {place}", *reversed(many[:5]), extracted_with="w2")

    async def gone(place: int) -> None:
        async with database.transaction() as connection:
            await sources.delete(connection, number, ids[place])

    async def embedded() -> None:
        async with database.transaction() as connection:
            waiting = await entities.without_vector(connection, number, model=MODEL, limit=200)
            vectors = [(id_, b"\0\0\0\0") for id_, _ in reversed(waiting)]
            await entities.put_vectors(connection, vectors, model=MODEL)

    # Straight at the database: nothing here tries again after a deadlock.
    await asyncio.gather(
        *(anew(0), again(1), gone(2), merged(database, number), embedded()),
        *(anew(3), again(4), again(5), merged(database, number)),
    )
    await merged(database, number)
    assert {each.sources for each in await shown(database, number)} == {(ids[1], ids[4], ids[5])}


async def test_vectors_come_in_while_their_entities_go(database: Database) -> None:
    number, _ = await known(database, [named("A"), named("B")], [named("C")])
    async with database.connection() as connection:
        waiting = await entities.without_vector(connection, number, model=MODEL, limit=9)

    async def put() -> None:
        async with database.transaction() as connection:
            vectors = [(id_, b"\0\0\0\0") for id_, _ in reversed(waiting)]
            await entities.put_vectors(connection, vectors, model=MODEL)

    async with database.transaction() as connection:
        await connection.execute(
            "SELECT 1 FROM knowledge_entities WHERE id = %s FOR UPDATE", (waiting[0][0],)
        )
        putting = asyncio.create_task(put())
        await blocked(database)
        # The first of them is what it waits for: it has none of the others yet.
        async with database.transaction() as other:
            await other.execute(
                "SELECT 1 FROM knowledge_entities WHERE id = %s FOR UPDATE NOWAIT", (waiting[-1][0],)
            )
        await connection.execute("DELETE FROM knowledge_entities WHERE id = %s", (waiting[0][0],))
    await putting
    async with database.connection() as connection:
        assert await entities.without_vector(connection, number, model=MODEL, limit=9) == []


async def test_a_source_that_is_claimed_again_is_still_to_be_read(database: Database) -> None:
    number = await project(database)
    [source] = await fetched(database, number, "a text")
    await claim(database, number, await batch(database), PAGES[:1], again=True)
    async with database.connection() as connection:
        [found] = await points.to_extract(
            connection, number, extracted_with="w", again=False, after=0, limit=9
        )
    assert (found.id, found.text_sha256) == (source, digest("a text"))


async def test_passages_move_to_a_segment_in_the_order_in_which_they_go(database: Database) -> None:
    number = await project(database)
    [source] = await fetched(database, number, "a text of many words")
    text = SourceText(
        id=source, project_id=number, text="a text of many words", text_sha256=digest("a text of many words")
    )
    made = [MadePassage(place, place + 1, "a", b"\0\0\0\0") for place in range(9)]
    async with database.transaction() as connection:
        assert await passages.keep(connection, text, made_with="w", passages=made)
        cursor = await connection.execute("SELECT id FROM source_passages ORDER BY id")
        ids = [row["id"] for row in await cursor.fetchall()]
        segment = await segments.add(
            connection,
            IndexSegment.model_validate(
                {
                    "id": 0,
                    "project_id": number,
                    "kind": "flat",
                    "file": "f",
                    "sha256": "s",
                    "vectors": 9,
                    "bytes": 1,
                    "recall": 1.0,
                    "effort": 0,
                    "made_with": "w",
                }
            ),
        )
    async with database.transaction() as connection:
        # As rows lie that were written anew: the first id comes last.
        await connection.execute("UPDATE source_passages SET start = 90 WHERE id = %s", (ids[0],))

    async def move() -> None:
        async with database.transaction() as connection:
            await segments.move(connection, segment, ids)

    async with database.transaction() as connection:
        await connection.execute("SELECT 1 FROM source_passages WHERE id = %s FOR UPDATE", (ids[0],))
        moving = asyncio.create_task(move())
        await blocked(database)
        async with database.transaction() as other:
            try:
                await other.execute(
                    "SELECT 1 FROM source_passages WHERE id = %s FOR UPDATE NOWAIT", (ids[-1],)
                )
            except psycopg.errors.LockNotAvailable:
                pytest.fail("it holds a later one while it waits for an earlier")
    await moving
