"""Segments: their kind by their size, what they find as measured, their files, their plan, their memory."""

import os
import time
from pathlib import Path
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.systems.knowledge.index import faiss_index
from actors.systems.knowledge.index.lru import BoundedCache
from actors.systems.knowledge.index.merge_policy import next_part, to_remove
from actors.systems.knowledge.index.segment_files import SegmentFiles
from models.config.knowledge import EmbeddersConfig, IndexConfig
from models.errors import ModelReplyInvalid
from models.knowledge.passages import IndexSegment
from models.store.knowledge.segments import Filling

SIZE = 32


def settings(**changes: Any) -> IndexConfig:
    given = {"flat_up_to": 200, "ivf_up_to": 1200, "segment_vectors": 5000, "least_recall": 0.9} | changes
    return IndexConfig(
        dir=Path("/nowhere"),
        embedders=EmbeddersConfig(replicas=1, num_cpus=1),
        max_memory_mb=10,
        min_score=0.0,
        **given,
    )


def vectors(count: int, seed: int = 3, size: int = SIZE, spread: float = 0.7) -> Any:
    random = numpy.random.default_rng(seed)
    centres = random.standard_normal((50, size))
    rows = (centres[random.integers(0, 50, count)] + spread * random.standard_normal((count, size))).astype(
        "f4"
    )
    return rows / numpy.linalg.norm(rows, axis=1, keepdims=True)


def numbers(count: int) -> Any:
    return numpy.arange(count, dtype=numpy.int64) * 7 + 1000


@pytest.mark.parametrize(("count", "kind"), [(1, "flat"), (200, "flat"), (1000, "ivf"), (3000, "hnsw")])
def test_the_kind_goes_by_size_and_the_recall_is_true(count: int, kind: str) -> None:
    rows, ids = vectors(count), numbers(count)
    built = faiss_index.build(ids, rows, settings())
    assert built.kind == kind
    # Measured here with other queries, and without any of its code.
    random = numpy.random.default_rng(99)
    few = min(10, count)
    noise = random.standard_normal((300, SIZE))
    noise /= numpy.linalg.norm(noise, axis=1, keepdims=True)
    queries = (rows[random.integers(0, count, 300)] + noise).astype("f4")
    queries /= numpy.linalg.norm(queries, axis=1, keepdims=True)
    _, found = faiss_index.found(built.index, built.kind, queries, few, built.effort)
    right = sum(
        len(set(found[n].tolist()) & set(ids[numpy.argsort(-(rows @ query))[:few]].tolist()))
        for n, query in enumerate(queries)
    )
    assert built.recall >= 0.9
    assert right / (300 * few) == pytest.approx(built.recall, abs=0.035)


def test_effort_is_raised_until_enough_is_found_and_else_all_is_looked_at() -> None:
    rows, ids = vectors(1000, spread=1.3), numbers(1000)
    easy = faiss_index.build(ids, rows, settings(least_recall=0.3))
    hard = faiss_index.build(ids, rows, settings(least_recall=0.85))
    assert easy.effort < hard.effort
    assert (easy.kind, hard.kind) == ("ivf", "ivf")
    # White noise has no lists to be in.
    noise = numpy.random.default_rng(1).standard_normal((1000, 128)).astype("f4")
    noise /= numpy.linalg.norm(noise, axis=1, keepdims=True)
    built = faiss_index.build(ids, noise, settings(least_recall=1.0))
    assert (built.kind, built.recall) == ("flat", 1.0)


def test_a_query_of_another_model_is_refused() -> None:
    built = faiss_index.build(numbers(5), vectors(5), settings())
    with pytest.raises(ModelReplyInvalid, match="gave 8 numbers, but the index has 32"):
        faiss_index.found(built.index, "flat", vectors(1, size=8), 3, 1)


def segment(files: SegmentFiles, count: int, kind: str = "flat", **changes: Any) -> IndexSegment:
    written = files.write(1, faiss_index.make(kind, numbers(count), vectors(count)))  # type: ignore[arg-type]
    given = {"id": 1, "project_id": 1, "kind": kind, "vectors": count, "recall": 1.0, "effort": 8}
    return IndexSegment.model_validate(given | written._asdict() | {"made_with": "m"} | changes)


@pytest.mark.parametrize("kind", ["flat", "ivf", "hnsw"])
@pytest.mark.parametrize("mapped", [False, True])
def test_a_file_gives_what_was_written(tmp_path: Path, kind: Any, mapped: bool) -> None:
    files = SegmentFiles(tmp_path)
    one = segment(files, 900, kind)
    index = files.read(one, mapped=mapped)
    queries = vectors(4, seed=5)
    scores, ids = faiss_index.found(index, kind, queries, 5, 64)
    same_scores, same = faiss_index.found(
        faiss_index.make(kind, numbers(900), vectors(900)), kind, queries, 5, 64
    )
    assert ids.tolist() == same.tolist()
    assert scores == pytest.approx(same_scores, abs=1e-5)


