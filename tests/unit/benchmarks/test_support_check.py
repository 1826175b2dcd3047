"""The measuring of support: rates of claims, and how WiCE is read."""

import json
from pathlib import Path

from actors.systems.research.synthesis.support_precheck import FirstLook, Look
from benchmarks.support_check import _folder, _mixed_up, _pairs, _rates, _says_supported, _Seen


def seen(claim: str, label: str, look: Look) -> _Seen:
    return _Seen(claim=claim, label=label, look=FirstLook(look=look, reason=""))


SEEN = [
    seen("a", "supported", "undecided"),
    seen("a", "supported", "supported"),
    seen("b", "supported", "foreign"),
    seen("c", "partially_supported", "supported"),
    seen("d", "not_supported", "undecided"),
]


def test_a_claim_is_taken_for_supported_where_one_of_its_chunks_is() -> None:
    strict = _rates(SEEN, _says_supported)
    assert (strict.precision, strict.recall, strict.f1) == (0.5, 0.5, 0.5)
    partly = _rates(SEEN, _says_supported, partly=True)
    assert (partly.precision, partly.recall) == (1.0, 2 / 3)


def test_nothing_taken_for_supported_is_no_fault_of_division() -> None:
    nothing = _rates(SEEN, lambda one: False)
    assert (nothing.precision, nothing.recall, nothing.f1) == (0.0, 0.0, 0.0)


def test_a_line_is_read_with_what_of_its_marks_is_in_the_chunk(tmp_path: Path) -> None:
    def line(claim: str, title: str, meta: dict[str, object]) -> str:
        return json.dumps(
            {
                "claim": "C.",
                "label": "supported",
                "evidence": ["One.", "", "Two."],
                "meta": {"id": claim, "claim_title": title, "chunk_idx": [3, 4, 9], **meta},
            }
        )

    for part in ("dev", "test"):
        rows = [
            line("x", "X", {"oracle_idx": [9, 70]}),
            line("y", "Y", {"oracle_idx": [3]}),
            line("z", "Z", {}),
        ]
        (tmp_path / f"{part}.jsonl").write_text("\n".join(rows))
    assert _folder(tmp_path) == tmp_path / "."
    assert _folder(tmp_path / "elsewhere") is None
    pairs = list(_pairs(tmp_path / "test.jsonl", quick=False))
    assert [(pair.quotes, pair.marked) for pair in pairs] == [
        (("One.", "Two."), ("Two.",)),
        (("One.", "Two."), ("One.",)),
        (("One.", "Two."), ()),
    ]
    assert [(pair.claim, pair.title, pair.marked) for pair in _mixed_up(pairs)] == [
        ("x", "Y", ("One.",)),
        ("y", "X", ("Two.",)),
    ]
