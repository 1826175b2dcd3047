"""What the tests of operations share: three servers that a test fills, a runner, and people who decide.

The agents live in this process: planner, readers and analyst are the real ones. Tools are called as people
call them, with their permissions.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from actors.platform.llm.prompts import read_two_part_prompt
from actors.platform.runtime.runner import Runner
from actors.systems.operations.agents.analyst import OperationAnalyst
from actors.systems.operations.agents.planner import Planner
from actors.systems.operations.agents.source_reader import SourceReader
from models.config import Config
from models.operations.items import SourceAgent
from models.people.users import UserContext
from models.runtime.workflows import Workflow
from models.store.database import Database
from tests.fakes.local_agents import LocalAgent
from tests.fakes.served import ScriptedChoices, ServedThings
from tests.integration.conftest import ROOT
from tests.integration.editorial.desk import Desk
from tests.integration.workflows import ended

KINDS = {"operation": "actors.systems.operations.graph:OPERATION"}
QUESTION = "Why is Meridian Office Supply's invoice INV-2041 late?"
AGENTS: tuple[SourceAgent, ...] = ("gmail", "accounts_payable", "crm")
_SERVER = {"gmail": "mail", "accounts_payable": "bills", "crm": "crm"}
MAIL = {
    "id": "m1",
    "from": "billing@meridian.example",
    "subject": "Invoice INV-2041 is overdue",
    "body": "Dear all, our invoice INV-2041 over $4,310.00 has not been paid yet.",
}
BILL = {
    "id": "b1",
    "vendor": "Meridian Office Supply Inc",
    "number": "INV-2041",
    "amount": "4310.00",
    "status": "paid",
    "due_date": "2026-06-30",
}
ACCOUNT = {
    "id": "a1",
    "name": "Meridian Office Supply",
    "email": "billing@meridian.example",
    "note": "Vendor says INV-2041 is still open.",
}


class OperationsDesk:
    """A runner that carries operations, and the people who ask for them and decide."""

    def __init__(self, config: Config, database: Database) -> None:
        self.config, self.database = config, database
        self.desk = Desk(database, config)
        self.servers: dict[SourceAgent, ServedThings] = {
            "gmail": ServedThings("mail", MAIL),
            "accounts_payable": ServedThings("bills", BILL),
            "crm": ServedThings("crm", ACCOUNT),
        }
        settings, breaker = config.operations, config.outages.breaker
        self.agents: dict[str, Any] = {
            "planner": Planner(
                plans=settings.plans,
                settings=settings.planner_llm,
                breaker=breaker,
                prompt=read_two_part_prompt(settings.prompts_dir, "plan.md"),
                sources=settings.sources,
            ),
            "analysis": OperationAnalyst(
                writes=settings.writes,
                settings=settings.analysis_llm,
                breaker=breaker,
                prompt=read_two_part_prompt(settings.prompts_dir, "write_summary.md"),
            ),
        }
        for agent in settings.sources:
            self.read_with(agent)

    def read_with(self, agent: SourceAgent, choices: ScriptedChoices | None = None) -> None:
        """Have an agent read as the site's settings name it, or as a model chooses."""
        settings, breaker = self.config.operations, self.config.outages.breaker
        source = settings.sources[agent]
        self.agents[agent] = SourceReader(
            agent=agent,
            chooses="code" if choices is None else "model",
            completions=choices,
            settings=settings.agents_llm,
            breaker=breaker,
            prompt=read_two_part_prompt(settings.prompts_dir, "choose_call.md"),
            source=source,
            server=self.config.mcp.servers[source.server],
            seconds=settings.step_seconds,
            most_calls=settings.most_calls,
            most_items=settings.most_items,
            servers=self.servers[agent],
        )

    def agent(self, role: str, *, shard: str | None = None) -> Any:
        """One in this process."""
        return LocalAgent(self.agents[role])

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Runner]:
        """A runner that works."""
        runner = Runner(name="r", config=self.config, database=self.database, directory=self, kinds=KINDS)
        task = asyncio.create_task(runner.run())
        try:
            yield runner
        finally:
            runner.stop()
            await asyncio.wait_for(task, 20)

    async def ann(self) -> UserContext:
        """An analyst."""
        return await self.desk.person("ann", "macro:analyst")

    async def start(self, **request: Any) -> int:
        """Ask for an operation; its number."""
        given = {"query": QUESTION, "topic": "macro"} | request
        begun = await self.desk.call(await self.ann(), "start_operation", **given)
        return int(begun.operation_id)

    async def call(self, tool: str, operation_id: int, **given: Any) -> Any:
        """Ann calls a tool about an operation."""
        return await self.desk.call(await self.ann(), tool, operation_id=operation_id, **given)

    async def gate(self, operation_id: int, kind: str | None = None) -> Any:
        """What it waits for now, which is of this kind."""
        await self.stopped(operation_id, "waiting", "succeeded", "failed", "cancelled")
        found = await self.call("get_operation", operation_id)
        assert found.approval is not None, found
        assert kind in (None, found.approval.kind), (found.approval.kind, found.approval.content)
        return found.approval

    async def stopped(self, operation_id: int, *statuses: str) -> Workflow:
        """Its workflow, once it has one of the statuses; without any, once it has ended."""
        found = await self.call("get_operation", operation_id)
        return await ended(self.database, found.plan_id, *statuses)

    async def approve_plan(self, operation_id: int, **more: Any) -> Any:
        """Say yes to the plan that is shown, or to what it is changed to."""
        gate = await self.gate(operation_id, "operation_plan")
        given = {"approved": True, "digest": gate.digest} | more
        return await self.call("decide_operation_plan", operation_id, **given)

    async def asked_to_write(self) -> tuple[int, Any]:
        """An operation whose plan is approved, and the call that changes something and waits for a yes."""
        number = await self.start()
        await self.approve_plan(number)
        return number, await self.gate(number, "operation_write")

    async def decide_results(self, operation_id: int, **answer: Any) -> Any:
        """Answer to the results that are shown."""
        gate = await self.gate(operation_id, "operation_results")
        return await self.call("decide_operation_results", operation_id, digest=gate.digest, **answer)

    async def calls(self) -> dict[str, int]:
        """How often each agent's server was called."""
        return {agent: len(server.calls) for agent, server in self.servers.items()}


def operations_config(configure: Callable[..., Config], **changes: Any) -> Config:
    """The site's configuration, with three servers that are read by `search`."""
    servers = {
        name: {"title": name, "http": {"url": "http://127.0.0.1:9/mcp"}, "tools": ["search"]}
        for name in _SERVER.values()
    }
    sources = {
        agent: {
            "server": server,
            "service": f"{server}_mcp",
            "source": server,
            "reading": [{"tool": "search", "arguments": {"query": "{lead}"}}],
        }
        for agent, server in _SERVER.items()
    }
    given = {
        "mcp.servers": servers,
        "operations.sources": sources,
        "operations.prompts_dir": str(ROOT / "configs/prompts/operations"),
        "operations.report_file": str(ROOT / "configs/operations/report.typ"),
        "runners.lease_seconds": 2,
        "runners.poll_seconds": 0.1,
        "outages.first_pause_seconds": 0.05,
    }
    return configure(given | changes)
