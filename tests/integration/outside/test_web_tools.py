"""The tools that search outside and keep PDFs, over a real database: permissions, records, and REST."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from actors.platform import systems
from actors.platform.search.hybrid import HybridSearch
from actors.platform.tools import pdf
from actors.platform.tools.registry import Registry
from models.config import Config
from models.errors import (
    ArticleNotFound,
    DocumentUnreadable,
    InputInvalid,
    PermissionMissing,
    ProviderFailed,
    ProviderMissing,
)
from models.people.scopes import read_scopes
from models.store.content import articles, resources
from models.store.database import Database
from models.store.people import tool_calls
from tests.fakes.outside.pdfs import Sheet, make_pdf
from tests.fakes.outside.search_providers import ENGINE, KEY, Reply, SearchServer, google_error
from tests.integration.editorial.desk import Desk
from tests.integration.rest import client, served

TABLE = [["month", "CPI"], ["2026-05", "3.1"], ["2026-06", "3.0"]]
REPORT = make_pdf(Sheet(["Prices rose."], TABLE), Sheet(["The outlook"], TABLE), title="Prices")


@pytest.fixture
def server() -> Iterator[SearchServer]:
    with SearchServer() as running:
        yield running


@pytest.fixture
async def outside(database: Database, configure: Callable[..., Config], server: SearchServer) -> Desk:
    """The tools where SearXNG and Google are configured, and loopback may be reached."""
    google = {"url": server.google, "api_key": KEY, "search_engine_id": ENGINE}
    settings = {
        "outside.search": {"searxng": {"url": server.url}, "google_cse": google},
        "outgoing.allow_internal": ["127.0.0.1/32"],
    }
    return Desk(database, configure(settings))


async def rows(database: Database, query: str) -> list[Any]:
    async with database.connection() as connection:
        cursor = await connection.execute(query.encode())
        return [tuple(row.values()) for row in await cursor.fetchall()]


async def newest(desk: Desk, article_id: int) -> Any:
    async with desk.database.connection() as connection:
        article = await articles.get(connection, article_id)
        return await articles.get_version(connection, article_id, article.version)


async def test_search_takes_an_analyst_and_is_recorded(outside: Desk, server: SearchServer) -> None:
    ann = await outside.person("ann", "macro:analyst")
    answer = await outside.call(ann, "web_search", query="ECB")
    assert answer.provider == "searxng"
    assert answer.results[0].url == "https://example.org/ecb"
    assert (
        await outside.call(ann, "search_news", query="ECB", provider="google_cse")
    ).provider == "google_cse"
    eve = await outside.person("eve", "macro:editor")
    for name in ("web_search", "search_news", "search_financial_news"):
        with pytest.raises(PermissionMissing):
            await outside.call(eve, name, query="ECB")
    assert len(server.asked) == 2
    told = await rows(outside.database, "SELECT person, tool, status FROM tool_calls ORDER BY id")
    assert told[:2] == [("ann", "web_search", "ok"), ("ann", "search_news", "ok")]
    assert {status for person, _, status in told if person == "eve"} == {"PermissionMissing"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"query": ""},
        {"query": " \n"},
        {"query": "x" * 2001},
        {"query": "x", "limit": 0},
        {"query": "x", "limit": 21},
        {"query": "x", "limit": "many"},
        {"query": "x", "provider": "bing"},
        {"query": "x\x00"},
        {"query": "x", "more": 1},
        {"query": 3},
        {},
    ],
)
async def test_a_malformed_search_reaches_nobody(
    outside: Desk, server: SearchServer, wrong: dict[str, Any]
) -> None:
    ann = await outside.person("ann", "macro:analyst")
    with pytest.raises(InputInvalid):
        await outside.call(ann, "web_search", **wrong)
    assert server.asked == []


async def test_no_connection_is_held_while_a_provider_is_asked(
    database_url: str, configure: Callable[..., Config], server: SearchServer
) -> None:
    settings = {
        "outside.search": {"searxng": {"url": server.url}},
        "outgoing.allow_internal": ["127.0.0.1/32"],
        "outside.timeout_seconds": 1.5,
    }
    async with Database(url=database_url, pool_size=1) as database:
        desk = Desk(database, configure(settings))
        ann = await desk.person("ann", "macro:analyst")
        holding = server.put("/held.pdf", Reply(hold=True))
        for name, arguments in (
            ("web_search", {"query": "x"}),
            ("download_pdf", {"url": holding, "topic": "macro"}),
        ):
            await asked_while_held(desk, server, ann, name, arguments)


async def asked_while_held(
    desk: Desk, server: SearchServer, ann: Any, name: str, arguments: dict[str, Any]
) -> None:
    """While the provider keeps its answer back, the only connection is free."""
    server.asked.clear()
    server.script(Reply(hold=True))
    call = asyncio.create_task(desk.call(ann, name, **arguments))
    async with asyncio.timeout(20):
        while not server.asked:  # noqa: ASYNC110  # another thread appends
            await asyncio.sleep(0.01)
        assert await rows(desk.database, "SELECT 1 AS one") == [(1,)]
    assert not call.done()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


async def test_without_a_provider_the_tools_are_not_listed_and_say_what_to_add(
    database: Database, configure: Callable[..., Config]
) -> None:
    desk = Desk(database, configure({"outside.search": {}}))
    ann = await desk.person("ann", "macro:analyst")
    listed = {tool.name for tool in desk.registry.permitted(ann.scopes, door="agent")}
    assert "download_pdf" in listed
    for name in ("web_search", "search_news", "search_financial_news"):
        assert name not in listed
        with pytest.raises(ProviderMissing, match=r"outside\.search\.searxng or outside\.search\.google_cse"):
            await desk.call(ann, name, query="ECB")


async def test_a_provider_that_is_not_configured_is_named(desk: Desk) -> None:
    ann = await desk.person("ann", "macro:analyst")
    with pytest.raises(ProviderMissing, match=r"add outside\.search\.google_cse"):
        await desk.call(ann, "web_search", query="ECB", provider="google_cse")


async def test_the_key_is_in_no_record(outside: Desk, server: SearchServer) -> None:
    ann = await outside.person("ann", "macro:analyst")
    server.script(google_error(403, f"key {KEY} is restricted", "forbidden", "PERMISSION_DENIED"))
    with pytest.raises(ProviderFailed):
        await outside.call(ann, "web_search", query="ECB", provider="google_cse")
    (told,) = await rows(outside.database, "SELECT status, error FROM tool_calls")
    assert told[0] == "ProviderFailed"
    assert "restricted" in told[1]
    assert KEY not in told[1]


@pytest.fixture
async def stored(database: Database, configure: Callable[..., Config]) -> Desk:
    """A site with the default provider, `local`, and a search by words."""
    desk = Desk(database, configure())
    search = HybridSearch(database=database, semantic=None, settings=desk.config.search)
    desk.registry = Registry(systems.tools(), config=desk.config, database=database, search=search)
    return desk


async def publish(desk: Desk, topic: str, headline: str, content: str) -> int:
    async with desk.database.transaction() as connection:
        article = await articles.create(
            connection, topic=topic, headline=headline, keywords=None, content=content, author="ann"
        )
        await articles.move(
            connection,
            article,
            "published",
            published_version=article.version,
            published_at=article.created_at,
        )
        return article.id


async def test_local_finds_what_the_caller_may_see(stored: Desk) -> None:
    shown = await publish(
        stored,
        "macro",
        "Rates",
        "Much else first. The zloty rallied on **Monday**.[^1] More.\n\n[^1]: A zloty.",
    )
    hidden = await publish(stored, "equity", "Shares", "The zloty helped shares.")
    ann = await stored.person("ann", "macro:analyst")
    made = await stored.call(ann, "create_text_resource", name="Note", topic="macro", content="zloty notes")
    await stored.call(ann, "create_draft_article", topic="macro", headline="A zloty draft")
    answer = await stored.call(ann, "web_search", query="zloty")
    assert answer.provider == "local"
    assert [hit.stored_as for hit in answer.results] == [f"article:{shown}", f"resource:{made.resource_id}"]
    first, second = answer.results
    assert (first.title, first.url, first.source) == ("Rates", None, "local")
    assert first.snippet == "The zloty rallied on **Monday**. More."
    assert (second.title, second.snippet) == ("Note", "zloty notes")
    assert "searched only what is stored here" in answer.note
    bob = await stored.person("bob", "equity:analyst")
    answer = await stored.call(bob, "search_financial_news", query="zloty")
    assert [hit.stored_as for hit in answer.results] == [f"article:{hidden}"]
    assert "financial news" in answer.note
    both = await stored.person("cleo", "macro:analyst", "equity:reader")
    assert len((await stored.call(both, "web_search", query="zloty", limit=2)).results) == 2
    assert len((await stored.call(both, "web_search", query="zloty")).results) == 3


async def test_local_shows_the_published_text_and_not_the_next(stored: Desk) -> None:
    number = await publish(stored, "macro", "Rates", "The zloty rallied.")
    ann = await stored.person("ann", "macro:analyst")
    await stored.call(ann, "write_article_content", article_id=number, content="The zloty is secret now.")
    answer = await stored.call(ann, "search_news", query="zloty")
    assert [hit.snippet for hit in answer.results] == ["The zloty rallied."]
    assert (await stored.call(ann, "search_news", query="secret")).results == ()


async def test_a_pdf_becomes_resources(outside: Desk, server: SearchServer) -> None:
    ann = await outside.person("ann", "macro:analyst")
    url = server.put("/prices.pdf", REPORT)
    answer = await outside.call(ann, "download_pdf", url=url, topic="macro")
    assert (answer.url, answer.pages, answer.attached_to_article, answer.note) == (url, 2, None, None)
    assert [(each.kind, each.name, each.page) for each in answer.resources] == [
        ("text", "Prices", None),
        ("table", "Prices, table 1 (page 1)", 1),
        ("table", "Prices, table 2 (page 2)", 2),
    ]
    async with outside.database.connection() as connection:
        kept = [await resources.get(connection, each.resource_id) for each in answer.resources]
    assert {each.topic for each in kept} == {"macro"}
    assert {each.status for each in kept} == {"draft"}
    assert "[page 1]\n\nPrices rose." in kept[0].content
    assert kept[0].description == f"From {url}, 2 pages"
    assert kept[1].description == f"From {url}, page 1"
    assert (kept[1].columns, kept[1].rows) == (("month", "CPI"), (("2026-05", "3.1"), ("2026-06", "3.0")))


async def test_a_pdf_is_kept_and_its_call_recorded_or_neither(
    outside: Desk, server: SearchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever is told to try again must not find it kept twice."""
    ann = await outside.person("ann", "macro:analyst")
    url = server.put("/prices.pdf", REPORT)

    async def away(*_: Any, **__: Any) -> None:
        raise psycopg.OperationalError("the server closed the connection")

    with monkeypatch.context() as patched:
        patched.setattr(tool_calls, "record", away)
        with pytest.raises(psycopg.OperationalError):
            await outside.call(ann, "download_pdf", url=url, topic="macro")
    assert await rows(outside.database, "SELECT id FROM resources") == []
    await outside.call(ann, "download_pdf", url=url, topic="macro")
    assert len(await rows(outside.database, "SELECT id FROM resources")) == 3
    assert len(await rows(outside.database, "SELECT id FROM tool_calls WHERE status = 'ok'")) == 1


