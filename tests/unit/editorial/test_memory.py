"""Institutional memory: keys, whole files, one record per key, and nothing swallowed."""

import errno
import hashlib
import json
import multiprocessing
import os
import threading
import unicodedata
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.platform.runtime import outage
from actors.systems.editorial.agents.memory import InstitutionalMemory, cache_key_hash, normalize_query
from models.content.editorial import EvidenceRecord, FactCheckRecord, Verdict
from models.errors import MemoryRecordInvalid, MemoryUnavailable

QUERY = "  Growth  was 3 %\nin 2014 "
NORMALIZED = "growth was 3 % in 2014"


def memory(root: Path) -> InstitutionalMemory:
    return InstitutionalMemory(
        root=root, fact_checking_subdir="fact_checking", evidence_finding_subdir="evidence_finding"
    )


def verdict(rationale: str = "It is so.") -> Verdict:
    return Verdict(concern_id=4, misleading=False, status="KEEP", rationale=rationale)


def fact_check(
    *, timestamp: str = "2026-02-06T23:59:59+00:00", rationale: str = "It is so.", query: str = QUERY
) -> FactCheckRecord:
    normalized = normalize_query(query)
    return FactCheckRecord(
        timestamp=timestamp,
        article_id="fomc/a",
        concern_id=4,
        prompt="…",
        query=query,
        normalized_query=normalized,
        model_name="small",
        kb_index_version="v1",
        cache_key_hash=cache_key_hash("fact_check", normalized, "small", "v1"),
        kb_response="",
        verdict=verdict(rationale),
    )


def evidence(*, index: str) -> EvidenceRecord:
    key = ("evidence_finding", NORMALIZED, "sonar", *([index] if index else []))
    return EvidenceRecord(
        timestamp="2026-02-06T10:00:00Z",
        article_id="fomc/a",
        concern_id=1,
        prompt="…",
        query=QUERY,
        normalized_query=NORMALIZED,
        model_name="sonar",
        cache_key_hash=cache_key_hash(*key),
        perplexity_response="Yes.",
        citations=["https://example.org"],
        verdict=verdict(),
    )


def recall(
    root: Path, *, query: str = QUERY, model: str = "small", index: str = "v1"
) -> FactCheckRecord | None:
    return memory(root).recall_fact_check(query=query, model_name=model, kb_index_version=index)


def files(root: Path) -> list[str]:
    return sorted(str(p.relative_to(root)) for p in root.rglob("*") if p.is_file() and p.name != ".lock")


def test_the_hash_is_the_seeds() -> None:
    expected = hashlib.sha256(b"fact_check|growth|small|v1").hexdigest()[:16]
    assert cache_key_hash("fact_check", "growth", "small", "v1") == expected


def test_a_query_is_normalised() -> None:
    assert normalize_query("  ＧＤＰ\u00a0 Straße\t\n") == "gdp strasse"


@given(st.text())
def test_case_width_and_spacing_do_not_matter(text: str) -> None:
    normalized = normalize_query(text)
    assert normalized == normalize_query(f"  {text}\n")
    assert normalized == normalize_query(unicodedata.normalize("NFKC", text))
    assert "  " not in normalized
    assert normalized == normalized.strip()


def test_a_fact_check_is_kept_and_recalled(tmp_path: Path) -> None:
    record = fact_check()
    assert recall(tmp_path) is None
    memory(tmp_path).remember(record)
    assert files(tmp_path) == [f"fact_checking/2026-02-06/{record.cache_key_hash}.json"]
    assert recall(tmp_path, query="growth WAS 3 %  in 2014") == record


@pytest.mark.parametrize("other", [{"query": "else"}, {"model": "large"}, {"index": "v2"}])
def test_another_key_is_no_hit(tmp_path: Path, other: dict[str, str]) -> None:
    memory(tmp_path).remember(fact_check())
    assert recall(tmp_path, **other) is None


@pytest.mark.parametrize("index", ["", "v1"])
def test_evidence_has_an_index_version_in_its_key_only_when_there_is_one(tmp_path: Path, index: str) -> None:
    record = evidence(index=index)
    memory(tmp_path).remember(record)
    assert files(tmp_path) == [f"evidence_finding/2026-02-06/{record.cache_key_hash}.json"]

    def found(version: str) -> EvidenceRecord | None:
        return memory(tmp_path).recall_evidence(query=QUERY, model_name="sonar", kb_index_version=version)

    assert found(index) == record
    assert found("v1" if index == "" else "") is None


def test_the_date_is_the_timestamps_in_utc(tmp_path: Path) -> None:
    memory(tmp_path).remember(fact_check(timestamp="2026-02-07T00:30:00+02:00"))
    assert files(tmp_path)[0].startswith("fact_checking/2026-02-06/")


def test_the_first_record_stays_also_across_midnight(tmp_path: Path) -> None:
    first = fact_check(rationale="first")
    memory(tmp_path).remember(first)
    memory(tmp_path).remember(fact_check(rationale="same day"))
    memory(tmp_path).remember(fact_check(timestamp="2026-02-07T00:00:01Z", rationale="next day"))
    assert len(files(tmp_path)) == 1
    assert recall(tmp_path) == first


