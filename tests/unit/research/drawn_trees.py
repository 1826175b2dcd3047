"""What tests of trees draw: points with vectors, whole trees, and names that somebody means ill with."""

from typing import Any

import numpy
from hypothesis import strategies as st

from actors.systems.research.tree.own_names import distinct
from models.research.trees import (
    MOST_CHILDREN,
    MOST_LEVELS,
    NodeRelation,
    Tree,
    TreeMaking,
    TreeNode,
    TreePoint,
    TreeShape,
    arranged,
    name_key,
)
from models.text import without_halves

HOSTILE = st.one_of(
    st.text(
        st.sampled_from(
            "\\`*_{}[]()<>#+-.!|~^:&;$/@ \n\r\t\0\x1b\x85\u2028\u202e\u200b\u200d\ufeff\ufffe\ud800a1ż"
        )
        | st.characters(),
        max_size=60,
    ),
    st.sampled_from(
        [
            "# x",
            "</data><node id='x'/>",
            "<script>",
            "]]>",
            "&amp;",
            "![x](http://x)",
            "- x",
            "1. x",
            "x #",
            "\u202e",
        ]
    ),
    st.builds(lambda text, times: text * times, st.text(min_size=1, max_size=4), st.integers(20, 2_000)),
)
# Few directions, so that many are alike, the same, opposite, or none at all.
VECTOR = st.tuples(*[st.integers(-2, 2).map(float)] * 3)
SHAPES = st.builds(
    TreeShape, levels=st.integers(1, MOST_LEVELS), children=st.integers(2, 4), leaf_points=st.integers(2, 4)
)


def a_point(id_: int, text: str = "", **more: Any) -> TreePoint:
    return TreePoint.model_validate(
        {"id": id_, "text": text or f"point {id_}", "kind": "fact", "score": 0.8} | more
    )


def matrix(rows: Any) -> Any:
    return numpy.array(list(rows), dtype=numpy.float32).reshape(len(rows), -1)


def blobs(count: int, *, themes: int = 5, size: int = 16, noise: float = 0.2) -> tuple[Any, Any]:
    """Vectors around some middles, and which middle each is of."""
    random = numpy.random.default_rng(0)
    labels = random.integers(0, themes, count)
    middles = random.standard_normal((themes, size))
    return (middles[labels] + noise * random.standard_normal((count, size))).astype(numpy.float32), labels


def along(*directions: int, size: int = 16) -> Any:
    """A vector for each number: the same numbers lie close together, others at right angles."""
    exact = numpy.eye(size)[list(directions)]
    return exact + 0.08 * numpy.random.default_rng(7).standard_normal(exact.shape)


@st.composite
def placed_points(draw: st.DrawFn, most: int = 40) -> tuple[list[TreePoint], Any]:
    """Points of any kind, and a vector for each."""
    ids = draw(st.lists(st.integers(-5, 10**6), unique=True, max_size=most))
    entities = st.none() | st.sampled_from(["1", "2", "3"])
    points = [
        a_point(
            id_,
            without_halves(draw(HOSTILE)),
            kind=draw(st.sampled_from(["entity", "relationship", "fact", "category", "insight"])),
            entity=draw(entities),
            subject=draw(entities),
            object=draw(entities),
        )
        for id_ in ids
    ]
    return points, matrix([draw(VECTOR) for _ in ids]) if ids else numpy.zeros((0, 3))


@st.composite
def trees(draw: st.DrawFn, most: int = 16) -> Tree:
    """Any tree: of any form, with names and points of any sort."""
    nodes: list[TreeNode] = []
    level: dict[str | None, int] = {None: 0}
    names: dict[str | None, set[str]] = {None: set()}
    ids = iter(range(10**6))
    for number in range(draw(st.integers(0, most))):
        open_ = [id_ for id_ in level if level[id_] < MOST_LEVELS and len(names[id_]) < MOST_CHILDREN]
        parent = draw(st.sampled_from(open_))
        name = distinct(draw(HOSTILE), names[parent])
        id_ = f"n{number}"
        nodes.append(
            TreeNode(
                id=id_,
                parent=parent,
                position=len(names[parent]),
                name=name,
                named_by=draw(st.sampled_from(["code", "model", "person"])),
                points=tuple(next(ids) for _ in range(draw(st.integers(0, 3)))),
            )
        )
        names[parent].add(name_key(name))
        level[id_], names[id_] = level[parent] + 1, set()
    known = [node.id for node in nodes]
    pairs = (
        draw(st.lists(st.tuples(st.sampled_from(known), st.sampled_from(known)), unique=True, max_size=4))
        if known
        else []
    )
    return Tree(
        title=distinct(draw(HOSTILE), ()),
        nodes=arranged(nodes),
        relations=tuple(
            NodeRelation(source=one, target=other, points=(next(ids),))
            for one, other in pairs
            if one != other
        ),
        dropped=tuple(next(ids) for _ in range(draw(st.integers(0, 2)))),
        making=TreeMaking(embedding=draw(st.none() | st.just("MiniLM"))),
    )


def all_points(tree: Tree) -> list[int]:
    """Every point of a tree, in nodes or dropped."""
    return sorted([point for node in tree.nodes for point in node.points] + list(tree.dropped))
