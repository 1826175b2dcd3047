"""What is old goes, in small steps, while others write and read on; what an approval rests on stays."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from actors.platform.runtime.pruner import Pruner
from models.config import Config, RetentionConfig
from models.errors import ConfigInvalid
from models.store import events
from models.store.database import Database
from models.store.people import tool_calls
from models.store.upkeep import retention
from models.store.upkeep.activity import old_transactions_at, table_sizes_at

Configure = Callable[..., Config]
MANY = 2000
# w1 to w9: ended long ago; those that 3 divides had something decided, w5 failed, the files of w7 are still
# due; `open` runs, `new` is new.
FILL = [
    """INSERT INTO workflows (id, kind, input, input_digest, requested_by, status, finished_at)
       SELECT 'w' || n, 'k', '{}', 'd', 'ann', CASE WHEN n = 5 THEN 'failed' ELSE 'succeeded' END,
              now() - interval '500 days' FROM generate_series(1, 9) n""",
    """INSERT INTO workflows (id, kind, input, input_digest, requested_by, status, finished_at)
       VALUES ('open', 'k', '{}', 'd', 'ann', 'running', NULL),
              ('new', 'k', '{}', 'd', 'ann', 'succeeded', now())""",
    """INSERT INTO approvals (id, workflow_id, gate, kind, about, content, digest, requested_by,
                              required_scope, four_eyes, status, expires_at)
       SELECT 'a' || n, 'w' || n, 'publication', 'publish_article', 'article:' || n, '{}', 'd', 'ann',
              'global:editor', true, 'approved', now() - interval '499 days'
       FROM generate_series(3, 9, 3) n""",
    """INSERT INTO approval_votes (approval_id, voter, decision)
       SELECT id, 'eve', 'approve' FROM approvals""",
    "UPDATE workflows SET projection_due = true WHERE id = 'w7'",
    """INSERT INTO documents (workflow_id, key, value) SELECT id, 'draft/' || n, '{}'
       FROM workflows, generate_series(1, 3) n""",
    "INSERT INTO documents (workflow_id, key, value) SELECT id, 'result', '{}' FROM workflows",
    """INSERT INTO model_calls (workflow_id, step, agent, model, prompt_sha256, prompt_tokens,
                                completion_tokens, latency_seconds, at)
       SELECT id, 'draft/1', 'writer', 'm', 's', 1, 2, 0.5, coalesce(finished_at, now() - interval '1 year')
       FROM workflows""",
    """INSERT INTO incoming_events (type, workflow_id, data, at)
       SELECT 'old', 'w' || 1 + n % 9, '{}', now() - interval '500 days' FROM generate_series(1, {many}) n""",
    """INSERT INTO incoming_events (type, workflow_id, data, at)
       VALUES ('of article 3', NULL, '{"article_id": 3}', now() - interval '500 days'),
              ('of article 4', NULL, '{"article_id": 4}', now() - interval '500 days'),
              ('of the open one', 'open', '{}', now() - interval '500 days'),
              ('new', 'new', '{}', now())""",
    """INSERT INTO tool_calls (person, tool, door, input_digest, status, seconds, at)
       SELECT 'ann', 't', 'rest', 'd', 'ok', 0.1, now() - interval '500 days'
       FROM generate_series(1, {many}) n""",
    """INSERT INTO webhooks (name, event_type, url, method, max_retries, retry_delay_seconds, secret,
                             created_by)
       VALUES ('w', 'e', 'https://example.org', 'POST', 3, 1, 's', 'ann')""",
    """INSERT INTO deliveries (id, webhook_id, event_type, body, status, created_at, ended_at)
       SELECT 'd' || n, 1, 'e', '{}', CASE WHEN n % 2 = 0 THEN 'delivered' ELSE 'dead' END,
              now() - interval '500 days', now() - interval '500 days' FROM generate_series(1, {many}) n""",
    """INSERT INTO deliveries (id, webhook_id, event_type, body, status, created_at, ended_at)
       VALUES ('waiting', 1, 'e', '{}', 'pending', now() - interval '500 days', NULL),
              ('new', 1, 'e', '{}', 'delivered', now(), now())""",
    """INSERT INTO conversations (id, owner, title, updated_at)
       VALUES ('old', 'ann', 't', now() - interval '500 days'), ('new', 'ann', 't', now())""",
    """INSERT INTO messages (conversation_id, owner, role, content)
       VALUES ('old', 'ann', 'user', 'x'), ('new', 'ann', 'user', 'x')""",
    """INSERT INTO rate_limits (person, tool, empty_at)
       VALUES ('ann', 'old', now() - interval '2 days'), ('ann', 'new', now())""",
]


@pytest.fixture
async def filled(database: Database) -> Database:
    """A database with much that is old."""
    async with database.connection() as connection:
        for statement in FILL:
            await connection.execute(statement.replace("{many}", str(MANY)).encode())
    return database


def settings(configure: Configure, **changes: Any) -> RetentionConfig:
    """Small steps without rests."""
    few = {"step_rows": 100, "pause_seconds": 0.001, "conversations_days": 365.0, **changes}
    return configure({f"retention.{key}": value for key, value in few.items()}).retention


async def column(database: Database, query: str) -> list[Any]:
    """The first column of what is found, sorted."""
    async with database.connection() as connection:
        rows = await (await connection.execute(query.encode())).fetchall()
    return sorted(next(iter(row.values())) for row in rows)


async def test_what_is_old_goes_and_what_an_approval_rests_on_stays(
    filled: Database, configure: Configure
) -> None:
    gone = await Pruner(settings=settings(configure), database=filled).sweep()
    kept = ["w3", "w6", "w9"]
    workflows = await column(filled, "SELECT id FROM workflows")
    assert len(workflows) == 11
    assert await column(filled, "SELECT workflow_id FROM approvals") == kept
    assert len(await column(filled, "SELECT voter FROM approval_votes")) == 3
    documents = await column(filled, "SELECT DISTINCT workflow_id FROM documents WHERE key <> 'result'")
    assert documents == sorted([*kept, "w5", "w7", "open", "new"])
    assert len(await column(filled, "SELECT workflow_id FROM documents WHERE key = 'result'")) == 11
    assert await column(filled, "SELECT DISTINCT workflow_id FROM events WHERE type = 'old'") == kept
    others = await column(filled, "SELECT type FROM events WHERE type <> 'old'")
    assert others == ["new", "of article 3", "of the open one"]
    assert await column(filled, "SELECT workflow_id FROM model_calls") == ["new", "open"]
    assert await column(filled, "SELECT id FROM deliveries") == ["new", "waiting"]
    assert await column(filled, "SELECT id FROM tool_calls") == []
    assert await column(filled, "SELECT id FROM conversations") == ["new"]
    assert await column(filled, "SELECT conversation_id FROM messages") == ["new"]
    assert await column(filled, "SELECT tool FROM rate_limits") == ["new"]
    of_kept = sum(1 for n in range(1, MANY + 1) if (1 + n % 9) % 3 == 0)
    assert gone == {
        "events": MANY - of_kept + 1,
        "tool_calls": MANY,
        "model_calls": 9,
        "documents": 12,
        "deliveries": MANY,
        "conversations": 1,
        "rate_limits": 1,
    }
    assert await Pruner(settings=settings(configure), database=filled).sweep() == {}


async def test_a_sweep_that_fails_is_begun_again_and_ends_no_process(
    database: Database, configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Webhooks are sent from the same process."""
    pruner = Pruner(settings=settings(configure, every_seconds=0.01), database=database)
    sweeps = 0

    async def sweep() -> None:
        nonlocal sweeps
        sweeps += 1
        if sweeps == 2:
            pruner.stop()
            return
        async with database.connection() as connection:
            await connection.execute("SELECT now() - make_interval(days => 9999999)")

    monkeypatch.setattr(pruner, "sweep", sweep)
    async with asyncio.timeout(20):
        await pruner.run()
    assert sweeps == 2


