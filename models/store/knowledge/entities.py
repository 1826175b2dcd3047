"""Entities of a project, and which of them are one, in Postgres.

An entity is one source's, and goes with it; a merge says that it is another one, and goes with either. What a
person has undone stays on record, so that it is not done again.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any

from models.errors import MergeNotFound
from models.knowledge.known import EntityShown, MergeShown, PointShown, RelationShown
from models.knowledge.points import EntityMention, EntityMerge
from models.record import Record
from models.store.database import Connection

# Two that change the merges of one project come one after the other.
_LOCK = "SELECT pg_advisory_xact_lock(hashtext('signoff entity merges'), %s::int)"


class Mentions(Record):
    """Entities, the vectors of their names, and the pairs that a person has said are two."""

    entities: tuple[EntityMention, ...]
    vectors: dict[str, bytes]
    apart: tuple[tuple[str, str], ...]


async def lock(connection: Connection, project_id: int) -> None:
    """Keep others from changing the project's merges until the transaction ends."""
    await connection.execute(_LOCK, (project_id % 2**31,))


async def without_vector(
    connection: Connection, project_id: int, *, model: str, limit: int
) -> list[tuple[int, str]]:
    """Entities whose names this model has not embedded: id and name."""
    cursor = await connection.execute(
        """SELECT id, name FROM knowledge_entities
           WHERE project_id = %s AND embedded_with IS DISTINCT FROM %s ORDER BY id LIMIT %s""",
        (project_id, model, limit),
    )
    return [(row["id"], row["name"]) for row in await cursor.fetchall()]


async def put_vectors(connection: Connection, vectors: Sequence[tuple[int, bytes]], *, model: str) -> None:
    """Keep the vectors of entities' names."""
    async with connection.cursor() as cursor:
        await cursor.executemany(
            "UPDATE knowledge_entities SET vector = %s, embedded_with = %s WHERE id = %s",
            [(vector, model, id_) for id_, vector in vectors],
        )


async def mentions(
    connection: Connection, project_id: int, *, model: str, among: Collection[int] | None = None
) -> Mentions:
    """The entities of a project, or some of them, as they are compared. Vectors are those of this model."""
    which = {"project": project_id, "model": model, "all": among is None, "among": list(among or ())}
    async with connection.cursor(binary=True) as cursor:
        await cursor.execute(
            """SELECT id::text, name, entity_type, aliases, mentions,
                      CASE WHEN embedded_with = %(model)s THEN vector END AS vector
               FROM knowledge_entities
               WHERE project_id = %(project)s AND (%(all)s OR id = ANY(%(among)s)) ORDER BY id""",
            which,
        )
        rows = await cursor.fetchall()
    cursor_ = await connection.execute(
        """SELECT DISTINCT merged_id::text AS one, winner_id::text AS other FROM entity_merges
           WHERE project_id = %(project)s AND undone_at IS NOT NULL""",
        which,
    )
    return Mentions(
        entities=tuple(
            EntityMention(
                id=row["id"],
                name=row["name"],
                entity_type=row["entity_type"],
                aliases=tuple(row["aliases"]),
                mentions=max(1, row["mentions"]),
            )
            for row in rows
        ),
        vectors={row["id"]: row["vector"] for row in rows if row["vector"] is not None},
        apart=tuple((row["one"], row["other"]) for row in await cursor_.fetchall()),
    )


async def set_merges(
    connection: Connection,
    project_id: int,
    merges: Sequence[EntityMerge],
    *,
    among: Collection[int] | None = None,
) -> tuple[int, int]:
    """Make these the merges of a project, or of some of its entities; how many are new, and how many went.

    What stands already stays as it is, with its id. Entities that are gone meanwhile are not merged.
    """
    cursor = await connection.execute(
        """SELECT id, winner_id, merged_id, like_id, reason FROM entity_merges
           WHERE project_id = %s AND undone_at IS NULL AND (%s OR merged_id = ANY(%s))""",
        (project_id, among is None, list(among or ())),
    )
    there = {
        (row["winner_id"], row["merged_id"], row["like_id"], row["reason"]): row["id"]
        for row in await cursor.fetchall()
    }
    wanted = {
        (int(merge.winner), int(merge.merged), int(merge.like), merge.reason): merge.score for merge in merges
    }
    gone = [id_ for key, id_ in there.items() if key not in wanted]
    new = [(*key, score) for key, score in wanted.items() if key not in there]
    await connection.execute("DELETE FROM entity_merges WHERE id = ANY(%s)", (gone,))
    columns = [list(column) for column in zip(*new, strict=True)] or [[], [], [], [], []]
    cursor = await connection.execute(
        """INSERT INTO entity_merges (project_id, winner_id, merged_id, like_id, reason, score)
           SELECT %s, m.winner, m.merged, m.likened, m.reason, m.score
           FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::text[], %s::float8[])
                AS m(winner, merged, likened, reason, score)
           WHERE 3 = (SELECT count(*) FROM (VALUES (m.winner), (m.merged), (m.likened)) AS each(id)
                      JOIN knowledge_entities e ON e.id = each.id)""",
        (project_id, *columns),
    )
    return cursor.rowcount, len(gone)


