"""What sources are known to say, in Postgres. It is kept for a source as a whole, and goes with it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from models.errors import SourceNotFound
from models.knowledge.known import KeptPoint, PointShown, SourceKnowledge
from models.record import Record
from models.store.database import Connection
from models.store.knowledge import entities

_SHOWN = """
SELECT p.id, p.source_id, p.kind, p.said, p.score, p.start, p."end", p.quote, p.saved_by,
       s.name AS subject, o.name AS object
FROM knowledge_points p
LEFT JOIN knowledge_entities s ON s.id = p.subject_id
LEFT JOIN knowledge_entities o ON o.id = p.object_id
"""


class ToExtract(Record):
    """A source with a text that is still to be read by a model.

    `settled_at` is when it came to that text; while it is fetched anew, when that was asked for.
    """

    id: int
    project_id: int
    title: str | None
    url: str
    text_sha256: str
    settled_at: datetime


class TextToRead(Record):
    """The text of a source as it is now, and its digest."""

    title: str | None
    url: str
    text: str
    text_sha256: str


async def to_extract(
    connection: Connection, project_id: int, *, extracted_with: str, again: bool, after: int, limit: int
) -> list[ToExtract]:
    """Sources of a project whose present text was not read by this extraction; with `again`, all of them.

    In the order of their ids, after one.
    """
    cursor = await connection.execute(
        """SELECT id, project_id, title, url, text_sha256, coalesce(settled_at, asked_at) AS settled_at
           FROM sources
           WHERE project_id = %s AND id > %s AND text <> ''
             AND (%s OR extracted_with IS DISTINCT FROM %s) ORDER BY id LIMIT %s""",
        (project_id, after, again, extracted_with, limit),
    )
    return [ToExtract.model_validate(row) for row in await cursor.fetchall()]


async def text_of(connection: Connection, source_id: int) -> TextToRead | None:
    """A source's text; None where the source is gone, or has none."""
    cursor = await connection.execute(
        "SELECT title, url, text, text_sha256 FROM sources WHERE id = %s AND text <> ''", (source_id,)
    )
    row = await cursor.fetchone()
    return None if row is None else TextToRead.model_validate(row)


async def is_extracted(connection: Connection, source_id: int, *, extracted_with: str) -> bool:
    """Whether the present text of a source was read by this extraction."""
    cursor = await connection.execute(
        "SELECT 1 FROM sources WHERE id = %s AND extracted_with = %s", (source_id, extracted_with)
    )
    return await cursor.fetchone() is not None


async def keep(
    connection: Connection,
    source_id: int,
    knowledge: SourceKnowledge,
    *,
    text_sha256: str,
    extracted_with: str,
) -> bool:
    """Keep what was found in a source, in place of what was found before; what people saved stays.

    An entity that is found again stays the same one: what a person has said of its merges stays with it.

    False, and nothing is kept, where the text is another one by now, or the source is gone.
    """
    cursor = await connection.execute(
        "UPDATE sources SET extracted_with = %s WHERE id = %s AND text_sha256 = %s RETURNING project_id",
        (extracted_with, source_id, text_sha256),
    )
    row = await cursor.fetchone()
    if row is None:
        return False
    owner = {"project": row["project_id"], "source": source_id}
    for statement in (
        "DELETE FROM knowledge_chunks WHERE source_id = %(source)s",
        "DELETE FROM knowledge_points WHERE source_id = %(source)s AND saved_by IS NULL",
    ):
        await connection.execute(statement, owner)
    await _insert_chunks(connection, knowledge, owner)
    ids = await entities.put(connection, row["project_id"], source_id, knowledge.entities)
    await _insert_points(connection, knowledge.points, ids, owner)
    return True


