"""The course of each workflow, and of each march: it ends once, as it should, with every step done.

Pure functions over rows of events, workflows, approvals and documents.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from models.runtime.events import Event
from models.runtime.workflows import Workflow
from tests.faults.site.kinds import ACTED, BROKEN

_STARTS_ANEW = {"workflow.running", "step.done"}
_ENDS = {"workflow.succeeded", "workflow.failed", "workflow.cancelled"}
_AGAIN = "workflow.queued"


def verdict(workflow: Workflow, *, was_stopped: bool) -> Iterator[str]:
    """Nothing acknowledged is lost, and nothing fails by an outage. `was_stopped`: that was acknowledged."""
    name = f"{workflow.kind} {workflow.id}"
    # The answer to a stop may have been lost; but somebody must have asked for it.
    if workflow.status == "cancelled" and not (workflow.error or "").startswith("cancelled"):
        yield f"{name} was stopped by nobody: {workflow.error}"
    if was_stopped and workflow.status != "cancelled":
        yield f"{name} was stopped, and is {workflow.status}"
    if workflow.status == "failed" and (
        workflow.kind != "editorial" or "reply" not in (workflow.error or "")
    ):
        yield f"{name} failed for no fault of its own: {workflow.error}"


def course(types: Sequence[str]) -> Iterator[str]:
    """It ends, once, and nothing moves after that; unless it has failed and was begun again."""
    end: str | None = None
    for number, name in enumerate(types):
        if name == _AGAIN and end == "workflow.failed":
            end = None
        elif name in _ENDS and end is not None:
            yield f"ended twice: {types}"
        elif name in _ENDS:
            end = name
        elif name in _STARTS_ANEW and end not in (None, "workflow.cancelled"):
            yield f"went on after its end: {types[number:]}"
    if end is None:
        yield f"was not told to have ended: {types}"


def claims_in_order(told: Sequence[Event]) -> Iterator[str]:
    """Its claims are told in the order in which they were taken, each once."""
    epochs = [event.data["epoch"] for event in told if event.type == "workflow.running"]
    if epochs != sorted(set(epochs)):
        yield f"its claims are told as {epochs}"


def march(
    workflow: Workflow,
    told: Sequence[Event],
    approvals: Sequence[Mapping[str, Any]],
    kept: Collection[str],
) -> Iterator[str]:
    """A march does its steps in order, asks where it is gated, and acts once, if it may, on what was shown.

    Args:
        told: its events, in order.
        approvals: its rows of `approvals`, with `status` and `content`.
        kept: the keys of its documents.
    """
    name, given = f"march {workflow.id}", workflow.input
    acted = [event for event in told if event.type == ACTED]
    types = [event.type for event in told]
    approved = any(approval["status"] == "approved" for approval in approvals)
    if len(acted) > 1:
        yield f"{name} acted {len(acted)} times"
    if acted and given["gated"]:
        if not approved:
            yield f"{name} acted without having been approved"
        elif "approval.approved" not in types[: types.index(ACTED)]:
            yield f"{name} acted before it was approved"
        elif (plan := acted[0].data.get("plan")) != approvals[0]["content"].get("plan"):
            yield f"{name} acted on {plan}, approved was {approvals[0]['content']}"
    if bool(acted) != ("act" in kept):
        yield f"{name} acted {len(acted)} times, its journal says otherwise"
    steps = [event.data["step"] for event in told if event.type == "step.done"]
    marched = [step for step in steps if step.startswith("step/")]
    if marched != [f"step/{number}" for number in range(1, len(marched) + 1)]:
        yield f"{name} did its steps in the order {marched}"
    if workflow.status == "succeeded":
        yield from (f"{name} {odd}" for odd in _success(workflow, len(acted), approvals, kept))


def _success(
    workflow: Workflow, acted: int, approvals: Sequence[Mapping[str, Any]], kept: Collection[str]
) -> Iterator[str]:
    given, result = workflow.input, workflow.result or {}
    decision = result.get("decision")
    if result.get("done") != given["steps"]:
        yield f"succeeded with {result.get('done')} steps done of {given['steps']}"
    if missing := [key for n in range(given["steps"]) if (key := f"step/{n + 1}") not in kept]:
        yield f"succeeded without {missing}"
    expected = 1 if given["gated"] else 0
    if len(approvals) != expected:
        yield f"succeeded with {len(approvals)} approvals, not {expected}"
    elif approvals and decision != approvals[0]["status"]:
        yield f"took {approvals[0]['status']} for {decision}"
    elif not approvals and decision is not None:
        yield f"took a decision that nobody was asked for: {decision}"
    may = not given["gated"] or decision == "approved"
    if acted != may:
        yield f"acted {acted} times, decision {decision}"
    if may != ("after" in kept):
        yield f"did what comes after {'not at all' if may else 'though it was not approved'}"


def mended(workflow_id: str, was: Mapping[str, Any], kept: Mapping[str, Any]) -> Iterator[str]:
    """What was kept when it failed is kept still, and was not made again when it was begun again."""
    if made_again := [key for key, document in was.items() if kept.get(key) != document]:
        yield f"{made_again} of march {workflow_id} were made again when it was begun again"
    if BROKEN in was:
        yield f"{BROKEN} of march {workflow_id} was kept though it failed"
