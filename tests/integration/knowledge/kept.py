"""Knowledge put into a database without a model, and what it says then. Shared by tests of the store."""

import asyncio
import hashlib
from collections.abc import Sequence

from actors.systems.knowledge.entities.project_merging import merge_project
from models.knowledge.known import EntityShown, KeptPoint, SourceEntity, SourceKnowledge
from models.knowledge.points import EntityType, SourceSpan
from models.store.database import Database
from models.store.knowledge import entities, points, sources
from tests.integration.knowledge.test_sources import batch, claim, project, read, settle

PAGES = [f"https://example.org/{number}" for number in range(40)]
MODEL = "m"


def digest(text: str) -> str:
    """Of a text, as sources have it."""
    return hashlib.sha256(text.encode()).hexdigest()


def named(name: str, *aliases: str, kind: EntityType = "organization", mentions: int = 1) -> SourceEntity:
    """An entity of a source."""
    return SourceEntity(name=name, entity_type=kind, aliases=aliases, mentions=mentions)


def fact(text: str) -> KeptPoint:
    """A point that rests on a whole text."""
    return KeptPoint(
        kind="fact", score=0.9, span=SourceSpan(start=0, end=len(text), quote=text), said="It is said."
    )


async def fetched(database: Database, number: int, *texts: str, first: int = 0) -> list[int]:
    """The sources of a project fetched anew: `texts` from the page `first` on. Their ids."""
    urls = PAGES[first : first + len(texts)]
    batch_id = await batch(database)
    await claim(database, number, batch_id, urls, again=True)
    await settle(database, number, batch_id, *map(read, urls, texts))
    async with database.connection() as connection:
        found = await sources.by_urls(connection, number, urls)
    return [found[url].id for url in urls]


async def keep(
    database: Database, source: int, text: str, *found: SourceEntity, extracted_with: str = "w"
) -> bool:
    """Keep entities, and one point, as what a text says."""
    knowledge = SourceKnowledge(entities=found, points=(fact(text),), chunks=())
    async with database.transaction() as connection:
        return await points.keep(
            connection, source, knowledge, text_sha256=digest(text), extracted_with=extracted_with
        )


async def known(database: Database, *found: Sequence[SourceEntity]) -> tuple[int, list[int]]:
    """A project whose sources, `text 0` and on, name these; not compared yet. Its id, and its sources'."""
    number = await project(database)
    ids = await fetched(database, number, *(f"text {place}" for place in range(len(found))))
    for place, some in enumerate(found):
        assert await keep(database, ids[place], f"text {place}", *some)
    return number, ids


async def merged(database: Database, number: int) -> tuple[int, int]:
    """Compare all, as after a batch."""
    return await merge_project(database, number, model=MODEL, least_cosine=0.95)


async def shown(database: Database, number: int) -> list[EntityShown]:
    """All entities of a project."""
    async with database.connection() as connection:
        return await entities.find(connection, number, name=None, limit=200)


async def groups(database: Database, number: int) -> list[tuple[int, ...]]:
    """The sources of each entity of a project, in their order."""
    return sorted(each.sources for each in await shown(database, number))


async def blocked(database: Database, least: int = 1) -> None:
    """Wait until so many connections wait for a lock."""
    query = """SELECT count(*) AS n FROM pg_stat_activity
               WHERE datname = current_database() AND wait_event_type = 'Lock'"""
    async with asyncio.timeout(30), database.apart() as connection:
        while True:
            row = await (await connection.execute(query)).fetchone()
            if row is not None and row["n"] >= least:
                return