async def group_of(connection: Connection, project_id: int, entity_ids: Collection[int]) -> list[int]:
    """All entities of a project that are one with any of some, these included, in the order of their ids."""
    cursor = await connection.execute(
        """WITH winners AS (
               SELECT coalesce(m.winner_id, e.id) AS id FROM knowledge_entities e
               LEFT JOIN entity_merges m ON m.merged_id = e.id AND m.undone_at IS NULL
               WHERE e.project_id = %s AND e.id = ANY(%s))
           SELECT id FROM winners UNION
           SELECT m.merged_id FROM entity_merges m JOIN winners w ON w.id = m.winner_id
           WHERE m.undone_at IS NULL ORDER BY id""",
        (project_id, list(entity_ids)),
    )
    return [row["id"] for row in await cursor.fetchall()]


async def of_sources(connection: Connection, source_ids: Collection[int]) -> list[int]:
    """The entities of some sources."""
    cursor = await connection.execute(
        "SELECT id FROM knowledge_entities WHERE source_id = ANY(%s) ORDER BY id", (list(source_ids),)
    )
    return [row["id"] for row in await cursor.fetchall()]


async def undo(connection: Connection, project_id: int, merge_id: int, *, by: str) -> tuple[int, list[int]]:
    """Undo a merge, on record: the entity that was merged, and all that were one with it until now.

    These are to be compared anew. Undoing it again changes nothing.

    Raises:
        MergeNotFound: the project has no merge of that id.
    """
    cursor = await connection.execute("SELECT winner_id FROM entity_merges WHERE id = %s", (merge_id,))
    before = await group_of(connection, project_id, [row["winner_id"] for row in await cursor.fetchall()])
    cursor = await connection.execute(
        """UPDATE entity_merges
           SET undone_at = coalesce(undone_at, now()), undone_by = coalesce(undone_by, %s)
           WHERE project_id = %s AND id = %s RETURNING merged_id""",
        (by, project_id, merge_id),
    )
    row = await cursor.fetchone()
    if row is None:
        raise MergeNotFound(f"project {project_id} has no merge {merge_id}")
    return int(row["merged_id"]), sorted({*before, row["merged_id"]})


async def find(connection: Connection, project_id: int, *, name: str | None, limit: int) -> list[EntityShown]:
    """Entities of a project, those that most points name first; `name`: where it is in a name or an alias."""
    cursor = await connection.execute(
        """WITH named AS (
               SELECT DISTINCT coalesce(m.winner_id, e.id) AS id FROM knowledge_entities e
               LEFT JOIN entity_merges m ON m.merged_id = e.id AND m.undone_at IS NULL
               WHERE e.project_id = %(project)s
                 AND (%(name)s::text IS NULL OR strpos(lower(e.name), lower(%(name)s)) > 0
                      OR EXISTS (SELECT 1 FROM unnest(e.aliases) AS a
                                 WHERE strpos(lower(a), lower(%(name)s)) > 0)))
           SELECT n.id FROM named n JOIN knowledge_entities e ON e.id = n.id
           LEFT JOIN LATERAL (
               SELECT sum(o.mentions) AS mentions FROM entity_merges m
               JOIN knowledge_entities o ON o.id = m.merged_id
               WHERE m.winner_id = n.id AND m.undone_at IS NULL) AS merged ON true
           ORDER BY e.mentions + coalesce(merged.mentions, 0) DESC, n.id LIMIT %(limit)s""",
        {"project": project_id, "name": name, "limit": limit},
    )
    return await shown(connection, project_id, [row["id"] for row in await cursor.fetchall()])


