"""The kind of workflow that drafts an article from what is found for it, as the runner runs it."""

from typing import Any

from actors.drafting.graph import build_graph
from actors.drafting.steps import DraftingSteps
from actors.runtime.kind import Kind
from actors.runtime.run import Run
from models.store.database import Connection


async def begin(run: Run) -> tuple[dict[str, Any], DraftingSteps]:
    """The steps of what was asked for."""
    return {}, DraftingSteps(run=run)


def result(state: dict[str, Any]) -> dict[str, Any]:
    """What the workflow came to (seed 000 §1.5, `analyst_research_task`)."""
    outcome: dict[str, Any] = state["outcome"]
    return outcome


async def failed(connection: Connection, run: Run, reason: str) -> None:
    """Whoever asked is told why there is no text."""
    await DraftingSteps(run=run).fail(connection, reason)


RESEARCH_ARTICLE = Kind(
    build_graph=build_graph,
    begin=begin,
    result=result,
    failed=failed,
    forgotten=frozenset({"failed"}),
)
