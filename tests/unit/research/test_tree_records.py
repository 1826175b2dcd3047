"""A tree's record: what is no tree is refused, and what it counts is so."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from models.research.trees import MOST_NAME, NodeRelation, Tree, TreeNode, arranged, name_key, plain_name
from tests.unit.research.drawn_trees import HOSTILE, all_points, trees


def a_node(id_: str, parent: str | None = None, position: int = 0, **more: Any) -> TreeNode:
    return TreeNode.model_validate({"id": id_, "parent": parent, "position": position, "name": id_} | more)


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        ([a_node("a"), a_node("a", position=1, name="other")], "two nodes have the id a"),
        ([a_node("a", parent="b")], "does not lie below its parent b"),
        ([a_node("a"), a_node("b", position=1), a_node("c", parent="a")], "does not lie below its parent a"),
        ([a_node("a", position=1)], "position 1 and lies at 0"),
        ([a_node("a", name="Ｎａｍｅ"), a_node("b", position=1, name="name")], "the name of a sibling"),
        ([a_node(f"n{n}", position=n) for n in range(13)], "more than 12 nodes lie below the top"),
        ([a_node(f"n{n}", parent=f"n{n - 1}" if n else None) for n in range(6)], "level 6, and there are 5"),
        ([a_node("a", points=(1,)), a_node("b", position=1, points=(1,))], "point 1 is in two nodes"),
    ],
)
def test_what_is_no_tree_is_refused(nodes: list[TreeNode], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Tree(title="t", nodes=tuple(nodes))


def test_relations_join_two_nodes_that_there_are_and_once() -> None:
    nodes = (a_node("a"), a_node("b", position=1))
    for pairs, said in (
        ([("a", "a")], "joins two nodes"),
        ([("a", "c")], "joins two nodes"),
        ([("a", "b")] * 2, "join the same nodes"),
    ):
        relations = tuple(NodeRelation(source=one, target=other, points=(1,)) for one, other in pairs)
        with pytest.raises(ValidationError, match=said):
            Tree(title="t", nodes=nodes, relations=relations)


@pytest.mark.parametrize(
    "name", ["", " ", "\u200d", "a\nb", " a", "a\u202eb", "x" * (MOST_NAME + 1), "\u0301"]
)
def test_a_name_is_one_short_line_that_is_seen(name: str) -> None:
    with pytest.raises(ValidationError):
        a_node("a", name=name)


@given(HOSTILE)
def test_a_cleaned_name_is_clean(text: str) -> None:
    assert plain_name(plain_name(text)) == plain_name(text)
    assert "\n" not in plain_name(text)
    plain_name(text).encode()
    assert name_key(text) == name_key(text)


@pytest.mark.parametrize("points", [(2, 1), (1, 1)])
def test_points_ascend(points: tuple[int, ...]) -> None:
    with pytest.raises(ValidationError, match="ascend"):
        a_node("a", points=points)


@given(trees(), st.randoms(use_true_random=False))
def test_nodes_are_arranged_the_same_whatever_order_they_come_in(tree: Tree, chance: random.Random) -> None:
    mixed = list(tree.nodes)
    chance.shuffle(mixed)
    assert arranged(mixed) == tree.nodes


@pytest.mark.parametrize(
    "nodes", [[a_node("a", parent="b")], [a_node("a", parent="b"), a_node("b", parent="a")]]
)
def test_nodes_without_a_way_to_the_top_are_not_arranged(nodes: list[TreeNode]) -> None:
    with pytest.raises(ValueError, match="circle"):
        arranged(nodes)


@given(trees())
def test_what_a_tree_tells_of_itself_is_so(tree: Tree) -> None:
    meta, below, levels = tree.metadata, tree.points_below, tree.levels
    assert meta.points + meta.dropped == len(all_points(tree))
    assert meta.points == sum(len(below[node.id]) for node in tree.children.get(None, ()))
    assert meta.depth == max(levels.values(), default=0)
    assert sum(meta.named_by.values()) == meta.nodes == len(tree.nodes)
    assert len(tree.edges) == meta.nodes - len(tree.children.get(None, ())) + meta.relations
    assert meta.leaves == sum(node.id not in tree.children for node in tree.nodes)


@given(trees())
def test_a_tree_is_kept_as_json_and_read_again(tree: Tree) -> None:
    assert Tree.model_validate_json(tree.model_dump_json()) == tree
