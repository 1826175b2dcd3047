"""The campaign's checks of courses, marches, decisions and streams: red where something is wrong."""

from dataclasses import replace
from typing import Any

import pytest

from models.runtime.approvals import content_digest
from models.runtime.events import Event
from models.runtime.workflows import Workflow
from tests.faults.checks import courses
from tests.faults.checks.decisions import decided
from tests.faults.checks.streams import streams
from tests.faults.people.work import Said
from tests.faults.site.kinds import ACTED, BROKEN
from tests.unit.faults.rows import APPROVAL, PLAN, assert_told, event, workflow

KEPT = ["step/1", "step/2", "act", "after"]
COURSE = [
    event("step.done", step="step/1"),
    event("step.done", step="step/2"),
    event("approval.requested", approval_id="7"),
    event("approval.approved", approval_id="7"),
    event(ACTED, plan=["march"]),
    event("step.done", step="act"),
    event("step.done", step="after"),
]
ACT = COURSE[4]
FREE = workflow(input={"steps": 2, "gated": False, "name": "march"}, result={"done": 2, "decision": None})


def without(*types: str) -> list[Event]:
    return [told for told in COURSE if told.type not in types]


@pytest.mark.parametrize(
    ("of", "told", "approvals", "kept", "found"),
    [
        (workflow(), COURSE, [APPROVAL], KEPT, ""),
        (FREE, without("approval.requested", "approval.approved"), [], KEPT, ""),
        # It never asked; it did one step of many; it left one out, or did them in another order.
        (
            workflow(result={"done": 2, "decision": None}),
            COURSE,
            [],
            KEPT,
            "acted without having been approved",
        ),
        (
            workflow(result={"done": 2, "decision": None}),
            without(ACTED),
            [],
            KEPT[:2],
            "with 0 approvals, not 1",
        ),
        (workflow(result={"done": 1, "decision": "approved"}), COURSE, [APPROVAL], KEPT, "1 steps done of 2"),
        (workflow(), COURSE, [APPROVAL], ["step/1", "act", "after"], r"without \['step/2'\]"),
        (workflow(), [*COURSE[1:2], *COURSE[:1], *COURSE[2:]], [APPROVAL], KEPT, "in the order"),
        # It acted twice, not at all, too early, on something else, or though it was rejected.
        (workflow(), [*COURSE, ACT], [APPROVAL], KEPT, "acted 2 times"),
        (workflow(), without(ACTED), [APPROVAL], KEPT, "acted 0 times"),
        (workflow(), [ACT, *without(ACTED)], [APPROVAL], KEPT, "before it was approved"),
        (workflow(), COURSE, [{**APPROVAL, "content": {"plan": ["other"]}}], KEPT, "approved was"),
        (workflow(), COURSE, [{**APPROVAL, "status": "rejected"}], KEPT, "without having been approved"),
        (workflow(), COURSE, [{**APPROVAL, "status": "rejected"}], KEPT, "took rejected for approved"),
        (workflow(), COURSE, [APPROVAL], KEPT[:3], "did what comes after not at all"),
        (FREE, COURSE, [APPROVAL], KEPT, "with 1 approvals, not 0"),
        (workflow(status="cancelled", result=None), COURSE[:4], [APPROVAL], KEPT[:2], ""),
        (workflow(status="cancelled", result=None), COURSE[:5], [], KEPT[:3], "without having been approved"),
    ],
)
def test_a_march_does_what_it_was_told(
    of: Workflow, told: list[Event], approvals: list[dict[str, Any]], kept: list[str], found: str
) -> None:
    assert_told(list(courses.march(of, told, approvals, kept)), found)


@pytest.mark.parametrize(
    ("types", "fine"),
    [
        ("queued running succeeded", True),
        ("queued running failed queued running succeeded", True),
        ("queued cancelled running", True),
        ("queued running", False),
        ("queued running succeeded succeeded", False),
        ("queued running succeeded running", False),
        ("queued running succeeded queued running succeeded", False),
        ("queued running failed running succeeded", False),
    ],
)
def test_a_workflow_ends_once_unless_it_failed_and_was_begun_again(types: str, fine: bool) -> None:
    assert fine == (not list(courses.course([f"workflow.{name}" for name in types.split()])))


@pytest.mark.parametrize(
    ("epochs", "found"), [((1, 3, 4), ""), ((1, 1), "told as"), ((3, 1), "told as"), ((), "")]
)
def test_claims_are_told_in_order(epochs: tuple[int, ...], found: str) -> None:
    told = [event("workflow.running", epoch=epoch) for epoch in epochs]
    assert_told(list(courses.claims_in_order(told)), found)


@pytest.mark.parametrize(
    ("of", "was_stopped", "found"),
    [
        (workflow(), False, ""),
        (workflow(), True, "was stopped, and is succeeded"),
        (workflow(status="cancelled", error="cancelled by root"), True, ""),
        (workflow(status="cancelled", error="cancelled by root"), False, ""),
        (workflow(status="cancelled", error=None), False, "stopped by nobody"),
        (workflow(status="failed", error="Postgres is away"), False, "no fault of its own"),
        (workflow(status="failed", error="no reply validated"), False, "no fault of its own"),
        (workflow(status="failed", kind="editorial", error="no reply validated"), False, ""),
    ],
)
def test_nothing_fails_for_no_fault_of_its_own(of: Workflow, was_stopped: bool, found: str) -> None:
    assert_told(list(courses.verdict(of, was_stopped=was_stopped)), found)


