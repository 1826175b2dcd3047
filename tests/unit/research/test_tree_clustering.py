"""Clustering: every point in one leaf, within the limits, the same whatever order points come in."""

import random
import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.systems.research.tree.clustering import Cluster, clusters
from actors.systems.research.tree.linkage import groups, ward
from actors.systems.research.tree.vectors import by_id, near_same
from models.research.trees import TreeShape
from tests.unit.research.drawn_trees import SHAPES, VECTOR, a_point, along, blobs, matrix


def units(vectors: Any) -> Any:
    return by_id([a_point(place) for place in range(len(vectors))], vectors)[1]


def every(found: tuple[Cluster, ...], level: int = 1) -> Iterator[tuple[int, Cluster]]:
    for cluster in found:
        yield level, cluster
        yield from every(cluster.parts, level + 1)


def leaves(found: tuple[Cluster, ...]) -> list[tuple[int, ...]]:
    return [leaf.rows for cluster in found for leaf in cluster.leaves()]


def check(found: tuple[Cluster, ...], vectors: Any, shape: TreeShape, same: float = 0.95) -> None:
    """All that holds of clusters of any vectors."""
    label = near_same(vectors, same).labels.tolist() if len(vectors) else []
    assert sorted(row for leaf in leaves(found) for row in leaf) == list(range(len(vectors)))
    assert len(found) <= shape.children
    for parts in (found, *(cluster.parts for _, cluster in every(found))):
        sizes = [len(part.rows) for part in parts]
        assert sizes == sorted(sizes, reverse=True)
        assert len(parts) <= 2 or min(sizes) > 1  # a stray goes to another part
    for level, cluster in every(found):
        assert level <= shape.levels
        assert cluster.rows
        assert list(cluster.rows) == sorted(cluster.rows)
        assert len(cluster.parts) != 1
        assert len(cluster.parts) <= shape.children
        if cluster.parts:
            assert sorted(row for part in cluster.parts for row in part.rows) == list(cluster.rows)
        elif level < shape.levels:
            assert len({label[row] for row in cluster.rows}) <= shape.leaf_points


@given(st.lists(VECTOR, max_size=60), SHAPES)
def test_every_point_is_in_one_leaf_within_the_limits(rows: list[Any], shape: TreeShape) -> None:
    vectors = units(matrix(rows)) if rows else numpy.zeros((0, 3))
    check(clusters(vectors, shape), vectors, shape)


@given(st.lists(VECTOR, min_size=1, max_size=60), SHAPES, st.integers(1, 4))
def test_there_are_no_more_clusters_at_the_top_than_there_is_room_for(
    rows: list[Any], shape: TreeShape, most: int
) -> None:
    found = clusters(units(matrix(rows)), shape, most=most)
    assert 1 <= len(found) <= most
    assert max(level for level, _ in every(found)) <= shape.levels


@pytest.mark.parametrize("count", [0, 1, 2, 10, 11, 13, 150, 5_000])
def test_any_number_of_points_is_clustered(count: int) -> None:
    vectors = units(blobs(count, themes=40)[0]) if count else numpy.zeros((0, 1))
    shape = TreeShape()
    found = clusters(vectors, shape, same=0.9999)
    check(found, vectors, shape, same=0.9999)
    assert (len(found) > 1) == (count > shape.leaf_points)
    assert max((len(leaf) for leaf in leaves(found)), default=0) <= 3 * shape.leaf_points


@pytest.mark.parametrize("number", [0.0, 1.0, 1e-30, 1e30])
def test_points_that_are_all_the_same_are_one_leaf(number: float) -> None:
    assert leaves(clusters(units(numpy.full((3_000, 4), number)), TreeShape())) == [tuple(range(3_000))]


def test_what_means_the_same_is_never_parted_however_much_there_is_of_it() -> None:
    vectors = units(numpy.repeat(blobs(40, themes=40)[0], 30, axis=0))
    found = leaves(clusters(vectors, TreeShape(), same=0.99))
    for start in range(0, 1_200, 30):
        [leaf] = [leaf for leaf in found if start in leaf]
        assert set(range(start, start + 30)) <= set(leaf)


def test_what_many_sources_say_is_no_theme_by_that() -> None:
    """Themes are those of the different statements, however often one of them is made."""
    vectors, _ = blobs(100, themes=5, noise=0.6)
    often = numpy.concatenate([vectors, *[vectors[:1]] * 200])
    found = clusters(units(often), TreeShape(), same=0.999)
    alone = clusters(units(vectors), TreeShape(), same=0.999)
    assert {tuple(row for row in cluster.rows if row < 100) for cluster in found} == {
        cluster.rows for cluster in alone
    }


def test_what_is_said_often_and_like_nothing_else_is_no_stray() -> None:
    themes = along(*[0] * 15, *[1] * 15, *[2] * 15)
    found = clusters(
        units(numpy.concatenate([themes, *[along(9)] * 15])), TreeShape(leaf_points=12), same=0.99
    )
    assert tuple(range(45, 60)) in {cluster.rows for cluster in found}
    lonely = clusters(units(numpy.concatenate([themes, along(9)])), TreeShape(leaf_points=12), same=0.99)
    assert min(len(cluster.rows) for cluster in lonely) > 1


