"""Search: a real Postgres, the index as it runs in its actor, and embeddings over real HTTP."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from actors.runtime.directory import Directory
from actors.runtime.search_index import SearchIndex
from actors.tools.search import HybridSearch
from models.config import Config, KnowledgeBaseConfig, SearchConfig
from models.errors import ConfigInvalid, ModelUnavailable
from models.scopes import Scope, parse_scope
from models.search import Found, FoundArticle, FoundResource, Hit, Reach, reach_of
from models.store import passages, words
from models.store import search as store
from models.store.database import Connection, Database
from tests.fakes.knowledge_base import knowledge_base_settings
from tests.fakes.model_server import ModelServer, Rule

EVERYWHERE = Reach(published=None, working=None)
SETTINGS = SearchConfig(candidates=50, timeout_seconds=5)
READER = (parse_scope("macro:reader"),)
EDITOR = (parse_scope("macro:editor"),)
OUTSIDER = (parse_scope("equity:admin"),)


@pytest.fixture(scope="module")
def scripted() -> Iterator[ModelServer]:
    """One embeddings endpoint for the module."""
    with ModelServer() as server:
        yield server


@pytest.fixture
def endpoint(scripted: ModelServer) -> ModelServer:
    """The endpoint, without rules and calls."""
    scripted.reset()
    return scripted


class Site:
    """A database with articles and resources, and the ways to search them."""

    def __init__(self, database: Database, database_url: str, api_base: str) -> None:
        self.database = database
        self.url = database_url
        self.api_base = api_base

    def settings(self, **embedding: Any) -> KnowledgeBaseConfig:
        return knowledge_base_settings(
            {"api_base": self.api_base, "batch_size": 32, **embedding}, min_score=0.2
        )

    @asynccontextmanager
    async def index(self, **embedding: Any) -> AsyncIterator[SearchIndex]:
        index = SearchIndex(settings=self.settings(**embedding), search=SETTINGS, database_url=self.url)
        try:
            yield index
        finally:
            await index.close()

    def search(self, semantic: Any, **changes: Any) -> HybridSearch:
        return HybridSearch(
            database=self.database, semantic=semantic, settings=SETTINGS.model_copy(update=changes)
        )

    async def article(
        self, text: str, *, topic: str = "macro", headline: str = "Headline", publish: bool = False
    ) -> int:
        """Write an article; its id."""
        async with self.database.transaction() as connection:
            cursor = await connection.execute(
                """INSERT INTO articles (topic, status, version, author)
                   VALUES (%s, 'draft', 0, 'ann') RETURNING id""",
                (topic,),
            )
            row = await cursor.fetchone()
            assert row is not None
            await _write(connection, row["id"], text, headline)
        if publish:
            await self.publish(row["id"])
        return int(row["id"])

    async def write(
        self, article_id: int, text: str, *, headline: str = "Headline", resources: tuple[int, ...] = ()
    ) -> None:
        """Write the next version."""
        async with self.database.transaction() as connection:
            await _write(connection, article_id, text, headline, resources)

    async def publish(self, article_id: int) -> None:
        async with self.database.transaction() as connection:
            await connection.execute(
                "UPDATE articles SET status = 'published', published_version = version WHERE id = %s",
                (article_id,),
            )
            await passages.changed(connection, "article", article_id)

    async def resource(
        self, text: str, *, topic: str = "macro", kind: str = "text", name: str = "Name"
    ) -> int:
        """Write a resource; its id."""
        table = (Jsonb(["a"]), Jsonb([])) if kind == "table" else (None, None)
        async with self.database.transaction() as connection:
            cursor = await connection.execute(
                """INSERT INTO resources (kind, name, topic, content, columns, rows, digest, created_by)
                   VALUES (%s, %s, %s, %s, %s, %s, 'd', 'ann') RETURNING id""",
                (kind, name, topic, text, *table),
            )
            row = await cursor.fetchone()
            assert row is not None
            await passages.changed(connection, "resource", row["id"])
        return int(row["id"])

    async def rows(self, query: str) -> list[dict[str, Any]]:
        async with self.database.connection() as connection:
            return await (await connection.execute(query.encode())).fetchall()


async def _write(
    connection: Connection, article_id: int, text: str, headline: str, resources: tuple[int, ...] = ()
) -> None:
    cursor = await connection.execute(
        """UPDATE articles SET version = version + 1, status = 'draft', updated_at = now()
           WHERE id = %s RETURNING version""",
        (article_id,),
    )
    row = await cursor.fetchone()
    assert row is not None
    await connection.execute(
        """INSERT INTO article_versions (article_id, version, headline, content, written_by)
           VALUES (%s, %s, %s, %s, 'ann')""",
        (article_id, row["version"], headline, text),
    )
    for place, resource_id in enumerate(resources):
        await connection.execute(
            "INSERT INTO article_resources (article_id, version, resource_id, place) VALUES (%s, %s, %s, %s)",
            (article_id, row["version"], resource_id, place),
        )
    await passages.changed(connection, "article", article_id)


@pytest.fixture
async def site(database: Database, database_url: str, endpoint: ModelServer) -> Site:
    return Site(database, database_url, endpoint.base_url)


async def until(condition: Callable[[], Awaitable[bool]], *, timeout: float = 30) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(timeout):
        while True:
            if await condition():
                return
            await asyncio.sleep(0.02)


async def nearest(index: SearchIndex, query: str, reach: Reach = EVERYWHERE, **more: Any) -> list[Hit]:
    """What is found by meaning, whatever it is, by those who see all."""
    what: dict[str, Any] = {"kinds": ("article", "text", "table"), "topics": None, "include_drafts": True}
    return await index.search(query, reach=reach, limit=50, **(what | more))


def found(hits: list[Hit]) -> list[tuple[str, int, int | None]]:
    return [(hit.kind, hit.id, hit.version) for hit in hits]


async def articles(
    search: HybridSearch, query: str, scopes: tuple[Scope, ...], *, drafts: bool = False, **more: Any
) -> Found[FoundArticle]:
    what: dict[str, Any] = {"topics": None, "limit": 50}
    return await search.articles(query, scopes=scopes, include_drafts=drafts, **(what | more))


async def resources(
    search: HybridSearch, query: str, scopes: tuple[Scope, ...], **more: Any
) -> Found[FoundResource]:
    what: dict[str, Any] = {"topics": None, "limit": 50, "kinds": ("text", "table")}
    return await search.resources(query, scopes=scopes, **(what | more))


def ids(what: Found[Any]) -> list[int]:
    return [item.id for item in what.items]


# What is written is found


async def test_a_written_article_is_found_by_word_and_by_meaning(site: Site) -> None:
    wine = await site.article("The vintage in Burgundy was poor.", headline="Wine", publish=True)
    oil = await site.article("Crude futures fell on Friday.", headline="Oil", publish=True)
    async with site.index() as index:
        await until(index.caught_up)
        assert found(await nearest(index, "crude futures")) == [("article", oil, 1)]
        later = await site.article("Copper and zinc rallied.", headline="Metals", publish=True)
        await until(index.caught_up)
        [hit, *_] = await nearest(index, "zinc and copper")
        assert (hit.id, hit.score) == (later, pytest.approx(0.8, abs=0.2))
        search = site.search(index)
        answer = await articles(search, "poor vintage in burgundy", READER)
        item = answer.items[0]
        assert (item.id, item.headline, item.topic, item.status, item.author) == (
            wine,
            "Wine",
            "macro",
            "published",
            "ann",
        )
        assert item.similarity_score is not None
        assert (answer.total, answer.note) == (len(answer.items), None)
    assert (
        await site.rows("SELECT 1 FROM article_versions WHERE indexed_with IS DISTINCT FROM 'minilm'") == []
    )


async def test_words_are_found_at_once_whole_or_as_a_beginning(site: Site) -> None:
    number = await site.article("Inflation expectations drifted.", headline="Prices", publish=True)
    search = site.search(None)
    for query in ("inflation", "INFLATION", "infl", "nobody expects inflation", "'inflation", "price"):
        answer = await articles(search, query, READER)
        assert (query, ids(answer), answer.total) == (query, [number], 1)
        assert answer.items[0].similarity_score is None
        assert answer.note is not None
        assert "by words only" in answer.note
    assert ids(await articles(search, "in", READER)) == []


async def test_more_words_and_the_headline_weigh_more(site: Site) -> None:
    body = await site.article("A note on bonds and gold.", headline="Notes", publish=True)
    both = await site.article("A note on bonds, gold and copper.", headline="Notes", publish=True)
    head = await site.article("A note on bonds, gold and zinc.", headline="Copper and gold", publish=True)
    assert ids(await articles(site.search(None), "copper gold", READER)) == [head, both, body]


async def test_long_texts_are_found_by_any_passage_and_once(site: Site) -> None:
    words = " ".join(f"filler{n} lies in sentence{n}." for n in range(200))
    number = await site.article(f"{words} The zebra crossed. {words}", publish=True)
    async with site.index() as index:
        await until(index.caught_up)
        assert (await index.stats()).passages > 10
        assert found(await nearest(index, "zebra crossed sentence199")) == [("article", number, 1)]
        assert len(await nearest(index, "filler1 filler2 sentence3 sentence4 lies in sentence")) == 1


# Who sees what


async def test_a_reader_never_finds_working_text(site: Site) -> None:
    draft = await site.article("Saffron harvest secrets.", headline="Draft")
    revised = await site.article("Saffron prices published.", headline="Public", publish=True)
    await site.write(revised, "Saffron embargo tomorrow.", headline="Private")
    async with site.index() as index:
        await until(index.caught_up)
        search = site.search(index)
        for query in ("saffron", "saffron harvest secrets", "saffron embargo tomorrow"):
            for drafts in (False, True):
                answer = await articles(search, query, READER, drafts=drafts)
                assert [(item.id, item.headline, item.status) for item in answer.items] == [
                    (revised, "Public", "published")
                ]
                assert answer.total == 1
                assert ids(await articles(search, query, OUTSIDER, drafts=drafts)) == []
            hits = await nearest(index, query, reach_of(READER), include_drafts=True)
            assert ("article", revised, 2) not in found(hits)
            assert ("article", draft, 1) not in found(hits)
        assert ids(await articles(search, "saffron embargo tomorrow", EDITOR)) == [revised]
        answer = await articles(search, "saffron embargo tomorrow", EDITOR, drafts=True)
        assert {(item.id, item.headline, item.status) for item in answer.items} == {
            (revised, "Private", "draft"),
            (draft, "Draft", "draft"),
        }
        only_words = await articles(site.search(None), "embargo harvest", READER, drafts=True)
        assert ids(only_words) == []


class Stale:
    """An index that lags: it offers what it is told to, to whoever asks."""

    def __init__(self, *hits: Hit) -> None:
        self.hits = list(hits)

    async def search(self, query: str, **_: Any) -> list[Hit]:
        return self.hits


async def test_a_stale_index_leaks_nothing(site: Site) -> None:
    draft = await site.article("Draft.")
    revised = await site.article("First.", publish=True)
    await site.write(revised, "Second.")
    hidden = await site.resource("Hidden.")
    hits = [
        Hit(kind="article", id=draft, version=1, score=0.9),
        Hit(kind="article", id=revised, version=2, score=0.8),
        Hit(kind="article", id=revised, version=1, score=0.7),
        Hit(kind="article", id=10**9, version=1, score=0.6),
    ]
    search = site.search(Stale(*hits))
    answer = await articles(search, "anything", READER, drafts=True)
    assert ([(item.id, item.status) for item in answer.items], answer.total) == ([(revised, "published")], 1)
    assert answer.items[0].similarity_score == 0.7
    assert ids(await articles(search, "anything", EDITOR, drafts=True)) == [draft, revised]
    assert ids(await articles(search, "anything", OUTSIDER, drafts=True)) == []
    other_topic = await articles(search, "anything", EDITOR, drafts=True, topics=frozenset(["equity"]))
    assert (other_topic.items, other_topic.total) == ((), 0)
    leak = site.search(Stale(Hit(kind="resource", id=hidden, version=None, score=0.9)))
    assert (await resources(leak, "anything", READER)).total == 0
    assert ids(await resources(leak, "anything", EDITOR)) == [hidden]
    assert ids(await resources(leak, "anything", EDITOR, kinds=("table",))) == []


async def test_a_reader_finds_the_resources_of_published_articles(site: Site) -> None:
    shown = await site.resource("Turnip yields by county.", topic="equity")
    hidden = await site.resource("Turnip yields in secret.", topic="equity")
    own = await site.resource("Turnip yields at home.", kind="table")
    article = await site.article("Vegetables.")
    await site.write(article, "Vegetables.", resources=(shown,))
    async with site.index() as index:
        for search in (site.search(index), site.search(None)):
            await until(index.caught_up)
            assert ids(await resources(search, "turnip yields", READER)) == []
            assert set(ids(await resources(search, "turnip yields", EDITOR))) == {own}
            assert set(ids(await resources(search, "turnip yields", OUTSIDER))) == {shown, hidden}
        await site.publish(article)
        await until(index.caught_up)
        assert found(await nearest(index, "turnip", reach_of(READER))) == [("resource", shown, None)]
        for search in (site.search(index), site.search(None)):
            answer = await resources(search, "turnip yields", READER)
            assert ([(r.id, r.kind, r.topic) for r in answer.items], answer.total) == (
                [(shown, "text", "equity")],
                1,
            )
            assert "Turnip yields by county" in answer.items[0].snippet
            assert set(ids(await resources(search, "turnip yields", EDITOR))) == {own, shown}
            tables = await resources(search, "turnip yields", EDITOR, kinds=("table",))
            assert ids(tables) == [own]
            equity = await resources(search, "turnip yields", EDITOR, topics=("equity",))
            assert ids(equity) == [shown]
        # The next published version no longer rests on it.
        await site.write(article, "Vegetables without proof.")
        await site.publish(article)
        await until(index.caught_up)
        assert await nearest(index, "turnip", reach_of(READER)) == []
        assert ids(await resources(site.search(index), "turnip yields", READER)) == []


# Publishing and superseding


async def test_publishing_moves_and_a_new_version_supersedes(site: Site) -> None:
    number = await site.article("Peach exports.")
    async with site.index() as index:
        await until(index.caught_up)
        reader = reach_of(READER)
        assert await nearest(index, "peach", reader) == []
        await site.publish(number)
        await until(index.caught_up)
        assert found(await nearest(index, "peach", reader)) == [("article", number, 1)]
        await site.write(number, "Plum exports.")
        await site.write(number, "Apricot exports.")
        await until(index.caught_up)
        assert found(await nearest(index, "peach", reader)) == [("article", number, 1)]
        assert await nearest(index, "plum") == []
        assert found(await nearest(index, "apricot")) == [("article", number, 3)]
        assert await nearest(index, "apricot", reader) == []
        await site.publish(number)
        await until(index.caught_up)
        assert await nearest(index, "peach", reader) == []
        assert found(await nearest(index, "apricot", reader)) == [("article", number, 3)]
        versions = await site.rows("SELECT DISTINCT version FROM passages")
        assert [row["version"] for row in versions] == [3]
        # An older version can come back.
        await site.rows("UPDATE articles SET version = 1, published_version = 1 RETURNING id")
        await site.rows(f"SELECT pg_notify('{passages.CHANNEL}', 'article:{number}')")
        await until(index.caught_up)
        assert found(await nearest(index, "peach", reader)) == [("article", number, 1)]


async def test_what_is_deleted_is_forgotten(site: Site) -> None:
    number = await site.article("Peach exports.", publish=True)
    async with site.index() as index:
        await until(index.caught_up)
        async with site.database.transaction() as connection:
            await connection.execute("DELETE FROM articles WHERE id = %s", (number,))
            await passages.changed(connection, "article", number)
        await until(index.caught_up)
        assert await nearest(index, "peach") == []
        assert (await index.stats()).passages == 0


async def test_rubbish_notices_and_lost_connections_do_no_harm(site: Site) -> None:
    async with site.index() as index:
        await until(index.caught_up)
        await site.rows(
            f"SELECT pg_notify('{passages.CHANNEL}', n) FROM unnest('{{x,article:,article:x,:1}}'::text[]) n"
        )
        await site.rows(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE 'LISTEN%'"
        )
        number = await site.article("Peach exports.")
        await until(index.caught_up)
        assert found(await nearest(index, "peach")) == [("article", number, 1)]


# Restart, and an endpoint that is away


async def test_a_restart_embeds_nothing_again(site: Site, endpoint: ModelServer) -> None:
    number = await site.article("Peach exports.", publish=True)
    resource = await site.resource("Peach tables.")
    async with site.index() as index:
        await until(index.caught_up)
    endpoint.reset()
    async with site.index() as index:
        assert {(hit.kind, hit.id) for hit in await nearest(index, "peach")} == {
            ("article", number),
            ("resource", resource),
        }
        await until(index.caught_up)
        assert [call.body["input"] for call in endpoint.calls("embeddings")] == [["peach"]]


async def test_another_model_means_another_index(site: Site) -> None:
    await site.article("Peach exports.", publish=True)
    async with site.index() as index:
        await until(index.caught_up)
    before = await site.rows("SELECT id FROM passages")
    async with site.index(model_name="other") as index:
        await until(index.caught_up)
        assert len(await nearest(index, "peach")) == 1
    after = await site.rows("SELECT id FROM passages")
    assert len(after) == len(before) == 1
    assert after != before
    assert (await site.rows("SELECT indexed_with FROM article_versions"))[0]["indexed_with"] == "other"


async def test_two_indexes_share_the_work_and_see_each_others(site: Site, endpoint: ModelServer) -> None:
    async with site.index() as one, site.index() as other:
        await until(one.caught_up)
        await until(other.caught_up)
        numbers = [await site.article(f"Peach number{n}.", publish=True) for n in range(5)]
        for index in (one, other):
            await until(index.caught_up)
            assert {hit.id for hit in await nearest(index, "peach")} == set(numbers)
    assert len(await site.rows("SELECT id FROM passages")) == 5


async def test_without_embeddings_words_answer_and_meaning_catches_up(
    site: Site, endpoint: ModelServer
) -> None:
    endpoint.script(Rule(kind="embeddings", status=400, reply="out of order"))
    number = await site.article("Peach exports.", publish=True)
    async with site.index() as index:
        search = site.search(index)
        answer = await articles(search, "peach", READER)
        assert (ids(answer), answer.total) == ([number], 1)
        assert answer.note is not None
        assert "by words only" in answer.note
        assert "out of order" in answer.note
        with pytest.raises(ModelUnavailable, match="out of order"):
            await nearest(index, "peach")

        async def told() -> bool:
            return "out of order" in ((await index.stats()).problem or "")

        await until(told)
        assert (await index.stats()).waiting == 1
        assert not await index.caught_up()
        endpoint.reset()
        await until(index.caught_up)
        assert (await index.stats()).problem is None
        answer = await articles(search, "peach", READER)
        assert (ids(answer), answer.note) == ([number], None)
        assert answer.items[0].similarity_score is not None


async def test_a_text_that_cannot_be_embedded_holds_up_no_other(site: Site, endpoint: ModelServer) -> None:
    endpoint.script(Rule(kind="embeddings", contains="poison", status=400, reply="can't read this"))
    numbers = [await site.article("Peach poison." if n == 3 else f"Peach {n}.") for n in range(6)]
    async with site.index() as index:

        async def all_but_one() -> bool:
            return {hit.id for hit in await nearest(index, "peach")} == set(numbers) - {numbers[3]}

        await until(all_but_one)
        later = await site.article("Peach later.")

        async def later_too() -> bool:
            return later in {hit.id for hit in await nearest(index, "peach")}

        await until(later_too)
        assert "can't read this" in ((await index.stats()).problem or "")


async def test_slow_meaning_does_not_hold_up_words(site: Site, endpoint: ModelServer) -> None:
    number = await site.article("Peach exports.", publish=True)
    async with site.index() as index:
        await until(index.caught_up)
        endpoint.script(Rule(kind="embeddings", hold=True))
        answer = await articles(site.search(index, timeout_seconds=0.2), "peach", READER)
        assert ids(answer) == [number]
        assert answer.note is not None
        assert "search.timeout_seconds (0.2 s)" in answer.note
        endpoint.release()


async def test_an_agent_that_breaks_is_no_reason_to_fail(site: Site) -> None:
    class Broken:
        async def search(self, query: str, **_: Any) -> list[Hit]:
            raise RuntimeError("secret detail")

    number = await site.article("Peach exports.", publish=True)
    answer = await articles(site.search(Broken()), "peach", READER)
    assert ids(answer) == [number]
    assert answer.note == "searched by words only: RuntimeError"


async def test_a_text_that_changed_while_it_was_embedded_is_embedded_again(
    site: Site, endpoint: ModelServer
) -> None:
    endpoint.script(Rule(kind="embeddings", contains="Peach", hold=True, times=1))
    number = await site.article("Peach exports.")
    async with site.index() as index:
        starting = asyncio.create_task(index.caught_up())
        await endpoint.await_calls(1, "embeddings", state="held")
        await site.rows("UPDATE article_versions SET content = 'Plum exports.' RETURNING version")
        endpoint.release()
        await starting
        await until(index.caught_up)
        assert await nearest(index, "peach") == []
        assert found(await nearest(index, "plum")) == [("article", number, 1)]


async def test_nothing_asked_is_nothing_found(site: Site) -> None:
    await site.article("Peach exports.", publish=True)
    async with site.index() as index:
        await until(index.caught_up)
        for query in ("", " \n\t", "!!!"):
            answer = await articles(site.search(index), query, READER)
            assert (answer.items, answer.total) == ((), 0)


# Totals, and queries of any kind


async def test_the_total_counts_all_and_the_limit_cuts(site: Site) -> None:
    numbers = [await site.article(f"Peach number{n}.", publish=True) for n in range(12)]
    async with site.index() as index:
        await until(index.caught_up)
        answer = await articles(site.search(index, candidates=5), "peach", READER, limit=3)
        assert (len(answer.items), answer.total) == (3, 12)
        everything = await articles(site.search(index), "peach", READER, limit=50)
        assert (set(ids(everything)), everything.total) == (set(numbers), 12)


async def test_common_words_do_not_crowd_out_the_rare_one(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words, "_ROOM", 1500)
    async with site.database.transaction() as connection:
        await connection.execute(
            """INSERT INTO articles (topic, status, version, published_version, author)
               SELECT 'macro', 'published', 1, 1, 'ann' FROM generate_series(1, 3000)"""
        )
        await connection.execute(
            """INSERT INTO article_versions (article_id, version, headline, content, written_by)
               SELECT id, 1, 'what is it', 'of the market' || CASE WHEN id % 3 = 0 THEN ' growth' ELSE '' END
                      || CASE WHEN id = 7 THEN ' and quinoa' WHEN id = 9 THEN ' and kale' ELSE '' END, 'ann'
               FROM articles"""
        )
    async with site.database.connection() as connection:
        await connection.execute("ANALYZE article_versions")

        async def best(query: str, limit: int) -> list[int]:
            hits = await store.find_articles(
                connection, query=query, topics=None, reach=EVERYWHERE, include_drafts=False, limit=limit
            )
            return [hit.id for hit in hits]

        assert await best("what is the market of quinoa", 100) == [7]
        # All the words, and each of them common: the older of two is found beside the newest.
        assert (await best("what is the market growth kale", 100))[0] == 9
        assert len(await best("growth market", 100)) == 100
        assert len(await best("market", 100)) == 100


NASTY = [
    "'",
    '"',
    "\\",
    "a & b | !c",
    "<->",
    "(((",
    ":*",
    "a:*b",
    "'; DROP TABLE articles; --",
    "%s %(query)s",
    "\x00",
    "\ud800",
    "😀 peach",
    "http://x/a'b\\c?d=e",
    "foo-bar's",
    "x" * 10_000,
    "word " * 3_000,
    "<b>peach</b>",
    "a@b.c /usr/bin -1.5e10",
    "\u202e peach",
]


async def test_no_query_is_an_error(site: Site) -> None:
    number = await site.article("Peach exports, foo-bar's.", publish=True)
    resource = await site.resource("Peach table.")
    search = site.search(None)
    for query in NASTY:
        assert set(ids(await articles(search, query, READER))) <= {number}
        assert set(ids(await resources(search, query, EDITOR))) <= {resource}
    for query in ("😀 peach", "pea\x00 peach", "foo-bar's"):
        assert ids(await articles(search, query, READER)) == [number]

    @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.text() | st.text("'\"\\:*&|!()<->% aPeach\x00\n", max_size=30))
    def never_fails(query: str) -> None:
        asyncio.run(_both_ways(site.url, query))

    await asyncio.to_thread(never_fails)


async def _both_ways(url: str, query: str) -> None:
    async with Database(url=url, pool_size=1) as database:
        search = HybridSearch(database=database, semantic=None, settings=SETTINGS)
        await articles(search, query, READER)
        await resources(search, query, EDITOR)


async def test_whoever_sees_it_in_memory_sees_it_in_the_database(site: Site) -> None:
    """The partitions' rule and the SQL's are two writings of one: they agree on every kind of caller."""
    attached = {}
    for topic, publish in itertools.product(("macro", "equity"), (False, True)):
        resource = await site.resource("Peach table.", topic="macro")
        article = await site.article("Peach one.", topic=topic)
        await site.write(article, "Peach two.", resources=(resource,))
        if publish:
            await site.publish(article)
            await site.write(article, "Peach three.")
        attached[article] = resource
    async with site.index() as index:
        await until(index.caught_up)
        everything = await nearest(index, "peach")
        for texts in itertools.product(
            ("macro:reader", "macro:editor", "rates:admin"),
            ("equity:reader", "equity:analyst", "global:reader", "global:editor"),
        ):
            reach = reach_of([parse_scope(text) for text in texts])
            for drafts in (False, True):
                async with site.database.connection() as connection:
                    seen = await store.visible(
                        connection,
                        everything,
                        reach,
                        topics=None,
                        include_drafts=drafts,
                        kinds=("text", "table"),
                    )
                in_memory = await nearest(index, "peach", reach, include_drafts=drafts)
                best = {(hit.kind, hit.id) for hit in in_memory}
                assert {(hit.kind, hit.id) for hit in seen} <= best, (texts, drafts)
                async with site.database.connection() as connection:
                    shown = await store.visible(
                        connection,
                        in_memory,
                        reach,
                        topics=None,
                        include_drafts=drafts,
                        kinds=("text", "table"),
                    )
                assert shown == in_memory, (texts, drafts)


# The agent's place in the cluster


def test_the_role_needs_a_database(configure: Callable[..., Config]) -> None:
    from actors.roles import ROLES

    config = configure()
    path, arguments = ROLES["search_index"]
    directory = Directory(config=config, roles="actors.roles:ROLES", database_url="postgresql://x/y")
    made = arguments(config, directory)
    assert path == "actors.runtime.search_index:SearchIndex"
    assert made["database_url"] == directory.__getstate__()["database_url"] == "postgresql://x/y"
    assert isinstance(SearchIndex(**made), SearchIndex)
    with pytest.raises(ConfigInvalid, match="database_url"):
        arguments(config, Directory(config=config, roles="actors.roles:ROLES"))
