"""A tree is made and grows: nothing that it has is undone, and the same points again change nothing."""

import random
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.systems.research.tree.assign_points import Growth, empty_tree, grown, node_id
from actors.systems.research.tree.editing import edited
from models.errors import InputInvalid
from models.research.tree_edits import DropNode, RenameNode
from models.research.trees import MOST_CHILDREN, Tree, TreeMaking, TreeNode, TreePoint, TreeShape, plain_name
from tests.unit.research.drawn_trees import (
    HOSTILE,
    SHAPES,
    a_point,
    all_points,
    along,
    blobs,
    matrix,
    placed_points,
)

Placed = tuple[list[TreePoint], Any]


def made(placed: Placed, shape: TreeShape | None = None) -> Tree:
    return grown(empty_tree("What is it?", TreeMaking(shape=shape or TreeShape())), *placed).tree


def some(placed: Placed, places: list[int]) -> Placed:
    return [placed[0][place] for place in places], placed[1][places]


def kept(before: Tree, after: Tree) -> None:
    """That all that a tree had, another one has, too."""
    now = {node.id: node for node in after.nodes}
    for node in before.nodes:
        same = now[node.id]
        assert (same.name, same.named_by, same.parent, same.position) == (
            node.name,
            node.named_by,
            node.parent,
            node.position,
        )
        assert set(node.points) <= set(same.points)
    assert after.dropped == before.dropped


@given(placed_points(), SHAPES)
def test_a_tree_holds_every_point_once_in_its_leaves(placed: Placed, shape: TreeShape) -> None:
    tree = made(placed, shape)
    children = tree.children
    assert all_points(tree) == sorted(point.id for point in placed[0])
    assert tree.metadata.depth <= shape.levels
    for node in tree.nodes:
        assert bool(node.points) != bool(children.get(node.id))
        assert len(children.get(node.id, ())) != 1
    assert max(map(len, children.values()), default=0) <= shape.children


@given(placed_points(), SHAPES, st.randoms(use_true_random=False))
def test_the_same_points_make_the_same_tree_in_whatever_order(
    placed: Placed, shape: TreeShape, chance: random.Random
) -> None:
    order = list(range(len(placed[0])))
    chance.shuffle(order)
    assert made(some(placed, order), shape) == made(placed, shape)


@given(placed_points(), SHAPES, st.data())
def test_what_a_tree_has_stays_when_it_grows_and_the_same_again_changes_nothing(
    placed: Placed, shape: TreeShape, data: st.DataObject
) -> None:
    split = data.draw(st.integers(0, len(placed[0])))
    tree = made(some(placed, list(range(split))), shape)
    if tree.nodes:
        node = data.draw(st.sampled_from(tree.nodes)).id
        tree = edited(tree, [RenameNode(node=node, name="a person's")])
        if data.draw(st.booleans()):
            tree = edited(tree, [DropNode(node=data.draw(st.sampled_from(tree.nodes)).id)])
    below = data.draw(st.sampled_from([None, *(node.id for node in tree.nodes)]))
    order = data.draw(st.permutations(range(len(placed[0]))))
    growth = grown(tree, *some(placed, order), below=below)
    kept(tree, growth.tree)
    assert all_points(growth.tree) == sorted(point.id for point in placed[0])
    new = set(range(split, len(placed[0])))
    assert growth.joined + growth.crowded + growth.gathered == len(new)
    assert {node.id for node in growth.tree.nodes} == {node.id for node in tree.nodes} | set(growth.new)
    assert grown(tree, *placed, below=below) == growth
    again = grown(growth.tree, *placed, below=below)
    assert again == Growth(tree=growth.tree, joined=0, crowded=0, gathered=0, new=())
    if below is not None:
        outside = {node.id: node for node in growth.tree.nodes if node.id not in _below(growth.tree, below)}
        assert [node for node in tree.nodes if node.id in outside] == list(outside.values())