def test_what_was_kept_at_a_failure_is_kept_still() -> None:
    was = {"step/1": {"at": 1}}
    assert not list(courses.mended("w", was, {**was, BROKEN: {"at": 3}}))
    assert_told(list(courses.mended("w", was, {"step/1": {"at": 2}})), "were made again")
    assert_told(list(courses.mended("w", was, {})), "were made again")
    assert_told(list(courses.mended("w", {BROKEN: 1}, {BROKEN: 1})), "kept though it failed")


SAID = Said("7", "bob", "approve", 200, APPROVAL["digest"], PLAN)
REFUSED = replace(SAID, who="cleo", status=409)
OTHER = {"plan": ["other"]}
ASKED = [event("approval.requested", approval_id="7"), event("approval.approved", approval_id="7")]


@pytest.mark.parametrize(
    ("approval", "said", "told", "of", "found"),
    [
        ({}, [SAID, REFUSED], ASKED, {}, ""),
        ({}, [replace(SAID, status=None)], ASKED, {}, ""),
        ({}, [SAID, replace(REFUSED, stale=True, digest="x")], ASKED, {}, ""),
        # Acknowledged and lost; taken twice; taken from somebody else; taken from nobody.
        ({"status": "pending"}, [SAID], ASKED[:1], {}, "bob was told approved"),
        ({"status": "rejected"}, [SAID], ASKED, {}, "bob was told approved"),
        ({}, [SAID, replace(SAID, who="cleo")], ASKED, {}, "2 decisions were taken"),
        ({"decided_by": "dan"}, [SAID], ASKED, {}, "by dan; bob was told approved"),
        ({}, [REFUSED], ASKED, {}, "nobody decided so"),
        ({}, [replace(SAID, status=None, decision="reject")], ASKED, {}, "nobody decided so"),
        # It was for something else than was shown.
        ({}, [replace(SAID, digest="x")], ASKED, {}, "decided on x, it is for"),
        ({}, [replace(SAID, shown=OTHER)], ASKED, {}, "was shown {'plan': \\['other'\\]}"),
        ({"content": OTHER}, [SAID], ASKED, {}, "not what its digest is of"),
        (
            {"content": OTHER, "digest": content_digest(OTHER)},
            [SAID],
            ASKED,
            {},
            "was shown {'plan': \\['march'\\]}",
        ),
        (
            {},
            [SAID, replace(SAID, who="cleo", stale=True, digest="x")],
            ASKED,
            {},
            "else than was shown got 200",
        ),
        ({}, [SAID, replace(REFUSED, status=500)], ASKED, {}, "cleo got 500"),
        # Told twice, or not; asked twice; its workflow took it for something else, or has left it open.
        ({}, [SAID], [*ASKED, ASKED[1]], {}, "was told as"),
        ({}, [SAID], ASKED[:1], {}, "was told as"),
        ({}, [SAID], [ASKED[0], *ASKED], {}, "asked for 2 times"),
        ({}, [SAID], ASKED, {"result": {"decision": "rejected"}}, "took it for rejected"),
        ({"status": "void"}, [], ASKED[:1], {}, "nobody stopped its workflow"),
        ({"status": "void"}, [], ASKED[:1], {"status": "cancelled"}, ""),
        ({"status": "pending"}, [], ASKED[:1], {"status": "failed"}, "it still waits"),
    ],
)
def test_a_decision_is_applied_once_and_to_what_was_shown(
    approval: dict[str, Any], said: list[Said], told: list[Event], of: dict[str, Any], found: str
) -> None:
    assert_told(list(decided({**APPROVAL, **approval}, said, told, workflow(**of))), found)


@pytest.mark.parametrize(
    ("written", "polled", "streamed", "found"),
    [
        ([1, 2, 3], [1, 2, 3], [1, 2, 3], ""),
        ([1, 2, 3], [1, 3], [1, 3], r"was not told of \[2\]"),
        ([1, 2, 3], [1, 2, 2, 3], [1, 2, 2, 3], r"told twice of \[2\]"),
        ([1, 2, 3], [1, 3, 2], [1, 3, 2], "out of order"),
        ([1, 2], [1, 2, 3], [1, 2, 3], r"told of \[3\], which are gone"),
        ([1, 2, 3], [1, 2, 3], [1, 3], r"missed \[2\]"),
        ([1, 2, 3], [1, 2, 3], [1, 2, 3, 3], r"twice \[3\]"),
        ([1, 2, 3], [1, 2, 3], [1, 3, 2], "the stream differs"),
    ],
)
def test_streams_have_no_gap_and_one_order(
    written: list[int], polled: list[int], streamed: list[int], found: str
) -> None:
    assert_told(list(streams(written, polled, polled, streamed)), found)
