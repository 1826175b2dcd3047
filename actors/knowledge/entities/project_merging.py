"""The merges of a project brought in line with its entities: reads them, compares them, keeps what is new.

Called by the agent `extractor` after a batch, and by the tools when a source or a merge goes. Doing it again
changes nothing, so it may die at any point.
"""

import asyncio
from collections.abc import Collection, Sequence

from actors.knowledge.entities.merging import merges
from models.knowledge.points import EntityMerge
from models.store.database import Connection, Database
from models.store.knowledge import entities


async def merge_project(
    database: Database, project_id: int, *, model: str, least_cosine: float
) -> tuple[int, int]:
    """Compare all entities of a project: how many merges are new, and how many went."""

    async def attempt() -> tuple[int, int]:
        async with database.transaction() as connection:
            await entities.lock(connection, project_id)
            found = await _merges(connection, project_id, model=model, least_cosine=least_cosine)
            return await entities.set_merges(connection, project_id, found)

    return await database.steadily(attempt)


async def merge_again(
    connection: Connection, project_id: int, among: Collection[int], *, model: str, least_cosine: float
) -> None:
    """Compare some entities anew, those that were one and may be no more, in the caller's transaction."""
    if among:
        found = await _merges(connection, project_id, model=model, least_cosine=least_cosine, among=among)
        await entities.set_merges(connection, project_id, found, among=among)


async def _merges(
    connection: Connection,
    project_id: int,
    *,
    model: str,
    least_cosine: float,
    among: Collection[int] | None = None,
) -> Sequence[EntityMerge]:
    known = await entities.mentions(connection, project_id, model=model, among=among)

    def compare() -> list[EntityMerge]:
        vectors = {id_: memoryview(raw).cast("f") for id_, raw in known.vectors.items()}
        return merges(known.entities, vectors, least_cosine=least_cosine, apart=known.apart)

    return await asyncio.to_thread(compare)
