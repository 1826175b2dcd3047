"""Hybrid search: a real Postgres, a real index, and embeddings over real HTTP."""

import asyncio
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from actors.platform.search.hybrid import HybridSearch
from models.content.search import Hit, reach_of
from models.store import search as store
from models.store import words
from models.store.database import Database
from tests.examples import examples
from tests.fakes.model.model_server import ModelServer, Rule
from tests.integration.search.search_site import (
    EDITOR,
    EVERYWHERE,
    OUTSIDER,
    READER,
    SETTINGS,
    Site,
    articles,
    found,
    ids,
    make_endpoint,
    make_scripted,
    make_site,
    nearest,
    resources,
    until,
)

__all__ = ["make_endpoint", "make_scripted", "make_site"]  # the fixtures


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

    @examples(150, suppress_health_check=list(HealthCheck))
    @given(st.text() | st.text("'\"\\:*&|!()<->% aPeach\x00\n", max_size=30))
    def never_fails(query: str) -> None:
        asyncio.run(_both_ways(site.url, query))

    await asyncio.to_thread(never_fails)


async def _both_ways(url: str, query: str) -> None:
    async with Database(url=url, pool_size=1) as database:
        search = HybridSearch(database=database, semantic=None, settings=SETTINGS)
        await articles(search, query, READER)
        await resources(search, query, EDITOR)
