"""Passages: pieces of articles and resources with their vectors, and the queue of what lacks them.

The search index reads the queue, puts passages, and reads back who may see each. Current and published
versions have passages, and no others. Whoever writes or publishes calls `changed` in the same
transaction. No row stays locked while a model is asked: `put` finds out whether the row is as it was.
"""

from collections.abc import Mapping, Sequence

from models.content.search import FoundKind, Place
from models.record import Record
from models.store.database import Connection

CHANNEL = "signoff_search"
# As the generated column `words`: no more of a text than this is found by its words either.
_INDEXED_CHARACTERS = 200_000
# `indexed_with` of a version that is neither current nor published: it waits for nothing.
_RETIRED = ""


class Unindexed(Record):
    """An article version or a resource without passages. `seen` is the row's `xmin` when it was read."""

    kind: FoundKind
    id: int
    version: int | None
    text: str
    seen: str

    @property
    def key(self) -> str:
        """A name for it, as `next_unindexed` skips it by."""
        return f"{self.kind}:{self.id}:{self.version or 0}"


class Placed(Record):
    """A passage that belongs into the index, and who may see it."""

    id: int
    kind: FoundKind
    item_id: int
    version: int | None
    place: Place


async def changed(connection: Connection, kind: FoundKind, id_: int) -> None:
    """Tell the search index, when the transaction commits, that an article or a resource has changed.

    To be called after whatever changes its text, its versions, its status, its topic or its resources.
    """
    await connection.execute("SELECT pg_notify(%s, %s)", (CHANNEL, f"{kind}:{id_}"))


async def forget_other_models(connection: Connection, model: str) -> None:
    """Queue again what another embedding model's passages stand for; they are removed."""
    for table, same in (
        ("article_versions", "p.article_id = t.article_id AND p.version = t.version"),
        ("resources", "p.resource_id = t.id"),
    ):
        await connection.execute(
            f"""WITH t AS (UPDATE {table} SET indexed_with = NULL
                           WHERE indexed_with NOT IN (%s, '{_RETIRED}') RETURNING *)
                DELETE FROM passages p USING t WHERE {same}""".encode(),
            (model,),
        )


async def settle(connection: Connection, article_ids: Sequence[int] | None) -> None:
    """Drop the passages of versions that are neither current nor published, and queue those that are again.

    Of these articles; None: of all.
    """
    which = {"all": article_ids is None, "ids": list(article_ids or [])}
    await connection.execute(
        f"""WITH retired AS (
                UPDATE article_versions v SET indexed_with = '{_RETIRED}' FROM articles a
                WHERE a.id = v.article_id AND (%(all)s OR a.id = ANY(%(ids)s))
                  AND v.indexed_with IS DISTINCT FROM '{_RETIRED}'
                  AND v.version <> a.version AND v.version IS DISTINCT FROM a.published_version
                RETURNING v.article_id, v.version)
            DELETE FROM passages p USING retired t
            WHERE p.article_id = t.article_id AND p.version = t.version""".encode(),
        which,
    )
    await connection.execute(
        f"""UPDATE article_versions v SET indexed_with = NULL FROM articles a
            WHERE a.id = v.article_id AND (%(all)s OR a.id = ANY(%(ids)s))
              AND v.indexed_with = '{_RETIRED}' AND v.version IN (a.version, a.published_version)""".encode(),
        which,
    )


async def next_unindexed(connection: Connection, *, limit: int, skip: Sequence[str] = ()) -> list[Unindexed]:
    """What lacks passages, the newest first, without the keys in `skip`."""
    cursor = await connection.execute(
        """
        WITH waiting AS MATERIALIZED (
            SELECT 'article' AS kind, v.article_id AS id, v.version, v.written_at AS at
            FROM article_versions v JOIN articles a ON a.id = v.article_id
            WHERE v.indexed_with IS NULL AND v.version IN (a.version, a.published_version)
            UNION ALL
            SELECT 'resource', id, NULL, created_at FROM resources WHERE indexed_with IS NULL
        ), first AS MATERIALIZED (
            SELECT * FROM waiting WHERE kind || ':' || id || ':' || coalesce(version, 0) <> ALL(%(skip)s)
            ORDER BY at DESC, kind, id DESC LIMIT %(limit)s
        )
        SELECT f.kind, f.id, f.version, coalesce(v.xmin, r.xmin)::text AS seen,
               concat_ws(E'\\n\\n', coalesce(v.headline, r.name), coalesce(v.keywords, r.description),
                         left(coalesce(v.content, r.content), %(cap)s)) AS text
        FROM first f
        LEFT JOIN article_versions v ON f.kind = 'article' AND (v.article_id, v.version) = (f.id, f.version)
        LEFT JOIN resources r ON f.kind = 'resource' AND r.id = f.id
        ORDER BY f.at DESC, f.kind, f.id DESC
        """,
        {"skip": list(skip), "limit": limit, "cap": _INDEXED_CHARACTERS},
    )
    return [Unindexed.model_validate(row) for row in await cursor.fetchall()]


