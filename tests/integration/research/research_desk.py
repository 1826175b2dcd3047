"""What the tests of research share: a real site on loopback with a log, a search engine, and a runner.

The agents live in this process: the scraper's engines, the reader, the extractor and the researcher are the
real ones; the model is scripted over HTTP. The guard is open to all of loopback: what keeps a scraper from
the other host is what was approved, and nothing else.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from actors.platform.llm.prompts import read_two_part_prompt
from actors.platform.runtime.runner import Runner
from actors.systems.knowledge.agents.knowledge_extractor import KnowledgeExtractor
from actors.systems.knowledge.extraction.prompt import read_prompt
from actors.systems.knowledge.scraping.open_scraper import open_scraper
from actors.systems.knowledge.scraping.scraper import Scraper
from actors.systems.knowledge.scraping.scraping_settings import ScrapingSettings
from actors.systems.research.agents.intent_reader import PROMPT, IntentReader
from actors.systems.research.agents.organizer import Organizer
from actors.systems.research.agents.researcher import Researcher
from actors.systems.research.discovery.queries import read_asking
from actors.systems.research.intents.classify import check_intents
from models.config import Config
from models.people.scopes import read_scopes
from models.people.users import Identity
from models.research.agent_workflows import AgentWorkflow, StartRequest
from models.runtime.approvals import Approval
from models.runtime.workflows import Workflow
from models.store import approval_inbox, decisions
from models.store.database import Database
from models.store.knowledge import projects
from models.store.people import users
from models.store.research import agent_workflows
from tests.fakes.local_agents import LocalAgent
from tests.fakes.outside.open_turns import OpenTurns
from tests.integration.conftest import ROOT
from tests.integration.drafting.research_site import configured
from tests.integration.runtime.deciding import yes
from tests.integration.workflows import ended

ANALYST = read_scopes(["macro:analyst"])
KINDS = {"research": "actors.systems.research.graph:RESEARCH"}
_trained = cache(check_intents)  # reads some megabytes
QUESTION = "How do watermills turn in winter, and who runs them?"


class ResearchDesk:
    """A runner that does research, and the people who ask for it and decide."""

    def __init__(self, config: Config, database: Database) -> None:
        self.config, self.database, self.database_url = config, database, database.url
        settings, research = config.knowledge.extraction, config.research
        self.agents: dict[str, Any] = {
            "extractor": KnowledgeExtractor(
                settings=settings,
                breaker=config.outages.breaker,
                prompt=read_prompt(settings),
                embedding=config.embedding,
                database_url=database.url,
            ),
            "researcher": Researcher(
                config=config,
                asking=read_asking(ROOT / "configs/research/asking.yaml"),
                database_url=database.url,
                directory=self,
            ),
            "organizer": Organizer(
                tree=research.tree,
                synthesis=research.synthesis,
                breaker=config.outages.breaker,
                embedding=config.embedding,
                name_prompt=read_two_part_prompt(research.prompts_dir, "name_node.md"),
                write_prompt=read_two_part_prompt(research.prompts_dir, "write_section.md"),
                rewrite_prompt=read_two_part_prompt(research.prompts_dir, "rewrite_sentence.md"),
            ),
            "intent_reader": IntentReader(
                settings=config.research.intents,
                breaker=config.outages.breaker,
                prompt=read_two_part_prompt(config.research.prompts_dir, PROMPT),
                trained=_trained(config.research.intents.signs_file, config.research.intents.weights_file),
            ),
            "knowledge_index": _NoIndex(),
        }

    def agent(self, role: str, *, shard: str | None = None) -> Any:
        """One in this process."""
        return LocalAgent(self.agents[role])

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Runner]:
        """A runner that works."""
        async with open_scraper(ScrapingSettings.of(self.config), OpenTurns()) as scraper:
            self.agents["scraper"] = _Scraping(scraper)
            runner = Runner(name="r", config=self.config, database=self.database, directory=self, kinds=KINDS)
            task = asyncio.create_task(runner.run())
            try:
                yield runner
            finally:
                runner.stop()
                await asyncio.wait_for(task, 20)

    async def start(
        self, person: str = "ann", *, most_at_once: int | None = None, **request: Any
    ) -> AgentWorkflow:
        """Ask for a research."""
        await self.grant(person)
        given = {"task_type": "research", "user_query": QUESTION, "config": {"language": "any"}} | request
        async with self.database.transaction() as connection:
            project, _ = await projects.find_or_create(connection, topic="macro", name="Mills", by=person)
            research, _ = await agent_workflows.start(
                connection,
                StartRequest.model_validate(given),
                project=project,
                requested_by=person,
                most_at_once=most_at_once,
            )
        return research

    async def grant(self, person: str) -> None:
        """Let a person be known as an analyst."""
        now = datetime.now(UTC)
        identity = Identity(
            subject=person,
            name=person,
            email=f"{person}@example.com",
            scopes=ANALYST,
            issued_at=now,
            expires_at=now + timedelta(hours=1),
        )
        async with self.database.connection() as connection:
            await users.seen(connection, identity, grants_last_seconds=3600)

    async def gate(self, research: AgentWorkflow) -> Approval:
        """What it waits for now."""
        await ended(self.database, research.workflow_id, "waiting", "failed", "succeeded")
        async with self.database.connection() as connection:
            every = await approval_inbox.of_workflow(connection, research.workflow_id)
        [pending] = [approval for approval in every if approval.status == "pending"]
        return pending

    async def approve(self, approval: Approval, by: str = "ann") -> Approval:
        """Say yes to what is shown."""
        return await decisions.decide(
            self.database, approval_id=approval.id, answer=yes(approval), decided_by=by, scopes=ANALYST
        )

    async def reject(self, approval: Approval, by: str = "ann") -> Approval:
        """Say no."""
        answer = {"decision": "reject", "digest": approval.digest, "notes": "not these"}
        return await decisions.decide(
            self.database, approval_id=approval.id, answer=answer, decided_by=by, scopes=ANALYST
        )

    async def amend(self, approval: Approval, content: dict[str, Any], by: str = "ann") -> Approval:
        """Approve something else in its place."""
        async with self.database.transaction() as connection:
            return await decisions.amend_in(
                connection,
                approval_id=approval.id,
                digest=approval.digest,
                content=content,
                notes=None,
                amended_by=by,
                scopes=ANALYST,
            )

    async def ended(self, research: AgentWorkflow) -> Workflow:
        """The workflow, once it has ended."""
        return await ended(self.database, research.workflow_id)

    async def rows(self, query: str, *values: Any) -> list[dict[str, Any]]:
        """What Postgres says."""
        async with self.database.connection() as connection:
            return list(await (await connection.execute(query.encode(), values)).fetchall())


class _NoIndex:
    """The index of a site that has none yet: words still count."""

    async def search(self, *of: Any) -> Any:
        raise ConnectionError("there is no index in this process")


class _Scraping:
    """The agent `scraper` with its engines in this process."""

    def __init__(self, scraper: Scraper) -> None:
        self._scraper = scraper

    async def scrape(self, url: str, engine: Any = "auto", reach: Any = None) -> Any:
        return await self._scraper.scrape(url, engine, reach)

    async def read_text(self, page: Any) -> Any:
        return await self._scraper.read_text(page)


def under(config: Config, **policy: Any) -> Config:
    """The configuration where other rules hold for who approves."""
    approval = config.research.approval.model_copy(update=policy)
    return config.model_copy(update={"research": config.research.model_copy(update={"approval": approval})})


def desk_config(configure: Callable[..., Config], model_url: str, search_url: str) -> Config:
    """The site's configuration: its model and its search engine are on loopback."""
    asked = configured(model_url)["drafting.llm"]
    del asked["writes"]
    return configure(
        {
            "knowledge.extraction.llm": asked,
            "knowledge.extraction.prompts_dir": str(ROOT / "configs/prompts/knowledge"),
            "research.prompts_dir": str(ROOT / "configs/prompts/research"),
            "research.intents.signs_file": str(ROOT / "configs/research/signs.yaml"),
            "research.intents.weights_file": str(ROOT / "configs/research/intents.npz"),
            "research.intents.asks": "model",
            "research.intents.llm": asked,
            "embedding.api_base": model_url,
            "embedding.api_key": "x",
            "outside.search.searxng": {"url": search_url},
            "outgoing.allow_internal": ["127.0.0.0/8"],
            "runners.lease_seconds": 2,
            "runners.poll_seconds": 0.1,
            "outages.first_pause_seconds": 0.05,
        }
    )
