"""A workflow carried by a runner of one's own, and a look at it."""

from collections.abc import Callable
from typing import Any

from langgraph.graph import END, START, StateGraph

from actors.platform.runtime import execution
from actors.platform.runtime.directory import Directory
from actors.platform.runtime.group_commit import JournalWriter
from actors.platform.runtime.workflow_graph import WorkflowGraph
from models.config import Config
from models.runtime.workflows import Workflow
from models.store.database import Database
from models.store.runtime import workflows
from tests.fakes import graphs
from tests.integration.runtime.claims.claiming import claim, lease

Configure = Callable[..., Config]


async def carry(database: Database, config: Config, kind: WorkflowGraph, runner_id: str = "r") -> None:
    """Claim the one workflow there is, and carry it to its next stop as `kind`."""
    await lease(database, runner_id)
    [held] = await claim(database, runner_id)
    directory = Directory(config=config, roles="tests.fakes.agents:ROLES")
    await execution.Execution(
        claim=held,
        compiled=execution.CompiledGraph(kind),
        config=config,
        database=database,
        directory=directory,
        journal=JournalWriter(database=database),
    ).carry()


async def look(database: Database, workflow_id: str) -> Workflow:
    """The workflow now."""
    async with database.connection() as connection:
        return await workflows.get(connection, workflow_id)


def a_graph(*steps: str) -> WorkflowGraph:
    """A kind that does these steps one after another; `gate:NAME` is a gate."""

    def build() -> StateGraph[Any, Any, Any, Any]:
        graph = StateGraph(graphs.State, context_schema=graphs.Context)
        previous = START
        for number, name in enumerate(steps):
            node = f"node {number}"
            gate = name.removeprefix("gate:")
            graph.add_node(node, graphs._step(name) if gate == name else graphs._side_gate(gate))
            graph.add_edge(previous, node)
            previous = node
        graph.add_edge(previous, END)
        return graph

    gates = frozenset(step.removeprefix("gate:") for step in steps if step.startswith("gate:"))
    return WorkflowGraph(build=build, begin=graphs.begin, result=graphs._result, gates=gates)
