"""Edits of a tree: done as they are said, in order, all or none; and no point is lost."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from actors.systems.research.tree.editing import edited
from models.errors import InputInvalid
from models.research.gate_decisions import Modifications
from models.research.tree_edits import DropNode, MergeNodes, MoveNode, RenameNode
from models.research.trees import MOST_NAME, NodeRelation, Tree, TreeNode
from tests.unit.research.drawn_trees import HOSTILE, all_points, trees

Edits = list[Any]


def a_tree() -> Tree:
    """a(1) over b(2) over c(3), and b2(4); beside a lies d(5) over e(6)."""
    return Tree(
        title="t",
        nodes=(
            TreeNode(id="a", position=0, name="A", points=(1,)),
            TreeNode(id="b", parent="a", position=0, name="B", points=(2,)),
            TreeNode(id="c", parent="b", position=0, name="C", points=(3,)),
            TreeNode(id="b2", parent="a", position=1, name="B2", points=(4,)),
            TreeNode(id="d", position=1, name="D", points=(5,)),
            TreeNode(id="e", parent="d", position=0, name="E", points=(6,)),
        ),
        relations=(
            NodeRelation(source="a", target="d", points=(1,)),
            NodeRelation(source="b", target="d", points=(2,)),
            NodeRelation(source="b", target="b2", points=(4,)),
        ),
    )


def outline(tree: Tree) -> list[tuple[str, str | None, str, tuple[int, ...]]]:
    return [(node.id, node.parent, node.name, node.points) for node in tree.nodes]


@st.composite
def edits_of(draw: st.DrawFn, tree: Tree) -> Edits:
    ids = st.sampled_from([*(node.id for node in tree.nodes), "gone"])
    return draw(
        st.lists(
            st.one_of(
                st.builds(
                    RenameNode,
                    node=ids,
                    name=HOSTILE.map(lambda text: text.encode(errors="replace").decode()),
                ),
                st.builds(MergeNodes, into=ids, nodes=st.lists(ids, min_size=1, max_size=3).map(tuple)),
                st.builds(MoveNode, node=ids, under=st.none() | ids),
                st.builds(DropNode, node=ids),
            ),
            max_size=6,
        )
    )


@given(trees(), st.data())
def test_edits_keep_all_points_or_count_them_as_dropped(tree: Tree, data: st.DataObject) -> None:
    """And each edit does what it would do by itself; the first that can't be is the one that is named."""
    edits = data.draw(edits_of(tree))
    now, done = tree, 0
    try:
        for edit in edits:
            now, done = edited(now, [edit]), done + 1
            assert all_points(now) == all_points(tree)
            if not isinstance(edit, DropNode):
                assert now.dropped == tree.dropped or any(isinstance(each, DropNode) for each in edits[:done])
    except InputInvalid:
        with pytest.raises(InputInvalid, match=rf"^edit {done + 1}: .*; no edit was applied$") as refused:
            edited(tree, edits)
        assert refused.value.facts["edit"] == done + 1
    else:
        after = edited(tree, edits)
        assert outline(after) == outline(now)
        assert set(after.relations) == set(now.relations)
        assert after.dropped == now.dropped


def test_a_node_keeps_its_id_when_it_is_renamed_and_is_named_by_a_person() -> None:
    tree = edited(a_tree(), [RenameNode(node="b", name="  Beta\n*x* ")])
    assert (tree.nodes[1].id, tree.nodes[1].name, tree.nodes[1].named_by) == ("b", "Beta *x*", "person")


def test_a_node_may_be_given_the_name_that_it_has_in_another_case() -> None:
    assert edited(a_tree(), [RenameNode(node="b", name="b")]).nodes[1].name == "b"


def test_merged_nodes_give_their_points_and_children() -> None:
    tree = edited(a_tree(), [MergeNodes(into="d", nodes=("b", "b2"))])
    assert outline(tree) == [
        ("a", None, "A", (1,)),
        ("d", None, "D", (2, 4, 5)),
        ("e", "d", "E", (6,)),
        ("c", "d", "C", (3,)),
    ]
    assert [(each.source, each.target, each.points) for each in tree.relations] == [("a", "d", (1,))]


def test_relations_of_merged_nodes_are_one() -> None:
    [relation] = edited(a_tree(), [MergeNodes(into="a", nodes=("b", "b2"))]).relations
    assert (relation.source, relation.target, relation.points) == ("a", "d", (1, 2))


def test_a_child_may_be_merged_into_its_parent() -> None:
    tree = edited(a_tree(), [MergeNodes(into="a", nodes=("b",))])
    assert outline(tree)[:3] == [("a", None, "A", (1, 2)), ("b2", "a", "B2", (4,)), ("c", "a", "C", (3,))]


def test_a_moved_node_takes_all_below_it_along_and_comes_last() -> None:
    tree = edited(a_tree(), [MoveNode(node="b", under="d"), MoveNode(node="e", under=None)])
    assert [(node.id, node.parent, node.position) for node in tree.nodes] == [
        ("a", None, 0),
        ("b2", "a", 0),
        ("d", None, 1),
        ("b", "d", 0),
        ("c", "b", 0),
        ("e", None, 2),
    ]
    assert edited(tree, [MoveNode(node="a", under=None)]) == tree


