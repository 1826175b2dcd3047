"""Segments of the projects' indexes in Postgres: which there are, and which passages are in none yet.

One at a time builds for a project: it holds the project's lock on the connection that it writes with, so what
has lost the lock can't write either. A new segment is added, its passages are moved to it a few at a time,
and then the segments that they were in go: whoever reads at any moment finds each passage in one of them, or
in two. No row is locked for longer than a few passages take.
"""

from collections.abc import Sequence
from typing import NamedTuple

from psycopg.rows import class_row

from models.knowledge.passages import IndexSegment
from models.store.database import Connection

_COLUMNS = "id, project_id, kind, file, sha256, vectors, bytes, recall, effort, made_with"
# Names our locks among the advisory locks of the database (`pg_locks.classid`).
_LOCK = 0x51D0
_PRESENT = """source_passages p JOIN sources s ON s.id = p.source_id AND s.indexed_with = %(made_with)s
    WHERE p.project_id = %(project)s"""


class Whole(NamedTuple):
    """A project's index at one moment: its segments, and the newest passages that are in none."""

    segments: tuple[IndexSegment, ...]
    fresh: tuple[int, ...]


class Filling(NamedTuple):
    """A segment, and how many of its passages there still are."""

    segment: IndexSegment
    living: int


class SegmentMember(NamedTuple):
    """A passage of a segment, or one that is to be."""

    id: int
    vector: bytes


async def whole(connection: Connection, project_id: int, made_with: str, *, most_fresh: int) -> Whole:
    """What a search has to look into, as of one moment."""
    what = {"project": project_id, "made_with": made_with, "most": most_fresh}
    # One statement sees one state: nothing is on its way from one of these to the other.
    cursor = await connection.execute(
        f"""SELECT coalesce((SELECT jsonb_agg(to_jsonb(g)) FROM (SELECT {_COLUMNS} FROM index_segments
                    WHERE project_id = %(project)s AND made_with = %(made_with)s ORDER BY id) AS g),
                    '[]') AS segments,
                   ARRAY(SELECT p.id FROM {_PRESENT} AND p.segment_id IS NULL
                         ORDER BY p.id DESC LIMIT %(most)s) AS fresh""".encode(),
        what,
    )
    row = await cursor.fetchone()
    assert row is not None
    return Whole(
        tuple(IndexSegment.model_validate(segment) for segment in row["segments"]), tuple(row["fresh"])
    )


async def exists(connection: Connection, segment: IndexSegment) -> bool:
    """Whether a segment is still part of its project's index, with the same file."""
    cursor = await connection.execute(
        "SELECT 1 FROM index_segments WHERE id = %s AND file = %s", (segment.id, segment.file)
    )
    return await cursor.fetchone() is not None


async def try_lock(connection: Connection, project_id: int) -> bool:
    """Take the project's lock for as long as this connection lives; False where another has it."""
    cursor = await connection.execute(
        "SELECT pg_try_advisory_lock(%s, hashint8(%s)) AS ours", (_LOCK, project_id)
    )
    row = await cursor.fetchone()
    return row is not None and bool(row["ours"])


async def fillings(connection: Connection, project_id: int) -> list[Filling]:
    """All segments of a project, those of other models too, the smallest first."""
    cursor = await connection.execute(
        f"""SELECT {_COLUMNS}, (SELECT count(*) FROM source_passages p WHERE p.segment_id = g.id) AS living
            FROM index_segments g WHERE project_id = %s ORDER BY vectors, id""".encode(),
        (project_id,),
    )
    return [
        Filling(IndexSegment.model_validate({k: v for k, v in row.items() if k != "living"}), row["living"])
        for row in await cursor.fetchall()
    ]


async def newest(connection: Connection, project_id: int) -> int:
    """The id of the newest passage; 0 where there is none."""
    cursor = await connection.execute(
        "SELECT id FROM source_passages WHERE project_id = %s ORDER BY id DESC LIMIT 1", (project_id,)
    )
    row = await cursor.fetchone()
    return 0 if row is None else int(row["id"])


async def count_fresh(connection: Connection, project_id: int, made_with: str, *, until: int) -> int:
    """How many passages are in no segment, up to an id."""
    cursor = await connection.execute(
        f"SELECT count(*) AS n FROM {_PRESENT} AND p.segment_id IS NULL AND p.id <= %(until)s".encode(),
        {"project": project_id, "made_with": made_with, "until": until},
    )
    row = await cursor.fetchone()
    assert row is not None
    return int(row["n"])


async def members(
    connection: Connection,
    project_id: int,
    made_with: str,
    *,
    segment_ids: Sequence[int],
    fresh: bool,
    after: int,
    until: int,
    limit: int,
) -> list[SegmentMember]:
    """Passages of some segments, and with `fresh` of none, in the order of their ids: from one to another."""
    async with connection.cursor(binary=True, row_factory=class_row(SegmentMember)) as cursor:
        await cursor.execute(
            f"""SELECT p.id, p.vector FROM {_PRESENT}
                  AND (p.segment_id = ANY(%(segments)s) OR %(fresh)s AND p.segment_id IS NULL)
                  AND p.id > %(after)s AND p.id <= %(until)s ORDER BY p.id LIMIT %(limit)s""".encode(),
            {
                "project": project_id,
                "made_with": made_with,
                "segments": list(segment_ids),
                "fresh": fresh,
                "after": after,
                "until": until,
                "limit": limit,
            },
        )
        return await cursor.fetchall()


async def add(connection: Connection, segment: IndexSegment) -> IndexSegment:
    """Add a segment to its project's index; it is given its id. From now on it is searched."""
    cursor = await connection.execute(
        """INSERT INTO index_segments
               (project_id, kind, file, sha256, vectors, bytes, recall, effort, made_with)
           VALUES (%(project_id)s, %(kind)s, %(file)s, %(sha256)s, %(vectors)s, %(bytes)s, %(recall)s,
                   %(effort)s, %(made_with)s) RETURNING id""",
        segment.model_dump(exclude={"id"}),
    )
    row = await cursor.fetchone()
    assert row is not None
    return segment.model_copy(update={"id": row["id"]})


async def move(connection: Connection, segment: IndexSegment, ids: Sequence[int]) -> None:
    """Say of passages that they are in this segment."""
    # Locked in the order of their ids, as by `passages.remove`: neither waits for the other with a part.
    await connection.execute(
        """WITH locked AS MATERIALIZED (SELECT id FROM source_passages WHERE id = ANY(%s) AND project_id = %s
                                        ORDER BY id FOR NO KEY UPDATE)
           UPDATE source_passages p SET segment_id = %s FROM locked WHERE p.id = locked.id""",
        (list(ids), segment.project_id, segment.id),
    )


async def remove(connection: Connection, segment_ids: Sequence[int]) -> None:
    """Take segments out of the index; what is still said to be in them is in none from now on."""
    await connection.execute("DELETE FROM index_segments WHERE id = ANY(%s)", (list(segment_ids),))


async def named_files(connection: Connection) -> set[str]:
    """The files of all segments of all projects."""
    cursor = await connection.execute("SELECT file FROM index_segments")
    return {row["file"] for row in await cursor.fetchall()}
