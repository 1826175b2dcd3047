"""The campaign's checks of trees that are approved and grow: red where something is wrong."""

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.faults.checks.deep import ANEW, Deep
from tests.faults.checks.trees import kept_as_approved
from tests.faults.ledger import TreeVersion, Write
from tests.unit.faults.rows import assert_told, workflow


def node(id_: str, *points: int, parent: str | None = None, position: int = 0) -> dict[str, Any]:
    return {"id": id_, "parent": parent, "position": position, "name": f"Of {id_}", "points": list(points)}


def tree(*nodes: dict[str, Any], dropped: tuple[int, ...] = ()) -> dict[str, Any]:
    return {"title": "Mills", "nodes": list(nodes), "dropped": list(dropped), "relations": []}


BEFORE = tree(node("a", 1), dropped=(9,))
SHOWN = tree(node("a", 1, 2), node("b", 3, position=1), dropped=(9,))
APPROVED = tree(node("a", 1, 2), node("b", parent="a"), dropped=(3, 9))
GATE = {
    "kind": "research_tree",
    "status": "approved",
    "content": {"tree": {"id": 3} | APPROVED},
    "asked": {"tree": {"id": 3} | SHOWN},
}
ONE = Deep(
    number=1,
    workflow=workflow(kind="research", result={"tree_id": 3}),
    approvals=[GATE],
    candidates=[],
    tasks=[],
    sentences=0,
    trees=[],
    grows=3,
)
KEPT = Write(
    1, "research_tasks", "UPDATE", "running", {}, {"step": "build_tree", "status": "done"}, xact="70"
)
TOLD = Write(
    1, "agent_messages", "INSERT", "running", None, {"content": f"tree 3 {ANEW}, and is left so"}, xact="60"
)
VERSION = TreeVersion(3, BEFORE, APPROVED, "70")
AGAIN = {"approvals": [{**GATE, "content": GATE["asked"]}, GATE]}


def changed(change: Callable[[dict[str, Any]], Any], of: dict[str, Any] = APPROVED) -> dict[str, Any]:
    """A tree after a change of it."""
    change(found := copy.deepcopy(of))
    return found


@pytest.mark.parametrize(
    ("kept", "found"),
    [
        (APPROVED, ""),
        (SHOWN, "node b was approved as .* and is"),
        (changed(lambda t: t["nodes"][0].update(name="Else")), "node a was approved as"),
        (changed(lambda t: t["nodes"][1].update(parent=None)), "node b was approved as"),
        (changed(lambda t: t["nodes"].pop()), "node b was approved as .* and is None"),
        (changed(lambda t: t["dropped"].remove(3)), "approved was .* and there is"),
        (None, "changed by no research, to None"),
    ],
)
def test_what_was_approved_is_what_is_kept(kept: dict[str, Any] | None, found: str) -> None:
    assert_told(list(kept_as_approved([ONE], [replace(VERSION, now=kept)], [KEPT])), found)


@pytest.mark.parametrize(
    ("was", "found"),
    [
        (None, ""),
        (changed(lambda t: t["nodes"].append(node("c", 7, position=1)), BEFORE), r"node c \(Of c\) was lost"),
        (changed(lambda t: t["nodes"][0].update(name="Else"), BEFORE), "node a was .*Else"),
        (changed(lambda t: t["nodes"][0].update(points=[1, 7]), BEFORE), "node a was .*7"),
        (changed(lambda t: t["dropped"].append(8), BEFORE), "were dropped, and came back"),
    ],
)
def test_a_tree_that_grows_loses_nothing(was: dict[str, Any] | None, found: str) -> None:
    assert_told(list(kept_as_approved([ONE], [replace(VERSION, was=was)], [KEPT])), found)


@pytest.mark.parametrize(
    ("change", "versions", "writes", "found"),
    [
        (AGAIN, [VERSION], [KEPT, TOLD], ""),
        (AGAIN, [VERSION], [KEPT], "changed its tree 0 times, and it asked 2 times"),
        ({}, [VERSION], [KEPT, TOLD], "changed its tree 1 times, and it asked 1 times"),
        ({"workflow": workflow(status="cancelled", result=None)}, [], [TOLD], ""),
        ({"approvals": [{**GATE, "status": "rejected"}, GATE]}, [VERSION], [KEPT, TOLD], "it asked again"),
        ({"approvals": [{**GATE, "status": "expired"}]}, [VERSION], [KEPT], "nobody has approved it"),
        ({}, [VERSION, VERSION], [KEPT], r"tells of the tree 3, and kept \[3, 3\]"),
        ({}, [], [KEPT], r"tells of the tree 3, and kept \[\]"),
        ({}, [replace(VERSION, xact="71")], [KEPT], "changed by no research"),
    ],
)
def test_it_is_kept_once_and_asked_about_again_where_others_changed_it(
    change: dict[str, Any], versions: list[TreeVersion], writes: list[Write], found: str
) -> None:
    assert_told(list(kept_as_approved([replace(ONE, **change)], versions, writes)), found)
