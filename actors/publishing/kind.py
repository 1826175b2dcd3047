"""The kind of workflow that publishes an article, as the runner runs it."""

from typing import Any

from actors.publishing.graph import build_graph
from actors.publishing.steps import PublishingSteps
from actors.runtime.kind import Kind
from actors.runtime.run import Run
from models.store.content.publishing import GATE
from models.store.database import Connection


async def begin(run: Run) -> tuple[dict[str, Any], PublishingSteps]:
    """The steps for the article."""
    steps = await PublishingSteps.of(run)
    return {"approval_id": steps.approval_id}, steps


def result(state: dict[str, Any]) -> dict[str, Any]:
    """What the workflow came to."""
    return {"decision": state["decision"], "approval_id": state["approval_id"]}


async def failed(connection: Connection, run: Run, reason: str) -> None:
    """An approved article that can't be published goes back to its editor, and its people are told."""
    # On the connection that is given: one that waited for a second would hold up all that do the same.
    await (await PublishingSteps.over(connection, run)).fail(connection, reason)


PUBLISH_ARTICLE = Kind(
    build_graph=build_graph,
    begin=begin,
    result=result,
    gates=frozenset({GATE}),
    failed=failed,
    forgotten=frozenset({"fail"}),
)