def test_a_damaged_file_is_none(tmp_path: Path) -> None:
    files = SegmentFiles(tmp_path)
    one = segment(files, 50)
    path = tmp_path / one.file
    whole = path.read_bytes()
    for damaged in (whole[:-1], whole[:100] + bytes([whole[100] ^ 1]) + whole[101:], b""):
        path.write_bytes(damaged)
        assert files.read(one) is None
    path.unlink()
    assert files.read(one) is None
    path.write_bytes(whole)
    assert files.read(one) is not None


def test_only_what_is_old_and_named_by_nothing_is_swept(tmp_path: Path) -> None:
    files = SegmentFiles(tmp_path)
    named, young, old = (segment(files, 5) for _ in range(3))
    draft = tmp_path / "1" / ".x.faiss.tmp"
    draft.write_bytes(b"")
    for path in (tmp_path / named.file, tmp_path / old.file, draft):
        os.utime(path, (time.time() - 500, time.time() - 500))
    assert files.sweep({named.file}, older_than_seconds=100) == 2
    assert {path.name for path in (tmp_path / "1").iterdir()} == {
        Path(named.file).name,
        Path(young.file).name,
    }


def filling(number: int, living: int, vectors: int | None = None, made_with: str = "m") -> Filling:
    given = {"id": number, "project_id": 1, "kind": "flat", "file": f"1/{number}", "sha256": "", "bytes": 1}
    more = {"recall": 1.0, "effort": 1, "made_with": made_with, "vectors": vectors or living}
    return Filling(IndexSegment.model_validate(given | more), living)


def plan(*fillings: Filling, fresh: int = 0, most: int = 1000, damaged: tuple[str, ...] = ()) -> Any:
    return next_part(fillings, fresh, made_with="m", most=most, damaged=damaged)


def test_what_is_made_next() -> None:
    assert plan() is None
    assert plan(filling(1, 90, 100), filling(2, 500)) is None
    assert plan(fresh=5) == ((), True, 5)
    assert plan(filling(1, 100), filling(2, 15), fresh=10) == ((2,), True, 25)
    assert plan(filling(1, 50), filling(2, 15), fresh=10) == ((2, 1), True, 75)
    assert plan(filling(1, 15), fresh=5000) == ((), True, 1000)
    assert plan(filling(1, 990), filling(2, 15), fresh=500) == ((2,), True, 515)
    # Worn by a fifth, or without its file; of another model, not at all.
    assert plan(filling(1, 79, 100)) == ((1,), False, 79)
    assert plan(filling(1, 100), damaged=("1/1",)) == ((1,), False, 100)
    assert plan(filling(1, 10, 100, made_with="other")) is None
    fillings = [filling(1, 0, 9), filling(2, 9, made_with="other"), filling(3, 99, made_with="other")]
    assert to_remove([*fillings, filling(4, 1)], "m", few=10) == [1, 2]


@given(st.lists(st.integers(1, 400), min_size=1, max_size=60))
def test_segments_stay_few_and_all_passages_are_in_one(batches: list[int]) -> None:
    sizes: dict[int, int] = {}
    built = 0
    for number, fresh in enumerate(batches):
        part = plan(*(filling(n, size) for n, size in sizes.items()), fresh=fresh, most=10_000)
        for gone in part.segment_ids:
            del sizes[gone]
        sizes[number] = part.passages
        built += part.passages
    assert sum(sizes.values()) == sum(batches)
    assert len(sizes) <= numpy.log2(sum(batches)) / numpy.log2(1.5) + 3
    assert built <= sum(batches) * (numpy.log2(sum(batches)) + 2)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 60)), max_size=40))
def test_no_more_is_held_than_may_be(asked: list[tuple[int, int]]) -> None:
    held = BoundedCache(100)
    sizes: dict[int, int] = {}
    for key, size in asked:
        held.put(key, str(key), size)
        sizes[key] = size
        assert held.get(key) == str(key)
        assert held.bytes == sum(sizes[n] for n in range(10) if n in held) <= 100


def test_the_least_used_goes_first() -> None:
    held = BoundedCache(100)
    for key in "abc":
        held.put(key, key, 30)
    held.get("a")
    held.make_room(40)
    assert [key for key in "abc" if key in held] == ["a", "c"]
    held.put("large", 0, 101)
    assert "large" not in held
