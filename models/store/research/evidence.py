"""The points that a research rests on, in Postgres: a copy, so that its lineage outlasts its sources."""

from collections.abc import Mapping, Sequence

from models.research.evidence import ResearchPoint
from models.store.database import Connection

_COLUMNS = (
    'point_id, kind, said, subject, object, score, start, "end", quote, source_id, title, url, final_url, '
    "text_sha256, sha256"
)


# The points of sources as a research keeps them, with `research_points`' columns in their order.
_KNOWN = """
SELECT p.id AS point_id, p.kind, p.said, s.name AS subject, o.name AS object, p.score, p.start, p."end",
       p.quote, r.id AS source_id, r.title, r.url, r.final_url, r.text_sha256, r.sha256
FROM knowledge_points p JOIN sources r ON r.id = p.source_id
LEFT JOIN knowledge_entities s ON s.id = p.subject_id
LEFT JOIN knowledge_entities o ON o.id = p.object_id
"""


async def keep(
    connection: Connection, research_id: int, source_ids: Sequence[int], texts: Mapping[int, str]
) -> int:
    """Keep what is known from some sources now; how many points there are.

    Args:
        texts: digests of the sources' texts, where only those count.
    """
    await connection.execute(
        f"""INSERT INTO research_points (research_id, {_COLUMNS})
            SELECT %s, known.* FROM (
                {_KNOWN} LEFT JOIN unnest(%s::bigint[], %s::text[]) AS given(source_id, text_sha256)
                    ON given.source_id = r.id
                WHERE p.source_id = ANY(%s) AND coalesce(given.text_sha256, r.text_sha256) = r.text_sha256
            ) known
            ON CONFLICT DO NOTHING""".encode(),
        (research_id, list(texts), list(texts.values()), list(source_ids)),
    )
    cursor = await connection.execute(
        "SELECT count(*) AS n FROM research_points WHERE research_id = %s", (research_id,)
    )
    row = await cursor.fetchone()
    assert row is not None
    return int(row["n"])


async def get_all(connection: Connection, research_id: int) -> list[ResearchPoint]:
    """All of a research, by their ids."""
    cursor = await connection.execute(
        f"SELECT {_COLUMNS} FROM research_points WHERE research_id = %s ORDER BY point_id".encode(),
        (research_id,),
    )
    return [ResearchPoint.model_validate(row) for row in await cursor.fetchall()]


async def get(connection: Connection, research_id: int, point_ids: Sequence[int]) -> list[ResearchPoint]:
    """Those of a research that have these ids, by their ids."""
    cursor = await connection.execute(
        f"""SELECT {_COLUMNS} FROM research_points WHERE research_id = %s AND point_id = ANY(%s)
            ORDER BY point_id""".encode(),
        (research_id, list(point_ids)),
    )
    return [ResearchPoint.model_validate(row) for row in await cursor.fetchall()]


async def page(connection: Connection, research_id: int, *, after: int, limit: int) -> list[ResearchPoint]:
    """Some of a research, by their ids, after the one of the id `after`."""
    cursor = await connection.execute(
        f"""SELECT {_COLUMNS} FROM research_points WHERE research_id = %s AND point_id > %s
            ORDER BY point_id LIMIT %s""".encode(),
        (research_id, after, limit),
    )
    return [ResearchPoint.model_validate(row) for row in await cursor.fetchall()]


async def of_project(
    connection: Connection, project_id: int, point_ids: Sequence[int] | None, *, limit: int
) -> list[ResearchPoint]:
    """What is known in a project now: all, or those of these ids that there are; by their ids, to `limit`."""
    cursor = await connection.execute(
        f"""{_KNOWN} WHERE r.project_id = %s AND (%s::bigint[] IS NULL OR p.id = ANY(%s))
            ORDER BY p.id LIMIT %s""".encode(),
        (project_id, *2 * [None if point_ids is None else list(point_ids)], limit),
    )
    return [ResearchPoint.model_validate(row) for row in await cursor.fetchall()]
