"""Questions to a project's knowledge: passages by words and by meaning at once, with what is known from them.

Called by the tool `query_knowledge_base`. Words are searched in Postgres and always count; the meaning in the
agent `knowledge_index`, which may be away: then the answer says so. Seed 002 §6.2.
"""

import asyncio

from actors.platform.search.hybrid import found_by_meaning
from actors.platform.system import AgentDirectory
from models.config import SearchConfig
from models.content.search import fuse
from models.knowledge.known import PassageShown, PointShown
from models.knowledge.passages import PassageHit
from models.record import Record
from models.store.database import Connection, Database
from models.store.knowledge import passage_search, points

# Of each passage, the best of what is known from it.
_MOST_POINTS = 8
_NO_INDEX = "searched by words only: there is no index here"


class FoundPassage(Record):
    """A passage that was found, and what is known from it. Without `similarity`, only words found it."""

    passage: PassageShown
    similarity: float | None
    points: tuple[PointShown, ...]


class KnowledgeFound(Record):
    """Passages, best first. `total` is how many were found before the limit; each way looks at a few hundred.

    `note` says what kept the search from being whole: no index, or sources that are not in it yet.
    """

    found: tuple[FoundPassage, ...]
    total: int
    note: str | None


async def query_project(
    database: Database,
    agents: AgentDirectory | None,
    settings: SearchConfig,
    *,
    project_id: int,
    query: str,
    limit: int,
) -> KnowledgeFound:
    """At most `limit` passages of a project, by words and meaning, fused by reciprocal rank."""
    wanted = max(limit, settings.candidates)

    async def ask() -> list[PassageHit]:
        assert agents is not None
        hits: list[PassageHit] = await agents.agent("knowledge_index").search(project_id, query, wanted)
        return hits

    async def words() -> list[int]:
        async with database.connection() as connection:
            hits = await passage_search.find_by_words(connection, project_id, query, limit=wanted)
        return [hit.id for hit in hits]

    by_words, (near, note) = await asyncio.gather(
        words(),
        found_by_meaning(ask, seconds=settings.timeout_seconds) if agents else _nothing(),
    )
    fused = [id_ for id_, _ in fuse([by_words, [hit.passage_id for hit in near]])]
    cosines = {hit.passage_id: hit.score for hit in near}
    async with database.connection() as connection:
        shown = await passage_search.shown(connection, project_id, fused[: 2 * limit])
        best = shown[:limit]
        known = await points.within(
            connection, [(each.source_id, each.start, each.end) for each in best], limit=_MOST_POINTS
        )
        missing = await unsearched(connection, project_id)
    return KnowledgeFound(
        found=tuple(
            FoundPassage(
                passage=passage,
                similarity=cosines.get(passage.id),
                points=tuple(
                    point
                    for point in known
                    if point.source_id == passage.source_id
                    and point.start < passage.end
                    and point.end > passage.start
                ),
            )
            for passage in best
        ),
        total=len(fused),
        note="; ".join(said for said in (note, missing) if said) or None,
    )


async def unsearched(connection: Connection, project_id: int) -> str | None:
    """What no search of a project finds yet, and the command that has it found; None where it finds all."""
    missing = await passage_search.not_searched(connection, project_id)
    if not missing:
        return None
    return (
        f"{missing} of the project's sources {'is' if missing == 1 else 'are'} not searched yet: "
        f"`signoff submit index_knowledge_base --project {project_id}` has them found"
    )


async def _nothing() -> tuple[list[PassageHit], str | None]:
    return [], _NO_INDEX
