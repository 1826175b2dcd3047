"""The campaign's checks of operations: red where something is wrong."""

from dataclasses import replace
from typing import Any

import pytest

from models.runtime.approvals import content_digest
from tests.faults.checks import operations
from tests.faults.checks.operations import OperationTrail
from tests.faults.ledger import Move, Operated
from tests.faults.people.work import Said
from tests.faults.site.books import BOOKS, BookCall
from tests.unit.faults.rows import assert_told, workflow

AGENTS = ["gmail", "accounts_payable", "crm", "analysis"]
PLAN: dict[str, Any] = {
    "agent_sequence": AGENTS,
    "steps": [
        {"agent": agent, "tools": [{"server": BOOKS[agent], "tool": "search"}] if agent in BOOKS else []}
        for agent in AGENTS
    ],
}
WITHOUT_CRM = {"agent_sequence": [agent for agent in AGENTS if agent != "crm"], "steps": PLAN["steps"]}
NO_TOOLS = {"agent_sequence": AGENTS, "steps": [{**step, "tools": []} for step in PLAN["steps"]]}
FIRST, SECOND = {"iteration": 1, "plan": PLAN}, {"iteration": 2, "plan": PLAN, "reused": ["gmail"]}


def approval(id_: str, kind: str, status: str, at: float | None, content: Any, **more: Any) -> dict[str, Any]:
    row = {"id": id_, "kind": f"operation_{kind}", "status": status, "at": at, "content": content}
    return row | {"answer": None, "decided_by": "bob"} | more


REVISION = {"revision_type": "specific_agents", "target_agents": ["crm"], "feedback": "f2"}
PLAN_YES = approval("1", "plan", "approved", 10.0, {"plan": PLAN})
RESULTS_NO = approval("2", "results", "rejected", 20.0, FIRST, answer=REVISION)
RESULTS_YES = approval("3", "results", "approved", 30.0, SECOND)
REPLAN = {**RESULTS_NO, "answer": {**REVISION, "revision_type": "full_replan"}}


def reading(agent: str, digest: str, iteration: int = 1, status: str = "answered") -> dict[str, Any]:
    use = {"server": BOOKS[agent], "tool": "search", "arguments": {"query": digest}, "status": status}
    result = {"task_digest": digest, "status": "completed", "metadata": {"tool_calls": [use]}}
    return entry("agent_execution", result, iteration=iteration, agent=agent)


def entry(stage: str, result: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"iteration": 1, "stage": stage, "agent": None, "result": result} | {
        "user_feedback": None,
        "by": None,
        **more,
    }


def call(query: str, at: float, book: str = "crm", *, answered: bool = True) -> BookCall:
    return BookCall(book, "qaxaz", query, at, answered)


def asked(gate: str, status: str, agent: str = "crm") -> dict[str, Any]:
    return entry("agent_execution", {"asked": gate, "status": status}, agent=agent, by="bob")


PLANNED = entry(
    "plan_approval", {"status": "approved", "modified": False}, user_feedback="f1", by="bob", agent=None
)
REVISED = entry(
    "final_approval",
    {"status": "rejected", "revision_type": "specific_agents", "target_agents": ["crm"]},
    user_feedback="f2",
    by="cleo",
)
TAKEN = entry(
    "final_approval",
    {"status": "approved", "revision_type": "none", "target_agents": []},
    user_feedback="f3",
    by="dan",
)
READ = [reading("gmail", "g"), reading("crm", "c")]
HISTORY = [PLANNED, *READ, REVISED, reading("crm", "c", 2), TAKEN]
RESULT = {"outcome": "completed", "iteration": 2, "approval_id": "3"}


def moved(before: str, after: str) -> Move:
    return Move("w", 1.0, before, after, 1, 2)


ONE = OperationTrail(
    number=1,
    workflow=workflow(kind="operation", result=RESULT),
    approvals=[PLAN_YES, RESULTS_NO, RESULTS_YES],
    history=HISTORY,
    iterations={1: FIRST, 2: SECOND},
    calls=[call("g", 11.0, "mail"), call("c", 12.0), call("c", 21.0)],
    moves=[moved("queued", "running"), moved("running", "waiting"), moved("running", "succeeded")],
    keys=["plan/1", "read/gmail/1", "read/crm/1", "told/crm/1", "read/crm/2", "analysis/1"],
)
CRASHED = [*ONE.moves, moved("running", "running")]
CANCELLED = workflow(kind="operation", status="cancelled", result=None)


