"""Addresses of a research: what was offered, who let which in, and what came of it. Seed 002 §4."""

from collections.abc import Collection, Iterable, Sequence

from psycopg.types.json import Jsonb

from models.research.candidates import UrlCandidate
from models.research.url_lists import ApprovedUrl, PageOutcome
from models.store.database import Connection

_KNOWN = {"number", "url", "title", "score", "source"}


async def put(connection: Connection, research_id: int, urls: Iterable[UrlCandidate]) -> None:
    """Keep addresses that are offered; what is there by its number stays."""
    async with connection.cursor() as cursor:
        await cursor.executemany(
            """INSERT INTO url_candidates
                   (research_id, number, url, title, relevance_score, source, metadata, user_approval)
               VALUES (%s, %s, %s, %s, %s, %s, %s, 'pending') ON CONFLICT (research_id, number) DO NOTHING""",
            [
                (
                    research_id,
                    url.number,
                    url.url,
                    url.title,
                    url.score,
                    url.source,
                    Jsonb(url.model_dump(mode="json", exclude=_KNOWN)),
                )
                for url in urls
            ],
        )


async def decide(
    connection: Connection,
    research_id: int,
    approved: Collection[int],
    *,
    decided_by: str | None,
    approval_id: str | None,
) -> None:
    """Say which of the addresses that nobody has decided on may be read; the others may not."""
    await connection.execute(
        """UPDATE url_candidates SET decided_by = %s, approval_id = %s,
                  user_approval = CASE WHEN number = ANY(%s) THEN 'approved' ELSE 'rejected' END
           WHERE research_id = %s AND user_approval = 'pending'""",
        (decided_by, approval_id, list(approved), research_id),
    )


async def put_instead(
    connection: Connection,
    research_id: int,
    instead: Sequence[tuple[int, str]],
    *,
    decided_by: str,
    approval_id: str,
) -> tuple[ApprovedUrl, ...]:
    """Let addresses in that a person gave in place of others, which are named by their numbers.

    One that is there already is let in as it is. They are new to the research, or were kept out of it before.
    """
    urls = []
    for number, url in instead:
        cursor = await connection.execute(
            """INSERT INTO url_candidates (research_id, number, url, title, relevance_score, source, metadata,
                                           user_approval, decided_by, approval_id)
               VALUES (%(research)s,
                       (SELECT max(number) + 1 FROM url_candidates WHERE research_id = %(research)s),
                       %(url)s, %(url)s, 0, 'user', %(metadata)s, 'approved', %(by)s, %(approval)s)
               ON CONFLICT (research_id, url) DO UPDATE
                   SET user_approval = 'approved', decided_by = %(by)s, approval_id = %(approval)s,
                       metadata = url_candidates.metadata || %(metadata)s
                   WHERE url_candidates.user_approval <> 'approved'
               RETURNING number""",
            {
                "research": research_id,
                "url": url,
                "metadata": Jsonb({"instead_of": number}),
                "by": decided_by,
                "approval": approval_id,
            },
        )
        if (row := await cursor.fetchone()) is not None:
            urls.append(ApprovedUrl(number=row["number"], url=url))
    return tuple(urls)


async def settle(connection: Connection, research_id: int, outcome: PageOutcome) -> None:
    """Keep what came of an address."""
    await connection.execute(
        """UPDATE url_candidates SET source_id = %s, fault = %s, reason = %s
           WHERE research_id = %s AND number = %s AND user_approval = 'approved'""",
        (outcome.source_id, outcome.fault, outcome.reason, research_id, outcome.number),
    )


async def approved_urls(connection: Connection, research_id: int) -> list[str]:
    """The addresses that may be read, by their numbers."""
    cursor = await connection.execute(
        """SELECT url FROM url_candidates WHERE research_id = %s AND user_approval = 'approved'
           ORDER BY number""",
        (research_id,),
    )
    return [row["url"] for row in await cursor.fetchall()]


async def counts(connection: Connection, research_id: int) -> dict[str, int]:
    """How many addresses were found, are approved, were read, and could not be."""
    cursor = await connection.execute(
        """SELECT count(*) AS discovered,
                  count(*) FILTER (WHERE user_approval = 'approved') AS approved,
                  count(*) FILTER (WHERE source_id IS NOT NULL) AS scraped,
                  count(*) FILTER (WHERE fault IS NOT NULL) AS failed
           FROM url_candidates WHERE research_id = %s""",
        (research_id,),
    )
    row = await cursor.fetchone()
    assert row is not None
    return dict(row)


async def missing(connection: Connection, research_id: int) -> list[PageOutcome]:
    """Approved addresses that there is no text of, by their numbers, each with the reason."""
    cursor = await connection.execute(
        """SELECT number, url, fault, reason FROM url_candidates
           WHERE research_id = %s AND user_approval = 'approved' AND source_id IS NULL ORDER BY number""",
        (research_id,),
    )
    return [PageOutcome.model_validate(row) for row in await cursor.fetchall()]


async def sources_of(connection: Connection, research_id: int) -> Sequence[int]:
    """The sources that a research has read, by their ids."""
    cursor = await connection.execute(
        """SELECT DISTINCT source_id FROM url_candidates
           WHERE research_id = %s AND source_id IS NOT NULL ORDER BY source_id""",
        (research_id,),
    )
    return [row["source_id"] for row in await cursor.fetchall()]
