"""What happens is observed in its own transaction, counted once, and never forgotten."""

import asyncio
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from actors.platform.runtime.pruner import Pruner
from models.config import Config
from models.monitoring import ObservationCount, Observed
from models.store.database import Connection, Database
from models.store.runtime import workflows
from models.store.upkeep import observations, standing

Configure = Callable[..., Config]
INFINITY = float("inf")


async def run(connection: Connection, *statements: str) -> None:
    for statement in statements:
        await connection.execute(statement.encode())


async def counted(connection: Connection, measure: str) -> dict[tuple[str, ...], tuple[int, float]]:
    """How often, and the sum, of each row of labels, once all was added."""
    await observations.add(connection, limit=100_000)
    found: dict[tuple[str, ...], tuple[int, float]] = {}
    for each in await observations.read(connection):
        if each.measure == measure:
            times, total = found.get(each.labels, (0, 0.0))
            found[each.labels] = (times + each.times, total + each.total)
    return found


def workflow(name: str, *, created: str, status: str = "running") -> str:
    return f"""INSERT INTO workflows (id, kind, input, input_digest, requested_by, status, created_at)
        VALUES ('{name}', 'publish', '{{}}', 'd', 'ann', '{status}', now() - interval '{created}')"""


def approval(of: str, gate: str, *, created: str, decided: str | None) -> str:
    at = "NULL" if decided is None else f"now() - interval '{decided}'"
    status = "pending" if decided is None else "approved"
    return f"""INSERT INTO approvals (id, workflow_id, gate, kind, content, digest, requested_by,
                                      required_scope, four_eyes, status, expires_at, created_at, decided_at)
        VALUES ('{of}{gate}', '{of}', '{gate}', 'k', '{{}}', 'd', 'ann', 'global:editor', true, '{status}',
                now() + interval '9 days', now() - interval '{created}', {at})"""


END = "UPDATE workflows SET status = 'succeeded', finished_at = now() WHERE id = '{}'"


async def test_the_time_that_people_take_to_decide_is_not_the_workflows(database: Database) -> None:
    async with database.transaction() as connection:
        await run(
            connection,
            workflow("plain", created="100 s"),
            workflow("asked", created="10000 s"),
            # Two gates at once, another later, and one that nobody decided.
            approval("asked", "a", created="9000 s", decided="5000 s"),
            approval("asked", "b", created="8000 s", decided="4000 s"),
            approval("asked", "c", created="3000 s", decided="1000 s"),
            END.format("plain"),
            END.format("asked"),
            workflow("stopped", created="500 s", status="waiting"),
            approval("stopped", "a", created="400 s", decided=None),
            "UPDATE workflows SET status = 'cancelled', finished_at = now() WHERE id = 'stopped'",
        )
        found = await counted(connection, "workflow")
    assert found["publish", "succeeded"] == (2, pytest.approx(100 + 10_000 - 5000 - 2000))
    assert found["publish", "cancelled"] == (1, pytest.approx(100))


async def test_one_that_is_begun_again_is_timed_anew_and_counted_again(database: Database) -> None:
    async with database.transaction() as connection:
        await run(
            connection,
            workflow("w", created="9000 s"),
            "UPDATE workflows SET status = 'failed', finished_at = now() WHERE id = 'w'",
        )
        await workflows.retry(connection, "w")
        assert (await standing.read(connection)).open_workflows[0].status == "queued"
        await run(connection, "UPDATE workflows SET begun_again_at = begun_again_at - interval '60 s'")
        await run(connection, END.format("w"), END.format("w"))
        found = await counted(connection, "workflow")
    assert found["publish", "failed"] == (1, pytest.approx(9000))
    assert found["publish", "succeeded"] == (1, pytest.approx(60))


async def test_what_is_undone_was_never_observed(database: Database) -> None:
    async with database.transaction() as connection:
        await run(connection, workflow("w", created="1 s"))
    async with database.transaction() as connection:
        await run(connection, END.format("w"))
        raise psycopg.Rollback
    async with database.connection() as connection:
        assert await counted(connection, "workflow") == {}


