"""Search by words (Postgres full text), and the last word on what a search may show.

Called by `actors.tools.search`. Any of the words will do, whole or as a beginning; rare words weigh
more. What is seen is decided by the database at that moment, so an index that lags behind shows nothing
it should not.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from models.search import FoundArticle, FoundResource, Hit, Kind, Reach
from models.store.database import Connection

# The most matches that a search by words looks at; more are not counted either.
MOST_MATCHES = 1000
_QUERY_CHARACTERS = 1000
_QUERY_WORDS = 32
# Shorter words are looked for as they are: too many begin with them.
_PREFIX_CHARACTERS = 3
# About how many rows' words are looked up in the index, beside those of the rarest word.
_ROOM = 5000
# How many of the best are read to see where the words stand in them.
_RANKED = 150

_SEES_ARTICLE = """
    (v.version = a.published_version
         AND (%(published)s::text[] IS NULL OR a.topic = ANY(%(published)s::text[]))
     OR %(drafts)s::boolean AND v.version = a.version
         AND (%(working)s::text[] IS NULL OR a.topic = ANY(%(working)s::text[])))
    AND (%(topics)s::text[] IS NULL OR a.topic = ANY(%(topics)s::text[]))
"""
_SEES_RESOURCE = """
    (%(working)s::text[] IS NULL OR r.topic = ANY(%(working)s::text[])
     OR EXISTS (
         SELECT 1 FROM article_resources ar
         JOIN articles a ON a.id = ar.article_id AND a.published_version = ar.version
         WHERE ar.resource_id = r.id
           AND (%(published)s::text[] IS NULL OR a.topic = ANY(%(published)s::text[]))))
    AND (%(topics)s::text[] IS NULL OR r.topic = ANY(%(topics)s::text[]))
    AND r.kind = ANY(%(kinds)s::text[])
"""
_ARTICLES = f"""
    SELECT v.id, v.version, v.score FROM scored v JOIN articles a ON a.id = v.id WHERE {_SEES_ARTICLE}
"""
_RESOURCES = f"""
    SELECT s.id, s.version, s.score FROM scored s JOIN resources r ON r.id = s.id WHERE {_SEES_RESOURCE}
"""


class _Table(NamedTuple):
    name: str
    kind: Kind
    id: str
    version: str
    seen: str


_IN_ARTICLES = _Table("article_versions", "article", "article_id", "version", _ARTICLES)
_IN_RESOURCES = _Table("resources", "resource", "id", "NULL::int", _RESOURCES)


class _Word(NamedTuple):
    """A word as Postgres reads it: quoted, whether longer ones count, and in about how many rows it is."""

    quoted: str
    begins: bool
    rows: float
    weight: float

    @property
    def query(self) -> str:
        """Finds it, and what it begins."""
        return f"{self.quoted}:*" if self.begins else self.quoted


async def find_articles(
    connection: Connection,
    *,
    query: str,
    topics: Collection[str] | None,
    reach: Reach,
    include_drafts: bool,
    limit: int = MOST_MATCHES,
) -> list[Hit]:
    """Articles with any of the words, best first, and at most `limit` of them.

    An article of which two versions match is found once, as the newer. Runs in a transaction of its own.
    """
    what = _what(topics, reach, include_drafts=include_drafts)
    return await _find(connection, _IN_ARTICLES, query, what, limit)


async def find_resources(
    connection: Connection,
    *,
    query: str,
    kinds: Collection[str],
    topics: Collection[str] | None,
    reach: Reach,
    limit: int = MOST_MATCHES,
) -> list[Hit]:
    """Resources with any of the words; see `find_articles`. `topics` are the resources' own."""
    what = _what(topics, reach, kinds=kinds)
    return await _find(connection, _IN_RESOURCES, query, what, limit)


