"""Asking for the publication of a batch's drafts: one that is refused, or an outage, ends no other."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import pytest

from models.config import Config
from models.content.editorial import ArticleGenerationResult, ArticleResponse
from models.runtime.workflows import WorkflowRequest
from models.store.database import Connection, Database
from models.store.runtime import workflows
from pipelines.drafts import Drafts

Configure = Callable[..., Config]


@pytest.fixture
def drafts(database: Database, configure: Configure) -> Drafts:
    """A batch's drafts, none yet."""
    return Drafts(config=configure(), database=database, topic="macro", submitter="ann")


async def file(drafts: Drafts, database: Database, name: str, body: str = "Text.") -> None:
    """Draft an edited article."""
    async with database.transaction() as connection:
        request = WorkflowRequest(kind="editorial", input={}, input_digest="d", requested_by="ann")
        workflow = await workflows.create(connection, request)
    article = ArticleResponse(headline=name, alternativeHeadline="", articleBody=body, description="")
    assert await drafts.file(name, workflow.id, ArticleGenerationResult(success=True, article=article))


async def statuses(database: Database) -> list[str]:
    """Of the articles, in their order."""
    async with database.connection() as connection:
        cursor = await connection.execute("SELECT status FROM articles ORDER BY id")
        return [row["status"] for row in await cursor.fetchall()]


async def approvals(database: Database) -> int:
    """How many publications were asked for."""
    async with database.connection() as connection:
        row = await (await connection.execute("SELECT count(*) AS n FROM approvals")).fetchone()
        assert row is not None
        return int(row["n"])


async def test_each_is_told_once_it_is_asked_for_and_a_refusal_ends_no_other(
    database: Database, drafts: Drafts
) -> None:
    for name, body in (("a", "Text."), ("b", " "), ("c", "Text."), ("d", "Text.")):
        await file(drafts, database, name, body)
    asking = drafts.request_publication(2)
    first = await anext(asking)
    assert first.line.startswith("a: article 1 waits for approval ")
    assert await statuses(database) == ["pending_approval", "draft", "draft", "draft"]
    refused, third = [asked async for asked in asking]
    assert (refused.refused, third.refused) == (True, False)
    assert refused.line.startswith(
        "b: the publication of article 2 is not asked for: article 2 has no content"
    )
    assert third.line.startswith("c: "), "a refused one takes no room"
    assert await statuses(database) == ["pending_approval", "draft", "pending_approval", "draft"]


@pytest.mark.parametrize("lost", ["question", "answer"])
async def test_a_blink_of_postgres_asks_for_each_publication_once(
    database: Database, drafts: Drafts, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    for name in ("a", "b"):
        await file(drafts, database, name)
    transaction = database.transaction
    blinks = iter([True, False])

    @asynccontextmanager
    async def blinking() -> AsyncIterator[Connection]:
        blink = next(blinks, False)
        if blink and lost == "question":
            raise psycopg.OperationalError("away for a moment")
        async with transaction() as connection:
            yield connection
        if blink:
            raise psycopg.OperationalError("away for a moment")

    monkeypatch.setattr(database, "transaction", blinking)
    told: list[Any] = [asked async for asked in drafts.request_publication(None)]
    assert [asked.refused for asked in told] == [False, False]
    assert [asked.line.partition(":")[0] for asked in told] == ["a", "b"]
    assert await statuses(database) == ["pending_approval", "pending_approval"]
    assert await approvals(database) == 2