async def test_pages_approvals_messages_and_model_calls_are_observed(database: Database) -> None:
    async with database.transaction() as connection:
        await run(
            connection,
            workflow("w", created="1 s"),
            approval("w", "a", created="50 s", decided=None),
            "UPDATE approvals SET status = 'rejected', decided_at = now()",
            "INSERT INTO projects (topic, name, created_by) VALUES ('macro', 'P', 'ann')",
            """INSERT INTO sources (project_id, url)
               SELECT id, 'https://e.org/' || n FROM projects, generate_series(1, 6) n""",
            """UPDATE sources SET settled_at = now(), engine = CASE WHEN id % 2 = 0 THEN 'http' END,
                   fault = CASE WHEN id % 2 = 1 THEN 'refused_by_robots' END, text = 't'""",
            # Asked for anew: that is another fetch.
            "UPDATE sources SET settled_at = NULL WHERE id % 2 = 0",
            "UPDATE sources SET settled_at = now(), engine = 'browser', fault = NULL WHERE id % 2 = 0",
            "UPDATE sources SET indexed_with = 'x'",
            "UPDATE sources SET settled_at = now()",
            """INSERT INTO webhooks (name, event_type, url, method, max_retries, retry_delay_seconds, secret,
                                     created_by)
               VALUES ('w', 'e', 'https://example.org', 'POST', 3, 1, 's', 'ann')""",
            """INSERT INTO deliveries (id, webhook_id, event_type, body, status, created_at)
               SELECT 'd' || n, id, 'e', '{}', 'pending', now() - interval '5 s'
               FROM webhooks, generate_series(1, 3) n""",
            "UPDATE deliveries SET status = 'delivered', ended_at = now() WHERE id = 'd1'",
            "UPDATE deliveries SET status = 'dead', ended_at = now() WHERE id = 'd2'",
            """INSERT INTO model_calls (workflow_id, step, agent, model, prompt_sha256, prompt_tokens,
                                        completion_tokens, latency_seconds, error)
               SELECT 'w', 's', 'writer', repeat('m', 500), 'd', 10, n, 0.5,
                      CASE WHEN n = 3 THEN 'no JSON' END
               FROM generate_series(1, 3) n""",
        )
        name = "m" * 100
        assert await counted(connection, "approval") == {("k", "rejected"): (1, pytest.approx(50))}
        assert await counted(connection, "scraped_page") == {
            ("none", "refused_by_robots"): (3, 0),
            ("http", "read"): (3, 0),
            ("browser", "read"): (3, 0),
        }
        assert await counted(connection, "delivery") == {
            ("e", "delivered"): (1, pytest.approx(5)),
            ("e", "dead"): (1, pytest.approx(5)),
        }
        assert await counted(connection, "model_call") == {
            (name, "writer", "ok"): (2, 1.0),
            (name, "writer", "error"): (1, 0.5),
        }
        assert await counted(connection, "model_tokens") == {
            (name, "writer", "prompt"): (3, 30),
            (name, "writer", "completion"): (3, 6),
        }


async def test_a_value_falls_into_the_bucket_whose_end_it_does_not_pass(database: Database) -> None:
    async with database.transaction() as connection:
        await observations.put(
            connection,
            [
                Observed(measure="step", labels=("k",), value=value, times=times, total=times)
                for value, times in (
                    (0.05, 1),
                    (0.1, 2),
                    (0.1001, 4),
                    (600.0, 8),
                    (601.0, 16),
                    (INFINITY, 32),
                )
            ],
        )
        assert await observations.add(connection, limit=100) == 6
        assert await observations.add(connection, limit=100) == 0
        found = {each.up_to: each.times for each in await observations.read(connection)}
        assert found == {0.1: 3, 0.5: 4, 600.0: 8, INFINITY: 48}
        await observations.put(connection, [Observed(measure="unknown", labels=("x",), value=3, total=3)])
        await observations.add(connection, limit=100)
        assert ObservationCount(
            measure="unknown", labels=("x",), up_to=INFINITY, times=1, total=3
        ) in await observations.read(connection)


async def test_many_who_count_at_once_count_each_once(database: Database) -> None:
    async def write(labels: tuple[str, ...]) -> None:
        for _ in range(30):
            async with database.connection() as connection:
                await observations.put(
                    connection, [Observed(measure="step", labels=labels, value=1, total=1) for _ in range(7)]
                )

    async def count() -> None:
        for _ in range(60):
            async with database.transaction() as connection:
                await observations.add(connection, limit=11)

    await asyncio.gather(write(("a",)), write(("b",)), count(), count(), count())
    async with database.connection() as connection:
        found = await counted(connection, "step")
    assert found == {("a",): (210, 210.0), ("b",): (210, 210.0)}


async def test_whoever_counts_while_another_does_goes_on_without_waiting(database: Database) -> None:
    async with database.transaction() as connection, database.connection() as other:
        await observations.put(other, [Observed(measure="step", labels=("k",), value=1, total=1)])
        assert await observations.add(connection, limit=100) == 1
        assert await observations.add(other, limit=100) == 0
        assert await observations.read(other) == []


