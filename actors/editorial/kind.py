"""The editorial kind of workflow, as the runner runs it: one topic, to a filed article."""

from typing import Any

from actors.editorial.desk import Desk
from actors.editorial.graph import build_graph
from actors.runtime.kind import Kind
from actors.runtime.run import Run

_STATE_VERSION = 1


async def begin(run: Run) -> tuple[dict[str, Any], Desk]:
    """The topic on a desk, and the knowledge base up to date with its files."""
    await run.directory.agent("knowledge_base").refresh()
    return {"version": _STATE_VERSION, "round": 0, "blocking": 0}, Desk(run=run)


def result(state: dict[str, Any]) -> dict[str, Any]:
    """What the workflow came to."""
    return {"outcome": state["outcome"], "rounds": state["round"], "blocking": state["blocking"]}


async def failed(run: Run, reason: str) -> None:
    """A topic that ended in an error gets its canonical JSON too (seed 004 §7.1, §9)."""
    await Desk(run=run).file_failure(reason)


EDITORIAL = Kind(build_graph=build_graph, begin=begin, result=result, failed=failed)
