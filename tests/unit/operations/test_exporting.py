"""The tool that exports: what people approved is exported, to the letter, and nothing else."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from actors.platform.gates.kind_tools import KindTools
from actors.systems.operations.approved import approval_of_results
from actors.systems.operations.exports.as_csv import as_csv
from actors.systems.operations.exports.as_json import as_json
from actors.systems.operations.exports.as_markdown import as_markdown
from actors.systems.operations.tools import exporting
from actors.systems.operations.tools.exporting import (
    ExportOperationRequest,
    ExportOperationResponse,
    approved_of,
    export_operation,
)
from models.errors import ApprovalConflict
from models.operations.operations import Operation
from models.runtime.approvals import Approval, content_digest
from models.store import approval_inbox
from tests.unit.operations.approved import DECIDED, example

OPERATION = Operation(
    id=7,
    workflow_id="5f0c",
    topic="equity",
    name="Bills of Northgate Logistics",
    query="Which bills of Northgate Logistics are paid, and who says so?",
    task_type="comprehensive",
    requested_by="ben@site.example",
    created_at=datetime(2026, 6, 30, 13, 0, tzinfo=UTC),
    request_id=None,
)


def asked(status: str, *, number: int = 12, iteration: int = 2, **more: Any) -> Approval:
    """The approval of an iteration's results."""
    results = example().results.model_copy(update={"iteration": iteration})
    content = results.model_dump(mode="json")
    yes = {"voter": "anna@site.example", "decision": "approve", "notes": "Seen, thank you", "at": DECIDED}
    return Approval.model_validate(
        {
            "id": str(number),
            "workflow_id": "5f0c",
            "gate": f"results/{iteration}",
            "kind": "operation_results",
            "about": "operation:7",
            "title": "The results",
            "content": content,
            "digest": content_digest(content),
            "requested_by": "ben@site.example",
            "required_scope": "equity:analyst",
            "four_eyes": False,
            "quorum": 1,
            "votes": [yes] if status == "approved" else [],
            "void_reason": None,
            "status": status,
            "decided_by": "anna@site.example" if status == "approved" else None,
            "notes": None,
            "created_at": DECIDED - timedelta(minutes=5),
            "expires_at": DECIDED + timedelta(days=14),
            "decided_at": DECIDED if status == "approved" else None,
        }
        | more
    )


def test_exactly_what_was_approved_is_exported() -> None:
    assert approved_of(OPERATION, [asked("rejected", number=11, iteration=1), asked("approved")]) == example()


def test_each_iteration_has_its_own_approval_and_the_last_that_was_approved_is_exported() -> None:
    approvals = [asked("rejected", number=11, iteration=1), asked("approved"), asked("pending", iteration=3)]
    found = [approval_of_results(approvals, iteration) for iteration in (1, 2, 3, 4, None)]
    assert found == [None, approvals[1], None, None, approvals[1]]
    assert approval_of_results([asked("approved", kind="operation_review")], 2) is None


def test_the_yes_of_each_person_is_told_and_no_no() -> None:
    votes = [
        {"voter": "carl", "decision": "approve", "notes": None, "at": DECIDED},
        {"voter": "dora", "decision": "reject", "notes": "no", "at": DECIDED},
        {"voter": "anna", "decision": "approve", "notes": None, "at": DECIDED},
    ]
    told = approved_of(OPERATION, [asked("approved", votes=votes, quorum=2)])
    assert [vote.voter for vote in told.approval.votes] == ["carl", "anna"]


