"""The campaign's check of what people made of a gate, and of what they are refused: red where it is wrong."""

from dataclasses import replace
from typing import Any

import pytest

from models.runtime.approvals import content_digest
from tests.faults.checks.changes import made
from tests.faults.checks.decisions import decided
from tests.faults.people.work import Said
from tests.unit.faults.rows import APPROVAL, PLAN, assert_told, event, workflow

SAID = Said("7", "bob", "modify", 200, "d", None)


def node(id_: str, *points: int, parent: str | None = None, name: str = "Mills") -> dict[str, Any]:
    return {"id": id_, "parent": parent, "name": name, "points": list(points)}


def shown(*nodes: dict[str, Any], dropped: tuple[int, ...] = ()) -> dict[str, Any]:
    return {"tree": {"nodes": list(nodes), "dropped": list(dropped)}}


ASKED = shown(node("a", 1), node("b", 2), node("c", 3))
RENAMED, MERGED = (
    {"edit": "rename", "node": "b", "name": "Ice"},
    {"edit": "merge", "into": "a", "nodes": ["c"]},
)
MOVED, DROPPED = {"edit": "move", "node": "b", "under": "a"}, {"edit": "drop", "node": "c"}
A_AND_C = node("a", 1, 3)
ICE = node("b", 2, name="Ice")
LIST = {"urls": [{"number": 1, "url": "mill"}, {"number": 2, "url": "ice"}]}
TEXT = {"number": 4, "pasted": {"text": "Mills", "title": None}}
UNREADABLE = {"unreadable": [{"number": 3}, {"number": 4}], "instead": []}


@pytest.mark.parametrize(
    ("kind", "asked", "changes", "content", "found"),
    [
        ("research_tree", ASKED, {"tree_edits": [RENAMED, MERGED]}, shown(A_AND_C, ICE), ""),
        ("research_tree", ASKED, {"tree_edits": [RENAMED, MERGED]}, shown(ICE, A_AND_C), ""),
        ("research_tree", ASKED, {"tree_edits": [RENAMED]}, ASKED, "bob made .*Ice"),
        (
            "research_tree",
            ASKED,
            {"tree_edits": [MOVED, DROPPED]},
            shown(node("a", 1), node("b", 2, parent="a"), dropped=(3,)),
            "",
        ),
        ("research_tree", ASKED, {"tree_edits": [DROPPED]}, shown(*ASKED["tree"]["nodes"][:2]), "bob made"),
        ("research_urls", LIST, {"remove_urls": [2]}, {"urls": LIST["urls"][:1]}, ""),
        ("research_urls", LIST, {"remove_urls": [2]}, LIST, "bob made"),
        ("research_unreadable", UNREADABLE, {"instead": [TEXT]}, UNREADABLE | {"instead": [TEXT]}, ""),
        ("research_unreadable", UNREADABLE, {"instead": [TEXT]}, UNREADABLE, "bob made"),
        ("research_result", {}, {}, {}, "bob made no change of it"),
    ],
)
def test_what_somebody_made_of_it_is_what_is_approved(
    kind: str, asked: dict[str, Any], changes: dict[str, Any], content: dict[str, Any], found: str
) -> None:
    approval = {"id": 7, "kind": kind, "asked": asked, "content": content}
    assert_told(list(made(replace(SAID, changes=changes), approval)), found)


TAKEN = Said("7", "bob", "approve", 200, content_digest(PLAN), PLAN)
REFUSED = replace(TAKEN, who="cleo", decision="modify", possible=False)
EXPIRED = APPROVAL | {"status": "expired", "decided_by": None}
EVENTS = [event("approval.requested", approval_id="7"), event("approval.approved", approval_id="7")]
PASSED = [EVENTS[0], event("approval.expired", approval_id="7")]


@pytest.mark.parametrize(
    ("status", "found"),
    [(422, ""), (409, ""), (None, ""), (404, "cleo got 404"), (200, "cleo got 200")],
)
def test_a_change_that_cant_be_made_is_refused(status: int | None, found: str) -> None:
    said = [TAKEN, replace(REFUSED, status=status)]
    assert_told(list(decided(APPROVAL, said, EVENTS, workflow())), found)


def test_one_that_can_be_made_is_not() -> None:
    assert_told(list(decided(APPROVAL, [TAKEN, replace(TAKEN, status=422)], EVENTS, workflow())), "got 422")


def test_nobody_decided_what_could_not_be_made() -> None:
    said = [replace(REFUSED, who="bob", status=None)]
    assert_told(list(decided(APPROVAL, said, EVENTS, workflow())), "nobody decided so")


@pytest.mark.parametrize(
    ("let_pass", "told", "found"),
    [(True, PASSED, ""), (False, PASSED, "its time had not passed"), (True, PASSED[:1], "it was told as")],
)
def test_what_expires_had_its_time(let_pass: bool, told: list[Any], found: str) -> None:
    ended = workflow(kind="research", result={})
    assert_told(list(decided(EXPIRED, [], told, ended, let_pass=let_pass)), found)