async def save(
    connection: Connection, project_id: int, source_id: int, point: KeptPoint, *, saved_by: str
) -> int:
    """Keep a point that somebody saved; its id. Saving the same again changes nothing.

    Whoever took its span from the text has locked the source since (`sources.get`).

    Raises:
        SourceNotFound: the project has no source of that id.
    """
    span = point.span
    # Who saves the same at the same time comes after us, and finds it.
    cursor = await connection.execute(
        "SELECT 1 FROM sources WHERE project_id = %s AND id = %s FOR NO KEY UPDATE", (project_id, source_id)
    )
    if await cursor.fetchone() is None:
        raise SourceNotFound(f"project {project_id} has no source {source_id}")
    cursor = await connection.execute(
        """SELECT id FROM knowledge_points WHERE source_id = %s AND saved_by IS NOT NULL AND kind = %s
             AND said = %s AND start = %s AND "end" = %s""",
        (source_id, point.kind, point.said, span.start, span.end),
    )
    row = await cursor.fetchone()
    if row is None:
        cursor = await connection.execute(
            """INSERT INTO knowledge_points
                   (project_id, source_id, kind, score, start, "end", quote, said, saved_by)
               VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s) RETURNING id""",
            (
                project_id,
                source_id,
                point.kind,
                point.score,
                span.start,
                span.end,
                span.quote,
                point.said,
                saved_by,
            ),
        )
        row = await cursor.fetchone()
    assert row is not None
    return int(row["id"])


async def within(
    connection: Connection, spans: Sequence[tuple[int, int, int]], *, limit: int
) -> list[PointShown]:
    """Points that rest on some spans (source, start, end), without those of entities; the best first.

    At most `limit` for each span.
    """
    cursor = await connection.execute(
        f"""SELECT shown.* FROM unnest(%s::bigint[], %s::int[], %s::int[]) AS span(source, first, last)
            CROSS JOIN LATERAL (
                {_SHOWN} WHERE p.source_id = span.source AND p.kind <> 'entity'
                  AND p.start < span.last AND p."end" > span.first
                ORDER BY p.score DESC, p.id LIMIT %s) AS shown""".encode(),
        (*([list(column) for column in zip(*spans, strict=True)] or [[], [], []]), limit),
    )
    unique = {row["id"]: PointShown.model_validate(row) for row in await cursor.fetchall()}
    return list(unique.values())


async def of_source(connection: Connection, source_id: int) -> list[PointShown]:
    """All points of a source, in the order of its text."""
    cursor = await connection.execute(
        f'{_SHOWN} WHERE p.source_id = %s ORDER BY p.start, p."end", p.id'.encode(), (source_id,)
    )
    return [PointShown.model_validate(row) for row in await cursor.fetchall()]


async def _insert_chunks(connection: Connection, knowledge: SourceKnowledge, owner: dict[str, Any]) -> None:
    async with connection.cursor() as cursor:
        await cursor.executemany(
            """INSERT INTO knowledge_chunks (source_id, start, "end", dropped)
               VALUES (%(source)s, %(start)s, %(end)s, %(dropped)s)""",
            [
                owner | {"start": chunk.start, "end": chunk.end, "dropped": Jsonb(dict(chunk.dropped))}
                for chunk in knowledge.chunks
            ],
        )


async def _insert_points(
    connection: Connection, points: Sequence[KeptPoint], ids: Sequence[int], owner: dict[str, Any]
) -> None:
    def id_of(place: int | None) -> int | None:
        return None if place is None else ids[place]

    async with connection.cursor() as cursor:
        await cursor.executemany(
            """INSERT INTO knowledge_points (project_id, source_id, kind, score, start, "end", quote, said,
                                             entity_id, subject_id, object_id)
               VALUES (%(project)s, %(source)s, %(kind)s, %(score)s, %(start)s, %(end)s, %(quote)s, %(said)s,
                       %(entity)s, %(subject)s, %(object)s)""",
            [
                owner
                | point.span.model_dump()
                | {
                    "kind": point.kind,
                    "score": point.score,
                    "said": point.said,
                    "entity": id_of(point.entity),
                    "subject": id_of(point.subject),
                    "object": id_of(point.object),
                }
                for point in points
            ],
        )
