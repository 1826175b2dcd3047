"""The campaign's checks of deep researches: red where something is wrong."""

from dataclasses import replace
from typing import Any

import pytest

from tests.faults.checks import deep
from tests.faults.checks.deep import Deep
from tests.faults.ledger import Write
from tests.unit.faults.rows import assert_told, workflow

ORIGIN = "http://site"
MILL, LOGIN, SECRET = f"{ORIGIN}/mill", f"{ORIGIN}/login", f"{ORIGIN}/secret"


@pytest.mark.parametrize(
    ("hits", "found"),
    [
        ([("/robots.txt", 1.0), ("/mill", 11.0), ("/mill", 12.0)], ""),
        ([("/secret", 11.0)], "/secret was asked for, and approved by nobody"),
        ([("/mill", 9.0)], r"/mill was asked for 1\.00 s before it was approved"),
    ],
)
def test_what_is_asked_for_was_let_in(hits: list[tuple[str, float]], found: str) -> None:
    assert_told(list(deep.only_what_was_let_in(hits, {MILL: 10.0}, ORIGIN)), found)


def inserted(table: str, **row: Any) -> Write:
    return Write(1, table, "INSERT", "running", None, row)


def address(url: str, approval: str, source: int | None = None, fault: str | None = None) -> dict[str, Any]:
    number = (MILL, LOGIN, SECRET).index(url) + 1
    return {
        "number": number,
        "url": url,
        "user_approval": approval,
        "source_id": source,
        "fault": fault,
        "reason": None if fault is None else f"it has the fault {fault}",
        "metadata": {},
    }


def updated(was: dict[str, Any], now: dict[str, Any]) -> Write:
    return Write(1, "url_candidates", "UPDATE", "running", was, now)


def message(step: str, content: str = "done") -> Write:
    return inserted("agent_messages", step=step, content=content)


MESSAGES = [message(step) for step in ("classify_intent", "create_plan", "scrape_urls")]
ANEW = message("build_tree", "tree 3 was changed by others meanwhile, and is left so")
USES = [inserted("workflow_tools", tool_name="scrape_urls", input={"url": url}) for url in (MILL, LOGIN)]
WAITING = address(MILL, "pending")
APPROVED = address(MILL, "approved")
READ = address(MILL, "approved", source=7)
UNREAD = address(LOGIN, "approved", fault="login")
PASTED = address(LOGIN, "approved", source=8) | {"metadata": {"pasted_by": "bob"}}
IN_VAIN = address(LOGIN, "approved", fault="timeout") | {"reason": "the text that was pasted: no end"}
SAVED = {"tool_name": "save_to_database", "input": {"number": 2}, "error_message": None}
WRITES = [
    inserted("url_candidates", **WAITING),
    *MESSAGES,
    *USES,
    updated(WAITING, APPROVED),
    updated(APPROVED, READ),
    inserted("research_sentences", number=1),
    inserted("knowledge_trees", id=3),
    Write(1, "research_tasks", "UPDATE", "running", {"status": "planned"}, {"status": "done"}),
]


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ([], ""),
        ([ANEW, ANEW, message("build_tree")], ""),
        ([updated(UNREAD, PASTED)], ""),
        ([updated(UNREAD, IN_VAIN), updated(IN_VAIN, PASTED)], ""),
        ([updated(PASTED, READ)], "came to .*, and then to"),
        ([updated(UNREAD, address(LOGIN, "approved", source=8))], "came to .*, and then to"),
        ([inserted("workflow_tools", **SAVED | {"error_message": "no end"})] * 2, ""),
        ([inserted("workflow_tools", **SAVED)] * 2, "save_to_database .* is there 2 times"),
        ([message("create_plan")], "the message of create_plan is there 2 times"),
        ([USES[0]], "scrape_urls .* is there 2 times"),
        ([inserted("research_sentences", number=1)], "sentence 1 is there 2 times"),
        ([inserted("knowledge_trees", id=4)], "its tree is there 2 times"),
        ([inserted("url_candidates", **WAITING)], "address .*mill is there 2 times"),
        ([replace(inserted("research_points", point_id=1), status="cancelled")], "while it was cancelled"),
        ([replace(updated(READ, READ), status="succeeded")], "UPDATE while it was succeeded"),
        ([Write(1, "url_candidates", "DELETE", "running", READ)], "a row was lost"),
        ([Write(1, "research_sentences", "UPDATE", "running", {}, {})], "what was told was changed"),
        ([updated(APPROVED, address(MILL, "rejected"))], "mill was approved, and then rejected"),
        ([updated(READ, APPROVED)], r"came to \(7, None\), and then to \(None, None\)"),
        ([updated(READ, address(MILL, "approved", source=8))], "came to .*, and then to"),
        ([updated(address(SECRET, "rejected"), address(SECRET, "rejected", source=9))], "and is rejected"),
    ],
)
def test_rows_are_written_once_while_it_runs_and_none_is_lost(more: list[Write], found: str) -> None:
    assert_told(list(deep.written([*WRITES, *more])), found)