@pytest.mark.parametrize("content", [b"", b"{", b'{"timestamp": "2026"}', b"\xff\xfe", b"null"])
def test_a_broken_file_is_an_error_that_names_it_and_the_remedy(tmp_path: Path, content: bytes) -> None:
    memory(tmp_path).remember(fact_check())
    path = tmp_path / files(tmp_path)[0]
    path.write_bytes(content)
    with pytest.raises(MemoryRecordInvalid, match="Delete the file") as raised:
        recall(tmp_path)
    assert str(path) in str(raised.value)


def test_a_folder_in_a_records_place_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "fact_checking" / "2026-02-06" / f"{fact_check().cache_key_hash}.json").mkdir(parents=True)
    with pytest.raises(MemoryRecordInvalid, match="directory"):
        recall(tmp_path)


def test_a_disk_that_is_away_is_waited_for(tmp_path: Path) -> None:
    (tmp_path / "fact_checking").write_text("a file in the folder's place")
    for use in (lambda: recall(tmp_path), lambda: memory(tmp_path).remember(fact_check())):
        with pytest.raises(MemoryUnavailable, match=r"institutional_memory\.data_dir") as raised:
            use()
        assert (outage.waits_for(raised.value) or "").startswith("institutional memory (")


@pytest.mark.parametrize("number", [errno.EIO, errno.ESTALE, errno.EACCES, errno.ENOSPC])
def test_whatever_a_disk_says_against_reading_or_writing_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    memory(tmp_path).remember(fact_check())

    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "read_bytes", fail)
    with pytest.raises(MemoryUnavailable):
        recall(tmp_path)
    monkeypatch.setattr("actors.systems.editorial.agents.memory.write_atomically", fail)
    with pytest.raises(MemoryUnavailable):
        memory(tmp_path).remember(fact_check(query="another"))


@pytest.mark.parametrize("field", ["normalized_query", "model_name", "kb_index_version", "cache_key_hash"])
def test_a_record_about_something_else_is_no_hit(tmp_path: Path, field: str) -> None:
    """A hash that collides, or a file changed by hand."""
    memory(tmp_path).remember(fact_check())
    path = tmp_path / files(tmp_path)[0]
    path.write_text(json.dumps({**json.loads(path.read_text()), field: "something else"}))
    assert recall(tmp_path) is None


@pytest.mark.parametrize("field", ["normalized_query", "model_name", "cache_key_hash"])
def test_evidence_about_something_else_is_no_hit(tmp_path: Path, field: str) -> None:
    memory(tmp_path).remember(evidence(index="v1"))
    path = tmp_path / files(tmp_path)[0]
    path.write_text(json.dumps({**json.loads(path.read_text()), field: "something else"}))
    assert memory(tmp_path).recall_evidence(query=QUERY, model_name="sonar", kb_index_version="v1") is None


@pytest.mark.parametrize("key", ["../../../etc/x", "", "0123456789ABCDEF", "0" * 15, "0" * 16 + "\n"])
def test_a_key_that_is_no_hash_is_refused(tmp_path: Path, key: str) -> None:
    with pytest.raises(ValueError, match="16 lower-case hex"):
        memory(tmp_path).remember(fact_check().model_copy(update={"cache_key_hash": key}))
    assert files(tmp_path) == []


def test_a_failed_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(MemoryUnavailable, match="No space left"):
        memory(tmp_path).remember(fact_check())
    assert files(tmp_path) == []
    monkeypatch.undo()
    memory(tmp_path).remember(fact_check())
    assert recall(tmp_path) == fact_check()


def _remember_many(root: Path, timestamp: str, author: str, barrier: Barrier) -> None:
    for n in range(40):
        record = fact_check(timestamp=timestamp, query=f"query {n}", rationale=author + "x" * 50_000)
        barrier.wait(timeout=60)
        memory(root).remember(record)


@pytest.mark.heavy
def test_two_processes_leave_one_whole_file_per_key_on_both_sides_of_midnight(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(2)
    moments = {"a": "2026-02-06T23:59:59Z", "b": "2026-02-07T00:00:00Z"}
    writers = [
        context.Process(target=_remember_many, args=(tmp_path, moment, author, barrier))
        for author, moment in moments.items()
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(timeout=120)
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert len(files(tmp_path)) == 40
    for n in range(40):
        record = recall(tmp_path, query=f"query {n}")
        assert record is not None
        assert len(record.verdict.rationale) == 50_001
        assert record.timestamp == moments[record.verdict.rationale[0]]


def test_a_reader_never_sees_half_a_file(tmp_path: Path) -> None:
    done = threading.Event()
    faults: list[MemoryRecordInvalid] = []

    def read() -> None:
        try:
            while not done.is_set():
                recall(tmp_path)
        except MemoryRecordInvalid as error:
            faults.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    for n in range(200):
        for path in tmp_path.rglob("*.json"):
            path.unlink()
        memory(tmp_path).remember(fact_check(rationale=str(n) * 10_000))
    done.set()
    reader.join()
    assert faults == []
