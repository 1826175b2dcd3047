"""The evidence as CSV (RFC 4180), for spreadsheets: a row for each match and each conflict.

A spreadsheet takes what begins with `=` and its kin for a formula, so an apostrophe is put before that; plain
numbers stay. In Poland and Germany fields are parted by `;`, whatever stands in quotes: there, and at each
line and tab within a cell, one is put as well (OWASP, CSV Injection). The JSON form has each text as it is.
"""

import csv
import io
import re

from actors.systems.operations.exports.shown_evidence import (
    EvidencePair,
    EvidenceSide,
    MarkedEvidence,
    conflicts,
    correlations,
)
from models.operations.exports import ApprovedResults
from models.text import cut, seen

# Spreadsheets hold 32,767 characters in a cell, and begin another one with the rest; apostrophes come to it.
_MOST = 20_000
_NUMBER = re.compile(r"-[0-9]{1,15}(?:\.[0-9]{1,15})?")
_FORMULA = re.compile(r"\A(?=[^\S\t\n]*[\t\n])|(?:(?<=[;\t\n])|\A)(?=[^\S\t\n]*[=+\-@＝＋－＠])")
_SIDE = ("agent", "item", "server", "tool", "call", "item_place", "place", "words", "mock")
_Value = str | int | float | None
COLUMNS = (
    "operation_id",
    "iteration",
    "approval_id",
    "approved_by",
    "approved_at",
    "evidence",
    "row",
    "kind",
    "about",
    "explanation",
    "correlation_score",
    "match_score",
    "mock",
    *(f"left_{name}" for name in _SIDE),
    *(f"right_{name}" for name in _SIDE),
)


def as_csv(approved: ApprovedResults) -> str:
    """The evidence with `COLUMNS`, conflicts first, lines ended by CR LF. `evidence` is the mark, as `C1`.

    A file of it needs a byte order mark: without one Excel takes UTF-8 for something else.
    """
    written = io.StringIO(newline="")
    rows = csv.writer(written, lineterminator="\r\n")
    rows.writerow(COLUMNS)
    for one in (*conflicts(approved), *correlations(approved)):
        for pair in one.pairs:
            rows.writerow([_cell(value) for value in _row(approved, one, pair)])
    return written.getvalue()


def _row(approved: ApprovedResults, one: MarkedEvidence, pair: EvidencePair) -> list[_Value]:
    approval = approved.approval
    return [
        approved.operation_id,
        approval.iteration,
        approval.approval_id,
        ", ".join(vote.voter for vote in approval.votes),
        approval.approved_at.isoformat(),
        one.mark,
        "conflict" if one.score is None else "match",
        pair.kind,
        one.about,
        one.explanation,
        one.score,
        pair.score,
        _yes(pair.mock),
        *_side(pair.left),
        *_side(pair.right),
    ]


def _side(side: EvidenceSide) -> list[_Value]:
    values = [getattr(side, name) for name in _SIDE]
    return [_yes(value) if isinstance(value, bool) else value for value in values]


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "no"


def _cell(value: _Value) -> _Value:
    """A text as a spreadsheet shows it: no control characters, and nothing that it would compute."""
    if not isinstance(value, str):
        return value
    text = cut(seen(value.replace("\r\n", "\n").replace("\r", "\n")), _MOST)
    return text if _NUMBER.fullmatch(text) else _FORMULA.sub("'", text)
