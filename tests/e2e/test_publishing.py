"""The story of a publication on the real stack, while processes are killed."""

import asyncio
from typing import Any

import pytest

from cluster.postgres import server
from tests.e2e.cluster import Cluster
from tests.e2e.story import People, Rest, Story
from tests.fakes.outside.webhook_receiver import WebhookReceiver

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]

AUDIT = [
    ("ann", "create_draft_article", "ok"),
    ("ann", "create_text_resource", "ok"),
    ("ann", "create_table_resource", "ok"),
    ("ann", "write_article_content", "ok"),
    ("ann", "submit_for_review", "ok"),
    ("eve", "request_changes", "ok"),
    ("ann", "write_article_content", "ok"),
    ("ann", "submit_for_review", "ok"),
    ("eve", "publish_article", "ok"),
    ("eve", "decide_approval", "PermissionMissing"),
    ("rita", "decide_approval", "ApprovalNotFound"),
    ("bob", "decide_approval", "ok"),
]


@pytest.fixture
def people(cluster: Cluster) -> People:
    """Everyone, with their tokens."""
    return People(cluster)


async def happened_once(people: People, article: int) -> None:
    """Nothing is lost and nothing came twice: versions, requests, events."""
    review = await people.request("eve", "GET", f"/api/tools/articles/{article}/review")
    assert [event["type"] for event in review["history"]] == [
        "article.created",
        "article.written",  # a text is attached
        "article.written",  # a table is attached
        "article.written",
        "article.submitted",
        "article.changes_requested",
        "article.written",
        "article.submitted",
        "article.publication_requested",
        "article.published",
    ]
    assert review["article"]["version"] == review["article"]["published_version"] == 5


async def test_the_story_while_processes_are_killed_in_turn(cluster: Cluster, people: People) -> None:
    """Before each step something dies: the API, the runners, the dispatcher, the database; then all."""
    restarts: list[asyncio.Task[Any]] = []

    async def disturb(step: str) -> None:
        if step in ("draft", "resources", "decide", "published"):
            await asyncio.to_thread(cluster.kill, "ServeReplica:api")
        if step in ("publish", "decide", "published"):
            await asyncio.to_thread(cluster.kill, "RunnerActor")
        if step in ("publish", "decide", "published"):
            await asyncio.to_thread(cluster.kill, "DispatcherActor")
        if step in ("submit", "request_changes", "published"):
            cluster.kill_postgres()
            restarts.append(asyncio.create_task(asyncio.to_thread(server.start, cluster.folder / "data")))

    async with WebhookReceiver() as receiver:
        story = Story(people, Rest(people), receiver, "Rates held through it all", disturb)
        article = await story.walk()
        await asyncio.gather(*restarts)
    await happened_once(people, article)
    assert await story.audit(article) == AUDIT
