"""Passages of sources in Postgres, each with its vector, and which sources still lack theirs.

`sources.indexed_with` names all that passages are shaped by: a source whose text was cut and embedded in
another way, or never, is to be done. No row is locked while a model is asked: `keep` finds out whether the
text is still the same.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from models.knowledge.passages import MadePassage, SourcePassage, SourceText
from models.store.database import Connection

# Rows of one statement: one with a book's passages must not run out of its time.
_ROWS = 1000


class SourceCounts(NamedTuple):
    """The sources of a project that have a text: those whose passages are there, and the others."""

    there: int
    waiting: int


async def count(connection: Connection, project_id: int, made_with: str) -> SourceCounts:
    """How many sources have their passages, and how many lack them."""
    cursor = await connection.execute(
        """SELECT count(*) FILTER (WHERE indexed_with IS NOT DISTINCT FROM %(made_with)s) AS there,
                  count(*) FILTER (WHERE indexed_with IS DISTINCT FROM %(made_with)s) AS waiting
           FROM sources WHERE project_id = %(project)s AND text IS NOT NULL""",
        {"project": project_id, "made_with": made_with},
    )
    row = await cursor.fetchone()
    assert row is not None
    return SourceCounts(row["there"], row["waiting"])


async def waiting(
    connection: Connection, project_id: int, made_with: str, *, after: int, limit: int
) -> list[tuple[int, int]]:
    """Sources without their passages, in the order of their ids, after an id: each with its size in bytes."""
    cursor = await connection.execute(
        """SELECT id, octet_length(text) AS bytes FROM sources
           WHERE project_id = %s AND text IS NOT NULL AND indexed_with IS DISTINCT FROM %s AND id > %s
           ORDER BY id LIMIT %s""",
        (project_id, made_with, after, limit),
    )
    return [(row["id"], row["bytes"]) for row in await cursor.fetchall()]


async def texts(connection: Connection, ids: Sequence[int], made_with: str) -> list[SourceText]:
    """The texts of those sources that still lack their passages, in the order of their ids."""
    cursor = await connection.execute(
        """SELECT id, project_id, text, text_sha256 FROM sources
           WHERE id = ANY(%s) AND text IS NOT NULL AND indexed_with IS DISTINCT FROM %s ORDER BY id""",
        (list(ids), made_with),
    )
    return [SourceText.model_validate(row) for row in await cursor.fetchall()]


async def keep(
    connection: Connection, source: SourceText, *, made_with: str, passages: Sequence[MadePassage]
) -> bool:
    """Keep the passages of a text in place of those before, in the caller's transaction.

    False, and nothing is kept, where the source is gone, its text is another by now, or someone was faster.
    """
    cursor = await connection.execute(
        """UPDATE sources SET indexed_with = %(made_with)s
           WHERE id = %(id)s AND text_sha256 = %(sha256)s AND indexed_with IS DISTINCT FROM %(made_with)s""",
        {"id": source.id, "sha256": source.text_sha256, "made_with": made_with},
    )
    if cursor.rowcount != 1:
        return False
    await remove(connection, [source.id])
    for first in range(0, len(passages), _ROWS):
        some = passages[first : first + _ROWS]
        await connection.execute(
            """INSERT INTO source_passages (project_id, source_id, start, "end", text, vector)
               SELECT %(project)s, %(source)s, p.* FROM unnest(
                   %(starts)s::int[], %(ends)s::int[], %(texts)s::text[], %(vectors)s::bytea[]) AS p""",
            {
                "project": source.project_id,
                "source": source.id,
                "starts": [passage.start for passage in some],
                "ends": [passage.end for passage in some],
                "texts": [passage.text for passage in some],
                "vectors": [passage.vector for passage in some],
            },
        )
    return True


async def remove(connection: Connection, source_ids: Sequence[int]) -> None:
    """Take the passages of some sources away."""
    # Locked in the order of their ids, as by whoever moves them to a segment: neither waits for the other
    # with a part of them.
    await connection.execute(
        """SELECT count(*) FROM (SELECT 1 FROM source_passages WHERE source_id = ANY(%s)
                                 ORDER BY id FOR UPDATE) AS locked""",
        (list(source_ids),),
    )
    await connection.execute("DELETE FROM source_passages WHERE source_id = ANY(%s)", (list(source_ids),))


async def by_ids(connection: Connection, project_id: int, ids: Sequence[int]) -> dict[int, SourcePassage]:
    """Passages of a project by their ids; what is gone, or another project's, is left out."""
    cursor = await connection.execute(
        """SELECT id, source_id, start, "end", text FROM source_passages
           WHERE id = ANY(%s) AND project_id = %s""",
        (list(ids), project_id),
    )
    return {row["id"]: SourcePassage.model_validate(row) for row in await cursor.fetchall()}


async def living(connection: Connection, project_id: int, ids: Sequence[int]) -> set[int]:
    """Those of the ids that are passages of the project now."""
    cursor = await connection.execute(
        "SELECT id FROM source_passages WHERE id = ANY(%s) AND project_id = %s", (list(ids), project_id)
    )
    return {row["id"] for row in await cursor.fetchall()}


async def vectors(connection: Connection, ids: Sequence[int]) -> Mapping[int, bytes]:
    """Vectors by passage; one that is gone meanwhile is left out."""
    async with connection.cursor(binary=True) as cursor:
        await cursor.execute("SELECT id, vector FROM source_passages WHERE id = ANY(%s)", (list(ids),))
        return {row["id"]: row["vector"] for row in await cursor.fetchall()}
