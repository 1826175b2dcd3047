"""The search index as it runs in its actor: following changes, restarts, an endpoint that is away."""

import asyncio
import itertools
from collections.abc import Callable

import pytest

from actors.platform.runtime.directory import Directory
from actors.platform.search.article_index import SearchIndex
from models.config import Config
from models.content.search import reach_of
from models.errors import ConfigInvalid, ModelUnavailable
from models.people.scopes import parse_scope
from models.store import passages
from models.store import search as store
from tests.fakes.model.model_server import ModelServer, Rule
from tests.integration.search.search_site import (
    READER,
    Site,
    articles,
    found,
    ids,
    make_endpoint,
    make_scripted,
    make_site,
    nearest,
    until,
)

__all__ = ["make_endpoint", "make_scripted", "make_site"]  # the fixtures


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
    endpoint.script(Rule(kind="embeddings", status=503, reply="out of order"))
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
    from actors.platform import systems

    config = configure()
    path, arguments = systems.roles()["search_index"]
    directory = Directory(
        config=config, roles="actors.platform.systems:roles", database_url="postgresql://x/y"
    )
    made = arguments(config, directory)
    assert path == "actors.platform.search.article_index:SearchIndex"
    assert made["database_url"] == directory.__getstate__()["database_url"] == "postgresql://x/y"
    assert isinstance(SearchIndex(**made), SearchIndex)
    with pytest.raises(ConfigInvalid, match="database_url"):
        arguments(config, Directory(config=config, roles="actors.platform.systems:roles"))