@pytest.mark.parametrize("name", ["events_days", "documents_days", "conversations_days"])
def test_days_that_lead_before_all_time_are_refused(configure: Configure, name: str) -> None:
    with pytest.raises(ConfigInvalid, match=rf"retention\.{name}: .*36500"):
        settings(configure, **{name: 9_999_999.0})


async def test_what_nobody_reads_and_nobody_scrapes_is_settled_all_the_same(
    filled: Database, configure: Configure
) -> None:
    async with filled.connection() as connection:
        for n in range(250):
            await tool_calls.record(
                connection, person="ann", tool="t", door="rest", topic=None, about=None,
                input_digest="d", status="ok", error=None, seconds=n / 100,
            )  # fmt: skip
    await Pruner(settings=settings(configure), database=filled).sweep()
    assert await column(filled, "SELECT id FROM incoming_events") == []
    assert await column(filled, "SELECT id FROM incoming_tool_calls") == []
    assert sum(await column(filled, "SELECT calls FROM tool_call_counts")) == 250


async def test_conversations_stay_where_they_are_kept_forever(filled: Database, configure: Configure) -> None:
    await Pruner(settings=settings(configure, conversations_days="forever"), database=filled).sweep()
    assert await column(filled, "SELECT id FROM conversations") == ["new", "old"]


