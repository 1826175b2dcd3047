"""A process that dies at a chosen moment while it carries a workflow, and what a workflow has come to.

The process is played: after its nth answered call to Postgres nothing comes back to it any more, and what
it had under way is dropped. What it had committed by then stays, as when a real one is killed.
"""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import psycopg

from actors.platform.runtime.execution import CompiledGraph, Execution
from actors.platform.runtime.group_commit import JournalWriter
from actors.platform.runtime.projection import Projector
from actors.platform.runtime.workflow_graph import WorkflowGraph
from models.config import Config
from models.people.scopes import read_scopes
from models.runtime.workflows import Claim
from models.store import approval_inbox, decisions
from models.store.database import Database
from models.store.runtime import claims, projections
from models.store.runtime.documents import NewDocument
from tests.integration.runtime.claims.claiming import end, lease

DECIDER = read_scopes(["global:admin"])
_TIME = re.compile(
    r"\(trace [0-9a-f]{6}\)|\d{4}-?\d\d-?\d\d[T_ -]?\d\d[:-]?\d\d[:-]?\d\d(\.\d+)?(Z|\+00:00)?"
)


class Mortal:
    """A database as a process has it that dies after its nth answered call; `None`: it lives on."""

    def __init__(self, database: Database, *, calls: int | None) -> None:
        self.dead = asyncio.Event()
        self.answered = 0
        self._database = database
        self._calls = calls

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    # They are answered by way of this one's `steadily`.
    read, write = Database.read, Database.write

    async def steadily(self, call: Callable[[], Awaitable[Any]]) -> Any:
        """`Database.steadily`, as long as there is somebody to be answered."""
        if not self.dead.is_set():
            answer = await self._database.steadily(call)
            self.answered += 1
            if self.answered == self._calls:
                self.dead.set()
            if not self.dead.is_set():
                return answer
        return await asyncio.Event().wait()


class NotedJournal(JournalWriter):
    """A journal that remembers which steps were made, in order."""

    def __init__(self, *, database: Any, made: list[str]) -> None:
        super().__init__(database=database)
        self._made = made

    async def put(self, outcome: NewDocument) -> None:
        """Keep a document."""
        self._made.append(outcome.key)
        await super().put(outcome)

    def drop(self) -> None:
        """Forget what is under way, as a process does that is killed."""
        for commits in (self._documents, self._ends):
            for task in commits._tasks:
                task.cancel()


class Stage:
    """A database, the agents' cast, and the kind that is tried there."""

    def __init__(self, database: Database, config: Config, kind: WorkflowGraph, cast: Any) -> None:
        self.database = database
        self.made: list[str] = []
        self.answered = 0
        self._config = config
        self._kind = kind
        self._cast = cast
        self._lives = 0

    async def live(self, *, calls: int | None = None) -> bool:
        """One process's life: it claims what there is and carries it on. Whether there was anything to do."""
        self._lives += 1
        runner = f"r{self._lives}"
        await lease(self.database, runner)
        held = await self._claim(runner)
        while held is None and await self._is_to_be_had():
            # A connection of the life before is still being given back, and holds the row until it is.
            held = await self._claim(runner)
        due = await projections.due(self.database, kinds=await self._kinds(), besides=(), limit=9)
        if held is None and not due:
            return False
        mortal = Mortal(self.database, calls=calls)
        journal = NotedJournal(database=mortal, made=self.made)
        projector = Projector(config=self._config, database=mortal)  # type: ignore[arg-type]

        async def work() -> None:
            if held is None:
                for workflow_id, _ in due:
                    await projector.project(workflow_id, self._kind)
                return
            await Execution(
                claim=held,
                compiled=CompiledGraph(self._kind),
                config=self._config,
                database=mortal,  # type: ignore[arg-type]
                directory=self._cast,
                journal=journal,
            ).carry()
            await projector.project(held.workflow_id, self._kind)

        working, dying = asyncio.create_task(work()), asyncio.create_task(mortal.dead.wait())
        done, _ = await asyncio.wait({working, dying}, return_when=asyncio.FIRST_COMPLETED)
        journal.drop()
        for task in (working, dying):
            task.cancel()
        await asyncio.wait({working, dying})
        if working in done:
            working.result()
        self.answered += mortal.answered
        await end(self.database, runner)
        return True

    async def _is_to_be_had(self) -> bool:
        """Whether a workflow waits for a runner, or had one of the lives before, which are over."""
        async with self.database.connection() as connection:
            cursor = await connection.execute("SELECT 1 FROM workflows WHERE status IN ('queued', 'running')")
            return await cursor.fetchone() is not None

    async def decide(self, answer: dict[str, Any]) -> bool:
        """Decide what waits for a decision; whether anything did."""
        async with self.database.connection() as connection:
            cursor = await connection.execute("SELECT id FROM approvals WHERE status = 'pending'")
            pending = [row["id"] for row in await cursor.fetchall()]
        for approval_id in pending:
            async with self.database.connection() as connection:
                approval = await approval_inbox.get(connection, approval_id)
            await decisions.decide(
                self.database,
                approval_id=approval_id,
                answer={"digest": approval.digest, **answer},
                decided_by="bob",
                scopes=DECIDER,
            )
        return bool(pending)

    async def kept(self) -> set[str]:
        """The keys of all documents."""
        async with self.database.connection() as connection:
            cursor = await connection.execute("SELECT key FROM documents")
            return {row["key"] for row in await cursor.fetchall()}

    async def _claim(self, runner: str) -> Claim | None:
        kinds = await self._kinds()
        for suspects in (False, True):
            taken = await claims.claim(
                self.database,
                runner_id=runner,
                rooms=dict.fromkeys(kinds, 1),
                limit=1,
                lease_seconds=60,
                suspects=suspects,
            )
            if taken:
                return taken[0]
        return None

    async def _kinds(self) -> list[str]:
        async with self.database.connection() as connection:
            cursor = await connection.execute("SELECT DISTINCT kind FROM workflows")
            return [row["kind"] for row in await cursor.fetchall()]


