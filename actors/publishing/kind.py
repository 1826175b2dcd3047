"""The kind of workflow that publishes an article, as the runner runs it."""

from typing import Any

from actors.publishing.graph import build_graph
from actors.publishing.press import Press
from actors.runtime.kind import Kind
from actors.runtime.run import Run

_STATE_VERSION = 1


async def begin(run: Run) -> tuple[dict[str, Any], Press]:
    """The approval that was asked for with the workflow."""
    approval_id = await run.asked_for()
    return {"version": _STATE_VERSION, "approval_id": approval_id}, Press(run=run, approval_id=approval_id)


def result(state: dict[str, Any]) -> dict[str, Any]:
    """What the workflow came to."""
    return {"decision": state["decision"], "approval_id": state["approval_id"]}


async def failed(run: Run, reason: str) -> None:
    """An approved article that can't be published goes back to its editor."""
    await Press(run=run, approval_id=await run.asked_for()).fail(reason)


PUBLISH_ARTICLE = Kind(build_graph=build_graph, begin=begin, result=result, failed=failed)
