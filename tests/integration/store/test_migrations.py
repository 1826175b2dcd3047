"""A database has the schema that is declared, however it comes to it: by an upgrade at work, too.

What the release's processes write is SQL as text: later releases must keep it working until the revisions of
phase `after`.
"""

import asyncio
import contextlib
import itertools
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import psycopg
import pytest
from alembic.script import ScriptDirectory
from psycopg.rows import dict_row

from models.error_lines import error_line
from models.errors import DatabaseUnavailable
from models.migrations import statements
from models.store import events
from models.store.schema.migrate import Phase, migrate, phase_of
from tests.integration.store.schemas import declare, release, schema_of

ROWS = 3000
FILL = [
    """INSERT INTO workflows (id, kind, key, input, input_digest, requested_by, status, finished_at)
       SELECT 'w' || n, 'editorial', 'editorial:' || n, '{"topic": "t"}', md5(n::text), 'ann',
              CASE WHEN n % 3 = 0 THEN 'waiting' ELSE 'succeeded' END,
              CASE WHEN n % 3 = 0 THEN NULL ELSE now() END
       FROM generate_series(1, {rows}) n""",
    """INSERT INTO approvals (id, workflow_id, interrupt_id, kind, content, digest, requested_by,
                              required_scope, four_eyes, status, expires_at)
       SELECT 'a' || n, 'w' || n, 'i', 'publish_article', '{}', 'd', 'ann', 'global:editor', true,
              'pending', now() + interval '1 day' FROM generate_series(3, {rows}, 3) n""",
    """INSERT INTO documents (workflow_id, key, value)
       SELECT 'w' || n, 'draft/1', jsonb_build_object('text', repeat('x', 500))
       FROM generate_series(1, {rows}) n""",
    """INSERT INTO model_calls (workflow_id, step, agent, model, prompt_sha256, prompt_tokens,
                                completion_tokens, latency_seconds)
       SELECT 'w' || n, 'draft/1', 'writer', 'm', 's', 1, 2, 0.5 FROM generate_series(1, {rows}) n""",
    """INSERT INTO events (type, workflow_id, data)
       SELECT 'step.done', 'w' || n, '{"step": "draft/1"}' FROM generate_series(1, {rows}) n""",
    """INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, type, data, metadata)
       SELECT 'w' || n, '', 'c', 'm', '\\x00', '\\x00' FROM generate_series(1, {rows}) n""",
    """INSERT INTO users (subject, name, email, scopes) VALUES ('ann', 'Ann', 'a@example.org', '{}')""",
    """INSERT INTO articles (topic, status, version, author)
       SELECT 'macro', 'draft', 1, 'ann' FROM generate_series(1, {rows}) n""",
    """INSERT INTO article_versions (article_id, version, headline, content, written_by)
       SELECT id, 1, 'A headline', 'Some text', 'ann' FROM articles""",
    """INSERT INTO tool_calls (person, tool, door, input_digest, status, seconds)
       SELECT 'ann', 'articles.search', 'rest', 'd', 'ok', 0.1 FROM generate_series(1, {rows}) n""",
    """INSERT INTO webhooks (name, event_type, url, method, max_retries, retry_delay_seconds, secret,
                             created_by)
       VALUES ('w', 'content.published', 'https://example.org', 'POST', 3, 1, 'secret', 'ann')""",
    """INSERT INTO deliveries (id, webhook_id, event_type, body, status, ended_at)
       SELECT 'd' || n, 1, 'content.published', '{}', 'delivered', now()
       FROM generate_series(1, {rows}) n""",
    """INSERT INTO conversations (id, owner, title)
       SELECT 'c' || n, 'ann', 'About n' FROM generate_series(1, {rows}) n""",
    """INSERT INTO messages (conversation_id, owner, role, content)
       SELECT 'c' || n, 'ann', 'user', 'What is new?' FROM generate_series(1, {rows}) n""",
]
# What that release's runners and replicas do all the time; %(n)s is a number of their own.
WRITES = [
    """INSERT INTO workflows (id, kind, key, input, input_digest, requested_by, status)
       VALUES ('new' || %(n)s::text, 'editorial', 'new:' || %(n)s::text, '{}', 'd', 'ann', 'queued')""",
    """WITH begun AS (
           UPDATE workflows SET status = 'running', epoch = epoch + 1, updated_at = now()
           WHERE id = 'new' || %(n)s::text RETURNING id, epoch
       ), said AS (
           INSERT INTO events (type, workflow_id, data)
           SELECT 'claimed', id, jsonb_build_object('n', %(n)s::int) FROM begun
       ) SELECT id FROM begun""",
    """WITH fence AS (
           SELECT id FROM workflows WHERE id = 'new' || %(n)s::text AND status = 'running' FOR SHARE
       ), kept AS (
           INSERT INTO documents (workflow_id, key, value) SELECT id, 'draft/1', '{}' FROM fence
           ON CONFLICT (workflow_id, key) DO NOTHING RETURNING workflow_id
       ), called AS (
           INSERT INTO model_calls (workflow_id, step, agent, model, prompt_sha256, prompt_tokens,
                                    completion_tokens, latency_seconds, error)
           SELECT workflow_id, 'draft/1', 'writer', 'm', 's', 1, 2, 0.5, NULL FROM kept
       ), said AS (
           INSERT INTO events (type, workflow_id, data)
           SELECT 'kept', workflow_id, jsonb_build_object('n', %(n)s::int) FROM kept
       ) SELECT id FROM fence""",
    """UPDATE workflows SET status = 'succeeded', result = '{}', finished_at = now()
       WHERE id = 'new' || %(n)s::text""",
    """SELECT id, type, data FROM events
       WHERE (xid, id) > (coalesce((SELECT xid FROM events WHERE id = 5), '0'), 5)
         AND xid < pg_snapshot_xmin(pg_current_snapshot())
       ORDER BY xid, id LIMIT 500""",
    """INSERT INTO tool_calls (person, tool, door, topic, about, input_digest, status, error, seconds)
       VALUES ('ann', 'articles.search', 'rest', 'macro', NULL, 'd', 'ok', NULL, 0.1)""",
    """INSERT INTO events (type, workflow_id, data, topic, role, person)
       VALUES ('submitted', NULL, jsonb_build_object('n', %(n)s::int), 'macro', 'editor',
               'ann')""",
    """UPDATE articles SET updated_at = now(), version = 1 WHERE id = 1 + %(n)s %% 100""",
    """SELECT tool, count(*), max(id) FROM tool_calls
       WHERE id > 5 AND xid < pg_snapshot_xmin(pg_current_snapshot()) GROUP BY tool""",
    """INSERT INTO deliveries (id, webhook_id, event_type, body, status)
       VALUES ('new' || %(n)s::text, 1, 'content.published', '{}', 'pending')""",
    """INSERT INTO conversations (id, owner, title) VALUES ('new' || %(n)s::text, 'ann', 't')""",
    """INSERT INTO messages (conversation_id, owner, role, content)
       VALUES ('new' || %(n)s::text, 'ann', 'user', 'What is new?')""",
]


