"""What the tests of research share: branches that find what a test says, and a runner that asks them.

The agents live in this process; the drafter asks a scripted model server over HTTP.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from actors.platform import systems
from actors.platform.runtime.runner import Runner
from actors.systems.drafting.drafter import Drafter
from models.config import Config
from models.content.articles import ArticleVersion, Cell, Resource
from models.content.drafting import Branch, Finding, Findings, SearchBrief
from models.people.users import UserContext
from models.runtime.events import Event
from models.runtime.workflows import Workflow
from models.store import events
from models.store.content import articles, resources
from models.store.runtime import workflows
from tests.fakes.model.model_server import Rule
from tests.integration.conftest import ROOT
from tests.integration.editorial.desk import Desk
from tests.integration.workflows import ended

RATES = "The central bank held its rate at 4.25 percent in June. Two members of the bank voted for a cut."
QUERY = "What did the central bank decide in June?"


def text(name: str = "Rate decision", content: str = RATES, **more: Any) -> Finding:
    """A text that was found."""
    told: dict[str, Any] = {"source": "searxng", "url": "https://example.org/rates", "description": None}
    return Finding(kind="text", name=name, content=content, **{**told, **more})


def table(name: str = "Policy rate", *rows: tuple[Cell, ...], **more: Any) -> Finding:
    """A table that was found."""
    told: dict[str, Any] = {"source": "sample", "url": None, "description": "Percent a year"}
    rows = rows or (("2026-05-01", 4.5), ("2026-06-01", 4.25))
    return Finding(kind="table", name=name, columns=("date", "rate"), rows=rows, **{**told, **more})


def written(*statements: tuple[str, list[int]], headline: str = "The bank holds its rate") -> str:
    """A draft as a model writes it."""
    said = [{"text": words, "sources": numbers, "new_paragraph": False} for words, numbers in statements]
    return json.dumps({"headline": headline, "statements": said})


@dataclass
class Finder:
    """An agent of one branch: finds `found`, or fails with `error`; waits for `go` where one is given."""

    branch: Branch
    found: tuple[Finding, ...] = ()
    note: str | None = None
    error: Exception | None = None
    go: asyncio.Event | None = None
    briefs: list[SearchBrief] = field(default_factory=list)
    asked: asyncio.Event = field(default_factory=asyncio.Event)

    async def find(self, brief: SearchBrief) -> Findings:
        """What the test said."""
        self.briefs.append(brief)
        self.asked.set()
        if self.go is not None:
            await self.go.wait()
        if self.error is not None:
            raise self.error
        return Findings(branch=self.branch, found=self.found, note=self.note)


class Site:
    """A desk, and the agents of its research."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.database_url = desk.database.url
        self.web = Finder("web_search", found=(text(),))
        self.data = Finder("data_download", found=(table(),))
        self.stored = Finder("resource_query", note="nothing is stored on this")
        self.agents: dict[str, Any] = {finder.branch: finder for finder in (self.web, self.data, self.stored)}
        _, arguments = systems.roles()["drafter"]
        self.agents |= {"drafter": Drafter(**arguments(desk.config, None)), "search_index": None}

    def agent(self, role: str) -> Any:
        """As a directory does: an agent by its role."""
        return self.agents[role]

    @asynccontextmanager
    async def running(self, directory: Any = None) -> AsyncIterator[None]:
        """A runner that asks these agents, or those of another directory."""
        runner = Runner(
            name="r",
            config=self.desk.config,
            database=self.desk.database,
            directory=directory or self,
            kinds=systems.graphs(),
        )
        task = asyncio.create_task(runner.run())
        try:
            yield
        finally:
            runner.stop()
            await asyncio.wait_for(task, 20)

    async def ask(self, who: UserContext, query: str = QUERY, **more: Any) -> str:
        """Begin a research on macro; the task's id."""
        answer = await self.desk.call(who, "research_article", **{"topic": "macro", "query": query, **more})
        return str(answer.task_id)

    async def ended(self, task_id: str, *statuses: str) -> Workflow:
        """The task once it is over."""
        return await ended(self.desk.database, task_id, *statuses)

    async def done(self, task_id: str) -> dict[str, Any]:
        """The result of a task that must succeed."""
        workflow = await self.ended(task_id)
        assert workflow.status == "succeeded", workflow.error
        assert workflow.result is not None
        return workflow.result

    async def version(self, article_id: int) -> ArticleVersion:
        """The newest version of an article."""
        async with self.desk.database.connection() as connection:
            article = await articles.get(connection, article_id)
            return await articles.get_version(connection, article_id, article.version)

    async def resource(self, resource_id: int) -> Resource:
        """A resource."""
        async with self.desk.database.connection() as connection:
            return await resources.get(connection, resource_id)

    async def count(self, table: str) -> int:
        """How many rows a table has."""
        async with self.desk.database.connection() as connection:
            cursor = await connection.execute(f"SELECT count(*) AS n FROM {table}".encode())
            row = await cursor.fetchone()
            assert row is not None
            return int(row["n"])

    async def notifications(self, task_id: str) -> list[Event]:
        """What the requester was told of a task."""
        async with self.desk.database.connection() as connection:
            found = await events.read(connection, after=0, workflow_ids=[task_id])
        return [event for event in found if event.type == "notification"]

    async def workflow(self, task_id: str) -> Workflow:
        """A task as it is now."""
        async with self.desk.database.connection() as connection:
            return await workflows.get(connection, task_id)


TWO_STATEMENTS = Rule(
    kind="DraftReply",
    reply=written(("The bank held its rate at 4.25 percent in June.", [1]), ("It stood at 4.5 in May.", [2])),
)


def configured(server_url: str, **changes: Any) -> Any:
    """Changes of the configuration: the drafter asks this model, without pauses."""
    model = {
        "writes": "prose",
        "model": "scripted",
        "api_base": server_url,
        "api_key": "x",
        "context_window": 8192,
        "max_tokens": 500,
        "temperature": 0,
        "context_window_threshold": 90,
        "max_retries": 1,
        "retry_delay": 0,
        "timeout_seconds": 30,
    }
    prompts = str(ROOT / "configs/prompts")
    return {
        "embedding.api_base": server_url,
        "drafting.llm": model,
        "drafting.prompts_dir": f"{prompts}/drafting",
        "publishing.prompts_dir": prompts,
        "runners.lease_seconds": 2,
        "runners.poll_seconds": 0.2,
        **changes,
    }


__all__ = [
    "QUERY",
    "RATES",
    "TWO_STATEMENTS",
    "Config",
    "Finder",
    "Site",
    "configured",
    "table",
    "text",
    "written",
]