def _below(tree: Tree, top: str) -> set[str]:
    found = {top}
    for node in tree.nodes:
        if node.parent in found:
            found.add(node.id)
    return found


def _two_themes() -> tuple[Tree, list[TreePoint], Any]:
    vectors = along(*[0] * 8, *[1] * 8)
    points = [a_point(place, f"theme {'one' if place < 8 else 'two'}") for place in range(16)]
    return made((points, vectors)), points, vectors


def test_a_point_comes_to_the_node_that_it_is_near_to() -> None:
    tree, points, vectors = _two_themes()
    [node] = [node for node in tree.nodes if 15 in node.points]
    growth = grown(tree, [*points, a_point(99)], numpy.concatenate([vectors, along(1)]))
    [home] = [node.id for node in growth.tree.nodes if 99 in node.points]
    assert (home, growth.joined, growth.new) == (node.id, 1, ())


def test_points_that_are_near_to_no_node_make_a_new_one_after_the_others() -> None:
    tree, points, vectors = _two_themes()
    more = [a_point(place, "theme three") for place in range(90, 95)]
    growth = grown(tree, [*points, *more], numpy.concatenate([vectors, along(*[2] * 5)]))
    assert (growth.gathered, len(growth.new)) == (5, 1)
    assert growth.tree.nodes[-1].points == (90, 91, 92, 93, 94)
    assert growth.tree.nodes[-1].position == 2


def test_a_new_node_has_no_name_that_a_node_beside_it_has() -> None:
    tree, points, vectors = _two_themes()
    said = tree.nodes[0].name
    more = [a_point(place, said, kind="category") for place in range(90, 95)]
    growth = grown(tree, [*points, *more], numpy.concatenate([vectors, along(*[2] * 5)]))
    assert growth.tree.nodes[-1].name == f"{said} (2)"


def test_points_go_below_the_node_that_is_named_even_if_others_are_nearer() -> None:
    tree, points, vectors = _two_themes()
    one = tree.nodes[0].id
    nearer_elsewhere = 1 if 0 in tree.nodes[0].points else 0
    growth = grown(
        tree, [*points, a_point(99)], numpy.concatenate([vectors, along(nearer_elsewhere)]), below=one
    )
    [home] = [node for node in growth.tree.nodes if 99 in node.points]
    assert home.parent == one


def test_an_empty_node_is_filled_before_it_is_divided() -> None:
    tree = Tree(title="t", nodes=(TreeNode(id="a", position=0, name="A"),))
    few = grown(tree, [a_point(1), a_point(2)], along(0, 1), below="a")
    assert [(node.id, node.points) for node in few.tree.nodes] == [("a", (1, 2))]
    assert (few.gathered, few.new) == (2, ())
    many = grown(tree, [a_point(place) for place in range(24)], along(*[0] * 12, *[1] * 12), below="a").tree
    assert many.nodes[0].points == ()
    assert len(many.children["a"]) >= 2


def test_where_there_is_no_room_a_point_comes_to_the_nearest_node() -> None:
    full = Tree(
        title="t",
        nodes=tuple(
            TreeNode(id=f"n{place}", position=place, name=f"N{place}", points=(place,))
            for place in range(MOST_CHILDREN)
        ),
    )
    points = [a_point(place) for place in range(MOST_CHILDREN + 1)]
    far = numpy.eye(16)[[*range(MOST_CHILDREN), 14]] + 0.0
    far[MOST_CHILDREN, 3] = 0.1
    growth = grown(full, points, far)
    assert (growth.crowded, growth.new) == (1, ())
    assert growth.tree.nodes[3].points == (3, MOST_CHILDREN)


def test_at_the_lowest_level_points_come_to_the_node_itself() -> None:
    nodes = tuple(
        TreeNode(id=f"n{level}", parent=f"n{level - 1}" if level else None, position=0, name=f"N{level}")
        for level in range(5)
    )
    growth = grown(Tree(title="t", nodes=nodes), [a_point(1), a_point(2)], along(0, 1), below="n4")
    assert (growth.crowded, growth.tree.nodes[4].points) == (2, (1, 2))


