"""An operation that is nothing but one approved write, with a barrier at each place on its way outside.

The runner reports `noted` between the commit of its note and the call; the agent `starting` as it is made,
`called` as it begins to write, `looked` between its look at the claim and the socket, and last how it ended.
The barrier's address is the title of the server.
"""

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from actors.platform.mcp.servers import McpServers
from actors.platform.runtime.directory import Directory
from actors.platform.runtime.run import Run
from actors.platform.runtime.workflow_graph import WorkflowGraph
from actors.platform.system import AgentRole
from actors.systems.operations.agents.source_reader import SourceReader
from actors.systems.operations.approved_writes import ApprovedWrites
from actors.systems.operations.system import SYSTEM
from models.config import AgentConfig, Config
from models.llm import Answer
from models.mcp.served_tools import ServerListing
from models.operations.results import ProposedWrite, WriteOutcome
from models.runtime.approvals import GateDecision
from models.store.operations import operations
from models.store.runtime import claim_hold
from tests.fakes.barrier import report

KINDS = {"operation": "tests.fakes.writing:OPERATION"}
_YES = GateDecision(approval_id="a", status="approved", decided_by="ann", notes=None)


class PausedReader(SourceReader):
    """The agent, with its places to pause at."""

    def __init__(self, *, barrier: str, **settings: Any) -> None:
        super().__init__(**settings)
        self._barrier = barrier
        # Beside the actor's loop, which may be running.
        with ThreadPoolExecutor(1) as beside:
            beside.submit(lambda: asyncio.run(self._report("starting"))).result()
        hold = claim_hold.hold

        async def holds(*of: Any, **how: Any) -> None:
            await hold(*of, **how)
            await self._report("looked")

        claim_hold.hold = holds

    async def occupy(self) -> None:
        """Take the only place there is."""
        await self._report("occupied")

    async def write(self, write: ProposedWrite) -> Answer[WriteOutcome]:
        """As it does, and say how it ended."""
        ended = "over: sent"
        try:
            await self._report("called")
            return await super().write(write)
        except BaseException as error:
            ended = f"over: {type(error).__name__}"
            raise
        finally:
            await self._report(ended)

    async def _report(self, step: str) -> None:
        await report(self._barrier, workflow="", step=step, pid=os.getpid())


def _reader(config: Config, directory: Directory) -> dict[str, Any]:
    _, arguments = SYSTEM.roles["crm"]
    return {**arguments(config, directory), "barrier": config.mcp.servers["crm"].title}


ROLES: dict[str, AgentRole] = {"crm": ("tests.fakes.writing:PausedReader", _reader)}


def with_one_place(config: Config) -> Config:
    """A configuration whose agent does one thing at a time."""
    small = AgentConfig(num_cpus=0.1, replicas=1, max_concurrency=1)
    return config.model_copy(update={"agents": config.agents | {"crm": small}})


class _Remote:
    """The agent, called by a runner that may be held or stopped right before."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._agent = Run.agent(run, "crm")

    async def offered(self) -> ServerListing:
        """Asked in this process, so that the agent is started for the write."""
        servers = McpServers({"crm": self._run.config.mcp.servers["crm"]})
        try:
            return await servers.listing("crm")
        finally:
            await servers.close()

    async def call_once(self, verb: str, *given: Any) -> Any:
        """Not ended with whoever waits: a runner's call may have gone before it hears that it is fenced."""

        async def call() -> Any:
            barrier = self._run.config.mcp.servers["crm"].title
            await report(barrier, workflow=self._run.workflow_id, step="noted", pid=os.getpid())
            return await self._agent.call_once(verb, *given)

        return await asyncio.shield(asyncio.create_task(call()))


class State(TypedDict, total=False):
    """What became of the write."""

    status: str


async def _write(state: State, runtime: Runtime[Run]) -> State:
    run = runtime.context
    remote = _Remote(run)
    run.agent = lambda role: remote  # type: ignore[method-assign]

    async with run.database.connection() as connection:
        operation = await operations.of_workflow(connection, run.workflow_id)
    [tool] = [tool for tool in (await remote.offered()).tools if tool.writes]
    write = ProposedWrite(
        server="crm",
        tool=tool.name,
        digest=tool.digest,
        address=tool.address,
        arguments={"to": "a"},
        why="so",
    )
    writes = ApprovedWrites(run=run, operation=operation)
    outcome = await writes.settle("crm", write, _YES, number=1, iteration=1)
    return {"status": outcome.status}


def build_graph() -> StateGraph[Any, Any, Any, Any]:
    """write."""
    graph = StateGraph(State, context_schema=Run)
    graph.add_node("write", _write)
    graph.add_edge(START, "write")
    graph.add_edge("write", END)
    return graph


async def begin(run: Run) -> tuple[dict[str, Any], Run]:
    """Start with nothing."""
    return {}, run


OPERATION = WorkflowGraph(build=build_graph, begin=begin, result=dict, gates=frozenset())
