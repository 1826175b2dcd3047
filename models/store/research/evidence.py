"""The points that a research rests on, in Postgres: a copy, so that its lineage outlasts its sources."""

from collections.abc import Sequence

from models.research.evidence import ResearchPoint
from models.store.database import Connection

_COLUMNS = (
    'point_id, kind, said, subject, object, score, start, "end", quote, source_id, title, url, final_url, '
    "text_sha256, sha256"
)


async def keep(connection: Connection, research_id: int, source_ids: Sequence[int]) -> int:
    """Keep what is known from some sources now; how many points there are."""
    await connection.execute(
        f"""INSERT INTO research_points (research_id, {_COLUMNS})
            SELECT %s, p.id, p.kind, p.said, s.name, o.name, p.score, p.start, p."end", p.quote, r.id,
                   r.title, r.url, r.final_url, r.text_sha256, r.sha256
            FROM knowledge_points p JOIN sources r ON r.id = p.source_id
            LEFT JOIN knowledge_entities s ON s.id = p.subject_id
            LEFT JOIN knowledge_entities o ON o.id = p.object_id
            WHERE p.source_id = ANY(%s) ON CONFLICT DO NOTHING""".encode(),
        (research_id, list(source_ids)),
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
