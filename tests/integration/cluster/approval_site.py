"""The app on a port over a test's database, and the `signoff` commands that talk to it."""

import asyncio
import contextlib
import os
import pty
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import Result
from typer.testing import CliRunner

from actors.platform.runtime.directory import Directory
from actors.platform.runtime.runner import Runner
from cluster.cli.signoff import app
from models.config import Config
from models.content.articles import EditorFindings
from models.runtime.approvals import Approval, ApprovalStatus, GateRequest
from models.runtime.workflows import WorkflowRequest
from models.store import approval_inbox, approvals
from models.store.content import articles, publishing, resources
from models.store.database import Database
from models.store.runtime import workflows

ROOT = Path(__file__).resolve().parents[3]
NASTY = "\x1b[2J\x1b]0;gone\x07 [bold red]loud[/] :smile:\r\u202eapproved\u2028x"


@dataclass(frozen=True)
class Site:
    """The app on a port, and the commands that talk to it."""

    config: Config
    file: Path
    database: Database

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.config.http.port}"

    async def run(self, *arguments: str, stdin: str | None = None) -> Result:
        """Run a command, `--config` added."""
        return await asyncio.to_thread(
            CliRunner().invoke, app, [*arguments, "--config", str(self.file)], input=stdin
        )

    async def ask(
        self,
        *,
        topic: str = "macro",
        by: str = "edit_articles",
        headline: str = "Rates hold",
        content: str = "The bank holds.\nIt says why.",
        notes: str | None = None,
        report: EditorFindings | None = None,
        sources: tuple[str, ...] = (),
    ) -> Approval:
        """An article whose publication is asked for."""
        async with self.database.transaction() as connection:
            article = await articles.create(
                connection,
                topic=topic,
                headline=headline,
                keywords="rates",
                author=by,
                content=content,
                editor_report=report,
            )
            for name in sources:
                resource = await resources.create_text(
                    connection, name=name, description=None, topic=topic, content=name, by=by
                )
                await articles.write(connection, article.id, by=by, resource_ids=[resource.id])
            await publishing.submit(connection, article.id, by=by)
            asked = await publishing.ask(
                connection,
                article.id,
                by=by,
                editor_notes=notes,
                settings=self.config.publishing,
                permission=None,
            )
            return asked[1]

    async def gate(self, kind: str, content: dict[str, Any]) -> Approval:
        """An approval of another kind."""
        async with self.database.transaction() as connection:
            workflow = await workflows.create(
                connection, WorkflowRequest(kind="plan", input={}, input_digest="d", requested_by="ann")
            )
            request = GateRequest(
                kind=kind,
                content=content,
                required_scope="global:editor",
                four_eyes=True,
                expires_in_seconds=60,
                title="A plan",
            )
            return await approvals.ask(connection, workflow.id, "plan", request, requested_by="ann")

    async def status(self, approval: Approval) -> ApprovalStatus:
        async with self.database.connection() as connection:
            return (await approval_inbox.get(connection, approval.id)).status

    async def rewrite(self, approval: Approval, content: str) -> None:
        async with self.database.transaction() as connection:
            article = int(approval.content["article"]["id"])
            await articles.write(connection, article, by="cleo", content=content)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """A runner that publishes."""
        runner = Runner(
            name="r",
            config=self.config,
            database=self.database,
            directory=Directory(config=self.config, roles="actors.platform.systems:roles"),
            kinds={"publish_article": "actors.systems.publishing.graph:PUBLISH_ARTICLE"},
        )
        task = asyncio.create_task(runner.run())
        try:
            yield
        finally:
            runner.stop()
            await asyncio.wait_for(task, 20)


def on_a_terminal(site: Site, *arguments: str, answer: str, typed: str = "") -> tuple[int, str]:
    """Run a command on a terminal of its own, type, and answer its question: exit code, all it said."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "cluster.cli.signoff", *arguments, "--config", str(site.file)]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "60"}
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=ROOT, env=environment
    ) as child:
        os.close(theirs)
        os.write(ours, typed.encode())
        said = b""
        with contextlib.suppress(OSError):  # the end of a terminal
            while chunk := os.read(ours, 4096):
                said += chunk
                if said.endswith(b"[y/N]: "):
                    os.write(ours, answer.encode() + b"\n")
        os.close(ours)
        return child.wait(60), said.decode()
