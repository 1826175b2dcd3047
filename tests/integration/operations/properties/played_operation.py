"""One operation, carried by processes that die when a test says so, and decided on through the tools.

`House` is what all operations of a run share: a database, the compiled graph, people with their rights. A
`PlayedOperation` is begun in it; `carry` has processes live until it stops, and holds all
that has happened against the laws of operations.
"""

import asyncio
from collections.abc import Coroutine, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

import pytest

from actors.platform.llm.prompts import read_two_part_prompt
from actors.platform.runtime.execution import CompiledGraph, Execution
from actors.platform.runtime.run import Run
from actors.systems.operations.agents.analyst import OperationAnalyst
from actors.systems.operations.agents.planner import Planner
from actors.systems.operations.graph import OPERATION
from models.config import Config
from models.errors import SignoffError
from models.operations.items import SourceAgent
from models.operations.messages import message_of_approval
from models.people.users import UserContext
from models.runtime.workflows import Claim
from models.store import approval_inbox, approvals
from models.store.database import Database
from models.store.operations.operations import KIND
from models.store.runtime import claims
from tests.fakes.local_agents import LocalAgent
from tests.fakes.served import ServedThings
from tests.integration.editorial.desk import Desk
from tests.integration.operations.operations_desk import ACCOUNT, AGENTS, BILL, MAIL
from tests.integration.operations.properties import laws
from tests.integration.operations.properties.operation_facts import OperationFacts, facts_of
from tests.integration.operations.properties.staged_agents import (
    Ledger,
    PlanShape,
    StagedAnalyst,
    StagedPlanner,
    StagedReader,
)
from tests.integration.runtime.claims.claiming import end, lease
from tests.integration.runtime.journals.replaying import Mortal, NotedJournal

T = TypeVar("T")
_MOST_LIVES = 60
# What refuses an answer: malformed, not permitted, not there, or not to be decided any more.
REFUSALS = (403, 404, 409, 422)


async def _at_once(run: Run) -> None:
    """In place of `Run.outlast_senders`."""


