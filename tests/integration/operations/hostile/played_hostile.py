"""One operation over hostile text, played to its end by a person who says yes only to what he wants.

He approves plans and results as they are shown, and writes that his case lets him. What he was shown and what
he decided is kept, for the test to hold against what reached the servers.
"""

import asyncio
import unicodedata
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from actors.platform.llm.prompts import read_two_part_prompt
from actors.platform.mcp.servers import McpServers
from actors.systems.operations.agents.source_reader import SourceReader
from models.config import Config
from models.operations.evidence import Conflict, Correlation
from models.operations.plans import PlanShown
from models.operations.questions import WriteShown
from models.operations.results import ComprehensiveResults, EvidencedSentence
from models.store.database import Database
from tests.integration.operations.hostile.hostile_world import HostileCase
from tests.integration.operations.operations_desk import AGENTS, OperationsDesk

_SOON = 120


class CallsThatCame(Protocol):
    """What reached a server."""

    def of(self, tool: str) -> list[Mapping[str, Any]]:
        """The arguments of each call of a tool."""
        ...


@dataclass
class Played:
    """What came of an operation: plans and writes that were approved, its results, and every decision."""

    case: HostileCase
    number: int
    status: str = ""
    error: str | None = None
    plans: list[PlanShown] = field(default_factory=list)
    shown: list[WriteShown] = field(default_factory=list)
    accepted: list[WriteShown] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    results: list[ComprehensiveResults] = field(default_factory=list)
    decided: dict[str, str] = field(default_factory=dict)


class HostileDesk:
    """An operations desk whose agents reach real servers and ask real endpoints."""

    def __init__(self, config: Config, database: Database) -> None:
        self.desk = OperationsDesk(config, database)
        self.database = database
        settings = config.operations
        self._servers: list[McpServers] = []
        for agent in AGENTS:
            if (source := settings.sources.get(agent)) is None:
                continue
            server = config.mcp.servers[source.server]
            self._servers.append(McpServers({source.server: server}))
            self.desk.agents[agent] = SourceReader(
                agent=agent,
                source=source,
                server=server,
                seconds=settings.step_seconds,
                most_calls=settings.most_calls,
                most_items=settings.most_items,
                chooses=settings.chooses,
                settings=settings.agents_llm,
                breaker=config.outages.breaker,
                prompt=read_two_part_prompt(settings.prompts_dir, "choose_call.md"),
                servers=self._servers[-1],
            )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """A runner that works; the connections to the servers end with it."""
        try:
            async with self.desk.running():
                yield
        finally:
            await asyncio.gather(*(servers.close() for servers in self._servers))

    async def play(
        self, case: HostileCase, wire: CallsThatCame, approved: Callable[[], None] = lambda: None
    ) -> Played:
        """Ask, and decide until it is over; `approved` is called right before a plan is approved."""
        played = Played(case, await self.desk.start(query=case.question))
        async with asyncio.timeout(_SOON):
            while True:
                workflow = await self.desk.stopped(
                    played.number, "waiting", "succeeded", "failed", "cancelled"
                )
                if workflow.status != "waiting":
                    played.status, played.error = workflow.status, workflow.error
                    return played
                gate = (await self.desk.call("get_operation", played.number)).approval
                await self._decide(played, gate, wire, approved)

    async def _decide(
        self, played: Played, gate: Any, wire: CallsThatCame, approved: Callable[[], None]
    ) -> None:
        number, said = played.number, {"digest": gate.digest}
        played.decided[gate.approval_id] = "approve"
        match gate.kind:
            case "operation_plan":
                played.plans.append(PlanShown.model_validate(gate.content))
                approved()
                await self.desk.call("decide_operation_plan", number, approved=True, **said)
            case "operation_results":
                played.results.append(ComprehensiveResults.model_validate(gate.content))
                await self.desk.call("decide_operation_results", number, approved=True, **said)
            case "operation_write":
                write = WriteShown.model_validate(gate.content)
                played.shown.append(write)
                wanted = [(call.tool, dict(call.arguments)) for call in played.case.injection.accepts]
                one = write.write.tool, dict(write.write.arguments)
                sent = [before.write for before in played.accepted]
                assert one[1] not in wire.of(one[0]) or write.write in sent, (
                    f"sent before it was shown: {one}"
                )
                yes = one in wanted
                if yes:
                    played.accepted.append(write)
                else:
                    played.decided[gate.approval_id] = "reject"
                answer = "accept" if yes else "skip"
                await self.desk.call("decide_operation_agent", number, answer=answer, **said)
            case _:
                played.questions.append(str(gate.content["what"]))
                played.decided[gate.approval_id] = "reject"
                await self.desk.call("decide_operation_agent", number, answer="skip", **said)

    async def votes(self) -> dict[str, tuple[str, str]]:
        """Every decision that the database knows of: by whom, and what."""
        async with self.database.connection() as connection:
            rows = await connection.execute("SELECT approval_id, voter, decision FROM approval_votes")
            return {
                str(row["approval_id"]): (str(row["voter"]), str(row["decision"]))
                for row in await rows.fetchall()
            }

    async def amended(self) -> int:
        """How many approvals show what somebody has changed."""
        async with self.database.connection() as connection:
            rows = await connection.execute(
                "SELECT count(*) AS many FROM approvals WHERE amended_by IS NOT NULL"
            )
            [found] = await rows.fetchall()
            return int(found["many"])


def beyond_evidence(sentence: EvidencedSentence, results: ComprehensiveResults) -> set[str]:
    """The numbers of a sentence that its evidence has not, in whatever digits they are written."""
    found: list[Conflict | Correlation] = [
        one for one in results.conflicts if f"K{one.number}" in sentence.evidence
    ]
    found += [one for one in results.matches if f"C{one.number}" in sentence.evidence]
    known = _numbers(" ".join(one.model_dump_json() for one in found))
    return _numbers(sentence.text) - known


def _numbers(text: str) -> set[str]:
    """Runs of digits, as ASCII; a sign that is a number by itself is one."""
    plain = ""
    for char in unicodedata.normalize("NFKC", text):
        value = unicodedata.numeric(char, None)
        plain += (
            " "
            if value is None
            else str(int(value))
            if unicodedata.decimal(char, None) is not None
            else f" {value} "
        )
    return set(plain.split())
