"""Sources: no page is fetched by two batches, or again when it has a text, and nothing is lost."""

import asyncio
from datetime import UTC, datetime

import pytest

from models.errors import ProjectNotFound, SourceNotFound
from models.knowledge.pages import PASSING, PageCoverage, PageFault, PageText, ScrapedPage
from models.store.database import Database
from models.store.knowledge import projects, sources
from models.store.runtime import batches

URLS = [f"https://example.com/{number}" for number in range(6)]


COVERAGE = PageCoverage(seen=900, kept=17, around=100, left_out=("Czego nie ma w tekście.",))


def read(url: str, text: str = "Tekst z ąęśćż 🧪.") -> ScrapedPage:
    page = PageText(
        text=text,
        title="T",
        author=None,
        date="2026-01-02",
        language="pl",
        links=("https://e.org/",),
        coverage=COVERAGE,
    )
    return ScrapedPage(
        url=url,
        final_url=f"{url}/final",
        engine="http",
        status=200,
        fetched_at=datetime.now(UTC),
        content_type="text/html",
        sha256="ab" * 32,
        bytes=17,
        page=page,
        redacted={"email": 2},
    )


def failed(url: str, fault: PageFault) -> ScrapedPage:
    return ScrapedPage(url=url, fault=fault, reason="so it is")


async def project(database: Database) -> int:
    async with database.transaction() as connection:
        made, _ = await projects.find_or_create(connection, topic="macro", name="P", by="ann")
    return made.id


async def batch(database: Database, *, seconds: float = 60) -> str:
    return await batches.begin(database, requested_by="ann", lease_seconds=seconds)


async def claim(
    database: Database, number: int, batch_id: str, urls: list[str] = URLS, *, again: bool = False
) -> sources.Claims:
    async with database.transaction() as connection:
        return await sources.claim(connection, project_id=number, urls=urls, batch_id=batch_id, again=again)


async def settle(database: Database, number: int, batch_id: str, *pages: ScrapedPage) -> None:
    async with database.transaction() as connection:
        await sources.settle(connection, project_id=number, batch_id=batch_id, pages=pages)


async def test_what_one_batch_is_at_no_other_fetches_until_its_lease_ends(database: Database) -> None:
    number, one, two = await project(database), await batch(database), await batch(database)
    assert (await claim(database, number, one, URLS[:4])).ours == tuple(URLS[:4])
    second = await claim(database, number, two)
    assert (second.ours, second.elsewhere) == (tuple(URLS[4:]), tuple(URLS[:4]))
    # A block that is done anew, because its actor died, finds its own claims.
    assert (await claim(database, number, one, URLS[:4])).ours == tuple(URLS[:4])
    await batches.end(database, batch_id=one)
    assert (await claim(database, number, two)).ours == tuple(URLS)
    # Whoever was taken over from writes nothing any more.
    await settle(database, number, one, read(URLS[0], "late"))
    async with database.connection() as connection:
        assert (await sources.by_urls(connection, number, URLS[:1]))[URLS[0]].text is None


async def test_two_that_claim_at_once_share_what_there_is(database: Database) -> None:
    number = await project(database)
    ids = [await batch(database) for _ in range(4)]
    many = [f"https://example.com/m{number}" for number in range(200)]
    claims = await asyncio.gather(
        *(claim(database, number, each, many[:: (-1) ** place]) for place, each in enumerate(ids))
    )
    assert sorted(url for each in claims for url in each.ours) == sorted(many)


async def test_what_has_a_text_is_not_fetched_again_unless_it_is_asked_for(database: Database) -> None:
    number, one, two = await project(database), await batch(database), await batch(database)
    await claim(database, number, one)
    await settle(database, number, one, read(URLS[0]), failed(URLS[1], "not_found"))
    await batches.end(database, batch_id=one)
    found = await claim(database, number, two, URLS[:3])
    assert (found.ours, found.held) == ((URLS[2],), (URLS[0], URLS[1]))
    anew = await claim(database, number, two, URLS[:2], again=True)
    assert anew.ours == (URLS[0], URLS[1])
    await settle(database, number, two, failed(URLS[0], "timeout"))
    async with database.connection() as connection:
        source = (await sources.by_urls(connection, number, URLS))[URLS[0]]
    # What was read before stays readable, and the fault is told.
    assert (source.text, source.fault, source.redacted) == ("Tekst z ąęśćż 🧪.", "timeout", {"email": 2})
    assert source.coverage == COVERAGE
    # Once it is settled, this batch has done its part, whatever it was asked.
    assert (await claim(database, number, two, URLS[:1], again=True)).held == (URLS[0],)


@pytest.mark.parametrize("fault", sorted(PASSING))
async def test_what_may_be_gone_by_itself_is_tried_by_the_next_batch_and_not_by_this(
    fault: PageFault, database: Database
) -> None:
    number, one, two = await project(database), await batch(database), await batch(database)
    await claim(database, number, one)
    await settle(database, number, one, failed(URLS[0], fault))
    assert (await claim(database, number, one, URLS[:1])).held == (URLS[0],)
    assert (await claim(database, number, two, URLS[:1])).ours == (URLS[0],)


async def test_a_source_belongs_to_one_project(database: Database) -> None:
    number, one = await project(database), await batch(database)
    await claim(database, number, one, URLS[:1])
    await settle(database, number, one, read(URLS[0]))
    async with database.transaction() as connection:
        other, _ = await projects.find_or_create(connection, topic="equity", name="P", by="bob")
        source = (await sources.by_urls(connection, number, URLS))[URLS[0]]
        assert (await sources.get(connection, number, source.id)).text_sha256 == source.text_sha256
        with pytest.raises(SourceNotFound):
            await sources.get(connection, other.id, source.id)
        with pytest.raises(ProjectNotFound):
            await projects.get(connection, 10**9)
        assert await sources.by_urls(connection, other.id, URLS) == {}
        await sources.delete(connection, other.id, source.id)
        assert await sources.get(connection, number, source.id) == source
        await sources.delete(connection, number, source.id)
        assert await sources.by_urls(connection, number, URLS) == {}
