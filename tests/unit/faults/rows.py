"""Rows as a good run leaves them, for the tests of the campaign's checks to spoil."""

import re
from datetime import UTC, datetime
from typing import Any

from models.runtime.approvals import content_digest
from models.runtime.events import Event
from models.runtime.workflows import Workflow

_AT = datetime(2026, 1, 1, tzinfo=UTC)


def workflow(**more: Any) -> Workflow:
    """A march of two steps that is gated, was approved and succeeded."""
    given = {
        "id": "w",
        "kind": "march",
        "key": None,
        "input": {"steps": 2, "gated": True, "name": "march"},
        "input_digest": "d",
        "requested_by": "ann",
        "status": "succeeded",
        "epoch": 3,
        "runner_id": None,
        "result": {"done": 2, "decision": "approved"},
        "error": None,
        "parked_for": None,
        "parked_since": None,
        "projection_due": False,
        "permission": None,
        "created_at": _AT,
        "updated_at": _AT,
        "started_at": _AT,
        "finished_at": _AT,
    }
    return Workflow.model_validate({**given, **more})


def event(type_: str, **data: Any) -> Event:
    """An event of that workflow."""
    return Event(id=1, workflow_id="w", type=type_, topic=None, role="reader", person=None, data=data, at=_AT)


def assert_told(wrong: list[str], found: str) -> None:
    """One line at least that matches `found`; none where it is empty."""
    assert bool(wrong) == bool(found), wrong
    assert not found or any(re.search(found, line) for line in wrong), wrong


PLAN = {"plan": ["march"]}
APPROVAL: dict[str, Any] = {
    "id": "7",
    "workflow_id": "w",
    "status": "approved",
    "decided_by": "bob",
    "content": PLAN,
    "digest": content_digest(PLAN),
    "quorum": 1,
}
