"""The editorial kind of workflow, as the runner runs it: one topic, to a filed article."""

from typing import Any

from actors.editorial.files import write_files
from actors.editorial.graph import build_graph
from actors.editorial.steps import EditorialSteps
from actors.runtime.kind import Kind
from actors.runtime.run import Run


async def begin(run: Run) -> tuple[dict[str, Any], EditorialSteps]:
    """The topic on a desk, and the knowledge base up to date with its files."""
    await run.agent("knowledge_base").refresh()
    return {"round": 0, "blocking": 0}, EditorialSteps(run=run)


def result(state: dict[str, Any]) -> dict[str, Any]:
    """What the workflow came to."""
    return {"outcome": state["outcome"], "rounds": state["round"], "blocking": state["blocking"]}


EDITORIAL = Kind(
    build_graph=build_graph,
    begin=begin,
    result=result,
    project=write_files,
    added=frozenset({"terms"}),  # not kept by release 0.1.0
)
