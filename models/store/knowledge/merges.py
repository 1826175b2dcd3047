"""Merges in Postgres: that an entity of one source is that of another.

A merge goes with either of the two. What a person has undone stays on record, so that it is not done again.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence

from models.errors import MergeNotFound
from models.knowledge.points import EntityMerge
from models.store.database import Connection

# Two that change the merges of one project come one after the other.
_LOCK = "SELECT pg_advisory_xact_lock(hashtext('signoff entity merges'), %s::int)"


async def lock(connection: Connection, project_id: int) -> None:
    """Keep others from changing the project's merges until the transaction ends."""
    await connection.execute(_LOCK, (project_id % 2**31,))


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


async def undo(connection: Connection, project_id: int, merge_id: int, *, by: str) -> int:
    """Undo a merge, on record; the id of the entity that was merged. All are to be compared anew then.

    It and what is one with it by way of it are said to be others than all that it was one with. Each of these
    pairs is on record by itself, so that it stands when another goes. Undoing it again changes nothing.

    Raises:
        MergeNotFound: the project has no merge of that id.
    """
    await lock(connection, project_id)
    cursor = await connection.execute(
        "SELECT winner_id, merged_id, undone_at FROM entity_merges WHERE project_id = %s AND id = %s",
        (project_id, merge_id),
    )
    undone = await cursor.fetchone()
    if undone is None:
        raise MergeNotFound(f"project {project_id} has no merge {merge_id}")
    merged = int(undone["merged_id"])
    if undone["undone_at"] is not None:
        return merged
    cursor = await connection.execute(
        "SELECT merged_id, like_id FROM entity_merges WHERE winner_id = %s AND undone_at IS NULL",
        (undone["winner_id"],),
    )
    by_way_of: dict[int, list[int]] = defaultdict(list)
    for row in await cursor.fetchall():
        by_way_of[row["like_id"]].append(row["merged_id"])
    own = [merged]
    for id_ in own:
        own += by_way_of[id_]
    others = {undone["winner_id"]}.union(*by_way_of.values()).difference(own)
    await connection.execute(
        "UPDATE entity_merges SET undone_at = now(), undone_by = %s WHERE id = %s", (by, merge_id)
    )
    await connection.execute(
        """INSERT INTO entity_merges (project_id, winner_id, merged_id, like_id, reason, score,
                                      undone_at, undone_by)
           SELECT u.project_id, other, own, other, u.reason, u.score, u.undone_at, u.undone_by
           FROM entity_merges u, unnest(%s::bigint[]) AS own, unnest(%s::bigint[]) AS other
           WHERE u.id = %s AND (own, other, other) <> (u.merged_id, u.winner_id, u.like_id)""",
        (own, sorted(others), merge_id),
    )
    return merged
