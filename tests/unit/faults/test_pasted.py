"""The campaign's checks of texts that are pasted: red where something is wrong."""

import hashlib
from dataclasses import replace
from typing import Any

import pytest

from tests.faults.checks.deep import Deep
from tests.faults.checks.pasted import kept_once
from tests.faults.ledger import Write
from tests.faults.site.pages import UNREADABLE_TEXT
from tests.unit.faults.rows import assert_told, workflow

TEXT = "The guild met on Fridays."


def urn(text: str) -> str:
    return "urn:sha256:" + hashlib.sha256(text.encode()).hexdigest()


def gate(text: str, *, status: str = "approved") -> dict[str, Any]:
    return {
        "kind": "research_unreadable",
        "status": status,
        "decided_by": "bob",
        "content": {
            "unreadable": [{"number": 2}],
            "instead": [{"number": 2, "pasted": {"text": text}}, {"number": 3, "url": "http://site/ice"}],
        },
    }


def told(text: str, by: str = "bob") -> Write:
    given = {"number": 2, "sha256": urn(text).removeprefix("urn:sha256:"), "pasted_by": by}
    now = {"tool_name": "save_to_database", "input": given}
    return Write(1, "workflow_tools", "INSERT", "running", None, now)


PAGE: dict[str, Any] = {"number": 2, "source_id": 7, "metadata": {"pasted_by": "bob"}}
UNREAD: dict[str, Any] = {"number": 2, "source_id": None, "metadata": {}}
SOURCE = {"id": 7, "url": urn(TEXT), "text": TEXT, "author": "bob"}
ONE = Deep(
    number=1,
    workflow=workflow(kind="research", result={}),
    approvals=[gate(UNREADABLE_TEXT), gate(TEXT)],
    candidates=[PAGE, {"number": 1, "source_id": 5, "metadata": {}}],
    tasks=[],
    sentences=0,
    trees=[],
)
WRITES = [told(UNREADABLE_TEXT), told(TEXT)]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ({}, ""),
        ({"url": "urn:sha256:0"}, "source 7 is called urn:sha256:0, and its text is"),
        ({"text": "Another one."}, "and its text is"),
        ({"author": "ann"}, r"source 7 is by ann, and was given by \['bob'\]"),
    ],
)
def test_a_text_is_kept_as_his_who_gave_it(source: dict[str, Any], found: str) -> None:
    assert_told(list(kept_once([ONE], [SOURCE | source], WRITES)), found)


@pytest.mark.parametrize(
    ("change", "writes", "found"),
    [
        ({}, WRITES[1:], "told as kept are"),
        ({}, [*WRITES, told(TEXT)], "told as kept are"),
        ({}, [WRITES[0], told(TEXT, by="ann")], "told as kept are"),
        ({"candidates": [PAGE | {"metadata": {"pasted_by": "ann"}}]}, WRITES, "pasted by ann, and given was"),
        ({"candidates": [PAGE | {"source_id": 8}]}, WRITES, "number 2 is source 8"),
        ({"candidates": [UNREAD]}, WRITES, "pasted by None"),
        ({"approvals": ONE.approvals[:1], "candidates": [UNREAD]}, WRITES[:1], "asked about again are set"),
        ({"approvals": [*ONE.approvals[:1], gate("", status="expired")]}, WRITES[:1], "was pasted by bob"),
        ({"approvals": [], "candidates": [PAGE]}, [], "pasted by bob, and given was None"),
        ({"workflow": workflow(status="cancelled", result=None), "candidates": [UNREAD]}, [], ""),
    ],
)
def test_what_was_given_is_what_is_read(change: dict[str, Any], writes: list[Write], found: str) -> None:
    assert_told(list(kept_once([replace(ONE, **change)], [SOURCE], writes)), found)
