"""Exports as CSV: read back as written, a row for each evidence, and nothing that a spreadsheet computes."""

import csv
import io
import re
from typing import Any

import pytest
from hypothesis import given

from actors.systems.operations.exports.as_csv import COLUMNS, as_csv
from models.operations.exports import ApprovedResults
from models.text import cut, seen
from tests.unit.operations.approved import example, hostile_results

SIGNS = tuple("=+-@\t\n＝＋－＠")
PLAIN = re.compile(r"-\d+(\.\d+)?")


def rows_of(text: str, **more: Any) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), strict=True, **more))


def dicts_of(approved: ApprovedResults) -> list[dict[str, str]]:
    return [dict(zip(COLUMNS, row, strict=True)) for row in rows_of(as_csv(approved))[1:]]


def computed(cell: str) -> bool:
    return cell.strip(" \xa0\u3000").startswith(SIGNS) and not PLAIN.fullmatch(cell)


@given(hostile_results())
def test_no_cell_begins_a_formula_wherever_fields_are_parted(approved: ApprovedResults) -> None:
    text = as_csv(approved)
    assert not [cell for row in rows_of(text) for cell in row if computed(cell)]
    # As Excel takes it where lists are parted by semicolons: quotes within a field are letters there.
    for delimiter in ";\t":
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        assert not [cell for row in lines for cell in row if computed(cell)]
    # And as whoever knows no quotes at all takes it.
    assert not [cell for cell in re.split(r"[;\t\r\n]", text) if computed(cell)]


@given(hostile_results())
def test_there_is_a_row_for_each_match_and_each_conflict(approved: ApprovedResults) -> None:
    results = approved.results
    rows = dicts_of(approved)
    wanted = [(f"K{one.number}", "conflict", one.left, one.right) for one in results.conflicts]
    wanted += [(f"C{one.number}", "match", m.left, m.right) for one in results.matches for m in one.matches]
    assert len(rows) == len(wanted)
    for row, (mark, sort, left, right) in zip(rows, wanted, strict=True):
        assert (row["evidence"], row["row"]) == (mark, sort)
        assert (row["left_item"], row["right_item"]) == (left.item, right.item)
        for side, evidence in (("left", left), ("right", right)):
            assert shown(row[f"{side}_words"]) == shown(evidence.words)
            assert shown(row[f"{side}_place"]) == shown(evidence.path)


def shown(text: str) -> str:
    """A text without what is put before formulas, and with what can be seen alone."""
    flat = seen(text.replace("\r\n", "\n").replace("\r", "\n"))
    return re.sub(r"(?:\A|(?<=[;\t\n]))'(?=\s*[=+\-@＝＋－＠\t\n])", "", flat)


@given(hostile_results())
def test_nothing_in_it_is_unseen_or_steers(approved: ApprovedResults) -> None:
    text = as_csv(approved).replace("\r\n", "\n")
    assert text == seen(text)
    assert "\r" not in text


@given(hostile_results())
def test_the_same_results_make_the_same_file(approved: ApprovedResults) -> None:
    assert as_csv(approved) == as_csv(ApprovedResults.model_validate_json(approved.model_dump_json()))


@pytest.mark.parametrize(
    ("words", "cell"),
    [
        ("4300.0", "4300.0"),
        ("-12.50", "-12.50"),
        ("- 5 %", "'- 5 %"),
        ("=1+1", "'=1+1"),
        ("+48 22 123", "'+48 22 123"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t'=1"),
        ("  =1", "'  =1"),
        ("＝1", "'＝1"),
        ("paid; see mail", "paid; see mail"),
        ("a;=1;b", "a;'=1;b"),
        ("a\r\n=1", "a\n'=1"),
        ("due 2026-06-30, a=b", "due 2026-06-30, a=b"),
        ("x@y.example", "x@y.example"),
        ("a\0\x1b\u202eb", "a  b"),
        ("'=1", "'=1"),
        ("x" * 40_000, cut("x" * 40_000, 20_000)),
    ],
)
def test_words_are_changed_only_where_they_would_be_computed(words: str, cell: str) -> None:
    assert dicts_of(saying(words))[0]["left_words"] == cell


def saying(words: str) -> ApprovedResults:
    """The example, with other words on the left of its conflict."""
    approved = example()
    conflict = approved.results.conflicts[0]
    left = conflict.left.model_copy(update={"words": words})
    results = approved.results.model_copy(update={"conflicts": (conflict.model_copy(update={"left": left}),)})
    return approved.model_copy(update={"results": results})


def test_a_row_says_what_was_approved_and_where_the_evidence_stands() -> None:
    rows = dicts_of(example(mock=True))
    assert [(row["evidence"], row["kind"]) for row in rows] == [
        ("K1", "status"),
        ("C1", "invoice"),
        ("C1", "amount"),
        ("C2", "vendor"),
    ]
    assert rows[0] == {
        "operation_id": "7",
        "iteration": "2",
        "approval_id": "12",
        "approved_by": "anna@site.example",
        "approved_at": "2026-06-30T14:05:07+00:00",
        "evidence": "K1",
        "row": "conflict",
        "kind": "status",
        "about": "invoice NL-2041",
        "explanation": example().results.conflicts[0].explanation,
        "correlation_score": "",
        "match_score": "",
        "mock": "yes",
        "left_agent": "gmail",
        "left_item": "gmail/1",
        "left_server": "gmail_mcp",
        "left_tool": "search_messages",
        "left_call": "1",
        "left_item_place": "/items/0",
        "left_place": "/body",
        "left_words": "was paid on 12 June",
        "left_mock": "yes",
        "right_agent": "accounts_payable",
        "right_item": "accounts_payable/1",
        "right_server": "accounts_payable_mcp",
        "right_tool": "list_bills",
        "right_call": "1",
        "right_item_place": "/items/0",
        "right_place": "/status",
        "right_words": "unpaid",
        "right_mock": "no",
    }
    assert (rows[3]["correlation_score"], rows[3]["match_score"], rows[3]["mock"]) == ("0.8461", "0.96", "no")