async def test_a_pdf_is_attached_in_one_version(outside: Desk, server: SearchServer) -> None:
    number = await outside.with_editor()
    before = await newest(outside, number)
    ann = await outside.person("ann", "macro:analyst")
    url = server.put("/prices.pdf", REPORT)
    answer = await outside.call(ann, "download_pdf", url=url, article_id=number, name="The report")
    after = await newest(outside, number)
    assert after.version == before.version + 1
    assert [each.id for each in after.resources] == [each.resource_id for each in answer.resources]
    assert after.resources[0].name == "The report"
    again = await outside.call(ann, "download_pdf", url=url, article_id=number)
    assert len((await newest(outside, number)).resources) == 6
    assert again.attached_to_article == number
    called = await rows(outside.database, "SELECT topic, about FROM tool_calls WHERE tool = 'download_pdf'")
    assert called == [("macro", f"article:{number}")] * 2


async def test_whoever_may_not_write_fetches_nothing(outside: Desk, server: SearchServer) -> None:
    number = await outside.with_editor()
    url = server.put("/prices.pdf", REPORT)
    eve = await outside.person("eve", "macro:editor")
    bob = await outside.person("bob", "equity:analyst")
    for who, place, refusal in (
        (eve, {"topic": "macro"}, PermissionMissing),
        (bob, {"topic": "macro"}, PermissionMissing),
        (bob, {"article_id": number}, ArticleNotFound),
        (bob, {"topic": "nowhere"}, InputInvalid),
        (bob, {}, InputInvalid),
    ):
        with pytest.raises(refusal):
            await outside.call(who, "download_pdf", url=url, **place)
    assert server.asked == []


