"""Addresses of a research: what was offered, who let which in, and what came of it. Seed 002 §4."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from psycopg.types.json import Jsonb

from models.errors import InputInvalid
from models.research.candidates import UrlCandidate
from models.research.url_lists import ApprovedUrl, PageOutcome
from models.store.database import Connection

_KNOWN = {"number", "url", "title", "score", "source"}


async def put(connection: Connection, research_id: int, urls: Iterable[UrlCandidate]) -> None:
    """Keep addresses that are offered; what is there, by its number or by its address, stays."""
    async with connection.cursor() as cursor:
        await cursor.executemany(
            """INSERT INTO url_candidates
                   (research_id, number, url, title, relevance_score, source, metadata, user_approval)
               VALUES (%s, %s, %s, %s, %s, %s, %s, 'pending') ON CONFLICT DO NOTHING""",
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
    approved: Collection[ApprovedUrl],
    *,
    decided_by: str | None,
    approval_id: str | None,
) -> None:
    """Say which of the addresses that nobody has decided on may be read; the others may not.

    Raises:
        InputInvalid: one is not kept under its number: the list was changed by other than its rules.
    """
    cursor = await connection.execute(
        """UPDATE url_candidates c SET decided_by = %s, approval_id = %s,
                  user_approval = CASE WHEN given.url IS NULL THEN 'rejected' ELSE 'approved' END
           FROM url_candidates o
           LEFT JOIN unnest(%s::int[], %s::text[]) AS given(number, url)
             ON given.number = o.number AND given.url = o.url
           WHERE c.research_id = %s AND o.research_id = c.research_id AND o.number = c.number
             AND c.user_approval = 'pending'
           RETURNING c.number, c.user_approval""",
        (
            decided_by,
            approval_id,
            [url.number for url in approved],
            [url.url for url in approved],
            research_id,
        ),
    )
    let_in = {row["number"] for row in await cursor.fetchall() if row["user_approval"] == "approved"}
    if strays := [url for url in approved if url.number not in let_in]:
        raise InputInvalid(
            f"urls: number {strays[0].number} of the approved list is another address here: an address keeps "
            "its number, and a new one gets a new number"
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


async def let_in(connection: Connection, research_id: int) -> frozenset[str]:
    """The addresses that may be read, or were."""
    cursor = await connection.execute(
        "SELECT url FROM url_candidates WHERE research_id = %s AND user_approval = 'approved'", (research_id,)
    )
    return frozenset(row["url"] for row in await cursor.fetchall())


async def kept_out(connection: Connection, research_id: int) -> frozenset[str]:
    """The addresses that may not be read: a person left them out, or those of the same text beside them."""
    cursor = await connection.execute(
        """SELECT url, metadata -> 'folded' AS folded FROM url_candidates
           WHERE research_id = %s AND user_approval = 'rejected'""",
        (research_id,),
    )
    return frozenset(each for row in await cursor.fetchall() for each in (row["url"], *(row["folded"] or ())))


async def settle(
    connection: Connection,
    research_id: int,
    outcome: PageOutcome,
    *,
    text_sha256: str | None,
    pasted_by: str | None = None,
) -> None:
    """Keep what came of an address, and the digest of the text that it is the approval of.

    Args:
        pasted_by: who gave the text in its place.
    """
    told = {"text_sha256": text_sha256, "pasted_by": pasted_by}
    await connection.execute(
        """UPDATE url_candidates SET source_id = %s, fault = %s, reason = %s, metadata = metadata || %s
           WHERE research_id = %s AND number = %s AND user_approval = 'approved'""",
        (
            outcome.source_id,
            outcome.fault,
            outcome.reason,
            Jsonb({name: value for name, value in told.items() if value is not None}),
            research_id,
            outcome.number,
        ),
    )


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


async def texts_let_in(connection: Connection, research_id: int) -> Mapping[int, str]:
    """The digests of the texts that a research has read, by the ids of their sources."""
    cursor = await connection.execute(
        """SELECT source_id, max(metadata ->> 'text_sha256') AS text_sha256 FROM url_candidates
           WHERE research_id = %s AND source_id IS NOT NULL AND metadata ->> 'text_sha256' IS NOT NULL
           GROUP BY source_id""",
        (research_id,),
    )
    return {row["source_id"]: row["text_sha256"] for row in await cursor.fetchall()}