async def test_writers_write_and_readers_read_on_meanwhile(
    filled: Database, configure: Configure, database_url: str
) -> None:
    pruner = Pruner(settings=settings(configure, step_rows=20), database=filled)
    written, slowest = 0, 0.0
    done, ended = asyncio.Event(), asyncio.Event()
    async with filled.connection() as connection:
        begun_at = await events.newest_id(connection)

    async def write() -> None:
        nonlocal written, slowest
        while not done.is_set():
            begun = time.monotonic()
            async with filled.transaction() as connection:
                await events.append(connection, "written", "open", {"n": written})
                await tool_calls.record(
                    connection, person="ann", tool="t", door="rest", topic=None, about=None,
                    input_digest="d", status="ok", error=None, seconds=0.1,
                )  # fmt: skip
            written, slowest = written + 1, max(slowest, time.monotonic() - begun)

    async def read() -> list[int]:
        got: list[int] = []
        async with filled.connection() as connection:
            place = begun_at
            while not (ended.is_set() and len(got) == written):
                page = await events.read(connection, after=place)
                got += [event.data["n"] for event in page]
                place = page[-1].id if page else place
        return got

    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        reading = group.create_task(read())
        writing = group.create_task(write())
        # A row that somebody holds is left, and nobody waits.
        async with await psycopg.AsyncConnection.connect(database_url, row_factory=dict_row) as holder:
            await holder.execute("SELECT 1 FROM tool_calls ORDER BY id LIMIT 5 FOR UPDATE")
            gone = await pruner.sweep()
            await holder.rollback()
        done.set()
        await writing
        ended.set()
    assert gone is not None
    assert (gone["tool_calls"], gone["deliveries"]) == (MANY - 5, MANY)
    assert written > 20
    assert reading.result() == list(range(written))
    assert slowest < 5
    assert await pruner.sweep() == {"tool_calls": 5}


async def test_one_at_a_time_sweeps_and_stops_when_told(filled: Database, configure: Configure) -> None:
    pruner = Pruner(settings=settings(configure), database=filled)
    async with filled.connection() as other:
        assert await retention.lock(other)
        assert await pruner.sweep() is None
        await retention.unlock(other)
    running = asyncio.create_task(pruner.run())
    async with asyncio.timeout(30):
        while len(await column(filled, "SELECT tool FROM rate_limits")) > 1:
            pass
        pruner.stop()
        await running


async def test_who_holds_an_old_transaction_and_how_large_tables_are_can_be_told(
    filled: Database, database_url: str
) -> None:
    with psycopg.connect(database_url, application_name="a forgotten shell") as holder:
        holder.execute("SELECT 1")
        held = old_transactions_at(database_url, older_than_seconds=0.0)
        assert [one.application for one in held if one.pid == holder.info.backend_pid] == [
            "a forgotten shell"
        ]
        assert old_transactions_at(database_url, older_than_seconds=3600) == []
        [told] = [str(one) for one in held if one.pid == holder.info.backend_pid]
        assert "a forgotten shell" in told
        assert "idle in transaction" in told
    sizes = {table.name: table.bytes for table in table_sizes_at(database_url)}
    assert sizes["tool_calls"] > 100_000
    assert list(sizes.values()) == sorted(sizes.values(), reverse=True)
