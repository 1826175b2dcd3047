"""The app on a port with a scripted assistant, and the `signoff chat` that talks to it."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from cluster.cli.signoff import app
from models.chat.messages import WorkflowState
from models.config import Config
from models.store.database import Database
from tests.fakes.assistant import ScriptedAssistant
from tests.fakes.barrier import Barrier
from tests.integration.rest import served
from tests.ports import free_port

STATE = WorkflowState(
    workflow_id="w",
    workflow_type="publish",
    started_at=datetime(2026, 11, 1, tzinfo=UTC),
    current_article_id=12,
    approval_pending=True,
    approval_request_id=7,
)


@dataclass(frozen=True)
class Site:
    """The app on a port, and the command that talks to it."""

    config: Config
    file: Path
    database: Database

    async def run(self, *arguments: str, stdin: str | bytes | None = None) -> Result:
        """Run `signoff chat` as Rita."""
        given = ["chat", *arguments, "--config", str(self.file)]
        if "--token-file" not in arguments and "--user" not in arguments:
            given += ["--user", "rita"]
        return await asyncio.to_thread(CliRunner().invoke, app, given, input=stdin)

    async def rows(self, query: str) -> list[tuple[Any, ...]]:
        """What the database holds."""
        async with self.database.connection() as connection:
            found = await (await connection.execute(query.encode())).fetchall()
        return [tuple(row.values()) for row in found]

    async def messages(self) -> list[tuple[Any, ...]]:
        """All messages."""
        return await self.rows("SELECT role, content, status FROM messages ORDER BY id")


@pytest.fixture(name="assistant")
def make_assistant(barrier: Barrier) -> ScriptedAssistant:
    """Who answers."""
    return ScriptedAssistant(
        barrier.address,
        {
            "ask": {"status": "asks"},
            "break": ZeroDivisionError("secret detail"),
            "publish": {"status": "processing", "task_id": "t-1", "workflow_state": STATE},
            "limits": {"status": "limited", "tools_used": ()},
            "fail": {"status": "failed"},
        },
    )


@pytest.fixture(name="site")
def make_site(
    configure: Callable[..., Config],
    database: Database,
    database_url: str,
    assistant: ScriptedAssistant,
    tmp_path: Path,
) -> Iterator[Site]:
    """The app."""
    port = free_port()
    config = configure({"http.port": port})
    with served(config, database_url, port, assistant=assistant):
        yield Site(config, tmp_path / "config.yaml", database)