_WHAT = {
    "workflows": "SELECT kind, status, result, error, parked_for, projection_due FROM workflows",
    "documents": "SELECT key, value FROM documents ORDER BY key",
    "approvals": """SELECT gate, kind, about, status, content, digest, decided_by, notes FROM approvals
                    ORDER BY gate""",
    "votes": "SELECT voter, decision FROM approval_votes ORDER BY voter",
    "articles": "SELECT id, topic, status, version, published_version, author FROM articles ORDER BY id",
    "versions": "SELECT article_id, version, headline, content FROM article_versions ORDER BY 1, 2",
    "resources": "SELECT id, kind, name, content FROM resources ORDER BY id",
    "attached": "SELECT article_id, version, resource_id, place FROM article_resources ORDER BY 1, 2, 4",
    "deliveries": "SELECT event_type, status FROM deliveries ORDER BY event_type",
    "calls": "SELECT step, agent FROM model_calls ORDER BY step",
    # How often a workflow was taken up, and that it waited, is the deaths' own doing.
    "events": """SELECT type, topic, person, data FROM (
                     SELECT type, topic, person, data FROM events
                     UNION ALL SELECT type, topic, person, data FROM incoming_events) e
                 WHERE type NOT IN ('workflow.running') ORDER BY type, data::text""",
}


def outcome(url: str, files: Path) -> dict[str, Any]:
    """All that a workflow has come to, less ids and times: rows by table, and files by path."""
    found: dict[str, Any] = {}
    with psycopg.connect(url) as connection:
        for table, query in _WHAT.items():
            found[table] = connection.execute(query.encode()).fetchall()
        ids = [row[0] for row in connection.execute("SELECT id FROM workflows").fetchall()]
    found["files"] = {
        str(path.relative_to(files)): path.read_text() for path in sorted(files.rglob("*")) if path.is_file()
    }
    text = json.dumps(found, default=str, sort_keys=True, indent=1)
    for workflow_id in ids:
        text = text.replace(workflow_id, "WORKFLOW")
    return dict(json.loads(_TIME.sub("TIME", text)))


def wipe(url: str) -> None:
    """Empty a migrated database, so that the next rows get the same numbers as the first ones did."""
    with psycopg.connect(url) as connection:
        connection.execute(
            "SET session_replication_role = replica"
        )  # in no order: keys are looked at by none
        tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND NOT tablename = ANY(%s)"
        for (table,) in connection.execute(tables, (["alembic_version", "lease_clock"],)).fetchall():
            connection.execute(f"DELETE FROM {table}".encode())
        sequences = "SELECT sequencename FROM pg_sequences WHERE schemaname = 'public'"
        for (sequence,) in connection.execute(sequences).fetchall():
            connection.execute(f"ALTER SEQUENCE {sequence} RESTART".encode())
