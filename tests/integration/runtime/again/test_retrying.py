"""What is begun again: after its batch has ended, beside others of its key, and what can't be."""

import asyncio
import hashlib
from collections.abc import Callable

import psycopg
import pytest

from models.config import Config
from models.errors import WorkflowConflict
from models.runtime.workflows import Workflow
from models.store.database import Database
from models.store.runtime import batches, workflows
from pipelines.batch import Batch, live_batch
from tests.fakes.barrier import Barrier
from tests.integration.runtime.again.retrying import execute, topic
from tests.integration.workflows import begin, ended, running

Configure = Callable[..., Config]


async def retry(database: Database, workflow_id: str) -> Workflow:
    """What the command and the HTTP door do."""
    async with database.transaction() as connection:
        return await workflows.retry(connection, workflow_id)


async def a_batch(database: Database) -> Batch:
    """A batch with a live lease, as its driver has it."""
    batch_id = await batches.begin(database, requested_by="ann", lease_seconds=60)
    return Batch(batch_id=batch_id, database=database, noun="topic", force=False, progress=lambda *_: None)


async def two_failed(database: Database) -> tuple[Workflow, Workflow]:
    """An older and a newer workflow of one key, both failed, and their batches over."""
    made = []
    for text in ("old", "new"):
        batch = await a_batch(database)
        workflow, _ = await batch.start(topic(text))
        await execute(
            database,
            "UPDATE workflows SET status = 'failed', finished_at = now() WHERE id = %s",
            workflow.id,
        )
        await batches.end(database, batch_id=batch.id)
        made.append(workflow)
    return made[0], made[1]


async def test_what_is_begun_again_after_its_batch_has_ended_runs(
    database: Database, configure: Configure
) -> None:
    with Barrier() as barrier:
        batch_id = await batches.begin(database, requested_by="ann", lease_seconds=60)
        workflow = await begin(database, barrier, fail="two")
        async with database.transaction() as connection:
            await batches.hold(connection, batch_id=batch_id, workflow_id=workflow.id)
        async with running(database, configure()):
            assert (await ended(database, workflow.id)).status == "failed"
            await batches.end(database, batch_id=batch_id)
            await execute(database, "UPDATE workflows SET input = input - 'fail'")
            await retry(database, workflow.id)
            assert (await ended(database, workflow.id, timeout=10)).status == "succeeded"


async def test_what_a_live_batch_holds_stays_its_own(database: Database) -> None:
    with Barrier() as barrier:
        held = [await batches.begin(database, requested_by="ann", lease_seconds=60) for _ in range(2)]
        workflow = await begin(database, barrier)
        for batch_id in held:
            async with database.transaction() as connection:
                await batches.hold(connection, batch_id=batch_id, workflow_id=workflow.id)
        await execute(database, "UPDATE workflows SET status = 'failed', finished_at = now()")
        await batches.end(database, batch_id=held[0])
        await retry(database, workflow.id)
    async with database.connection() as connection:
        cursor = await connection.execute("SELECT batch_id FROM batch_workflows")
        assert [row["batch_id"] for row in await cursor.fetchall()] == [held[1]]


async def test_an_older_run_of_a_key_is_not_begun_again(database: Database) -> None:
    older, newer = await two_failed(database)
    with pytest.raises(WorkflowConflict, match=newer.id):
        await retry(database, older.id)
    assert (await retry(database, newer.id)).status == "queued"


async def test_beside_an_open_run_of_its_key_none_is_begun_again(database: Database) -> None:
    older, newer = await two_failed(database)
    # As a release that did not refuse it has left it.
    await execute(database, "UPDATE workflows SET status = 'queued' WHERE id = %s", older.id)
    with pytest.raises(WorkflowConflict, match=older.id):
        await retry(database, newer.id)


@pytest.mark.parametrize("text", ["new", "newest"], ids=["to be begun again", "to be begun anew"])
async def test_a_topic_that_an_older_run_keeps_open_is_told_so(database: Database, text: str) -> None:
    older, _ = await two_failed(database)
    await execute(database, "UPDATE workflows SET status = 'queued' WHERE id = %s", older.id)
    batch = await a_batch(database)
    async with asyncio.timeout(20):
        with pytest.raises(WorkflowConflict, match=f"signoff workflows cancel {older.id}"):
            await batch.start(topic(text))


async def test_a_batch_ends_without_an_error_though_postgres_is_away(database_url: str) -> None:
    def silent(*_: object) -> None: ...

    async with (
        Database(url=database_url, pool_size=2) as database,
        live_batch(
            database=database,
            requested_by="ann",
            noun="topic",
            lease_seconds=60,
            force=False,
            progress=silent,
        ) as batch,
    ):
        assert batch.id
        await database.__aexit__()  # no connection can be had any more


async def test_a_topic_that_can_t_be_kept_is_told_so_at_once(database: Database) -> None:
    """Postgres refuses a key of that size for what is in it: that is no outage, to be waited for."""
    batch = await a_batch(database)
    digits = "".join(hashlib.sha256(str(number).encode()).hexdigest() for number in range(200))
    async with asyncio.timeout(20):
        with pytest.raises(psycopg.errors.ProgramLimitExceeded):
            await batch.start(topic("new", digits))