async def visible(
    connection: Connection,
    hits: Sequence[Hit],
    reach: Reach,
    *,
    topics: Collection[str] | None,
    include_drafts: bool = False,
    kinds: Collection[str] = (),
) -> list[Hit]:
    """Those of the hits that the caller may see now, in order; of articles, in exactly that version."""
    what = _what(topics, reach, include_drafts=include_drafts, kinds=kinds)
    cursor = await connection.execute(
        f"""SELECT v.article_id AS article_id, v.version, NULL::bigint AS resource_id
            FROM unnest(%(ids)s::bigint[], %(versions)s::int[]) AS hit(id, version)
            JOIN article_versions v ON v.article_id = hit.id AND v.version = hit.version
            JOIN articles a ON a.id = v.article_id WHERE {_SEES_ARTICLE}
            UNION ALL
            SELECT NULL, NULL, r.id FROM resources r
            WHERE r.id = ANY(%(resources)s) AND {_SEES_RESOURCE}""".encode(),
        what
        | {
            "ids": [hit.id for hit in hits if hit.kind == "article"],
            "versions": [hit.version for hit in hits if hit.kind == "article"],
            "resources": [hit.id for hit in hits if hit.kind == "resource"],
        },
    )
    seen = {(row["article_id"], row["version"], row["resource_id"]) for row in await cursor.fetchall()}
    return [
        hit
        for hit in hits
        if ((hit.id, hit.version, None) if hit.kind == "article" else (None, None, hit.id)) in seen
    ]


async def show_articles(
    connection: Connection,
    hits: Sequence[Hit],
    reach: Reach,
    *,
    topics: Collection[str] | None,
    include_drafts: bool,
    scores: Mapping[int, float],
) -> list[FoundArticle]:
    """The articles that the caller may see among the hits, in order. `scores` are cosines by article."""
    cursor = await connection.execute(
        f"""SELECT v.article_id AS id, v.headline, a.topic, a.author, a.created_at,
                   CASE WHEN v.version = a.published_version THEN 'published' ELSE a.status END AS status
            FROM unnest(%(ids)s::bigint[], %(versions)s::int[]) WITH ORDINALITY AS hit(id, version, place)
            JOIN article_versions v ON v.article_id = hit.id AND v.version = hit.version
            JOIN articles a ON a.id = v.article_id
            WHERE {_SEES_ARTICLE} ORDER BY hit.place""".encode(),
        _what(topics, reach, include_drafts=include_drafts)
        | {"ids": [hit.id for hit in hits], "versions": [hit.version for hit in hits]},
    )
    return [
        FoundArticle.model_validate(row | {"similarity_score": scores.get(row["id"])})
        for row in await cursor.fetchall()
    ]


async def show_resources(
    connection: Connection,
    hits: Sequence[Hit],
    reach: Reach,
    *,
    query: str,
    topics: Collection[str] | None,
    kinds: Collection[str],
    scores: Mapping[int, float],
) -> list[FoundResource]:
    """The resources that the caller may see among the hits, in order. `scores` are cosines by resource."""
    cursor = await connection.execute(
        f"""SELECT r.id, r.kind, r.name, r.description, r.topic, r.created_at,
                   ts_headline('simple', coalesce(p.text, left(r.content, 5000)),
                               replace(plainto_tsquery('simple', %(text)s)::text, ' & ', ' | ')::tsquery,
                               'StartSel="", StopSel="", MaxWords=40, MinWords=25') AS snippet
            FROM unnest(%(ids)s::bigint[], %(passages)s::bigint[])
                 WITH ORDINALITY AS hit(id, passage_id, place)
            JOIN resources r ON r.id = hit.id
            LEFT JOIN passages p ON p.id = hit.passage_id AND p.resource_id = hit.id
            WHERE {_SEES_RESOURCE} ORDER BY hit.place""".encode(),
        _what(topics, reach, kinds=kinds)
        | {
            "ids": [hit.id for hit in hits],
            "passages": [hit.passage_id for hit in hits],
            "text": _clean(query),
        },
    )
    return [
        FoundResource.model_validate(row | {"similarity_score": scores.get(row["id"])})
        for row in await cursor.fetchall()
    ]


