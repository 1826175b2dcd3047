"""One bad or locked row concerns only its own workflow: no start, no sweep and no pool waits for it."""

import asyncio
import math
import select
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from actors.platform import systems
from actors.platform.runtime import outage
from actors.platform.runtime.directory import Directory
from actors.platform.runtime.runner import Runner
from models.config import Config
from models.runtime.approvals import GateRequest
from models.runtime.workflows import WorkflowRequest
from models.store import approvals
from models.store.database import Database, is_gone
from models.store.runtime import claims, workflows
from tests.fakes import graphs
from tests.fakes.barrier import Barrier
from tests.integration.runtime.claims.claiming import claim, lease
from tests.integration.runtime.journals.carrying import look
from tests.integration.workflows import begin, ended, running

Configure = Callable[..., Config]


async def execute(database: Database, query: str, *values: Any) -> list[dict[str, Any]]:
    """A statement by itself, and its rows."""
    async with database.connection() as connection:
        cursor = await connection.execute(query.encode(), values or None)
        return await cursor.fetchall() if cursor.description else []


async def asked(database: Database, kind: str, **request: Any) -> tuple[str, str]:
    """A workflow whose approval was written with it; their ids."""
    given = {"kind": kind, "content": {}, "required_scope": "macro:editor", "four_eyes": False, **request}
    async with database.transaction() as connection:
        workflow = await workflows.create(
            connection,
            WorkflowRequest(kind=kind, input={"article_id": 10_000}, input_digest="d", requested_by="ann"),
        )
        gate = GateRequest.model_validate({"expires_in_seconds": 600, **given})
        approval = await approvals.ask(connection, workflow.id, "publication", gate, requested_by="ann")
    return workflow.id, approval.id


async def test_a_runner_starts_while_what_it_should_try_again_is_locked(
    database: Database, database_url: str, configure: Configure
) -> None:
    with Barrier() as barrier:
        parked = await begin(database, barrier)
        await execute(database, "UPDATE workflows SET status = 'parked', not_before = 'infinity'")
        other = await begin(database, barrier)
        with psycopg.connect(database_url) as holder:
            holder.execute("SELECT 1 FROM workflows WHERE id = %s FOR UPDATE", (parked.id,))
            async with running(database, configure()):
                async with asyncio.timeout(8):  # less than any wait for a lock
                    assert (await ended(database, other.id)).status == "succeeded"
                assert (await look(database, parked.id)).status == "parked"
                holder.rollback()
                assert (await ended(database, parked.id)).status == "succeeded"


async def test_a_locked_approval_keeps_no_other_from_expiring(database: Database, database_url: str) -> None:
    locked, free = [await asked(database, "k") for _ in range(2)]
    await execute(database, "UPDATE approvals SET expires_at = now() - interval '1 second'")
    with psycopg.connect(database_url) as holder:
        holder.execute("SELECT 1 FROM workflows WHERE id = %s FOR UPDATE", (locked[0],))
        async with asyncio.timeout(8):
            assert await approvals.expire_due(database) == 1
        found = {
            row["id"]: row["status"] for row in await execute(database, "SELECT id, status FROM approvals")
        }
        assert found == {locked[1]: "pending", free[1]: "expired"}
    assert await approvals.expire_due(database) == 1


async def test_the_lease_waits_for_no_lock(database: Database, database_url: str) -> None:
    with Barrier() as barrier:
        await begin(database, barrier)
        await lease(database, "r")
        await claim(database, "r")
    [holding] = await _held(database)
    with psycopg.connect(database_url) as holder:
        holder.execute("SELECT 1 FROM workflows FOR UPDATE")
        async with asyncio.timeout(5), database.connection() as connection:
            await claims.let_go(connection, "r", holding)
    assert len(await _held(database)) == 1
    async with database.connection() as connection:
        await claims.let_go(connection, "r", holding)
    assert await _held(database) == []


async def _held(database: Database) -> list[Any]:
    async with database.connection() as connection:
        return list(await claims.held_by(connection, "r"))


