"""Entities of a project, and which of them are one, in Postgres.

An entity is one source's, and goes with it; which of them are one, their merges say (`merges`). Whoever
takes entities away holds the project's lock of merges; rows of sources are locked before it, those of
entities after it, in the order of their ids.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any

from models.knowledge.known import EntityShown, MergeShown, PointShown, RelationShown, SourceEntity
from models.knowledge.points import EntityMention, EntityMerge
from models.knowledge.regrouping import regrouped
from models.record import Record
from models.store.database import Connection
from models.store.knowledge import merges


class Mentions(Record):
    """Entities, the vectors of their names, and the pairs that a person has said are two."""

    entities: tuple[EntityMention, ...]
    vectors: dict[str, bytes]
    apart: tuple[tuple[str, str], ...]


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
    """Keep the vectors of entities' names; those that are gone meanwhile are left out."""
    async with connection.cursor() as cursor:
        await cursor.executemany(
            "UPDATE knowledge_entities SET vector = %s, embedded_with = %s WHERE id = %s",
            [(vector, model, id_) for id_, vector in sorted(vectors)],
        )


async def revision(connection: Connection, project_id: int, *, model: str) -> str:
    """Another one whenever `mentions` would tell of something else."""
    cursor = await connection.execute(
        """SELECT concat_ws(' ',
                  (SELECT md5(string_agg(md5(ROW(id, name, entity_type, aliases, mentions,
                                                 embedded_with = %(model)s)::text), '' ORDER BY id))
                   FROM knowledge_entities WHERE project_id = %(project)s),
                  (SELECT md5(string_agg(id::text, ' ' ORDER BY id))
                   FROM entity_merges
                   WHERE project_id = %(project)s AND undone_at IS NOT NULL)) AS revision""",
        {"project": project_id, "model": model},
    )
    row = await cursor.fetchone()
    assert row is not None
    return str(row["revision"])


async def mentions(connection: Connection, project_id: int, *, model: str) -> Mentions:
    """The entities of a project, as they are compared. Vectors are those of this model."""
    which = {"project": project_id, "model": model}
    async with connection.cursor(binary=True) as cursor:
        await cursor.execute(
            """SELECT id::text, name, entity_type, aliases, mentions,
                      CASE WHEN embedded_with = %(model)s THEN vector END AS vector
               FROM knowledge_entities
               WHERE project_id = %(project)s ORDER BY id""",
            which,
        )
        rows = await cursor.fetchall()
    cursor_ = await connection.execute(
        """SELECT DISTINCT merged_id::text AS one, winner_id::text AS other FROM entity_merges
           WHERE project_id = %(project)s AND undone_at IS NOT NULL""",
        which,
    )
    return Mentions(
        entities=tuple(map(_mention, rows)),
        vectors={row["id"]: row["vector"] for row in rows if row["vector"] is not None},
        apart=tuple((row["one"], row["other"]) for row in await cursor_.fetchall()),
    )


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


async def put(
    connection: Connection, project_id: int, source_id: int, found: Sequence[SourceEntity]
) -> list[int]:
    """Make these the entities of a source, whose row is locked; their ids, in their order.

    One that is there by its type and name, whatever its case, stays the same one, with its merges.
    """
    cursor = await connection.execute(
        "SELECT id, name, entity_type FROM knowledge_entities WHERE source_id = %s ORDER BY id", (source_id,)
    )
    there: dict[tuple[str, str], list[int]] = defaultdict(list)
    for row in await cursor.fetchall():
        there[row["entity_type"], row["name"].casefold()].append(row["id"])
    ids: list[int | None] = []
    for entity in found:
        same = there[entity.entity_type, entity.name.casefold()]
        ids.append(same.pop(0) if same else None)
    gone = [id_ for some in there.values() for id_ in some]
    stay = [id_ for id_ in ids if id_ is not None]
    if gone:
        await merges.lock(connection, project_id)
    await _lock_rows(connection, [*gone, *stay])
    if gone:
        await remove(connection, project_id, gone)
    rows = [entity.model_dump() | {"id": id_} for entity, id_ in zip(found, ids, strict=True)]
    new = [row | {"project": project_id, "source": source_id} for row in rows if row["id"] is None]
    async with connection.cursor() as cursor_:
        await cursor_.executemany(
            """UPDATE knowledge_entities
               SET name = %(name)s, aliases = %(aliases)s, mentions = %(mentions)s,
                   vector = CASE WHEN name = %(name)s THEN vector END,
                   embedded_with = CASE WHEN name = %(name)s THEN embedded_with END
               WHERE id = %(id)s""",
            [row | {"aliases": list(row["aliases"])} for row in rows if row["id"] is not None],
        )
        if not new:
            return stay
        await cursor_.executemany(
            """INSERT INTO knowledge_entities (project_id, source_id, name, entity_type, aliases, mentions)
               VALUES (%(project)s, %(source)s, %(name)s, %(entity_type)s, %(aliases)s, %(mentions)s)
               RETURNING id""",
            [row | {"aliases": list(row["aliases"])} for row in new],
            returning=True,
        )
        made = iter([row["id"] async for result in cursor_.results() async for row in result])
    return [next(made) if id_ is None else id_ for id_ in ids]


async def remove(connection: Connection, project_id: int, entity_ids: Sequence[int]) -> None:
    """Take entities away, with their merges; others that were one by way of them still are."""
    if not entity_ids:
        return
    await merges.lock(connection, project_id)
    await _lock_rows(connection, entity_ids)
    group = await group_of(connection, project_id, entity_ids)
    cursor = await connection.execute(
        """SELECT winner_id::text AS winner, merged_id::text AS merged, like_id::text AS like, reason, score
           FROM entity_merges WHERE merged_id = ANY(%s) AND undone_at IS NULL ORDER BY merged_id""",
        (group,),
    )
    before = [EntityMerge.model_validate(row) for row in await cursor.fetchall()]
    cursor = await connection.execute(
        """SELECT id::text, name, entity_type, aliases, mentions FROM knowledge_entities
           WHERE id = ANY(%s) AND NOT id = ANY(%s)""",
        (group, list(entity_ids)),
    )
    left = [_mention(row) for row in await cursor.fetchall()]
    await connection.execute("DELETE FROM knowledge_entities WHERE id = ANY(%s)", (list(entity_ids),))
    if left:
        await merges.set_merges(
            connection, project_id, regrouped(before, left), among=[int(entity.id) for entity in left]
        )


async def _lock_rows(connection: Connection, entity_ids: Sequence[int]) -> None:
    await connection.execute(
        """SELECT count(*) FROM (SELECT 1 FROM knowledge_entities WHERE id = ANY(%s)
                                 ORDER BY id FOR NO KEY UPDATE) AS locked""",
        (list(entity_ids),),
    )


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


async def count_relations(connection: Connection, entity_ids: Collection[int]) -> int:
    """How many points there are that join some entities to others."""
    cursor = await connection.execute(
        """SELECT count(*) AS n FROM knowledge_points
           WHERE subject_id = ANY(%(ids)s) OR object_id = ANY(%(ids)s)""",
        {"ids": list(entity_ids)},
    )
    row = await cursor.fetchone()
    assert row is not None
    return int(row["n"])


def _mention(row: dict[str, Any]) -> EntityMention:
    return EntityMention(
        id=row["id"],
        name=row["name"],
        entity_type=row["entity_type"],
        aliases=tuple(row["aliases"]),
        mentions=max(1, row["mentions"]),
    )


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