def test_a_good_one_is_told_of_by_nobody() -> None:
    assert_told(list(operations.calls_were_approved(ONE)), "")
    assert_told(list(operations.calls_were_told(ONE)), "")
    assert_told(list(operations.read_for_a_reason(ONE)), "")
    assert_told(list(operations.ended_as_decided(ONE)), "")


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"calls": [call("c", 9.0)]}, "crm was called for 'c', and no approved plan has that"),
        ({"approvals": []}, "no approved plan has that"),
        ({"approvals": [{**PLAN_YES, "status": "rejected"}]}, "no approved plan has that"),
        ({"approvals": [{**PLAN_YES, "at": None}]}, "no approved plan has that"),
        ({"approvals": [{**PLAN_YES, "content": {"plan": WITHOUT_CRM}}]}, "crm was called"),
        ({"approvals": [{**PLAN_YES, "content": {"plan": NO_TOOLS}}]}, "mail was called"),
        ({"calls": [call("c", 31.0)]}, "were called after its plan was done with"),
        ({"calls": [call("c", 31.0)], "moves": CRASHED}, ""),
        ({"calls": [call("c", 31.0)] * 4, "moves": CRASHED}, "were called after its plan was done with"),
        ({"approvals": [PLAN_YES, REPLAN]}, r"\[\('crm', 'c'\)\] were called after its plan"),
        ({"approvals": [PLAN_YES, {**RESULTS_NO, "answer": None}]}, "were called after its plan"),
        ({"approvals": [PLAN_YES, REPLAN, {**PLAN_YES, "at": 20.5}]}, ""),
    ],
)
def test_nobody_is_called_before_the_plan_is_approved(change: dict[str, Any], found: str) -> None:
    assert_told(list(operations.calls_were_approved(replace(ONE, **change))), found)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"calls": ONE.calls[:2]}, "tells 2 times of what .*'c'.* answered 1 times"),
        ({"calls": [*ONE.calls[:2], call("c", 21.0, answered=False)]}, "answered 1 times"),
        ({"calls": [*ONE.calls, call("c", 22.0)]}, "was called 3 times for 2 readings and 0 crashes"),
        ({"calls": [*ONE.calls, call("c", 22.0, answered=False)]}, ""),
        ({"calls": [*ONE.calls, call("c", 22.0)], "moves": CRASHED}, ""),
        ({"calls": [*ONE.calls, call("c", 22.0), call("c", 23.0)], "moves": CRASHED}, "was called 4 times"),
        ({"calls": [*ONE.calls, call("c", 22.0)], "workflow": CANCELLED}, ""),
        ({"calls": [*ONE.calls, call("never told", 22.0)]}, "was called 1 times for 0 readings"),
        ({"history": [reading("crm", "c", status="failed")], "calls": []}, ""),
    ],
)
def test_a_call_is_made_again_after_a_crash_alone(change: dict[str, Any], found: str) -> None:
    assert_told(list(operations.calls_were_told(replace(ONE, **change))), found)


def replanned(status: str = "rejected") -> dict[str, Any]:
    return {**REVISED, "result": {"status": status, "revision_type": "full_replan", "target_agents": []}}


AGAIN = reading("crm", "c", 2)
ONCE_MORE = ["read/gmail/1", "read/crm/1", "read/crm/2"]


@pytest.mark.parametrize(
    ("history", "keys", "found"),
    [
        ([*READ, AGAIN], ONCE_MORE, "crm read the same again in iteration 2"),
        ([*READ, reading("crm", "other", 2)], ONCE_MORE, ""),
        ([*READ, REVISED, reading("gmail", "g", 2)], [], "gmail read the same again"),
        ([*READ, REVISED, AGAIN, AGAIN], [*ONCE_MORE, "read/crm/3"], "crm read the same again"),
        ([*READ, replanned(), reading("gmail", "g"), AGAIN], [*ONCE_MORE, "read/gmail/2"], ""),
        ([*READ, replanned("approved"), AGAIN], ONCE_MORE, "crm read the same again"),
        ([*READ, asked("review", "rejected"), AGAIN], ONCE_MORE, ""),
        ([*READ, asked("review", "approved"), AGAIN], ONCE_MORE, "crm read the same again"),
        ([*READ, asked("question", "approved"), AGAIN], ONCE_MORE, ""),
        ([*READ, asked("question", "rejected"), AGAIN], ONCE_MORE, "crm read the same again"),
        ([*READ, asked("question", "approved", "gmail"), AGAIN], ONCE_MORE, "crm read the same again"),
        (READ, ONCE_MORE, "has kept .*'crm': 2"),
        (READ, ["read/gmail/1"], "tells of the readings"),
    ],
)
def test_an_agent_reads_again_for_a_reason(
    history: list[dict[str, Any]], keys: list[str], found: str
) -> None:
    assert_told(list(operations.read_for_a_reason(replace(ONE, history=history, keys=keys))), found)


def said(id_: str, who: str, decision: Any, status: int | None, words: str, **changes: Any) -> Said:
    return Said(id_, who, decision, status, "d", None, changes=changes, feedback=words)


REVISES = {"revision_type": "specific_agents", "target_agents": ["crm"]}
SAID = [
    said("1", "bob", "approve", 200, "f1"),
    said("2", "cleo", "reject", 200, "f2", **REVISES),
    said("3", "dan", "approve", 200, "f3"),
    said("3", "bob", "reject", 409, "f4", **REVISES),
    said("3", "bob", "approve", None, "f5"),
]
CHANGED_PLAN = {**PLANNED, "result": {"status": "approved", "modified": True}}


