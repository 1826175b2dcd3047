"""A research whose runner is killed in every one of its steps: one draft, each resource once, one text."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from actors.platform import systems
from actors.platform.runtime.directory import stop_agents
from actors.platform.runtime.pool import start_runners, stop_runners
from models.config import Config
from models.store import events
from models.store.content import articles
from models.store.database import Database
from tests.fakes.barrier import Barrier
from tests.fakes.model.model_server import ModelServer, Rule
from tests.integration.drafting.research_site import configured, written
from tests.integration.editorial.desk import Desk
from tests.integration.workflows import ended

pytestmark = pytest.mark.usefixtures("ray_cluster")
Configure = Callable[..., Config]
BRANCHES = ("web_search", "data_download", "resource_query")


@pytest.fixture
def config(configure: Configure, model: ModelServer, database_url: str) -> Iterator[Config]:
    """A site with two runners. Killed ones are found dead; a lease that ends early would be one more way."""
    config = configure(configured(model.base_url, **{"runners.lease_seconds": 12}))
    try:
        start_runners(config, database_url, roles="tests.fakes.researchers:ROLES", kinds=systems.graphs())
        yield config
    finally:
        stop_runners(timeout_seconds=10)
        stop_agents()


async def rows(database: Database, query: str, *values: Any) -> list[dict[str, Any]]:
    """What a query finds."""
    async with database.connection() as connection:
        return await (await connection.execute(query.encode(), values)).fetchall()


async def until(database: Database, query: str, *values: Any) -> None:
    """Wait until a query finds something."""
    async with asyncio.timeout(60):
        while not await rows(database, query, *values):
            pass


async def kill_runner(database: Database, task_id: str) -> None:
    """SIGKILL the process that runs the task."""
    [runner] = await rows(
        database,
        "SELECT r.pid FROM runners r JOIN workflows w ON w.runner_id = r.id WHERE w.id = %s",
        task_id,
    )
    os.kill(runner["pid"], signal.SIGKILL)


@asynccontextmanager
async def held(database: Database, table: str) -> AsyncIterator[None]:
    """Whoever writes to `table` waits, in the middle of its transaction; the block begins at once."""
    async with database.transaction() as connection:
        await connection.execute(f"LOCK TABLE {table} IN EXCLUSIVE MODE".encode())
        yield


async def waits_for(database: Database, table: str) -> None:
    """Wait until somebody waits for `table`."""
    await until(database, "SELECT 1 FROM pg_locks WHERE relation = %s::regclass AND NOT granted", table)


async def test_a_runner_killed_in_every_step_leaves_one_draft_with_each_resource_once(
    database: Database, config: Config, model: ModelServer
) -> None:
    model.script(
        Rule(kind="DraftReply", hold=True, reply=written(("So they say.", [1]), ("And so.", [2, 3])))
    )
    desk = Desk(database, config)
    ann = await desk.person("ann", "macro:analyst")
    with Barrier() as barrier:
        barrier.hold("data_download")
        query = f"rates at {barrier.address}"
        asked = await desk.call(ann, "research_article", topic="macro", query=query)
        task_id = asked.task_id

        async def asked_for(step: str, times: int) -> None:
            await asyncio.to_thread(barrier.until, lambda: barrier.runs(query, step) == times)

        # In a branch, when the others are done.
        await asked_for("data_download", 1)
        await until(
            database,
            "SELECT 1 FROM documents WHERE workflow_id = %s AND key LIKE 'search/%%' HAVING count(*) = 2",
            task_id,
        )
        await kill_runner(database, task_id)
        await asked_for("data_download", 2)

        # In the middle of writing the resources, when the draft is made.
        async with held(database, "resources"):
            barrier.release()
            await waits_for(database, "resources")
            await kill_runner(database, task_id)

        # While the model writes.
        await model.await_calls(1, "DraftReply", state="held")
        assert [row["n"] for row in await rows(database, "SELECT count(*) AS n FROM articles")] == [1]
        await kill_runner(database, task_id)
        await model.await_calls(2, "DraftReply", state="held", timeout=60)

        # In the middle of filing the text.
        async with held(database, "article_versions"):
            model.release()
            await waits_for(database, "article_versions")
            await kill_runner(database, task_id)
        done = await ended(database, task_id, timeout=60)
        assert done.status == "succeeded", done.error
        assert done.epoch == 6
        assert done.result is not None
        # The two that were done were not asked again, and the third once for each time it was begun.
        assert [barrier.runs(query, step) for step in BRANCHES] == [1, 2, 1]
    assert len(model.calls("DraftReply")) == 2
    made = await rows(database, "SELECT id, name FROM resources ORDER BY id")
    assert [row["name"] for row in made] == [f"Found by {branch}" for branch in BRANCHES]
    assert done.result["resources_created"] == [row["id"] for row in made]
    [article] = await rows(database, "SELECT id, version FROM articles")
    assert (done.result["article_id"], article["version"]) == (article["id"], 5)
    async with database.connection() as connection:
        version = await articles.get_version(connection, article["id"], 5)
    assert version.content.startswith("So they say.[^1] And so.[^2][^3]\n")
    assert [resource.id for resource in version.resources] == done.result["resources_created"]
    async with database.connection() as connection:
        told = await events.read(connection, after=0)
    assert [event.type for event in told].count("notification") == 1
