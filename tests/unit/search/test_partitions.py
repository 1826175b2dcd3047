"""Vectors in memory: what is nearest, apart by place, while they change."""

import threading
from collections.abc import Iterable

import numpy
import pytest

from actors.platform.search.partitions import Partitions
from models.content.search import Place
from models.errors import ModelReplyInvalid
from models.store.passages import Placed

PUBLISHED = Place(source="article", topic="macro", published_in=frozenset(["macro"]))
WORKING = Place(source="article", topic="macro", published_in=frozenset())
RANDOM = numpy.random.default_rng(7)


def unit(rows: int, dimensions: int = 64) -> numpy.ndarray:
    matrix = RANDOM.normal(size=(rows, dimensions))
    return (matrix / numpy.linalg.norm(matrix, axis=1, keepdims=True)).astype("<f4")


def passage(id_: int, item: int, place: Place = PUBLISHED) -> Placed:
    return Placed(id=id_, kind="article", item_id=item, version=1, place=place)


def put(index: Partitions, placed: Iterable[Placed], matrix: numpy.ndarray) -> None:
    index.change(
        gone=[], placed=list(placed), vectors={n: row.tobytes() for n, row in enumerate(matrix, start=1)}
    )


def everywhere(place: Place) -> bool:
    return True


def test_nearly_all_of_the_nearest_are_found() -> None:
    matrix, queries = unit(5000, 384), unit(30, 384)
    index = Partitions()
    put(index, (passage(n, n) for n in range(1, 5001)), matrix)
    found = 0
    for query in queries:
        exact = set((numpy.argsort(-(matrix @ query))[:10] + 1).tolist())
        hits = index.nearest(query.tolist(), everywhere, limit=10, min_score=-1)
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        assert hits[0].score == pytest.approx(float(matrix[hits[0].id - 1] @ query), abs=1e-3)
        found += len(exact & {hit.id for hit in hits})
    assert found >= 0.95 * 10 * len(queries)


def test_an_item_is_found_once_however_many_passages_crowd_the_top() -> None:
    matrix = unit(300)
    matrix[:250] = matrix[0]  # one article's passages are all nearest
    index = Partitions()
    put(index, (passage(n, 1 if n <= 250 else n) for n in range(1, 301)), matrix)
    hits = index.nearest(matrix[0].tolist(), everywhere, limit=5, min_score=-1)
    assert hits[0].id == 1
    assert len({hit.id for hit in hits}) == 5


def test_only_wanted_places_are_searched_and_moving_leaves_nothing_behind() -> None:
    matrix = unit(2)
    index = Partitions()
    put(index, [passage(1, 1), passage(2, 2, WORKING)], matrix)

    def ids(place: Place) -> set[int]:
        return {hit.id for hit in index.nearest(matrix[0].tolist(), place.__eq__, limit=9, min_score=-1)}

    assert (ids(PUBLISHED), ids(WORKING)) == ({1}, {2})
    moved = passage(2, 2)
    assert index.misplaced([passage(1, 1), moved]) == [moved]
    index.change(gone=[2], placed=[moved], vectors={2: matrix[1].tobytes()})
    assert (ids(PUBLISHED), ids(WORKING)) == ({1, 2}, set())
    index.change(gone=[1, 2, 77], placed=[], vectors={})
    assert (ids(PUBLISHED), len(index), index.items) == (set(), 0, 0)


def test_what_is_far_is_not_found() -> None:
    index = Partitions()
    put(index, [passage(1, 1), passage(2, 2)], numpy.eye(2, 64, dtype="<f4"))
    query = numpy.eye(1, 64, dtype="<f4")[0].tolist()
    assert [hit.id for hit in index.nearest(query, everywhere, limit=9, min_score=0.5)] == [1]


def test_another_models_vectors_are_refused() -> None:
    index = Partitions()
    put(index, [passage(1, 1)], unit(1))
    with pytest.raises(ModelReplyInvalid, match=r"gave 32 numbers, but the search index has 64"):
        index.nearest(unit(1, 32)[0].tolist(), everywhere, limit=1, min_score=0)


def test_searching_while_it_changes() -> None:
    matrix = unit(400)
    index = Partitions()
    put(index, (passage(n, n) for n in range(1, 401)), matrix)
    faults: list[BaseException] = []
    done = threading.Event()

    def search() -> None:
        try:
            while not done.is_set():
                hits = index.nearest(matrix[399].tolist(), everywhere, limit=20, min_score=-1)
                assert hits[0].id == 400
        except Exception as fault:  # noqa: BLE001  # it is the test's to tell
            faults.append(fault)

    threads = [threading.Thread(target=search) for _ in range(2)]
    for thread in threads:
        thread.start()
    for n in range(1, 300):
        index.change(gone=[n], placed=[], vectors={})
        index.change(gone=[], placed=[passage(n, n)], vectors={n: matrix[n - 1].tobytes()})
    done.set()
    for thread in threads:
        thread.join()
    assert faults == []
