"""Who may say yes: as many different people as it takes, and nobody to his own; red where it is not so."""

from dataclasses import replace
from typing import Any

import pytest

from models.runtime.approvals import content_digest
from tests.faults.checks.decisions import decided
from tests.faults.people.work import Said
from tests.unit.faults.rows import APPROVAL, PLAN, assert_told, event, workflow

TWO = {**APPROVAL, "quorum": 2, "decided_by": "cleo"}


def said(who: str, decision: Any = "approve", status: int | None = 200) -> Said:
    return Said("7", who, decision, status, content_digest(PLAN), PLAN)


@pytest.mark.parametrize(
    ("status", "answers", "found"),
    [
        ("approved", [said("bob"), said("cleo")], ""),
        ("approved", [said("bob"), said("cleo", status=None)], ""),
        ("approved", [said("bob"), said("bob", status=409), said("cleo")], ""),
        ("approved", [said("cleo")], "approved by .*, and takes 2"),
        ("approved", [said("cleo"), said("cleo")], "one of them twice"),
        ("rejected", [said("bob"), said("cleo", "reject")], ""),
        ("rejected", [said("bob"), said("dan"), said("cleo", "reject")], "said yes, and it is rejected"),
        ("rejected", [said("bob", "reject"), said("cleo", "reject")], "more than one no"),
        ("approved", [said("bob"), said("cleo"), said("dan", "reject")], "was told rejected"),
    ],
)
def test_it_takes_as_many_different_people(status: str, answers: list[Said], found: str) -> None:
    told = [event(name, approval_id="7") for name in ("approval.requested", f"approval.{status}")]
    ended = workflow(result={"done": 2, "decision": status})
    assert_told(list(decided({**TWO, "status": status}, answers, told, ended)), found)


@pytest.mark.parametrize(
    ("status", "found"), [(403, ""), (None, ""), (200, "asked for it himself"), (409, "himself")]
)
def test_whoever_asked_for_it_is_refused(status: int, found: str) -> None:
    answers = [said("bob"), said("cleo"), replace(said("dan", status=status), own=True)]
    told = [event(name, approval_id="7") for name in ("approval.requested", "approval.approved")]
    assert_told(list(decided(TWO, answers, told, workflow())), found)