class House:
    """A database on which operations are played, one after another."""

    def __init__(self, runner: asyncio.Runner, config: Config, database: Database) -> None:
        self._runner = runner
        self.config, self.database = config, database
        self.desk = Desk(database, config)
        self.compiled = CompiledGraph(OPERATION)
        self.lives = 0
        self._people: dict[tuple[str, ...], UserContext] = {}
        settings, breaker = config.operations, config.outages.breaker
        self.planner = Planner(
            plans="code",
            settings=settings.planner_llm,
            breaker=breaker,
            prompt=read_two_part_prompt(settings.prompts_dir, "plan.md"),
            sources=settings.sources,
        )
        self.analyst = OperationAnalyst(
            writes="code",
            settings=settings.analysis_llm,
            breaker=breaker,
            prompt=read_two_part_prompt(settings.prompts_dir, "write_summary.md"),
        )

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Have it done, from a test that is not async.

        Nothing is sent from another process here, and many die: no take-over waits for what they send.
        """
        with pytest.MonkeyPatch.context() as changed:
            changed.setattr(Run, "outlast_senders", _at_once)
            return self._runner.run(work)

    async def person(self, name: str, *scopes: str) -> UserContext:
        """Somebody with a token."""
        if (name, *scopes) not in self._people:
            self._people[name, *scopes] = await self.desk.person(name, *scopes)
        return self._people[name, *scopes]

    async def clear(self) -> None:
        """Leave nothing of an example before that could be taken up."""
        async with self.database.connection() as connection:
            await connection.execute(
                "UPDATE workflows SET status = 'cancelled', runner_id = NULL, finished_at = now() "
                "WHERE NOT status = ANY('{succeeded,failed,cancelled}')"
            )

    def gates(self, task_type: str) -> tuple[str, ...]:
        """Where operations of a type stop."""
        return tuple(self.config.operations.task_types[task_type].gates)


class PlayedOperation:
    """An operation, its agents and servers, and who decides on it."""

    def __init__(self, house: House, *, shapes: Sequence[PlanShape] = ()) -> None:
        self.house, self.ledger = house, Ledger()
        self.number = self.deaths = self.parks = 0
        self.servers: dict[SourceAgent, ServedThings] = {
            "gmail": ServedThings("mail", MAIL),
            "accounts_payable": ServedThings("bills", BILL),
            "crm": ServedThings("crm", ACCOUNT),
        }
        settings = house.config.operations
        self.planner = StagedPlanner(house.planner, self.ledger, shapes)
        self._analyst = StagedAnalyst(house.analyst, self.ledger)
        self.readers = {
            agent: StagedReader(
                agent,
                self.servers[agent],
                self.ledger,
                source=settings.sources[agent],
                server=house.config.mcp.servers[settings.sources[agent].server],
                most_calls=settings.most_calls,
                most_items=settings.most_items,
                chooses="code",
                settings=settings.agents_llm,
                breaker=house.config.outages.breaker,
                prompt=read_two_part_prompt(settings.prompts_dir, "choose_call.md"),
            )
            for agent in AGENTS
        }
        self.seen: OperationFacts | None = None

    def agent(self, role: str, *, shard: str | None = None) -> Any:
        """One of the agents, as a directory gives it."""
        if role == "planner":
            return LocalAgent(self.planner)
        return LocalAgent(self._analyst if role == "analysis" else self.readers[role])  # type: ignore[index]

    async def begin(self, query: str, task_type: str = "comprehensive", **more: Any) -> Any:
        """Ann, an analyst, asks for it."""
        if not self.number:
            await self.house.clear()
        self.query, self.task_type = query, task_type
        given = {"query": query, "topic": "macro", "task_type": task_type} | more
        begun = await self.house.desk.call(
            await self.house.person("ann", "macro:analyst"), "start_operation", **given
        )
        self.number, self.plan_id = int(begun.operation_id), str(begun.plan_id)
        return begun

    async def facts(self) -> OperationFacts:
        """All that is kept of it now."""
        return await facts_of(self.house.database, self.number, self.plan_id)

    async def call(self, tool: str, **given: Any) -> Any:
        """Ann calls a tool about it."""
        person = await self.house.person("ann", "macro:analyst")
        return await self.house.desk.call(person, tool, operation_id=self.number, **given)

    async def message(self) -> tuple[str, dict[str, Any]]:
        """The message in which a person is asked what waits for him."""
        pending = (await self.facts()).pending
        assert pending is not None, "nobody is asked"
        async with self.house.database.connection() as connection:
            approval = await approval_inbox.get(connection, pending["id"])
        found = message_of_approval(approval, at=datetime.now(UTC))
        assert found is not None
        return found

    async def decide(self, tool: str, **given: Any) -> Any:
        """Ann decides on what is shown now, by its digest."""
        pending = (await self.facts()).pending
        assert pending is not None, "nobody is asked"
        return await self.call(tool, **{"digest": pending["digest"]} | given)

    async def refuses(self, tool: str, *, as_: UserContext | None = None, **given: Any) -> SignoffError:
        """A call that is refused changes nothing."""
        before = await self.facts()
        person = as_ or await self.house.person("ann", "macro:analyst")
        with pytest.raises(SignoffError) as refused:
            await self.house.desk.call(person, tool, operation_id=self.number, **given)
        assert refused.value.http_status in REFUSALS, (refused.value, refused.value.http_status)
        assert await self.facts() == before, f"{tool} {given} was refused, and changed something"
        return refused.value

    async def carry(self, deaths: Sequence[int] = ()) -> OperationFacts:
        """Have processes live until it stops; the first ones die after so many answered calls each.

        Whatever is parked is tried again at once.
        """
        left, facts = list(deaths), await self.facts()
        for _ in range(_MOST_LIVES):
            if facts.status == "parked":
                self.parks += 1
                await self._make_due()
            elif facts.status not in ("queued", "running"):
                break
            facts = await self.live(facts, calls=left.pop(0) if left else None)
        else:
            raise AssertionError(
                f"it does not get on: {facts.status}, {facts.rows['workflow']['parked_for']}"
            )
        self._check(facts)
        return facts

    async def live(self, before: OperationFacts, *, calls: int | None = None) -> OperationFacts:
        """One process's life; what it calls is held against the plan that was in force when it began."""
        house, database = self.house, self.house.database
        house.lives += 1
        runner, called = f"r{house.lives}", len(self.ledger.calls)
        await lease(database, runner)
        claim = await self._claim(runner)
        mortal = Mortal(database, calls=calls)
        journal = NotedJournal(database=mortal, made=[])
        execution = Execution(
            claim=claim,
            compiled=house.compiled,
            config=house.config,
            database=mortal,  # type: ignore[arg-type]
            directory=self,  # type: ignore[arg-type]
            journal=journal,
        )
        working = asyncio.create_task(execution.carry())
        dying = asyncio.create_task(mortal.dead.wait())
        done, _ = await asyncio.wait({working, dying}, return_when=asyncio.FIRST_COMPLETED)
        journal.drop()
        for task in (working, dying):
            task.cancel()
        await asyncio.wait({working, dying})
        if working in done:
            working.result()
        else:
            self.deaths += 1
        await end(database, runner)
        after = await self.facts()
        laws.check_calls(before, after, self.gates, self.ledger.calls[called:])
        return after

    @property
    def gates(self) -> tuple[str, ...]:
        """Where it stops, by its type."""
        return self.house.gates(self.task_type)

    def _check(self, facts: OperationFacts) -> None:
        """Hold all that has happened against the laws of operations."""
        laws.check(facts, self.gates, self.ledger, query=self.query, tries=self.deaths + self.parks)
        if self.seen is not None:
            laws.check_kept(self.seen, facts)
        self.seen = facts

    async def say_yes(self, until: str | None = None, deaths: Sequence[int] = ()) -> OperationFacts:
        """Say yes to all that is asked, until something of this kind is, or it has ended."""
        while True:
            facts = await self.carry(deaths)
            if facts.pending is None or facts.pending["kind"] == until:
                return facts
            deaths = ()
            if facts.pending["kind"] in ("operation_plan", "operation_results"):
                await self.decide(f"decide_{facts.pending['kind']}", approved=True)
            elif facts.pending["kind"] == "operation_review":
                await self.decide("decide_operation_agent", answer="accept")
            else:
                raise AssertionError(f"an agent could not do its part: {facts.pending['content']}")

    async def expire(self) -> None:
        """Let the time of what is pending run out."""
        async with self.house.database.connection() as connection:
            await connection.execute(
                "UPDATE approvals SET expires_at = now() WHERE workflow_id = %s AND status = 'pending'",
                (self.plan_id,),
            )
        await approvals.expire_due(self.house.database)

    async def _claim(self, runner: str) -> Claim:
        for suspects in (False, True):
            taken = await claims.claim(
                self.house.database,
                runner_id=runner,
                rooms={KIND: 1},
                limit=1,
                lease_seconds=60,
                suspects=suspects,
            )
            if taken:
                assert taken[0].workflow_id == self.plan_id, "an operation of another example was left"
                return taken[0]
        raise AssertionError("there is nothing to claim")

    async def _make_due(self) -> None:
        async with self.house.database.connection() as connection:
            await connection.execute(
                "UPDATE workflows SET not_before = now() WHERE id = %s AND status = 'parked'", (self.plan_id,)
            )