def test_without_room_and_without_a_known_place_it_says_what_to_do() -> None:
    full = Tree(
        title="t", nodes=tuple(TreeNode(id=f"n{n}", position=n, name=f"N{n}") for n in range(MOST_CHILDREN))
    )
    with pytest.raises(InputInvalid, match=r"no room .* category_id"):
        grown(full, [a_point(1)], along(0))


def test_a_node_that_is_not_there_is_named() -> None:
    with pytest.raises(InputInvalid, match="category_id: the tree has no node n1"):
        grown(empty_tree("t"), [], numpy.zeros((0, 3)), below="n1")


def test_what_a_person_dropped_does_not_come_back() -> None:
    tree, points, vectors = _two_themes()
    tree = edited(tree, [DropNode(node=tree.nodes[0].id)])
    assert grown(tree, points, vectors).tree == tree


def test_points_that_are_given_no_more_stay_where_they_are() -> None:
    tree, points, vectors = _two_themes()
    growth = grown(tree, [a_point(99), *points[:3]], numpy.concatenate([along(5), vectors[:3]]))
    kept(tree, growth.tree)
    assert all_points(growth.tree) == [*range(16), 99]


def test_relationships_join_the_nodes_that_name_their_entities() -> None:
    points = [
        *(a_point(place, "ECB", kind="entity", entity="1") for place in range(8)),
        *(a_point(place, "Fed", kind="entity", entity="2") for place in range(8, 16)),
        a_point(20, "Fed", kind="entity", entity="1"),  # named once where others are at home
        a_point(16, "rivals", kind="relationship", subject="1", object="2"),
        a_point(17, "imitates", kind="relationship", subject="1", object="2"),
        a_point(18, "is", kind="relationship", subject="1", object="1"),
        a_point(19, "warns", kind="relationship", subject="2", object="unknown"),
    ]
    vectors = along(*[0] * 8, *[1] * 8, 1, 0, 1, 0, 0)
    tree = made((points, vectors))
    ecb, fed = (next(node.id for node in tree.nodes if place in node.points) for place in (0, 15))
    assert {(each.source, each.target): each.points for each in tree.relations} == {
        (ecb, fed): (16, 17),
        (fed, ecb): (19,),  # whom nobody names is where the relationship is
    }
    assert [(edge.kind, edge.count) for edge in tree.edges if edge.source == ecb] == [("related", 2)]
    # What joined them and is given no more, joins them still.
    later = grown(tree, points[:18], vectors[:18]).tree
    assert later.relations == tree.relations


@given(placed_points(), HOSTILE)
def test_titles_of_any_sort_are_cleaned_or_refused(placed: Placed, title: str) -> None:
    if not plain_name(title[:3_000]):
        with pytest.raises(InputInvalid, match="title: it is empty"):
            empty_tree(title)
    else:
        assert grown(tree := empty_tree(title), *placed).tree.title == tree.title


def test_the_same_points_give_the_same_id_and_another_where_it_is_taken() -> None:
    first = node_id((1, 2), ())
    assert first == node_id((1, 2), ())
    assert first not in {node_id((1, 2), {first}), node_id((12,), ())}
    assert node_id((1, 2), {first}).startswith(first)


@pytest.mark.parametrize("count", [1, 5_000])
def test_a_tree_of_many_points_is_as_large_as_it_should_be(count: int) -> None:
    vectors, labels = blobs(count, themes=40)
    points = [
        a_point(place, f"Topic{label} is told of by source {place}") for place, label in enumerate(labels)
    ]
    tree = made((points, matrix(vectors)))
    assert tree.metadata.points == count
    assert tree.metadata.leaves <= count / 3 + 1