async def shown(connection: Connection, project_id: int, winner_ids: Sequence[int]) -> list[EntityShown]:
    """Entities with all that are merged into them, in the order of the ids; those that are gone left out."""
    cursor = await connection.execute(
        """SELECT coalesce(m.winner_id, e.id) AS winner, e.id, e.name, e.entity_type, e.aliases, e.mentions,
                  e.source_id, m.id AS merge_id, m.reason, m.score, l.name AS likened
           FROM knowledge_entities e
           LEFT JOIN entity_merges m ON m.merged_id = e.id AND m.undone_at IS NULL
           LEFT JOIN knowledge_entities l ON l.id = m.like_id
           WHERE e.project_id = %(project)s
             AND (e.id = ANY(%(ids)s) AND m.id IS NULL OR m.winner_id = ANY(%(ids)s))
           ORDER BY e.id""",
        {"project": project_id, "ids": list(winner_ids)},
    )
    groups: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in await cursor.fetchall():
        groups[row["winner"]].append(dict(row))
    return [_shown(id_, groups[id_]) for id_ in winner_ids if any(row["id"] == id_ for row in groups[id_])]


async def relations(
    connection: Connection, entity_ids: Collection[int], *, limit: int
) -> list[RelationShown]:
    """What joins some entities to others, each with all the points that say so; at most `limit` points."""
    cursor = await connection.execute(
        """SELECT p.id, p.source_id, p.kind, p.said, p.score, p.start, p."end", p.quote, p.saved_by,
                  s.name AS subject, o.name AS object,
                  coalesce(sm.winner_id, s.id) AS subject_id, coalesce(om.winner_id, o.id) AS object_id,
                  coalesce(sw.name, s.name) AS subject_name, coalesce(ow.name, o.name) AS object_name
           FROM knowledge_points p
           JOIN knowledge_entities s ON s.id = p.subject_id
           JOIN knowledge_entities o ON o.id = p.object_id
           LEFT JOIN entity_merges sm ON sm.merged_id = s.id AND sm.undone_at IS NULL
           LEFT JOIN entity_merges om ON om.merged_id = o.id AND om.undone_at IS NULL
           LEFT JOIN knowledge_entities sw ON sw.id = sm.winner_id
           LEFT JOIN knowledge_entities ow ON ow.id = om.winner_id
           WHERE p.subject_id = ANY(%(ids)s) OR p.object_id = ANY(%(ids)s)
           ORDER BY p.score DESC, p.id LIMIT %(limit)s""",
        {"ids": list(entity_ids), "limit": limit},
    )
    found: dict[tuple[int, str, int], list[dict[str, Any]]] = defaultdict(list)
    for row in await cursor.fetchall():
        found[row["subject_id"], row["said"].casefold(), row["object_id"]].append(dict(row))
    names = ("subject_id", "object_id", "subject_name", "object_name")
    return [
        RelationShown(
            subject_id=subject_id,
            subject=rows[0]["subject_name"],
            predicate=rows[0]["said"],
            object_id=object_id,
            object=rows[0]["object_name"],
            points=tuple(
                PointShown.model_validate({key: value for key, value in row.items() if key not in names})
                for row in rows
            ),
        )
        for (subject_id, _, object_id), rows in found.items()
    ]


def _shown(winner: int, rows: Sequence[dict[str, Any]]) -> EntityShown:
    own = next(row for row in rows if row["id"] == winner)
    names: dict[str, None] = {}
    for row in rows:
        names.update(dict.fromkeys([row["name"], *row["aliases"]]))
    return EntityShown.model_validate(
        {
            "id": winner,
            "name": own["name"],
            "entity_type": own["entity_type"],
            "aliases": tuple(name for name in names if name != own["name"]),
            "mentions": sum(row["mentions"] for row in rows),
            "sources": tuple(sorted({row["source_id"] for row in rows})),
            "merges": tuple(
                MergeShown.model_validate(
                    {
                        "id": row["merge_id"],
                        "entity_id": row["id"],
                        "name": row["name"],
                        "source_id": row["source_id"],
                        "like": row["likened"],
                        "reason": row["reason"],
                        "score": row["score"],
                    }
                )
                for row in rows
                if row["merge_id"] is not None
            ),
        }
    )