async def test_nothing_is_half_written(
    outside: Desk, server: SearchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = await outside.with_editor()
    before = await newest(outside, number)
    ann = await outside.person("ann", "macro:analyst")
    url = server.put("/prices.pdf", REPORT)

    async def breaks(*_: Any, **__: Any) -> Any:
        raise RuntimeError("the article can't be written")

    monkeypatch.setattr(articles, "write", breaks)
    with pytest.raises(RuntimeError):
        await outside.call(ann, "download_pdf", url=url, article_id=number)
    monkeypatch.undo()
    server.put("/prices.pdf", b"<html>")
    with pytest.raises(DocumentUnreadable):
        await outside.call(ann, "download_pdf", url=url, article_id=number)
    assert await newest(outside, number) == before
    assert await rows(outside.database, "SELECT count(*) FROM resources") == [(0,)]


async def test_permission_is_asked_again_before_it_is_kept(
    outside: Desk, server: SearchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = await outside.with_editor()
    ann = await outside.person("ann", "macro:analyst", "equity:editor")
    read = pdf.read_pdf

    async def meanwhile(url: str, *, config: Config) -> Any:
        """The article goes to a topic where she may only edit while the PDF is fetched."""
        contents = await read(url, config=config)
        async with outside.database.transaction() as connection:
            await connection.execute("UPDATE articles SET topic = 'equity' WHERE id = %s", (number,))
        return contents

    monkeypatch.setattr(pdf, "read_pdf", meanwhile)
    with pytest.raises(PermissionMissing, match="equity:analyst"):
        await outside.call(ann, "download_pdf", url=server.put("/prices.pdf", REPORT), article_id=number)
    assert await rows(outside.database, "SELECT count(*) FROM resources") == [(0,)]


async def test_over_rest(database_url: str, configure: Callable[..., Config], server: SearchServer) -> None:
    google = {"url": server.google, "api_key": KEY, "search_engine_id": ENGINE}
    config = configure(
        {
            "outside.search": {"searxng": {"url": server.url}, "google_cse": google},
            "outgoing.allow_internal": ["127.0.0.1/32"],
        }
    )
    scopes = [str(scope) for scope in read_scopes(["macro:analyst"])]
    with served(config, database_url) as base:
        async with client(config, base, "ann", *scopes) as ann:
            for path in ("web-search", "news", "financial-news"):
                got = await ann.post(f"/api/tools/research/{path}", json={"query": "ECB"})
                assert got.status_code == 200, got.text
                assert got.json()["results"][0]["url"] == "https://example.org/ecb"
            url = server.put("/prices.pdf", REPORT)
            got = await ann.post("/api/tools/research/download-pdf", json={"url": url, "topic": "macro"})
            assert got.status_code == 200, got.text
            assert len(got.json()["resources"]) == 3
            server.script(Reply(500, b"broken"), Reply(429, b"", {"Retry-After": "7"}))
            got = await ann.post("/api/tools/research/web-search", json={"query": "ECB"})
            assert (got.status_code, got.json()["type"]) == (502, "urn:signoff:problem:ProviderFailed")
            got = await ann.post("/api/tools/research/web-search", json={"query": "ECB"})
            assert (got.status_code, got.headers["retry-after"]) == (503, "7")
            inside = {"url": "http://169.254.169.254/latest", "topic": "macro"}
            got = await ann.post("/api/tools/research/download-pdf", json=inside)
            assert (got.status_code, got.json()["type"]) == (422, "urn:signoff:problem:AddressRefused")
            server.put("/page", b"<html>", "text/html")
            page = {"url": server.url + "/page", "topic": "macro"}
            got = await ann.post("/api/tools/research/download-pdf", json=page)
            assert (got.status_code, got.json()["type"]) == (422, "urn:signoff:problem:DocumentUnreadable")
            described = (await ann.get("/openapi.json")).json()["paths"]
            for path in ("web-search", "news", "financial-news", "download-pdf"):
                assert "502" in described[f"/api/tools/research/{path}"]["post"]["responses"]
        async with client(config, base, "eve", "macro:editor") as eve:
            got = await eve.post("/api/tools/research/web-search", json={"query": "ECB"})
            assert got.status_code == 403