def test_a_dropped_node_goes_with_all_below_it_and_its_points_are_counted() -> None:
    tree = edited(a_tree(), [DropNode(node="a")])
    assert [node.id for node in tree.nodes] == ["d", "e"]
    assert (tree.dropped, tree.metadata.dropped, tree.relations) == ((1, 2, 3, 4), 4, ())


def test_a_relationship_that_was_dropped_joins_nothing() -> None:
    nodes = (
        TreeNode(id="a", position=0, name="A"),
        TreeNode(id="b", position=1, name="B"),
        TreeNode(id="c", position=2, name="C", points=(7,)),
    )
    tree = Tree(title="t", nodes=nodes, relations=(NodeRelation(source="a", target="b", points=(7, 8)),))
    assert edited(tree, [DropNode(node="c")]).relations[0].points == (8,)


@pytest.mark.parametrize(
    ("edits", "number", "said"),
    [
        ([RenameNode(node="x", name="N")], 1, "node: the tree has no node x: name one that it has"),
        ([RenameNode(node="b", name=" \u202e\n")], 1, "name: it is empty"),
        ([RenameNode(node="b", name="x" * 81)], 1, f"it has 81 characters, give at most {MOST_NAME}"),
        ([RenameNode(node="b", name="b2")], 1, "a node beside it is named b2: give another, or merge"),
        ([DropNode(node="e"), DropNode(node="e")], 2, r"no node e \(edit 1 dropped it\)"),
        ([DropNode(node="d"), DropNode(node="e")], 2, r"no node e \(edit 1 dropped d\)"),
        (
            [MergeNodes(into="a", nodes=("b",)), MoveNode(node="b", under=None)],
            2,
            r"\(edit 1 merged it into a\)",
        ),
        ([MergeNodes(into="c", nodes=("a",))], 1, "nodes: a lies above c: merge c into a instead"),
        ([MergeNodes(into="a", nodes=("a",))], 1, "nodes: a is named twice"),
        ([MergeNodes(into="a", nodes=("b", "b"))], 1, "nodes: b is named twice"),
        ([MergeNodes(into="x", nodes=("b",))], 1, "into: the tree has no node x"),
        ([MergeNodes(into="a", nodes=("x",))], 1, "nodes: the tree has no node x"),
        ([MoveNode(node="a", under="c")], 1, "under: c is a, or lies below it: move c out of it first"),
        ([MoveNode(node="a", under="a")], 1, "under: a is a, or lies below it"),
        ([MoveNode(node="a", under="x")], 1, "under: the tree has no node x"),
        (
            [RenameNode(node="e", name="b"), MoveNode(node="e", under="a")],
            2,
            "would be named b: rename e or b first",
        ),
        (
            [RenameNode(node="e", name="C"), MergeNodes(into="b", nodes=("d",))],
            2,
            r"two nodes below b \(B\) would be named C",
        ),
        (
            [MoveNode(node="a", under="e"), MoveNode(node="b2", under="c")],
            2,
            "6 levels deep, and 5 are allowed",
        ),
    ],
)
def test_an_edit_that_cannot_be_is_named_by_its_number_with_the_remedy(
    edits: Edits, number: int, said: str
) -> None:
    tree = a_tree()
    with pytest.raises(InputInvalid, match=said) as refused:
        edited(tree, edits)
    assert re.match(rf"edit {number}: .*; no edit was applied$", str(refused.value))
    assert refused.value.facts["edit"] == number
    assert tree == a_tree()


def test_no_more_nodes_come_below_one_than_there_is_room_for() -> None:
    nodes = [TreeNode(id=f"n{n}", position=n, name=f"N{n}") for n in range(12)]
    nodes.insert(1, TreeNode(id="c", parent="n0", position=0, name="C"))
    tree = Tree(title="t", nodes=tuple(nodes))
    with pytest.raises(InputInvalid, match="13 nodes would lie below the top, and there is room for 12"):
        edited(tree, [MoveNode(node="c", under=None)])
    # In their order: once one has gone, there is room.
    after = edited(tree, [MergeNodes(into="n1", nodes=("n2",)), MoveNode(node="c", under=None)])
    assert len(after.children[None]) == 12


@pytest.mark.parametrize(
    "edit",
    [
        {"edit": "rename", "node": "a"},
        {"edit": "merge", "into": "a", "nodes": []},
        {"edit": "delete", "node": "a"},
        {"edit": "drop", "node": "a", "children": "keep"},
        {"edit": "move", "node": "a"},
    ],
)
def test_an_edit_of_another_form_is_refused(edit: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Modifications.model_validate({"tree_edits": [edit]})


@given(trees())
def test_no_edit_changes_nothing(tree: Tree) -> None:
    assert edited(tree, []) == tree
