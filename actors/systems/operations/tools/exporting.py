"""The tool that hands approved results over: as JSON, Markdown, CSV of the evidence, or PDF. Seed 003.

Only what people have approved leaves: exactly the content of the approval, which its digest covers, and from
the moment of the decision on, whether or not a runner has taken that up yet.
"""

import asyncio
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence

from pydantic import Field

from actors.platform.tools.tool import Input, Output, ToolContext, tool
from actors.systems.operations.approved import approval_of_results, approving_votes, asked_about_results
from actors.systems.operations.exports.as_csv import as_csv
from actors.systems.operations.exports.as_json import as_json
from actors.systems.operations.exports.as_markdown import as_markdown
from actors.systems.operations.exports.as_pdf import as_pdf
from actors.systems.operations.tools.visible import OPERATIONS, OperationId
from models.errors import ApprovalConflict
from models.operations.exports import ApprovedResults, ExportFormat, ResultsApproval
from models.operations.operations import Operation
from models.operations.results import ComprehensiveResults
from models.runtime.approvals import Approval, ApprovalStatus
from models.store import approval_inbox

_MEDIA_TYPES: Mapping[ExportFormat, str] = {
    "json": "application/json",
    "markdown": "text/markdown; charset=utf-8",
    "csv": "text/csv; charset=utf-8; header=present",
    "pdf": "application/pdf",
}
_ENDINGS: Mapping[ExportFormat, str] = {"json": "json", "markdown": "md", "csv": "csv", "pdf": "pdf"}
_BECAME: Mapping[ApprovalStatus, str] = {
    "pending": "wait for a decision: approve them first",
    "rejected": "were sent back: those of the next iteration can be approved",
    "expired": "expired before anybody decided: ask for the operation anew",
    "void": "can't be decided on any more: ask for the operation anew",
}


class ExportOperationRequest(Input):
    """An operation, and in which form its approved results are wanted."""

    operation_id: OperationId
    format: ExportFormat = Field(
        default="markdown",
        description="markdown: a report to read; csv: the evidence, a row each; json: all of it; pdf: the "
        "report as a file in Base64, for programs that keep files; people are given the `download` address",
    )


class ExportOperationResponse(Output):
    """The results as a file: `text`, or `base64` (RFC 4648) of a PDF. `download`: where HTTP has it."""

    operation_id: int
    iteration: int
    approval_id: str
    format: ExportFormat
    file_name: str
    media_type: str
    download: str
    text: str | None = None
    base64: str | None = None

    def content(self) -> bytes:
        """The file's bytes. CSV begins with a byte order mark: without one Excel garbles all but ASCII."""
        if self.base64 is not None:
            return b64decode(self.base64)
        assert self.text is not None, "it is one or the other"
        return self.text.encode("utf-8-sig" if self.format == "csv" else "utf-8")


@tool(OPERATIONS.on_topic, rest=None, effect="reads", topic=OPERATIONS.topic, own_transactions=True)
async def export_operation(context: ToolContext, request: ExportOperationRequest) -> ExportOperationResponse:
    """Export approved results of an operation: a report, its evidence as a table, or all of it as JSON."""
    async with context.database.connection() as connection:
        operation = await OPERATIONS.visible(context, connection, request.operation_id)
        approvals = await approval_inbox.of_workflow(connection, operation.workflow_id)
    approved = await asyncio.to_thread(approved_of, operation, approvals)
    text = base64 = None
    if request.format == "pdf":
        made = await as_pdf(approved, context.config.operations.report_file)
        base64 = b64encode(made).decode("ascii")
    else:
        forms = {"json": as_json, "markdown": as_markdown, "csv": as_csv}
        text = await asyncio.to_thread(forms[request.format], approved)
    iteration = approved.approval.iteration
    return ExportOperationResponse(
        operation_id=operation.id,
        iteration=iteration,
        approval_id=approved.approval.approval_id,
        format=request.format,
        file_name=f"operation-{operation.id}-iteration-{iteration}.{_ENDINGS[request.format]}",
        media_type=_MEDIA_TYPES[request.format],
        download=f"/api/operations/{operation.id}/export?format={request.format}",
        text=text,
        base64=base64,
    )


def approved_of(operation: Operation, approvals: Sequence[Approval]) -> ApprovedResults:
    """The approved results among an operation's approvals, which come oldest first.

    Raises:
        ApprovalConflict: there are none; the message says what became of those that there are.
    """
    yes = approval_of_results(approvals)
    if yes is None:
        raise _nothing_approved(operation, asked_about_results(approvals))
    results = ComprehensiveResults.model_validate(yes.subject)
    votes = approving_votes(yes)
    return ApprovedResults(
        operation_id=operation.id,
        name=operation.name,
        topic=operation.topic,
        task_type=operation.task_type,
        requested_by=operation.requested_by,
        requested_at=operation.created_at,
        approval=ResultsApproval(
            approval_id=yes.id,
            iteration=results.iteration,
            digest=yes.digest,
            approved_at=yes.decided_at or votes[-1].at,
            votes=votes,
        ),
        results=results,
    )


def _nothing_approved(operation: Operation, asked: Sequence[Approval]) -> ApprovalConflict:
    begin = f"operation {operation.id} has no approved results to export"
    if not asked:
        return ApprovalConflict(
            f"{begin}: nobody has been asked to approve any (its task type is {operation.task_type}; look at "
            f"it with GET /api/operations/{operation.id})"
        )
    last = asked[-1]
    return ApprovalConflict(
        f"{begin}: those of iteration {last.subject.get('iteration')} (approval {last.id}) "
        f"{_BECAME[last.status]}",
        approval_id=last.id,
        status=last.status,
    )
