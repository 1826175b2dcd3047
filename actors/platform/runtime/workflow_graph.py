"""What a runner runs of a kind of workflow: its graph, how it begins, what it comes to.

Where it is stands in the kind's row, in its system's `system.py`; runners import them before they claim.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langgraph.graph import StateGraph

from actors.platform.runtime.run import Run
from actors.platform.system import load_named
from models.config import Config
from models.runtime.workflows import Workflow
from models.store.database import Connection


@dataclass(frozen=True)
class WorkflowGraph:
    """The graph of a kind of workflow.

    `build` makes the graph; it is run from its start whenever the workflow is begun or resumed. `begin`
    turns a run into the graph's first state and the context that its nodes get; it does nothing that
    can't be repeated. `result` turns the last state into the workflow's result (JSON).

    `gates` are the names of its graph's gates, each up to a `/` (`plan` of `plan/1`). `failed` does what
    goes with a failure, in the transaction that settles it. `project` makes the files that tell of an ended
    workflow, by their paths, from what is settled: again and again, perhaps, and always the same; they are
    put in their places in that order. `forgotten` are keys of documents that earlier releases kept and
    nobody asks for any more; `added`, keys that they did not keep, which may be made on the way to what they
    did.
    """

    build: Callable[[], StateGraph[Any, Any, Any, Any]]
    begin: Callable[[Run], Awaitable[tuple[dict[str, Any], Any]]]
    result: Callable[[dict[str, Any]], dict[str, Any]]
    gates: frozenset[str] = frozenset()
    failed: Callable[[Connection, Run, str], Awaitable[None]] | None = None
    project: Callable[[Config, Workflow, dict[str, Any]], Awaitable[Mapping[Path, str]]] | None = None
    forgotten: frozenset[str] = frozenset()
    added: frozenset[str] = frozenset()


def load_graph(path: str) -> WorkflowGraph:
    """Import the graph at `module:NAME`."""
    graph = load_named(path)
    assert isinstance(graph, WorkflowGraph), f"{path} is not a WorkflowGraph"
    return graph