async def count_unindexed(connection: Connection) -> int:
    """How many articles' versions and resources lack passages."""
    cursor = await connection.execute(
        """SELECT (SELECT count(*) FROM article_versions v JOIN articles a ON a.id = v.article_id
                   WHERE v.indexed_with IS NULL AND v.version IN (a.version, a.published_version))
                + (SELECT count(*) FROM resources WHERE indexed_with IS NULL) AS waiting"""
    )
    row = await cursor.fetchone()
    assert row is not None
    return int(row["waiting"])


async def put(
    connection: Connection, item: Unindexed, *, model: str, passages: Sequence[tuple[str, bytes]]
) -> bool:
    """Keep the passages of a text (each with its vector) and tell the index; in the caller's transaction.

    False, and nothing is kept, where the text has changed since it was read, is no longer wanted, or
    someone else was faster.
    """
    what = {"id": item.id, "version": item.version, "model": model, "seen": item.seen}
    if item.kind == "article":
        cursor = await connection.execute(
            """UPDATE article_versions v SET indexed_with = %(model)s FROM articles a
               WHERE v.article_id = %(id)s AND v.version = %(version)s AND v.indexed_with IS NULL
                 AND v.xmin::text = %(seen)s
                 AND a.id = v.article_id AND v.version IN (a.version, a.published_version)
               RETURNING v.article_id, v.version, NULL::bigint AS resource_id""",
            what,
        )
    else:
        cursor = await connection.execute(
            """UPDATE resources SET indexed_with = %(model)s
               WHERE id = %(id)s AND indexed_with IS NULL AND xmin::text = %(seen)s
               RETURNING NULL::bigint AS article_id, NULL::int AS version, id AS resource_id""",
            what,
        )
    owner = await cursor.fetchone()
    if owner is None:
        return False
    await connection.execute(
        """DELETE FROM passages WHERE resource_id = %(resource_id)s
              OR (article_id = %(article_id)s AND version = %(version)s)""",
        owner,
    )
    await connection.execute(
        """INSERT INTO passages (article_id, version, resource_id, place, text, vector)
           SELECT %(article_id)s, %(version)s, %(resource_id)s, p.place, p.text, p.vector
           FROM unnest(%(texts)s::text[], %(vectors)s::bytea[]) WITH ORDINALITY AS p(text, vector, place)""",
        owner | {"texts": [text for text, _ in passages], "vectors": [vector for _, vector in passages]},
    )
    await changed(connection, item.kind, item.id)
    return True


_PLACED = """
SELECT p.id, p.version, coalesce(p.article_id, p.resource_id) AS item_id,
       CASE WHEN p.resource_id IS NULL THEN 'article' ELSE r.kind END AS source,
       coalesce(a.topic, r.topic) AS topic,
       CASE WHEN p.version = a.published_version THEN ARRAY[a.topic]
            WHEN p.resource_id IS NOT NULL THEN r.published_in
            ELSE '{}' END AS published_in
FROM passages p
LEFT JOIN articles a ON a.id = p.article_id AND p.version IN (a.version, a.published_version)
LEFT JOIN resources r ON r.id = p.resource_id
WHERE (a.id IS NOT NULL OR r.id IS NOT NULL)
"""


async def load(connection: Connection, *, after: int, limit: int) -> list[Placed]:
    """The passages that belong into the index, in id order, after an id."""
    return await _placed(
        connection, "AND p.id > %(after)s ORDER BY p.id LIMIT %(limit)s", {"after": after, "limit": limit}
    )


async def load_of(
    connection: Connection, article_ids: Sequence[int], resource_ids: Sequence[int]
) -> list[Placed]:
    """The passages of some articles and resources that belong into the index."""
    return await _placed(
        connection,
        "AND (p.article_id = ANY(%(articles)s) OR p.resource_id = ANY(%(resources)s))",
        {"articles": list(article_ids), "resources": list(resource_ids)},
    )


async def attached(connection: Connection, article_ids: Sequence[int]) -> list[int]:
    """The resources attached to any version of some articles: who sees them may change with those."""
    cursor = await connection.execute(
        "SELECT DISTINCT resource_id FROM article_resources WHERE article_id = ANY(%s)", (list(article_ids),)
    )
    return [row["resource_id"] for row in await cursor.fetchall()]


async def vectors(connection: Connection, ids: Sequence[int]) -> dict[int, bytes]:
    """Vectors by passage; one that is gone meanwhile is left out."""
    async with connection.cursor(binary=True) as cursor:
        await cursor.execute("SELECT id, vector FROM passages WHERE id = ANY(%s)", (list(ids),))
        return {row["id"]: row["vector"] for row in await cursor.fetchall()}


async def _placed(connection: Connection, which: str, parameters: Mapping[str, object]) -> list[Placed]:
    cursor = await connection.execute((_PLACED + which).encode(), parameters)
    return [
        Placed(
            id=row["id"],
            kind="article" if row["source"] == "article" else "resource",
            item_id=row["item_id"],
            version=row["version"],
            place=Place(
                source=row["source"], topic=row["topic"], published_in=frozenset(row["published_in"])
            ),
        )
        for row in await cursor.fetchall()
    ]