@pytest.mark.parametrize(
    ("approvals", "message"),
    [
        ([], r"nobody has been asked to approve any \(its task type is comprehensive"),
        ([asked("pending")], r"iteration 2 \(approval 12\) wait for a decision: approve them first"),
        ([asked("rejected")], r"iteration 2 \(approval 12\) were sent back"),
        ([asked("expired")], r"iteration 2 \(approval 12\) expired before anybody decided"),
        ([asked("void")], r"iteration 2 \(approval 12\) can't be decided on any more"),
        (
            [asked("rejected", number=11, iteration=1), asked("pending")],
            r"iteration 2 \(approval 12\) wait for a decision",
        ),
        ([asked("approved", kind="operation_plan")], "nobody has been asked to approve any"),
        ([asked("approved", kind="operation_review")], "nobody has been asked to approve any"),
    ],
)
def test_what_nobody_approved_is_not_exported(approvals: list[Approval], message: str) -> None:
    with pytest.raises(ApprovalConflict, match=message) as error:
        approved_of(OPERATION, approvals)
    assert str(error.value).startswith("operation 7 has no approved results to export: ")
    assert error.value.http_status == 409
    assert "\n" not in str(error.value)


@pytest.fixture
def context(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A call of somebody who may see operation 7, whose results are approved."""
    held: list[bool] = []

    @asynccontextmanager
    async def connection() -> AsyncIterator[None]:
        held.append(True)
        yield
        held.clear()

    async def visible(tools: Any, context: Any, connection: Any, operation_id: int) -> Operation:
        assert (operation_id, held) == (7, [True])
        return OPERATION

    async def approvals(connection: Any, workflow_id: str) -> list[Approval]:
        assert (workflow_id, held) == ("5f0c", [True])
        return [asked("approved")]

    async def made(approved: Any, template: Path) -> bytes:
        assert held == [], "no connection is held while a document is set"
        return b"%PDF-" + template.name.encode() + b"\x00\xff"

    monkeypatch.setattr(KindTools, "visible", visible)
    monkeypatch.setattr(approval_inbox, "of_workflow", approvals)
    monkeypatch.setattr(exporting, "as_pdf", made)
    operations = SimpleNamespace(report_file=Path("report.typ"))
    return SimpleNamespace(
        database=SimpleNamespace(connection=connection), config=SimpleNamespace(operations=operations)
    )


@pytest.mark.parametrize(
    ("form", "file_name", "media_type", "content"),
    [
        ("json", "operation-7-iteration-2.json", "application/json", as_json(example()).encode()),
        ("markdown", "operation-7-iteration-2.md", "text/markdown", as_markdown(example()).encode()),
        ("csv", "operation-7-iteration-2.csv", "text/csv", as_csv(example()).encode("utf-8-sig")),
        ("pdf", "operation-7-iteration-2.pdf", "application/pdf", b"%PDF-report.typ\x00\xff"),
    ],
    ids=["json", "markdown", "csv", "pdf"],
)
async def test_each_form_comes_as_a_file_and_as_a_record(
    context: Any, form: Any, file_name: str, media_type: str, content: bytes
) -> None:
    answer = await export_operation.run(context, ExportOperationRequest(operation_id=7, format=form))
    assert (answer.file_name, answer.media_type.split(";")[0]) == (file_name, media_type)
    assert answer.download == f"/api/operations/7/export?format={form}"
    assert (answer.iteration, answer.approval_id) == (2, "12")
    # As it goes through MCP, and comes back.
    again = ExportOperationResponse.model_validate(json.loads(answer.model_dump_json()))
    assert again.content() == answer.content() == content


def test_it_is_offered_to_models_and_changes_nothing() -> None:
    assert export_operation.for_models
    assert export_operation.effects == {"reads"}
    assert export_operation.permission.topic_scoped


def response(**more: Any) -> ExportOperationResponse:
    return ExportOperationResponse.model_validate(
        {
            "operation_id": 7,
            "iteration": 2,
            "approval_id": "12",
            "format": "csv",
            "file_name": "x",
            "media_type": "text/csv",
            "download": "/api/operations/7/export?format=csv",
        }
        | more
    )


def test_only_csv_files_begin_with_a_byte_order_mark() -> None:
    assert response(text="ż").content() == b"\xef\xbb\xbf\xc5\xbc"
    assert response(format="markdown", text="ż").content() == b"\xc5\xbc"
    assert response(format="pdf", base64="JVBERg==").content() == b"%PDF"


def test_whoever_says_no_format_gets_what_can_be_read() -> None:
    assert ExportOperationRequest(operation_id=7).format == "markdown"
