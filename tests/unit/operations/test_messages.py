"""What a person is asked over a socket holds all that the digest of its approval covers."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from models.mcp.tool_answers import ServedToolCall, ServerQuestion
from models.operations.events import WorkflowProgressUpdate
from models.operations.messages import Standing, message_of_approval, message_of_standing
from models.operations.questions import AgentQuestion, AgentReview, WriteShown
from models.operations.results import AgentMetadata, AgentResult, ProposedWrite, WriteOutcome
from models.record import Record
from models.runtime.approvals import Approval, content_digest
from tests.unit.operations.approved import example

NOW = datetime(2026, 6, 1, tzinfo=UTC)
ABOUT: dict[str, Any] = {"plan_id": "w1", "question": "Why is INV-7 late?", "iteration": 3, "number": 2}
CALL = ServedToolCall(server="crm", tool="add_note", digest="d" * 64, arguments={"text": "hello"})
WRITE = ProposedWrite(server="crm", tool="add_note", digest="d" * 64, arguments={"text": "x"}, why="because")
RESULT = AgentResult(
    agent="crm",
    status="completed",
    metadata=AgentMetadata(service_used="crm_mcp", data_quality="high", execution_time=1.0),
    task_digest="t",
    iteration=3,
)
QUESTION = AgentQuestion(
    **ABOUT,
    agent="crm",
    kind="server_asks",
    what="Which account?",
    call=CALL,
    server_question=ServerQuestion(
        server="crm",
        tool="add_note",
        key="k",
        message="Which account?",
        requested={"type": "object"},
        url="https://crm.example/sign-in",
        said="half of it is written",
    ),
    given={"account": "a1"},
    declined=True,
)


def approval_of(kind: str, shown: Record, **more: Any) -> Approval:
    """One that waits, for what a gate shows."""
    content = shown.model_dump(mode="json")
    given: dict[str, Any] = {
        "id": "7", "workflow_id": "w1", "gate": "g", "kind": kind, "about": "operation:1", "title": "Asked",
        "content": content, "digest": content_digest(content), "requested_by": "ann",
        "required_scope": "macro:analyst", "four_eyes": False, "quorum": 1, "votes": (), "void_reason": None,
        "status": "pending", "decided_by": None, "notes": None, "created_at": NOW,
        "expires_at": NOW + timedelta(days=1), "decided_at": None,
    }  # fmt: skip
    return Approval(**given | more)


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        ("operation_question", QUESTION),
        ("operation_review", AgentReview(**ABOUT, agent="crm", agent_result=RESULT)),
        ("operation_write", WriteShown(**ABOUT, agent="crm", write=WRITE)),
    ],
)
def test_what_is_asked_about_an_agent_has_all_that_its_digest_covers(kind: str, shown: Record) -> None:
    approval = approval_of(kind, shown)
    found = message_of_approval(approval, at=NOW)
    assert found is not None
    assert found[0] == "user_clarification_request"
    assert content_digest(found[1]["asked"]) == found[1]["digest"] == approval.digest
    assert (found[1]["iteration"], found[1]["agent"], found[1]["request_id"]) == (3, "crm", "7")


def test_whoever_changed_what_is_asked_is_named() -> None:
    asked = QUESTION.model_dump(mode="json")
    found = message_of_approval(
        approval_of("operation_question", QUESTION, asked=asked, amended_by="bob"), at=NOW
    )
    assert found is not None
    assert found[1]["amended_by"] == "bob"


def test_a_request_about_results_leaves_nothing_of_them_out() -> None:
    results = example().results
    written = WriteOutcome(write=WRITE, status="done")
    crm = results.results[-1].model_copy(update={"writes": (written,)})
    results = results.model_copy(update={"results": (*results.results[:-1], crm)})
    found = message_of_approval(approval_of("operation_results", results), at=NOW)
    assert found is not None
    told = json.dumps(found[1], sort_keys=True)
    for part in _parts(results.model_dump(mode="json")):
        assert part in told, part
    assert found[1]["iteration"] == results.iteration
    assert found[1]["comprehensive_results"]["results"][crm.agent]["writes"][0]["status"] == "done"


def _parts(content: dict[str, Any]) -> list[str]:
    """Each field of results, of each agent's and of the analysis, as JSON."""
    agents = [(name, value) for one in content["results"] for name, value in one.items() if name != "agent"]
    rest = [(name, value) for name, value in content.items() if name not in ("results", "analysis", "reused")]
    analysis = [(name, value) for name, value in content["analysis"].items()]
    return [json.dumps({name: value}, sort_keys=True)[1:-1] for name, value in agents + rest + analysis]


@pytest.mark.parametrize(("status", "left"), [("completed", 0.0), ("parked", None), ("failed", None)])
def test_of_what_does_not_go_on_nobody_is_at_work_and_no_time_is_promised(
    status: Standing, left: float | None
) -> None:
    progress = WorkflowProgressUpdate.at_first(7, "w1").model_copy(update={"estimated_remaining": 0.0})
    type_, told = message_of_standing(progress, status, reason="why")
    assert (type_, told["plan_id"], told["current_stage"]) == (progress.type, "w1", "plan_creation")
    assert (told["status"], told["reason"]) == (status, "why")
    assert (told["current_agent"], told["estimated_remaining"]) == (None, left)