class Writers:
    """The last release at work: threads that write on until told to stop, a transaction a statement."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._stopping = threading.Event()
        self.turns = [0, 0]
        self.faults: list[BaseException] = []
        self._threads = [threading.Thread(target=self._write, args=(n,)) for n in range(2)]

    def _write(self, number: int) -> None:
        try:
            with psycopg.connect(self._url, autocommit=True) as connection:
                while not self._stopping.is_set():
                    n = number + 2 * self.turns[number]
                    for statement in WRITES:
                        connection.execute(statement.encode(), {"n": n})
                    self.turns[number] += 1
        except BaseException as fault:  # noqa: BLE001  it is shown by the test
            self.faults.append(fault)

    @contextlib.contextmanager
    def at_work(self) -> Iterator[None]:
        """They have begun, and work on meanwhile; each ends after the block with a whole turn."""
        for thread in self._threads:
            thread.start()
        try:
            self.go_on()
            yield
            self.go_on()
        finally:
            self._stopping.set()
            for thread in self._threads:
                thread.join(30)

    def go_on(self) -> None:
        """Wait until each has done some turns more."""
        wanted = [turns + 3 for turns in self.turns]
        while not self.faults and any(has < want for has, want in zip(self.turns, wanted, strict=True)):
            self._stopping.wait(0.01)


def counts(url: str, tables: list[str]) -> dict[str, int]:
    """How many rows each has."""
    with psycopg.connect(url) as connection:
        found = {}
        for table in tables:
            row = connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchone()
            found[table] = row[0] if row else 0
        return found


@pytest.fixture
async def reader(database_url: str) -> AsyncIterator[Any]:
    """A connection that reads as this release does."""
    async with await psycopg.AsyncConnection.connect(
        database_url, autocommit=True, row_factory=dict_row
    ) as connection:
        yield connection


async def test_a_filled_database_of_0_1_0_goes_up_while_that_writes(database_url: str, reader: Any) -> None:
    declared = schema_of(database_url)
    release(database_url, "0.1.0")
    with psycopg.connect(database_url) as connection:
        for statement in FILL:
            connection.execute(statement.replace("{rows}", str(ROWS)).encode())
    tables = ["workflows", "approvals", "documents", "events"]
    before = counts(database_url, tables)
    writers = Writers(database_url)
    with writers.at_work():
        await asyncio.to_thread(migrate, database_url, "before")
        await asyncio.to_thread(writers.go_on)
    assert writers.faults == []
    migrate(database_url, "after")
    assert schema_of(database_url) == declared
    # Everything that was there, and everything that was written meanwhile, once and in order.
    told: list[Any] = []
    while page := await events.read(reader, after=told[-1].id if told else 0):
        told += page
    turns = sum(writers.turns)
    assert [event.id for event in told] == sorted({event.id for event in told})
    ran = [event.data["n"] for event in told if event.type == "claimed"]
    done = [event.data["n"] for event in told if event.type == "kept"]
    assert sorted(ran) == sorted(done) == sorted(n + 2 * t for n in (0, 1) for t in range(writers.turns[n]))
    after = counts(database_url, tables)
    assert after["workflows"] == before["workflows"] + turns
    assert after["documents"] == before["documents"] + turns
    assert after["approvals"] == before["approvals"] == ROWS // 3
    assert counts(database_url, ["incoming_events"]) == {"incoming_events": 0}


def test_a_new_database_has_what_is_declared(database_url: str) -> None:
    migrated = schema_of(database_url)
    assert migrated == declare(database_url)
    # So that nothing that a schema holds is left out of both.
    for kind in ("table workflows", "workflows.id", "index workflows_pkey", "constraint workflows_pkey"):
        assert kind in migrated
    for kind in ("trigger events_divert", "function observe_workflow", "sequence approval_numbers"):
        assert kind in migrated


def test_a_revision_that_is_broken_off_is_gone_on_with(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared = schema_of(database_url)
    release(database_url, "0.1.0")
    left: list[int] = []
    run = statements._patiently

    def run_some(call: Callable[[], object]) -> None:
        if not left:
            raise InterruptedError
        left.pop()
        run(call)

    monkeypatch.setattr(statements, "_patiently", run_some)
    for tries in itertools.count(1):
        left[:] = range(tries)
        with contextlib.suppress(InterruptedError):
            migrate(database_url)
            break
    assert tries > 20
    assert schema_of(database_url) == declared


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("UPDATE alembic_version SET version_num = '0019'", "(revision 0019)"),
        ("UPDATE alembic_version SET version_num = '9f3a'", "(revision 9f3a)"),
        ("ALTER TABLE documents DROP COLUMN first_of", "(documents.first_of is missing)"),
        ("DROP TABLE operation_history", "(operation_history.agent is missing)"),
        ("DROP TABLE alembic_version", '(relation "approval_numbers" already exists)'),
        (
            "UPDATE alembic_version SET version_num = '0003'; ALTER TABLE approvals DROP COLUMN kind",
            '(column "kind" does not exist)',
        ),
    ],
)
@pytest.mark.parametrize("phase", ["before", "after"])
def test_a_database_of_a_development_state_is_refused_in_a_sentence(
    database_url: str, change: str, reason: str, phase: Phase
) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute(change.encode())
    with pytest.raises(DatabaseUnavailable) as refused:
        migrate(database_url, phase)
    assert str(refused.value) == (
        f"this release can't upgrade the database, which a newer one or a development state made {reason}: "
        "go on with that one, or set database.url (or data_dir) to an empty place and restore a release's "
        "backup there"
    )
    assert error_line(refused.value) == str(refused.value)


def test_every_revision_says_when_it_may_run(database_url: str) -> None:
    for found in ScriptDirectory("models/migrations").walk_revisions():
        assert getattr(found.module, "phase", None) in ("before", "after"), found.revision
        assert phase_of(found.module) == found.module.phase


def test_two_callers_at_once_migrate_once(database_url: str) -> None:
    declared = schema_of(database_url)
    release(database_url, "0.1.0")
    faults: list[BaseException] = []

    def call() -> None:
        try:
            migrate(database_url)
        except BaseException as fault:  # noqa: BLE001  it is shown below
            faults.append(fault)

    callers = [threading.Thread(target=call) for _ in range(3)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(60)
    assert faults == []
    assert not any(caller.is_alive() for caller in callers)
    assert schema_of(database_url) == declared


def test_who_holds_a_lock_for_long_is_named_and_nobody_queues_behind(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared = schema_of(database_url)
    release(database_url, "0.1.0")
    monkeypatch.setattr(sys.modules["models.store.schema.migrate"], "_LOCK_TIMEOUT", "50ms")
    monkeypatch.setattr(statements, "_PATIENCE_SECONDS", 0.2)
    monkeypatch.setattr(statements, "_LONGEST_PAUSE_SECONDS", 0.1)
    with psycopg.connect(database_url, application_name="a forgotten shell") as holder:
        holder.execute("INSERT INTO events (type, data) VALUES ('held', '{}')")
        with pytest.raises(DatabaseUnavailable, match=r"lock timeout"):
            migrate(database_url)
        # Others write on meanwhile.
        with psycopg.connect(database_url) as other:
            other.execute("INSERT INTO events (type, data) VALUES ('other', '{}')")
        holder.commit()
    migrate(database_url)
    assert schema_of(database_url) == declared


def test_an_index_that_was_left_half_made_is_made_again(database_url: str) -> None:
    declared = schema_of(database_url)
    release(database_url, "0.1.0")
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("CREATE INDEX workflows_created_at_id_idx ON workflows (created_at DESC, id)")
        connection.execute(
            "UPDATE pg_index SET indisvalid = false "
            "WHERE indexrelid = 'workflows_created_at_id_idx'::regclass"
        )
    migrate(database_url)
    assert schema_of(database_url) == declared


def test_what_skips_a_release_waits_until_nobody_is_at_work(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    release(database_url, "0.1.0")
    module = sys.modules["models.store.schema.migrate"]
    # As if 0027 took something away that the last release needs.
    monkeypatch.setattr(module, "phase_of", lambda found: "after" if found.revision == "0027" else "before")
    with psycopg.connect(database_url) as connection:
        connection.execute(
            "INSERT INTO runners (id, name, node, pid, lease_until) "
            "VALUES ('r', 'r', 'n', 1, now() + interval '1 hour')"
        )
    with pytest.raises(DatabaseUnavailable, match=r"1 runners are at work.*signoff down"):
        migrate(database_url, "before")
    with psycopg.connect(database_url) as connection:
        connection.execute("DELETE FROM runners")
    migrate(database_url, "before")