@pytest.mark.parametrize(
    ("change", "spoken", "found"),
    [
        ({}, SAID, ""),
        ({"history": [*HISTORY, TAKEN]}, SAID, "is in its history 2 times"),
        ({"history": HISTORY[:-1]}, SAID, "dan said of operation_results was taken, and is not"),
        ({"history": HISTORY[:-1], "workflow": CANCELLED}, SAID, ""),
        ({}, [replace(one, status=409) for one in SAID], "answered with 409, and is in its history"),
        ({}, [replace(one, status=None) for one in SAID], ""),
        ({}, [replace(SAID[0], who="eve")], "is told as bob's approved"),
        ({}, [replace(SAID[0], decision="reject")], r"\(reject\) is told as bob's approved"),
        ({}, [replace(SAID[0], decision="modify")], "is told as modified: False"),
        ({"history": [CHANGED_PLAN, *HISTORY[1:]]}, SAID, "is told as modified: True"),
        ({}, [replace(SAID[0], approval_id="3")], "is told at plan_approval"),
        ({}, [replace(SAID[1], changes={**REVISES, "target_agents": ["gmail"]})], "is told as .*'crm'"),
        ({}, [replace(SAID[1], changes={"revision_type": "analysis_only"})], "is told as"),
        ({"history": [*HISTORY, asked("review", "approved")]}, SAID, "3 decisions, .* tells of 4"),
        ({"history": HISTORY[:-1]}, SAID[:2], "3 decisions, .* tells of 2"),
        ({"history": [*HISTORY, asked("review", "approved")], "workflow": CANCELLED}, SAID, "tells of 4"),
    ],
)
def test_each_decision_is_told_once(change: dict[str, Any], spoken: list[Said], found: str) -> None:
    assert_told(list(operations.decisions_are_told(replace(ONE, **change), spoken)), found)


EXPIRED = workflow(kind="operation", result={"outcome": "expired", "iteration": 2, "approval_id": "3"})
LET_PASS = {**RESULTS_YES, "status": "expired"}
OTHER_PLAN = {**PLAN_YES, "content": {"plan": WITHOUT_CRM}}


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"workflow": CANCELLED, "approvals": [], "iterations": {}}, ""),
        ({"workflow": EXPIRED}, "came to expired, and its last gate is approved"),
        ({"approvals": [PLAN_YES, LET_PASS]}, "came to completed, and its last gate is expired"),
        ({"approvals": [PLAN_YES, LET_PASS], "workflow": EXPIRED}, ""),
        ({"approvals": [PLAN_YES, {**RESULTS_YES, "id": "4"}]}, "ended with 3; last was"),
        ({"approvals": [PLAN_YES, {**RESULTS_YES, "status": "rejected"}]}, "last was operation_results rej"),
        ({"approvals": [PLAN_YES]}, "last was operation_plan approved"),
        ({"iterations": {1: FIRST, 2: FIRST}}, "keeps other results than were approved"),
        ({"iterations": {1: FIRST, 2: None}}, "keeps other results than were approved"),
        ({"approvals": [RESULTS_YES]}, "nobody approved a plan"),
        ({"approvals": [PLAN_YES, OTHER_PLAN, RESULTS_YES]}, "is not the one that was approved last"),
    ],
)
def test_it_ends_with_what_was_approved(change: dict[str, Any], found: str) -> None:
    assert content_digest(FIRST) != content_digest(SECOND)
    assert_told(list(operations.ended_as_decided(replace(ONE, **change))), found)


@pytest.mark.parametrize(
    ("row", "found"),
    [
        (Operated(1, "operation_history", "INSERT", "running"), ""),
        (Operated(1, "operation_iterations", "UPDATE", "running"), ""),
        (Operated(1, "operation_history", "INSERT", "cancelled"), "INSERT while it was cancelled"),
        (Operated(1, "operations", "UPDATE", "succeeded"), "UPDATE while it was succeeded"),
        (Operated(1, "operation_history", "UPDATE", "running"), r"was told was changed \(UPDATE\)"),
        (Operated(1, "operation_iterations", "DELETE", "running"), r"was told was changed \(DELETE\)"),
    ],
)
def test_it_writes_while_it_runs(row: Operated, found: str) -> None:
    assert_told(list(operations.written_while_running([row])), found)


@pytest.mark.parametrize(
    ("times", "found"),
    [
        ([11.0, 21.0, 26.9], ""),
        ([27.1] * 3, ""),
        ([27.1] * 4, "were called after its cancel was answered"),
    ],
)
def test_nobody_is_called_once_it_was_cancelled(times: list[float], found: str) -> None:
    one = replace(ONE, calls=[call("c", at) for at in times])
    assert_told(list(operations.called_after_its_cancel(one, 25.0, hears_within=2.0)), found)
