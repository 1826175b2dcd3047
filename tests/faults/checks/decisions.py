"""Every approval's decision is applied once, as it was acknowledged, and to what was shown.

Pure functions over what people said and the rows of approvals.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from models.runtime.approvals import content_digest
from models.runtime.events import Event
from models.runtime.workflows import Workflow
from tests.faults.people.work import Said

_BECOMES = {"approve": "approved", "modify": "approved", "reject": "rejected"}
_TOLD = {f"approval.{status}" for status in ("approved", "rejected", "expired", "void")}


def decided(
    approval: Mapping[str, Any],
    said: Sequence[Said],
    told: Sequence[Event],
    workflow: Workflow,
    *,
    let_pass: bool = False,
) -> Iterator[str]:
    """What is wrong with an approval.

    Args:
        approval: its row: id, status, decided_by, content, digest, quorum, and `asked` where it was changed.
        said: what people said of it.
        told: the events of its workflow.
        workflow: what waited for it, and has ended.
        let_pass: its time was let pass.
    """
    name, status = f"approval {approval['id']} ({approval['status']})", approval["status"]
    taken = [one for one in said if one.status == 200]
    if approval["quorum"] > 1:
        yield from (f"{name}: {odd}" for odd in _by_several(approval, said))
    elif len(taken) > 1:
        yield f"{name}: {len(taken)} decisions were taken"
    for one in taken:
        is_told_so = status == _BECOMES[one.decision] and approval["decided_by"] == one.who
        if not is_told_so and not (approval["quorum"] > 1 and one.decision == "approve"):
            yield f"{name}: by {approval['decided_by']}; {one.who} was told {_BECOMES[one.decision]}"
        content = approval["content"]
        if one.decision == "modify":  # what he was shown stays beside what he made of it
            content = approval.get("asked") or content
        if one.digest != (wanted := content_digest(content)):
            yield f"{name}: {one.who} decided on {one.digest[:8]}, it is for {wanted[:8]}"
        if one.shown is not None and one.shown != content:
            yield f"{name}: {one.who} was shown {one.shown}, it is for {content}"
    for one in said:
        if one.own:
            if one.status not in (403, None):
                yield f"{name}: {one.who} asked for it himself, said yes to it, and got {one.status}"
            continue
        if one.shown is not None and not one.stale and content_digest(one.shown) != one.digest:
            yield f"{name}: {one.who} was shown a digest that is not that of its content"
        if one.stale and one.status not in (409, None):
            yield f"{name}: a decision on something else than was shown got {one.status}"
        if one.status not in (200 if one.possible else 422, 409, None):
            yield f"{name}: {one.who} got {one.status}"
    if content_digest(approval["content"]) != approval["digest"]:
        yield f"{name}: its content is not what its digest is of"
    if status in _BECOMES.values() and not taken:
        maybe = [one for one in said if one.status is None and not (one.stale or one.own) and one.possible]
        if not any(one.who == approval["decided_by"] and _BECOMES[one.decision] == status for one in maybe):
            yield f"{name}: nobody decided so"
    if status == "expired" and not let_pass:
        yield f"{name}: its time had not passed"
    if status == "void" and workflow.status not in ("cancelled", "failed"):
        yield f"{name}: nobody stopped its workflow, which is {workflow.status}"
    if status == "pending":
        yield f"{name}: it still waits, and its workflow is {workflow.status}"
    tellings = [e for e in told if e.type in _TOLD and e.data.get("approval_id") == approval["id"]]
    # One that goes with its workflow is told of by the workflow's end.
    if (status in _BECOMES.values() or status == "expired") and [e.type for e in tellings] != [
        f"approval.{status}"
    ]:
        yield f"{name}: it was told as {[e.type for e in tellings]}"
    asked = [
        e for e in told if e.type == "approval.requested" and e.data.get("approval_id") == approval["id"]
    ]
    if len(asked) != 1:
        yield f"{name}: it was asked for {len(asked)} times"
    done = (workflow.result or {}).get("decision")
    # A deep research and an operation have several: see `deep` and `operations`.
    if workflow.kind not in ("research", "operation") and workflow.status == "succeeded" and done != status:
        yield f"{name}: its workflow took it for {done}"


def _by_several(approval: Mapping[str, Any], said: Sequence[Said]) -> Iterator[str]:
    """It is approved once so many different people have said yes, and by no fewer; one no is enough."""
    votes = [one.who for one in said if one.decision == "approve" and one.status == 200]
    maybe = {
        one.who
        for one in said
        if one.decision == "approve" and one.status is None and not (one.stale or one.own)
    }
    if len(set(votes)) != len(votes):
        yield f"the yes of {votes} counts, one of them twice"
    if len(votes) >= approval["quorum"] and approval["status"] != "approved":
        yield f"{votes} said yes, and it is {approval['status']}"
    if approval["status"] == "approved" and len({*votes, *maybe}) < approval["quorum"]:
        yield f"it is approved by {votes}, and takes {approval['quorum']}"
    if sum(one.decision == "reject" and one.status == 200 for one in said) > 1:
        yield "more than one no was taken"
