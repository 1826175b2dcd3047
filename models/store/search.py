"""What a search may show: the last word on it, and what is shown of it. Search by words begins here too.

Called by `actors.platform.search.hybrid`. What is seen is decided by the database at that moment, so an index
that lags behind shows nothing it should not.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from models.content.search import FoundArticle, FoundResource, Hit, Reach
from models.store.database import Connection
from models.store.words import MOST_MATCHES, Table, clean, find

_SEES_ARTICLE = """
    (v.version = a.published_version
         AND (%(published)s::text[] IS NULL OR a.topic = ANY(%(published)s::text[]))
     OR %(drafts)s::boolean AND v.version = a.version
         AND (%(working)s::text[] IS NULL OR a.topic = ANY(%(working)s::text[])))
    AND (%(topics)s::text[] IS NULL OR a.topic = ANY(%(topics)s::text[]))
"""
_SEES_RESOURCE = """
    (%(working)s::text[] IS NULL OR r.topic = ANY(%(working)s::text[])
     OR r.published_in <> '{}' AND %(published)s::text[] IS NULL OR r.published_in && %(published)s::text[])
    AND (%(topics)s::text[] IS NULL OR r.topic = ANY(%(topics)s::text[]))
    AND r.kind = ANY(%(kinds)s::text[])
"""
_ARTICLES = Table(
    name="article_versions",
    kind="article",
    id="article_id",
    version="version",
    seen=f"""
        SELECT 1 FROM articles a CROSS JOIN LATERAL (VALUES (f.version)) AS v(version)
        WHERE a.id = f.id AND {_SEES_ARTICLE}""",
    newest=f"""
        SELECT a.id, v.version FROM articles a
        CROSS JOIN LATERAL (VALUES (a.version), (nullif(a.published_version, a.version))) AS v(version)
        WHERE {_SEES_ARTICLE}""",
)
_RESOURCES = Table(
    name="resources",
    kind="resource",
    id="id",
    version="NULL::int",
    seen=f"SELECT 1 FROM resources r WHERE r.id = f.id AND {_SEES_RESOURCE}",
    newest=f"SELECT r.id, NULL::int AS version FROM resources r WHERE {_SEES_RESOURCE}",
    own=_SEES_RESOURCE,
)


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
    return await find(connection, _ARTICLES, query, what, limit)


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
    return await find(connection, _RESOURCES, query, what, limit)


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
                   ts_headline('simple', coalesce(p.text, left(r.content, 1500)),
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
            "text": clean(query),
        },
    )
    return [
        FoundResource.model_validate(row | {"similarity_score": scores.get(row["id"])})
        for row in await cursor.fetchall()
    ]


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
