"""What the tests of search share: a site with articles and resources, and the ways to search it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from actors.platform.search.article_index import SearchIndex
from actors.platform.search.hybrid import HybridSearch
from models.config import EmbeddingConfig, SearchConfig
from models.content.search import Found, FoundArticle, FoundResource, Hit, Reach
from models.people.scopes import Scope, parse_scope
from models.store import passages
from models.store.content import resources as resource_store
from models.store.database import Connection, Database
from tests.fakes.knowledge_base import embedding_settings, knowledge_base_settings
from tests.fakes.model.model_server import ModelServer

EVERYWHERE = Reach(published=None, working=None)
SETTINGS = SearchConfig(candidates=50, timeout_seconds=5)
READER = (parse_scope("macro:reader"),)
EDITOR = (parse_scope("macro:editor"),)
OUTSIDER = (parse_scope("equity:admin"),)


@pytest.fixture(scope="module", name="scripted")
def make_scripted() -> Iterator[ModelServer]:
    """One embeddings endpoint for the module."""
    with ModelServer() as server:
        yield server


@pytest.fixture(name="endpoint")
def make_endpoint(scripted: ModelServer) -> ModelServer:
    """The endpoint, without rules and calls."""
    scripted.reset()
    return scripted


class Site:
    """A database with articles and resources, and the ways to search them."""

    def __init__(self, database: Database, database_url: str, api_base: str) -> None:
        self.database = database
        self.url = database_url
        self.api_base = api_base

    def embedding(self, **changes: Any) -> EmbeddingConfig:
        return embedding_settings(**{"api_base": self.api_base, "batch_size": 32} | changes)

    @asynccontextmanager
    async def index(self, **embedding: Any) -> AsyncIterator[SearchIndex]:
        index = SearchIndex(
            settings=knowledge_base_settings(min_score=0.2),
            embedding=self.embedding(**embedding),
            search=SETTINGS,
            database_url=self.url,
        )
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
            await resource_store.note_published(connection, article_id)
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


@pytest.fixture(name="site")
async def make_site(database: Database, database_url: str, endpoint: ModelServer) -> Site:
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