RESULT = {
    "outcome": "done",
    "ended_at": None,
    "pages": 1,
    "sentences": 1,
    "tree_id": 3,
    "missing": [{"number": 2, "url": LOGIN}],
    "left": [],
}
LIST = {
    "kind": "research_urls",
    "status": "approved",
    "at": 5.0,
    "content": {"urls": [{"url": MILL}, {"url": LOGIN}]},
}
TREE = {"kind": "research_tree", "status": "approved", "content": {}}
UNREADABLE = {"kind": "research_unreadable", "status": "rejected", "content": {}}
INSTEAD = {
    "kind": "research_unreadable",
    "status": "approved",
    "at": 9.0,
    "content": {"instead": [{"number": 2, "url": SECRET}, {"number": 2, "pasted": {"text": "Mills"}}]},
}
DONE = [{"step": step, "status": "done"} for step in ("create_plan", "await_user_review", "scrape_urls")]
ONE = Deep(
    number=1,
    workflow=workflow(kind="research", result=RESULT),
    approvals=[LIST, UNREADABLE, TREE],
    candidates=[READ, address(LOGIN, "approved", fault="login"), address(SECRET, "rejected")],
    tasks=DONE,
    sentences=1,
    trees=[3],
)
NO_LIST = {**LIST, "status": "rejected"}
REJECTED = {**RESULT, "outcome": "rejected", "ended_at": "urls", "pages": 0, "missing": []}


def result(**more: Any) -> dict[str, Any]:
    return {"workflow": workflow(kind="research", result={**RESULT, **more})}


@pytest.mark.parametrize(
    ("change", "without", "found"),
    [
        ({}, 0, ""),
        ({"workflow": workflow(kind="research", status="cancelled", result=None), "trees": []}, 9, ""),
        (result(outcome="rejected", ended_at="urls"), 0, "nobody said no"),
        ({"approvals": [LIST, {**TREE, "status": "rejected"}]}, 0, "research_tree was rejected"),
        ({"approvals": [LIST, {**TREE, "status": "expired"}], **result(**REJECTED)}, 0, "tree was expired"),
        ({"approvals": [LIST, {**UNREADABLE, "status": "expired"}, TREE]}, 0, ""),
        ({"approvals": [LIST, INSTEAD, TREE]}, 0, "was let in: .*secret"),
        ({"trees": [], "grows": 3}, 0, ""),
        ({"trees": [], "grows": 4}, 0, "was to grow 4"),
        ({"approvals": [NO_LIST], **result(**REJECTED)}, 0, "was let in: \\[\\]"),
        ({"candidates": [READ]}, 0, "may be read: .*; was let in"),
        ({"candidates": [*ONE.candidates[:2], address(SECRET, "approved", 9)]}, 0, "was let in"),
        ({"candidates": [APPROVED, *ONE.candidates[1:]]}, 0, "nothing has come of .*mill"),
        (result(pages=2), 0, "tells of 2 pages, and has 1"),
        (result(missing=[]), 0, "is missing"),
        (result(outcome="nothing_read"), 0, "came to nothing_read with 1 pages"),
        (result(outcome="nothing_extracted", points=3), 0, "nothing_extracted with 3 points"),
        ({"sentences": 0}, 0, "tells of 1 sentences, and has 0"),
        ({"trees": [3, 4]}, 0, "has \\[3, 4\\]"),
        ({"tasks": [*DONE, {"step": "build_tree", "status": "running"}]}, 0, "are not"),
        ({"tasks": DONE[:2]}, 0, "its agents told of"),
        ({}, 1, "told as read are"),
    ],
)
def test_it_ends_as_it_was_decided(change: dict[str, Any], without: int, found: str) -> None:
    writes = [*MESSAGES, *USES[without:]]
    assert_told(list(deep.ended(replace(ONE, **change), writes)), found)


def test_what_was_given_in_place_of_an_address_is_let_in_from_then_on() -> None:
    one = replace(ONE, approvals=[LIST, INSTEAD, {**INSTEAD, "at": 11.0}, {**INSTEAD, "status": "expired"}])
    assert one.let_in == {MILL: 5.0, LOGIN: 5.0, SECRET: 9.0}


@pytest.mark.parametrize(
    ("change", "writes", "found"),
    [
        ({"candidates": [], "approvals": [TREE]}, MESSAGES, ""),
        ({"approvals": [TREE]}, [], "has .*mill"),
        ({"candidates": []}, [], r"asked for \['research_unreadable', 'research_urls'\]"),
        ({"candidates": [], "approvals": []}, USES, "used .*scrape_urls"),
    ],
)
def test_what_works_on_what_is_held_fetches_nothing(
    change: dict[str, Any], writes: list[Write], found: str
) -> None:
    assert_told(list(deep.nothing_was_fetched(replace(ONE, **change), writes)), found)


@pytest.mark.parametrize(
    ("claims", "found"),
    [(2, ""), (1, r"\['/ice', '/login'\] were asked for after their research was stopped")],
)
def test_nothing_more_is_read_once_it_was_stopped(claims: int, found: str) -> None:
    hits = [("/mill", 1.0), ("/ice", 6.0), ("/other", 6.0), ("/login", 7.0)]
    assert_told(list(deep.read_after_its_stop(hits, {"/mill", "/ice", "/login"}, 5.0, claims)), found)
