"""What is read grows with what is asked for, not with what there is: events, messages, journals."""

from collections.abc import AsyncIterator

import pytest

from models.store import events, outbox
from models.store.database import Database
from models.store.runtime import documents
from models.store.upkeep import standing
from tests.integration.rows_read import rows_read

MANY, FEW = 3_000, 10
WORKFLOWS = """
INSERT INTO workflows (id, kind, input, input_digest, requested_by, status)
SELECT CASE n WHEN 1 THEN 'mine' ELSE 'w' || n END, 'steps', '{}', 'd', 'ann', 'succeeded'
FROM generate_series(1, 3000) AS n
"""
# Each of a workflow has a few, and all together have many.
OF_WORKFLOWS = f"FROM workflows w CROSS JOIN generate_series(1, {FEW}) AS n"
EVENTS = f"INSERT INTO events (type, workflow_id, data) SELECT 'told', w.id, '{{}}' {OF_WORKFLOWS}"
DOCUMENTS = f"INSERT INTO documents (workflow_id, key, value) SELECT w.id, 's' || n, '{{}}' {OF_WORKFLOWS}"
WEBHOOK = """
INSERT INTO webhooks (name, event_type, url, method, max_retries, retry_delay_seconds, secret, created_by)
VALUES ('w', 'content.published', 'https://example.org', 'POST', 3, 1, 's', 'ann')
"""
DELIVERIES = """
INSERT INTO deliveries (id, webhook_id, event_type, body, status, next_attempt_at, ended_at)
SELECT '{status}/{when}/' || n, w.id, 'content.published', '{{}}', '{status}', now() + interval '{when}',
       CASE WHEN '{status}' <> 'pending' THEN now() END
FROM webhooks w CROSS JOIN generate_series(1, {many}) AS n
"""


@pytest.fixture
async def one(database_url: str) -> AsyncIterator[Database]:
    """A pool of one connection."""
    async with Database(url=database_url, pool_size=1) as database:
        yield database


async def execute(database: Database, *statements: str) -> None:
    """Statements, each by itself."""
    async with database.connection() as connection:
        for statement in statements:
            await connection.execute(statement.encode())


@pytest.fixture(params=["no statistics", "fresh statistics"])
def settled(request: pytest.FixtureRequest) -> list[str]:
    """What is done between filling a database and reading from it."""
    return ["ANALYZE"] if request.param == "fresh statistics" else []


async def test_a_page_of_events_is_what_is_read(one: Database, settled: list[str]) -> None:
    await execute(one, WORKFLOWS, EVENTS)
    async with one.connection() as connection:
        while await events.move(connection):
            pass
    await execute(one, *settled)
    for _ in range(15):  # by then it has a plan that it keeps
        async with one.connection() as connection:
            await events.read(connection, after=0, limit=FEW)
            await events.read(connection, after=0, limit=FEW, workflow_ids=["mine"])
    async with rows_read(one) as read, one.connection() as connection:
        assert len(await events.read(connection, after=MANY, limit=FEW)) == FEW
    assert read["events"] <= 2 * FEW
    async with rows_read(one) as read, one.connection() as connection:
        assert len(await events.read(connection, after=0, workflow_ids=["mine"])) == FEW
    assert read["events"] <= 2 * FEW


async def test_a_replay_reads_its_own_documents(one: Database, settled: list[str]) -> None:
    await execute(one, WORKFLOWS, DOCUMENTS, *settled)
    async with rows_read(one) as read:
        assert len(await documents.get_all(one, "mine")) == FEW
    assert read["documents"] <= 2 * FEW


async def test_the_outbox_reads_about_as_many_as_it_takes(one: Database, settled: list[str]) -> None:
    there = [("delivered", "-1 day"), ("pending", "1 day"), ("pending", "-1 hour")]
    filled = [DELIVERIES.format(status=status, when=when, many=MANY) for status, when in there]
    await execute(one, WEBHOOK, *filled, *settled)
    async with rows_read(one) as read:
        assert len(await outbox.claim(one, limit=5, per_webhook=5, busy={}, lease_seconds=60)) == 5
    assert read["deliveries"] <= 5 * 5


async def test_how_things_stand_is_read_of_what_is_open(one: Database, settled: list[str]) -> None:
    ended = [WORKFLOWS.replace("'mine'", f"'mine{n}'").replace("'w'", f"'w{n}/'") for n in range(2)]
    await execute(one, *ended, *settled)
    async with rows_read(one) as read, one.connection() as connection:
        await standing.read(connection)
    assert read["workflows"] == 0
