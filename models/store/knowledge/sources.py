"""Sources in Postgres: who fetches which, and what came of it.

A source is claimed by a batch before it is fetched, and settled once. While the batch's lease lives no other
fetches it; when that has run out, whoever comes next does. What has a text is fetched by nobody again, unless
he says so. Whoever writes what is known from a text holds the source's row meanwhile, so that it is of the
text that is there; he takes it before the project's lock of merges (`merges.lock`).
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

from psycopg.types.json import Jsonb

from models.errors import SourceNotFound
from models.knowledge.pages import PASSING, PageText, ScrapedPage
from models.knowledge.sources import KnowledgeSource
from models.record import Record
from models.store.database import Connection
from models.store.knowledge import entities, passages

_COLUMNS = (
    "id, project_id, url, final_url, engine, status, content_type, sha256, bytes, fetched_at, title, author, "
    "date, language, text, text_sha256, links, redacted, fault, reason, "
    "coverage"
)
_FACTS = """settled_at = now(), fault = %(fault)s, reason = %(reason)s, status = %(status)s,
    engine = %(engine)s, content_type = %(content_type)s, final_url = coalesce(%(final_url)s, final_url),
    fetched_at = coalesce(%(fetched_at)s, fetched_at)"""
_CONTENTS = """sha256 = %(sha256)s, bytes = %(bytes)s, redacted = %(redacted)s, title = %(title)s,
    author = %(author)s, date = %(date)s, language = %(language)s, text = %(text)s,
    text_sha256 = %(text_sha256)s, links = %(links)s, coverage = %(coverage)s"""
_TO_DO = """indexed_with = CASE WHEN text_sha256 = %(text_sha256)s THEN indexed_with END,
    extracted_with = CASE WHEN text_sha256 = %(text_sha256)s THEN extracted_with END"""
_OURS = "WHERE project_id = %(project)s AND url = %(url)s AND batch_id = %(batch)s AND settled_at IS NULL"


class Claims(Record):
    """What a batch may fetch now: `held` are settled, and `elsewhere` is what another batch is at."""

    ours: tuple[str, ...]
    held: tuple[str, ...]
    elsewhere: tuple[str, ...]


async def claim(
    connection: Connection, *, project_id: int, urls: Sequence[str], batch_id: str, again: bool = False
) -> Claims:
    """Claim addresses for a batch. Its own claims stand; so it may be done again.

    Args:
        again: what is settled is fetched anew, unless this batch has settled it.
    """
    cursor = await connection.execute(
        """
        INSERT INTO sources (project_id, url, batch_id)
        SELECT %(project)s, u, %(batch)s FROM unnest(%(urls)s::text[]) AS u ORDER BY u
        ON CONFLICT (project_id, url) DO UPDATE SET batch_id = %(batch)s, asked_at = now(), settled_at = NULL
        WHERE (sources.settled_at IS NULL AND (sources.batch_id = %(batch)s OR NOT EXISTS (
                   SELECT 1 FROM batches b WHERE b.id = sources.batch_id AND b.lease_until > now())))
           OR (sources.settled_at IS NOT NULL AND sources.batch_id IS DISTINCT FROM %(batch)s
               AND (%(again)s OR sources.fault = ANY(%(passing)s)))
        RETURNING url
        """,
        {
            "project": project_id,
            "batch": batch_id,
            "urls": list(urls),
            "again": again,
            "passing": list(PASSING),
        },
    )
    ours = {row["url"] for row in await cursor.fetchall()}
    cursor = await connection.execute(
        "SELECT url, settled_at IS NOT NULL AS settled FROM sources WHERE project_id = %s AND url = ANY(%s)",
        (project_id, [url for url in urls if url not in ours]),
    )
    settled = {row["url"]: row["settled"] for row in await cursor.fetchall()}
    return Claims(
        ours=tuple(url for url in urls if url in ours),
        held=tuple(url for url in urls if settled.get(url) is True),
        elsewhere=tuple(url for url in urls if settled.get(url) is False),
    )


async def settle(
    connection: Connection, *, project_id: int, batch_id: str, pages: Iterable[ScrapedPage]
) -> None:
    """Keep what came of addresses that the batch has claimed; what another has taken over is left alone.

    A fault leaves the text of an earlier fetch as it was.
    """
    common = {"project": project_id, "batch": batch_id}
    settled = list(pages)
    read = [_facts(page) | _contents(page.page) | common for page in settled if page.page is not None]
    failed = [_facts(page) | common for page in settled if page.page is None]
    # As `claim` takes them: by their addresses, so that neither waits for the other with a part of them.
    cursor = await connection.execute(
        """SELECT id, url, text_sha256 FROM sources
           WHERE project_id = %(project)s AND batch_id = %(batch)s AND settled_at IS NULL
             AND url = ANY(%(urls)s)
           ORDER BY url FOR NO KEY UPDATE""",
        common | {"urls": [page.url for page in settled]},
    )
    digests = {facts["url"]: facts["text_sha256"] for facts in read}
    # What was known from an earlier text goes with it; of the same text it stays.
    other = [
        row["id"]
        for row in await cursor.fetchall()
        if row["text_sha256"] is not None
        and row["url"] in digests
        and row["text_sha256"] != digests[row["url"]]
    ]
    await _forget(connection, project_id, other)
    async with connection.cursor() as cursor:
        await cursor.executemany(f"UPDATE sources SET {_FACTS}, {_CONTENTS}, {_TO_DO} {_OURS}".encode(), read)
        await cursor.executemany(f"UPDATE sources SET {_FACTS} {_OURS}".encode(), failed)


async def by_urls(connection: Connection, project_id: int, urls: Sequence[str]) -> dict[str, KnowledgeSource]:
    """What is there of some addresses."""
    cursor = await connection.execute(
        f"SELECT {_COLUMNS} FROM sources WHERE project_id = %s AND url = ANY(%s)", (project_id, list(urls))
    )
    return {row["url"]: KnowledgeSource.model_validate(row) for row in await cursor.fetchall()}


async def with_text(connection: Connection, project_id: int) -> list[int]:
    """The sources of a project that there is a text of, by their ids."""
    cursor = await connection.execute(
        "SELECT id FROM sources WHERE project_id = %s AND text <> '' ORDER BY id", (project_id,)
    )
    return [row["id"] for row in await cursor.fetchall()]


async def get(
    connection: Connection, project_id: int, source_id: int, *, lock: bool = False
) -> KnowledgeSource:
    """One source of a project; SourceNotFound if it has none of that id.

    Args:
        lock: its text stays as it is until the transaction ends.
    """
    locked = "FOR NO KEY UPDATE" if lock else ""
    cursor = await connection.execute(
        f"SELECT {_COLUMNS} FROM sources WHERE project_id = %s AND id = %s {locked}".encode(),
        (project_id, source_id),
    )
    row = await cursor.fetchone()
    if row is None:
        raise SourceNotFound(f"project {project_id} has no source {source_id}")
    return KnowledgeSource.model_validate(row)


async def delete(connection: Connection, project_id: int, source_id: int) -> None:
    """Take a source away, with all that is known from it alone."""
    cursor = await connection.execute(
        "SELECT id FROM sources WHERE project_id = %s AND id = %s FOR UPDATE", (project_id, source_id)
    )
    ids = [row["id"] for row in await cursor.fetchall()]
    await _forget(connection, project_id, ids)
    await connection.execute("DELETE FROM sources WHERE id = ANY(%s)", (ids,))


async def settled_urls(connection: Connection, project_id: int, urls: Sequence[str]) -> set[str]:
    """Those of some addresses that are settled, and will not be fetched again by themselves."""
    cursor = await connection.execute(
        """SELECT url FROM sources WHERE project_id = %s AND url = ANY(%s) AND settled_at IS NOT NULL
             AND (fault IS NULL OR fault <> ALL(%s))""",
        (project_id, list(urls), list(PASSING)),
    )
    return {row["url"] for row in await cursor.fetchall()}


async def _forget(connection: Connection, project_id: int, ids: Sequence[int]) -> None:
    """Take away what is known from the texts of some sources, whose rows are locked."""
    if not ids:
        return
    await passages.remove(connection, ids)
    for table in ("knowledge_chunks", "knowledge_points"):
        await connection.execute(f"DELETE FROM {table} WHERE source_id = ANY(%s)".encode(), (list(ids),))
    await entities.remove(connection, project_id, await entities.of_sources(connection, ids))


def _facts(page: ScrapedPage) -> dict[str, Any]:
    return page.model_dump(
        include={"url", "fault", "reason", "status", "engine", "content_type", "final_url", "fetched_at"}
    ) | {"sha256": page.sha256, "bytes": page.bytes, "redacted": Jsonb(dict(page.redacted))}


def _contents(text: PageText) -> dict[str, Any]:
    digest = hashlib.sha256(text.text.encode()).hexdigest()
    coverage = None if text.coverage is None else Jsonb(text.coverage.model_dump(mode="json"))
    return text.model_dump() | {"links": list(text.links), "text_sha256": digest, "coverage": coverage}
