"""A kind of workflow, as the runner sees it: a graph, how it begins, what it comes to.

The table of kinds is `actors/workflows.py`; a kind is imported when its first workflow runs.
"""

import importlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from langgraph.graph import StateGraph

from actors.runtime.run import Run


@dataclass(frozen=True)
class Kind:
    """A kind of workflow.

    `build_graph` makes the graph. `begin` turns a run into the graph's first state and the context that
    its nodes get; it runs at every start and restart, so it does nothing that can't be repeated.
    `result` turns the last state into the workflow's result (JSON). `failed` is told why a run ended
    in an error, before the workflow is marked so.
    """

    build_graph: Callable[[], StateGraph[Any, Any, Any, Any]]
    begin: Callable[[Run], Awaitable[tuple[dict[str, Any], Any]]]
    result: Callable[[dict[str, Any]], dict[str, Any]]
    failed: Callable[[Run, str], Awaitable[None]] | None = None


def load_kind(path: str) -> Kind:
    """Import the kind at `module:NAME`."""
    module, _, name = path.partition(":")
    kind = getattr(importlib.import_module(module), name)
    assert isinstance(kind, Kind), f"{path} is not a Kind"
    return kind
