"""How a driver watches its batch: what it reads, what it says of an outage, and that it never waits alone."""

import asyncio
import json
import logging

import psycopg
import pytest

from actors.platform.runtime import batch_lease as batch_lease_module
from actors.platform.runtime.batch_lease import again_and_again
from models.store.database import Database
from models.store.runtime import claims
from pipelines.batch import live_batch
from tests.integration.runtime.again.retrying import execute, topic
from tests.integration.runtime.claims.claiming import lease


def silent(*_: object) -> None:
    """Progress that nobody reads."""


async def wait_for_a_topic(database: Database) -> None:
    """Begin a topic that nobody runs, and wait for its end."""
    async with (
        asyncio.timeout(20),
        live_batch(
            database=database,
            requested_by="ann",
            noun="topic",
            lease_seconds=60,
            force=False,
            progress=silent,
        ) as batch,
    ):
        workflow, _ = await batch.start(topic("text"))
        await batch.wait(workflow, name="t")


@pytest.mark.parametrize("helper", ["models.store.runtime.batches.renew", "models.store.events.read"])
async def test_a_driver_whose_renewing_or_watching_fails_ends_with_its_error(
    database: Database, monkeypatch: pytest.MonkeyPatch, helper: str
) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a defect")

    monkeypatch.setattr(helper, broken)
    with pytest.raises(RuntimeError, match="a defect"):
        await wait_for_a_topic(database)
    async with database.connection() as connection:
        cursor = await connection.execute("SELECT 1 FROM batches WHERE lease_until > now()")
        assert await cursor.fetchone() is None, "its lease is over, too"


async def test_of_topics_under_way_only_ids_and_statuses_are_read(database: Database) -> None:
    """What they hold may be large; and here it is something that can't be read at all."""
    async with (
        asyncio.timeout(30),
        live_batch(
            database=database,
            requested_by="ann",
            noun="topic",
            lease_seconds=60,
            force=False,
            progress=silent,
        ) as batch,
    ):
        under_way, _ = await batch.start(topic("text", "a"))
        done, _ = await batch.start(topic("text", "b"))
        await execute(database, "UPDATE workflows SET status = 'running', input = '[]'")
        waiting = asyncio.create_task(batch.wait(under_way, name="a"))
        await execute(
            database,
            """UPDATE workflows SET status = 'succeeded', input = %s::jsonb, result = '{}',
                      finished_at = now() WHERE id = %s""",
            json.dumps(topic("text", "b").input),
            done.id,
        )
        ended = await batch.wait(done, name="b")
        assert (ended.status, ended.result) == ("succeeded", {})
        assert not waiting.done()
        waiting.cancel()


async def test_an_end_is_seen_at_once(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.batch._POLL_SECONDS", 3600)
    async with (
        asyncio.timeout(30),
        live_batch(
            database=database,
            requested_by="ann",
            noun="topic",
            lease_seconds=60,
            force=False,
            progress=silent,
        ) as batch,
    ):
        workflow, _ = await batch.start(topic("text"))
        waiting = asyncio.create_task(batch.wait(workflow, name="t"))
        await lease(database, "r")
        [held] = await claims.claim(
            database, runner_id="r", rooms={"editorial": 1}, limit=1, lease_seconds=60
        )
        await claims.finish(database, [claims.Finish(claim=held, result="{}", project=False)])
        assert (await waiting).status == "succeeded"


class Clock:
    """A clock that a test moves on."""

    now = 0.0

    def monotonic(self) -> float:
        """In seconds."""
        return self.now


async def test_an_outage_is_said_at_growing_intervals_and_so_is_its_end(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    clock, over = Clock(), asyncio.Event()
    monkeypatch.setattr(batch_lease_module, "time", clock)

    async def act() -> None:
        clock.now += 1
        if clock.now <= 100:
            raise psycopg.errors.QueryCanceled("canceling statement due to statement timeout\nCONTEXT: more")
        if clock.now > 101:
            over.set()

    with caplog.at_level(logging.WARNING, logger="signoff.batch"):
        task = asyncio.create_task(again_and_again(act, every=0, to="watch the topics"))
        async with asyncio.timeout(10):
            await over.wait()
        task.cancel()
    reason = "and goes on trying: QueryCanceled: canceling statement due to statement timeout"
    assert caplog.messages == [
        *(f"can't watch the topics since {after} s, {reason}" for after in (0, 5, 10, 20, 40, 80)),
        "could watch the topics again after 100 s",
    ]


async def test_what_postgres_refuses_for_its_content_ends_the_trying() -> None:
    async def act() -> None:
        raise psycopg.errors.ProgramLimitExceeded("too large")

    async with asyncio.timeout(10):
        with pytest.raises(psycopg.errors.ProgramLimitExceeded):
            await again_and_again(act, every=0, to="watch the topics")