async def test_counts_outlive_what_was_counted_and_a_sweep_counts_too(
    database: Database, configure: Configure
) -> None:
    async with database.transaction() as connection:
        await run(
            connection,
            workflow("w", created="1 s"),
            """INSERT INTO model_calls (workflow_id, step, agent, model, prompt_sha256, prompt_tokens,
                                        completion_tokens, latency_seconds, at)
               SELECT 'w', 's', 'writer', 'm', 'd', 10, 1, 0.5, now() - interval '900 days'
               FROM generate_series(1, 250)""",
            END.format("w"),
        )
    few = {"retention.step_rows": 100, "retention.pause_seconds": 0.001}
    assert (await Pruner(settings=configure(few).retention, database=database).sweep() or {})[
        "model_calls"
    ] == 250
    async with database.connection() as connection:
        row = await (await connection.execute("SELECT count(*) AS n FROM incoming_observations")).fetchone()
        assert row == {"n": 0}
        assert (await counted(connection, "model_call"))["m", "writer", "ok"] == (250, 125.0)


async def test_how_things_stand(database: Database) -> None:
    async with database.transaction() as connection:
        await run(
            connection,
            workflow("ended", created="9 days", status="succeeded"),
            workflow("running", created="1 s"),
            workflow("waits", created="1 s", status="waiting"),
            approval("waits", "a", created="70 s", decided=None),
            workflow("queued", created="40 s", status="queued"),
            # Of a batch that is over: nobody may run it.
            workflow("held", created="900 s", status="queued"),
            workflow("parked", created="900 s", status="parked"),
            "UPDATE workflows SET updated_at = created_at",
            """UPDATE workflows SET parked_for = 'model m', parked_since = now() - interval '80 s',
                   not_before = now() + interval '1 h' WHERE id = 'parked'""",
            "INSERT INTO batches (id, requested_by, lease_until) VALUES ('b', 'ann', now() - interval '1 s')",
            "INSERT INTO batch_workflows (batch_id, workflow_id) VALUES ('b', 'held')",
            """INSERT INTO runners (id, name, node, pid, lease_until)
               VALUES ('a', 'a', 'n', 1, now() + interval '9 s'),
                      ('b', 'b', 'n', 2, now() - interval '9 s')""",
            "UPDATE lease_clock SET renewed_at = now() - interval '3 s'",
            """INSERT INTO webhooks (name, event_type, url, method, max_retries, retry_delay_seconds, secret,
                                     created_by, is_active)
               SELECT 'w', 'e', 'https://example.org', 'POST', 3, 1, 's', 'ann', n = 1
               FROM generate_series(1, 2) n""",
            """INSERT INTO deliveries (id, webhook_id, event_type, body, status, next_attempt_at,
                                       claimed_until)
               VALUES ('due', 1, 'e', '{}', 'pending', now() - interval '20 s', NULL),
                      ('sent', 1, 'e', '{}', 'pending', now() - interval '50 s', now() + interval '9 s'),
                      ('off', 2, 'e', '{}', 'pending', now() - interval '99 s', NULL),
                      ('later', 1, 'e', '{}', 'pending', now() + interval '99 s', NULL)""",
        )
        now = await standing.read(connection)
        opened: dict[str, int] = {each.status: each.workflows for each in now.open_workflows}
        assert opened == {"running": 1, "waiting": 1, "queued": 2, "parked": 1}
        [asked], [waited] = now.waiting_approvals, now.waited_for
        assert (asked.kind, asked.approvals, asked.oldest_seconds) == ("k", 1, pytest.approx(70))
        assert (waited.waits_for, waited.workflows, waited.oldest_seconds) == (
            "model m",
            1,
            pytest.approx(80),
        )
        assert now.runner_lag_seconds == pytest.approx(40)
        assert (now.runners_alive, now.runners_lost, now.renewed_seconds_ago) == (1, 1, pytest.approx(3))
        assert (now.deliveries_pending, now.outbox_lag_seconds) == (4, pytest.approx(20))
        await run(connection, "UPDATE workflows SET not_before = now() - interval '60 s' WHERE id = 'parked'")
        assert (await standing.read(connection)).runner_lag_seconds == pytest.approx(60)
        await run(connection, "UPDATE batches SET lease_until = now() + interval '9 s'")
        assert (await standing.read(connection)).runner_lag_seconds == pytest.approx(900)


async def test_an_empty_site_has_no_lag_nor_one_that_waits_for_another_release(
    database: Database,
) -> None:
    async with database.connection() as connection:
        await run(
            connection,
            workflow("w", created="9 s", status="parked"),
            "UPDATE workflows SET not_before = 'infinity'",
        )
        now: Any = await standing.read(connection)
    assert (now.runner_lag_seconds, now.outbox_lag_seconds, now.runners_alive) == (0, 0, 0)
