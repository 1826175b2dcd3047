"""The merges of a project brought in line with its entities: reads them, compares them, keeps what is new.

Called by the agent `extractor` after a batch, and by the tools when a source or a merge goes. Doing it again
changes nothing, so it may die at any point. Comparing many takes long, and holds nobody up meanwhile.
"""

import asyncio
from collections.abc import Sequence

from actors.systems.knowledge.entities.merging import merges
from models.knowledge.points import EntityMerge
from models.store.database import Connection, Database
from models.store.knowledge import entities
from models.store.knowledge import merges as stored

_TRIES = 5


async def merge_project(
    database: Database, project_id: int, *, model: str, least_cosine: float
) -> tuple[int, int]:
    """Compare all entities of a project: how many merges are new, and how many went."""

    async def read(connection: Connection) -> tuple[str, entities.Mentions]:
        # Taken first: what changes while they are read is seen afterwards.
        revision = await entities.revision(connection, project_id, model=model)
        return revision, await entities.mentions(connection, project_id, model=model)

    for _ in range(_TRIES):
        revision, known = await database.read(read)
        found = await _compared(known, least_cosine)

        async def keep(
            revision: str = revision, found: Sequence[EntityMerge] = found
        ) -> tuple[int, int] | None:
            async with database.transaction() as connection:
                await stored.lock(connection, project_id)
                if await entities.revision(connection, project_id, model=model) != revision:
                    return None
                return await stored.set_merges(connection, project_id, found)

        if (counts := await database.steadily(keep)) is not None:
            return counts

    async def at_last(connection: Connection) -> tuple[int, int]:
        # Who changes them all the time waits this once.
        await stored.lock(connection, project_id)
        return await merge_again(connection, project_id, model=model, least_cosine=least_cosine)

    return await database.write(at_last)


async def merge_again(
    connection: Connection, project_id: int, *, model: str, least_cosine: float
) -> tuple[int, int]:
    """Compare all entities of a project in the caller's transaction, which holds the project's lock."""
    known = await entities.mentions(connection, project_id, model=model)
    return await stored.set_merges(connection, project_id, await _compared(known, least_cosine))


async def _compared(known: entities.Mentions, least_cosine: float) -> Sequence[EntityMerge]:
    def compare() -> list[EntityMerge]:
        vectors = {id_: memoryview(raw).cast("f") for id_, raw in known.vectors.items()}
        return merges(known.entities, vectors, least_cosine=least_cosine, apart=known.apart)

    return await asyncio.to_thread(compare)