async def _find(
    connection: Connection, table: _Table, query: str, what: dict[str, Any], limit: int
) -> list[Hit]:
    async with connection.transaction():
        words = await _read(connection, table, query)
        if not words:
            return []
        # A row's words are big and lie outside it: to read them for every row costs ten times what the
        # index does, and the planner does not know.
        await connection.execute("SET LOCAL enable_seqscan = off")
        looked_for = _scans(words)
        scans = " UNION ALL ".join(
            f"SELECT {table.id} AS id, {table.version} AS version, {weight:.9f} AS weight "
            f"FROM {table.name} WHERE words @@ %(scan{n})s::tsquery"
            for n, (_, weight) in enumerate(looked_for)
        )
        cursor = await connection.execute(
            f"""WITH found AS ({scans}), scored AS MATERIALIZED (
                    SELECT id, version, sum(weight)::float8 AS score FROM found GROUP BY id, version
                ), seen AS MATERIALIZED (
                    {table.seen} ORDER BY score DESC, id DESC, version DESC LIMIT %(limit)s
                ), first AS MATERIALIZED (
                    SELECT * FROM seen ORDER BY score DESC, id DESC, version DESC LIMIT {_RANKED}
                ), ranked AS MATERIALIZED (
                    SELECT f.id, f.version, ts_rank(t.words, %(any)s::tsquery) AS rank
                    FROM first f JOIN {table.name} t ON t.{table.id} = f.id
                         AND {table.version.replace("version", "t.version")} IS NOT DISTINCT FROM f.version
                )
                SELECT seen.id, seen.version, score * (1 + coalesce(rank, 0)) AS score
                FROM seen LEFT JOIN ranked ON ranked.id = seen.id
                     AND ranked.version IS NOT DISTINCT FROM seen.version""".encode(),
            what
            | {f"scan{n}": scan for n, (scan, _) in enumerate(looked_for)}
            | {"any": " | ".join(f"{word.quoted} | {word.query}" for word in words), "limit": limit},
            # A plan that is not made for these words may read every row.
            prepare=False,
        )
        rows = await cursor.fetchall()
    hits: dict[int, Hit] = {}
    for row in sorted(rows, key=lambda row: (row["score"], row["id"])):
        version = max(row["version"] or 0, hits[row["id"]].version or 0 if row["id"] in hits else 0) or None
        hits.pop(row["id"], None)
        hits[row["id"]] = Hit(kind=table.kind, id=row["id"], version=version, score=row["score"])
    return list(reversed(hits.values()))


async def _read(connection: Connection, table: _Table, text: str) -> list[_Word]:
    """The words of a query, the rarest first. How rare one is, Postgres has counted (ANALYZE)."""
    cursor = await connection.execute(
        """
        WITH counted AS MATERIALIZED (
            SELECT elem, freq FROM pg_stats,
                   unnest(most_common_elems::text::text[], most_common_elem_freqs) AS counted(elem, freq)
            WHERE schemaname = current_schema() AND tablename = %(table)s AND attname = 'words'
              AND elem IS NOT NULL
        ), words AS (
            SELECT lexeme, length(lexeme) >= %(prefix)s AS begins
            FROM unnest(to_tsvector('simple', %(text)s)) ORDER BY positions[1], lexeme LIMIT %(words)s
        )
        SELECT lexeme, begins,
               (SELECT greatest(reltuples, 1) FROM pg_class WHERE oid = %(table)s::regclass) AS rows,
               (SELECT coalesce(sum(freq), 0) FROM counted
                WHERE elem = lexeme OR begins AND starts_with(elem, lexeme)) AS share
        FROM words
        """,
        {"table": table.name, "text": _clean(text), "prefix": _PREFIX_CHARACTERS, "words": _QUERY_WORDS},
    )
    words = []
    for row in await cursor.fetchall():
        matching = row["rows"] * min(row["share"], 1.0)
        words.append(
            _Word(
                quoted="'" + row["lexeme"].replace("\\", "\\\\").replace("'", "''") + "'",
                begins=row["begins"],
                rows=matching,
                weight=math.log(1 + row["rows"] / (matching + 1)),
            )
        )
    return sorted(words, key=lambda word: word.rows)


def _scans(words: Sequence[_Word]) -> list[tuple[str, float]]:
    """What to look for in the index, and what each find weighs.

    The rarest word always, others as long as there is room: common ones find nearly everything. Where
    some are left out, rows with all the words still get what they weigh.
    """
    scans: list[tuple[str, float]] = []
    room, left_out = _ROOM, 0.0
    for word in words:
        room -= word.rows
        if scans and room < 0:
            left_out += word.weight
        elif word.begins:
            scans += [(word.query, word.weight / 2), (word.quoted, word.weight / 2)]
        else:
            scans.append((word.query, word.weight))
    if left_out:
        scans.append((" & ".join(word.query for word in words), left_out))
    return scans


def _what(
    topics: Collection[str] | None,
    reach: Reach,
    *,
    include_drafts: bool = False,
    kinds: Collection[str] = (),
) -> dict[str, Any]:
    return {
        "topics": None if topics is None else list(topics),
        "published": None if reach.published is None else list(reach.published),
        "working": None if reach.working is None else list(reach.working),
        "drafts": include_drafts,
        "kinds": list(kinds),
    }


def _clean(text: str) -> str:
    """A query as Postgres can read it: without NUL and halves of surrogate pairs, and not too long."""
    return text.replace("\0", " ").encode(errors="ignore").decode()[:_QUERY_CHARACTERS]
