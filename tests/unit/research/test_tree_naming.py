"""Names of nodes: a model's answer is mended until it is one, and without a model there is a name, too."""

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.systems.research.tree.assign_points import empty_tree, grown
from actors.systems.research.tree.editing import edited
from actors.systems.research.tree.naming import named, naming_requests, plain_reply
from actors.systems.research.tree.own_names import distinct, own_names
from models.research.tree_edits import RenameNode
from models.research.trees import MOST_NAME, Tree, TreeMaking, TreeShape, name_key, plain_name
from tests.unit.research.drawn_trees import HOSTILE, a_point, blobs, trees


@pytest.mark.parametrize(
    ("reply", "name"),
    [
        ("Interest rates", "Interest rates"),
        ('  "Interest rates".\n', "Interest rates"),
        ("**Interest rates**", "Interest rates"),
        ("# Interest rates\nThis node is about …", "Interest rates"),
        ("\n\n- „Zinsen“ ", "Zinsen"),
        ("***\n---\nZinsen", "Zinsen"),
        ("C#", "C#"),
        (".NET", ".NET"),
        ("通货膨胀。", "通货膨胀。"),
        ("a\u202eb\0c", "ab c"),
        ("", ""),
        ("…", ""),
        ("\u200d\u200d", ""),
        ("👍", ""),
        ("word " * 50_000, "word " * 14 + "word…"),
    ],
)
def test_a_name_is_found_in_a_reply(reply: str, name: str) -> None:
    assert plain_reply(reply) == name


@given(trees(), st.data())
def test_whatever_a_model_answers_every_node_has_a_name_that_no_sibling_has(
    tree: Tree, data: st.DataObject
) -> None:
    replies = {node.id: data.draw(HOSTILE | st.just("Same")) for node in tree.nodes} | {"none": "x"}
    after = named(tree, replies)
    for before, node in zip(tree.nodes, after.nodes, strict=True):
        assert plain_name(node.name) == node.name
        assert 1 <= len(node.name) <= MOST_NAME
        if before.named_by != "code" or not plain_reply(replies[node.id]):
            assert node == before
        else:
            assert node.named_by == "model"
        assert node.model_copy(update={"name": before.name, "named_by": before.named_by}) == before
    assert named(after, replies) == after


def test_a_name_that_a_sibling_or_the_parent_has_gets_the_nodes_own_in_brackets() -> None:
    vectors, labels = blobs(60, themes=3)
    points = [a_point(place, f"theme{label} said") for place, label in enumerate(labels)]
    tree = grown(empty_tree("t", TreeMaking(shape=TreeShape(leaf_points=4))), points, vectors).tree
    after = named(tree, {node.id: "Economy" for node in tree.nodes})
    first, *others = after.children[None]
    assert first.name == "Economy"
    own = {node.id: node.name for node in tree.nodes}
    assert [node.name for node in others] == [f"Economy ({own[node.id]})" for node in others]
    for node in after.nodes:
        beside = [other for other in after.children[node.parent] if other.id != node.id]
        assert name_key(node.name) not in {name_key(other.name) for other in beside}


def test_a_model_is_asked_with_what_tells_most_of_a_node() -> None:
    vectors, labels = blobs(90, themes=3, noise=0.5)
    points = [a_point(place, f"theme{label} is told of by {place}") for place, label in enumerate(labels)]
    tree = grown(empty_tree("t"), points, vectors).tree
    requests = naming_requests(tree, points, vectors)
    assert [request.node for request in requests] == [node.id for node in tree.nodes]
    levels, below = tree.levels, tree.points_below
    for request in requests:
        texts = {f"theme{labels[point]} is told of by {point}" for point in below[request.node]}
        assert 1 <= len(request.texts) <= 8
        assert set(request.texts) <= texts
        assert len(request.above) == levels[request.node] - 1
        assert request.name not in request.siblings
    assert naming_requests(tree, points[::-1], vectors[::-1]) == requests
    parent = next(request for request in requests if request.below)
    parts = [set(below[child.id]) for child in tree.children[parent.node]]
    told = [int(text.rpartition(" ")[2]) for text in parent.texts[: len(parts)]]
    assert all(point in part for point, part in zip(told, parts, strict=True))  # something of each child


def test_what_somebody_has_named_is_not_asked_for_again() -> None:
    points = [a_point(1), a_point(2)]
    tree = grown(empty_tree("t"), points, numpy.eye(2)).tree
    [node] = tree.nodes
    assert len(naming_requests(tree, points, numpy.eye(2))) == 1
    by_person = edited(tree, [RenameNode(node=node.id, name="Mine")])
    assert naming_requests(by_person, points, numpy.eye(2)) == ()
    assert naming_requests(named(tree, {node.id: "Model's"}), points, numpy.eye(2)) == ()
    assert naming_requests(tree, [], numpy.zeros((0, 2))) == ()


@pytest.mark.parametrize(
    ("texts", "more", "name"),
    [
        (["Inflation rose in Germany", "Inflation fell in Germany"], {}, "germany, inflation"),
        (["Inflacja w Polsce wzrosła", "Inflacja spadła w lipcu"], {}, "inflacja"),
        (["ECB", "ECB", "rates"], {"kind": "entity"}, "ecb"),
        (["something", "else"], {"categories": ("Monetary policy",)}, "monetary policy"),
        (["通货膨胀率上升了", "央行提高了利率"], {}, "通货膨胀率上升了"),
        (["???", "!!!"], {}, "???"),
        (["\u202e", "\0"], {}, "…"),
    ],
)
def test_without_a_model_nodes_are_named_by_what_their_points_share(
    texts: list[str], more: dict[str, str], name: str
) -> None:
    group = [a_point(place, text, **more) for place, text in enumerate(texts)]
    assert [each.casefold() for each in own_names([group], [group[0]], [])] == [name]


def test_words_that_all_siblings_have_tell_less() -> None:
    groups = [
        [a_point(10 * g + n, f"Economy {word} number {n}") for n in range(4)]
        for g, word in enumerate(("taxes", "wages"))
    ]
    first, second = own_names(groups, [group[0] for group in groups], [])
    assert first.startswith("taxes")
    assert second.startswith("wages")


@given(HOSTILE, st.lists(HOSTILE, max_size=15), HOSTILE)
def test_a_distinct_name_is_free_short_and_seen(name: str, others: list[str], more: str) -> None:
    taken = {name_key(distinct(other, ())) for other in others} | {name_key(distinct(name, ()))}
    found = distinct(name, taken, more)
    assert name_key(found) not in taken
    assert plain_name(found) == found
    assert 1 <= len(found) <= MOST_NAME
