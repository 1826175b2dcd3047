"""The schema and the rules that the database itself must keep."""

import asyncio

import psycopg
import pytest

from models.errors import DatabaseUnavailable
from models.runtime.workflows import WorkflowRequest
from models.store.database import Database
from models.store.runtime import batches, workflows
from models.store.schema.migrate import migrate
from tests.integration.runtime.claims.claiming import claim, lease
from tests.integration.store.schemas import release

REQUEST = WorkflowRequest(kind="steps", key="editorial:a", input={}, input_digest="d", requested_by="ann")


def test_a_database_of_an_earlier_release_keeps_what_waits(database_url: str) -> None:
    release(database_url, "0.1.0")
    with psycopg.connect(database_url) as connection:
        connection.execute(
            """INSERT INTO workflows (id, kind, input, input_digest, requested_by, status)
               VALUES ('w', 'k', '{}', 'd', 'ann', 'waiting'), ('v', 'publish_article', '{}', 'd', 'ann',
                       'waiting')"""
        )
        connection.execute(
            """INSERT INTO approvals (id, workflow_id, interrupt_id, kind, content, digest, requested_by,
                                      required_scope, four_eyes, status, expires_at)
               VALUES ('a', 'w', 'i', 'k', '{}', 'd', 'ann', 'global:editor', true, 'pending', now()),
                      ('b', 'v', 'j', 'publish_article', '{}', 'd', 'ann', 'global:editor', true, 'pending',
                       now())"""
        )
        connection.execute("INSERT INTO events (type, data) VALUES ('early', '{}')")
    migrate(database_url)
    with psycopg.connect(database_url) as connection:
        waiting = connection.execute("SELECT id, gate, status, quorum, title FROM approvals ORDER BY id")
        assert waiting.fetchall() == [
            ("a", "gate/a", "pending", 1, ""),
            ("b", "publication", "pending", 1, ""),
        ]
        assert connection.execute("SELECT role, topic FROM events").fetchall() == [("reader", None)]


@pytest.mark.parametrize("more", ["", "&options=-c%20TimeZone%3DAsia/Tokyo"])
async def test_times_come_in_utc_whatever_the_server_s_time_zone_is(database_url: str, more: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        name = connection.info.dbname
        connection.execute(f"ALTER DATABASE {name} SET timezone = 'America/New_York'".encode())
    async with Database(url=database_url + more, pool_size=1) as database, database.connection() as made:
        row = await (await made.execute("SELECT timestamptz '2026-07-01 12:00+00' AS at")).fetchone()
    assert row is not None
    assert row["at"].isoformat() == "2026-07-01T12:00:00+00:00"


def test_a_database_that_is_not_there_is_said_in_one_line(database_url: str) -> None:
    with pytest.raises(DatabaseUnavailable, match=r"can't be migrated: .*does not exist"):
        migrate(database_url.replace("/test_", "/nobody_"))


async def test_at_most_one_workflow_of_a_key_is_open(database: Database) -> None:
    async def create() -> str:
        async with database.transaction() as connection:
            return (await workflows.create(connection, REQUEST)).id

    outcomes = await asyncio.gather(*(create() for _ in range(6)), return_exceptions=True)
    made = [outcome for outcome in outcomes if isinstance(outcome, str)]
    assert len(made) == 1
    assert sum(isinstance(outcome, psycopg.errors.UniqueViolation) for outcome in outcomes) == 5
    async with database.transaction() as connection:
        await workflows.cancel(connection, made[0], reason="done with it")
    assert await create() != made[0]


async def test_a_workflow_of_a_batch_is_claimed_only_while_a_batch_of_it_lives(database: Database) -> None:
    await lease(database, "r")

    async def claimed() -> int:
        return len(await claim(database, "r", 1, lease_seconds=0))

    dead = await batches.begin(database, requested_by="ann", lease_seconds=60)
    async with database.transaction() as connection:
        workflow = await workflows.create(connection, REQUEST)
        await batches.hold(connection, batch_id=dead, workflow_id=workflow.id)
    await batches.end(database, batch_id=dead)
    assert await claimed() == 0
    alive = await batches.begin(database, requested_by="ann", lease_seconds=60)
    async with database.transaction() as connection:
        await batches.hold(connection, batch_id=alive, workflow_id=workflow.id)
    assert await claimed() == 1


async def test_a_runner_whose_own_lease_is_over_claims_nothing(database: Database) -> None:
    await lease(database, "r", seconds=0)
    async with database.transaction() as connection:
        await workflows.create(connection, REQUEST)
    claims = await claim(database, "r", 1, lease_seconds=0)
    assert claims == []