async def test_what_another_release_wrote_and_this_can_t_read_is_parked_and_the_runner_goes_on(
    database: Database, configure: Configure
) -> None:
    with Barrier() as barrier:
        bad = await begin(database, barrier)
        await execute(
            database, """UPDATE workflows SET permission = '{"role": "publisher", "topic": null}'"""
        )
        good = await begin(database, barrier)
        async with running(database, configure()):
            assert (await ended(database, good.id)).status == "succeeded"
    [row] = await execute(
        database, "SELECT status, parked_for, runner_id FROM workflows WHERE id = %s", bad.id
    )
    assert (row["status"], row["runner_id"]) == ("parked", None)
    assert row["parked_for"].startswith("a release that can read it (permission.role: ")


async def test_publications_that_fail_together_take_no_runner_s_whole_pool(
    database: Database, database_url: str, configure: Configure
) -> None:
    """What goes with a failure is done on the connection that the failure is written on."""
    config = configure()
    made = [(await asked(database, "publish_article"))[0] for _ in range(24)]
    await execute(
        database, "UPDATE approvals SET status = 'approved', decided_by = 'eve', decided_at = now()"
    )
    async with Database(url=database_url, pool_size=4, patience_seconds=math.inf) as own:
        runner = Runner(
            name="r",
            config=config,
            database=own,
            directory=Directory(config=config, roles="tests.fakes.agents:ROLES"),
            kinds={**systems.graphs(), **graphs.KINDS},
        )
        task = asyncio.create_task(runner.run())
        try:
            async with asyncio.timeout(30):
                for workflow_id in made:
                    assert (await ended(database, workflow_id)).status == "failed"
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def test_a_connection_to_a_demoted_server_is_given_up(database: Database, database_url: str) -> None:
    name = database_url.split("?")[0].rsplit("/", 1)[1]
    await execute(database, f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    async with Database(url=database_url, pool_size=2, patience_seconds=10) as demoted:
        await execute(database, f"ALTER DATABASE {name} RESET default_transaction_read_only")
        await demoted.steadily(lambda: execute(demoted, "UPDATE workflows SET updated_at = now()"))

        async def write() -> None:
            async with demoted.transaction() as connection:
                await connection.execute("UPDATE workflows SET updated_at = now()")

        await demoted.steadily(write)


async def test_sleeping_in_a_transaction_is_an_outage(database_url: str) -> None:
    url = database_url + "&options=-c%20idle_in_transaction_session_timeout%3D100"
    async with Database(url=url, pool_size=1) as database:

        async def sleep() -> None:
            async with database.transaction() as connection:
                await connection.execute("SELECT 1")
                # Until the server has said why it ends the session.
                said = await asyncio.to_thread(select.select, [connection.pgconn.socket], [], [], 10)
                assert said[0]
                await connection.execute("SELECT 1")

        with pytest.raises(psycopg.Error) as asleep:
            await sleep()
    assert outage.waits_for(asleep.value) == "Postgres"


async def test_a_statement_that_is_too_large_is_no_outage(database: Database) -> None:
    with pytest.raises(psycopg.errors.ProgramLimitExceeded) as refused:
        await database.steadily(
            lambda: execute(
                database,
                """INSERT INTO workflows (id, kind, key, input, input_digest, requested_by, status)
                   SELECT 'w', 'k', string_agg(md5(n::text), ''), '{}', 'd', 'ann', 'queued'
                   FROM generate_series(1, 400) n""",
            )
        )
    assert not is_gone(refused.value)
    assert outage.waits_for(refused.value) is None


async def test_an_approval_that_can_t_be_expired_keeps_no_other_from_it(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    first, bad, last = [(await asked(database, "publish_article"))[1] for _ in range(3)]
    await execute(
        database,
        """CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
           $$ BEGIN RAISE 'no verdict on this one'; END $$""",
    )
    await execute(
        database,
        f"CREATE TRIGGER refuse BEFORE UPDATE ON approvals FOR EACH ROW WHEN (OLD.id = '{bad}' "
        "AND NEW.status = 'expired') EXECUTE FUNCTION refuse()",
    )
    await execute(
        database,
        """UPDATE approvals SET expires_at = now() - CASE WHEN id = %s THEN interval '2 hours'
                                                         ELSE interval '1 hour' END""",
        bad,
    )
    assert await approvals.expire_due(database) == 2
    rows = await execute(database, "SELECT id, status FROM approvals")
    assert {row["id"]: row["status"] for row in rows} == {first: "expired", bad: "pending", last: "expired"}
    assert f"approval {bad} can't be expired" in caplog.text
    assert "no verdict on this one" in caplog.text