def test_themes_are_apart_at_the_top() -> None:
    vectors, labels = blobs(400, themes=5)
    found = clusters(units(vectors), TreeShape(), same=0.9999)
    assert sorted({tuple(set(labels[list(cluster.rows)])) for cluster in found}) == [(n,) for n in range(5)]


@given(st.integers(0, 1_000), st.integers(1, 60))
def test_points_that_are_each_others_nearest_share_a_leaf(seed: int, pairs: int) -> None:
    """As the same text in other words is: far from all else, and not so near that it is the same."""
    chance = numpy.random.default_rng(seed)
    firsts = chance.standard_normal((pairs, 48))
    vectors = units(numpy.concatenate([firsts, firsts + 0.05 * chance.standard_normal((pairs, 48))]))
    found = leaves(clusters(vectors, TreeShape(leaf_points=3), same=1.1))
    home = {row: number for number, leaf in enumerate(found) for row in leaf}
    # Of three a leaf may have to be cut where levels are used up; then it is not.
    assert [place for place in range(pairs) if home[place] != home[place + pairs]] == []


@given(st.lists(VECTOR, min_size=2, max_size=40), st.randoms(use_true_random=False), SHAPES)
def test_the_order_in_which_points_come_changes_nothing(
    rows: list[Any], chance: random.Random, shape: TreeShape
) -> None:
    order = list(range(len(rows)))
    chance.shuffle(order)
    points, vectors = by_id([a_point(place) for place in order], matrix([rows[place] for place in order]))
    assert [point.id for point in points] == list(range(len(rows)))
    assert clusters(vectors, shape) == clusters(units(matrix(rows)), shape)


@pytest.mark.heavy
def test_more_points_than_are_linked_at_once_are_clustered_by_their_middles() -> None:
    vectors, labels = blobs(3_000, themes=6)
    order = numpy.random.default_rng(1).permutation(3_000)
    shape = TreeShape()
    found = clusters(units(vectors), shape, same=0.9999)
    check(found, units(vectors), shape, same=0.9999)
    assert {len(set(labels[list(cluster.rows)])) for cluster in found} == {1}
    mixed = by_id([a_point(int(place)) for place in order], vectors[order])[1]
    assert clusters(mixed, shape, same=0.9999) == found


@pytest.mark.heavy
def test_memory_is_linear_in_the_number_of_points() -> None:
    vectors = units(blobs(4_500, themes=60, size=8)[0])
    clusters(vectors[:20], TreeShape())
    tracemalloc.start()
    clusters(vectors, TreeShape(leaf_points=500), same=0.999)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 80 * 2**20  # all with all would take 154 MiB


@given(st.lists(VECTOR, min_size=2, max_size=25))
def test_joins_cost_what_scipy_says(rows: list[Any]) -> None:
    from scipy.cluster.hierarchy import linkage

    vectors = matrix(rows) + numpy.random.default_rng(3).normal(0, 0.01, (len(rows), 3))
    heights = [join.height for join in ward(vectors, numpy.ones(len(rows)))]
    wanted = linkage(vectors.astype(numpy.float64), "ward")[:, 2] ** 2 / 2
    assert heights == pytest.approx(wanted.tolist(), abs=1e-6)


@given(st.lists(st.tuples(VECTOR, st.integers(1, 4)), min_size=2, max_size=15))
def test_a_weight_counts_like_as_many_points(rows: list[Any]) -> None:
    vectors = matrix([row for row, _ in rows]) + numpy.random.default_rng(4).normal(0, 0.1, (len(rows), 3))
    weights = numpy.array([float(weight) for _, weight in rows])
    repeated = numpy.repeat(vectors, weights.astype(int), axis=0)
    one_by_one = [join.height for join in ward(repeated, numpy.ones(len(repeated)))][-len(rows) + 1 :]
    assert [join.height for join in ward(vectors, weights)] == pytest.approx(one_by_one, abs=1e-6)


@given(st.lists(VECTOR, min_size=1, max_size=30), st.data())
def test_groups_are_as_many_as_are_asked_for(rows: list[Any], data: st.DataObject) -> None:
    count = data.draw(st.integers(1, len(rows)))
    found = groups(ward(matrix(rows), numpy.ones(len(rows))), count)
    assert len(found) == count
    assert sorted(place for group in found for place in group) == list(range(len(rows)))
    assert found == sorted(found)


@pytest.mark.parametrize(
    ("ids", "vectors", "said"),
    [
        ([1, 2], [[1.0]], "1 rows for 2 points"),
        ([1], [[float("nan")]], "not finite"),
        ([1], [[float("inf")]], "not finite"),
        ([1, 1], [[1.0], [2.0]], "two have one id"),
        ([1], [1.0], "rows for"),
    ],
)
def test_vectors_that_are_none_are_refused(ids: list[int], vectors: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        by_id([a_point(id_) for id_ in ids], numpy.array(vectors))
