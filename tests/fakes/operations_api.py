"""The REST API of operations on loopback, with one operation that goes from gate to gate as it is decided on.

It reads bodies and answers with the records of the API, and keeps what was asked. A test says which gates
come, and may put another content in place of the one that waits, as when somebody else has changed it.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self

from actors.systems.operations.plan_edits import edited
from models.errors import InputInvalid
from models.operations.decisions import (
    AgentDecision,
    OperationDecided,
    PlanDecision,
    ResultsDecision,
)
from models.operations.following import IterationComparison, IterationResults, OperationList, OperationSummary
from models.operations.gates import CONTENT_OF_OPERATION_GATE
from models.operations.history import ExecutionContext, HistoryEnd, HistoryEntry
from models.operations.operations import (
    GateShown,
    OperationBegun,
    OperationProgress,
    OperationRequest,
    OperationStatus,
    OperationStatusResponse,
)
from models.operations.plans import PlanShown
from models.operations.results import ComprehensiveResults, OperationOutcome, ResultChanges
from models.record import Record
from models.runtime.approvals import content_digest
from tests.fakes.heard_api import Asked, FileAnswer, HeardApi, Problem, read_body

NOW = datetime(2026, 3, 3, 10, 20, tzinfo=UTC)
_PATH = "/api/operations"
# The kind of gate that shows each content.
GATE_KINDS = {record.__name__: kind for kind, record in CONTENT_OF_OPERATION_GATE.items()}
Reply = PlanDecision | ResultsDecision | AgentDecision


class OperationsApi:
    """The server, a context manager. Operation 7 waits at the first of `gates`, or has ended without any."""

    def __init__(self, *gates: Record, name: str = "Why is Northgate unpaid?") -> None:
        self._http = HeardApi(lambda asked: self.answer(asked))
        self.asked, self.of, self.until = self._http.asked, self._http.of, self._http.until
        self.url = self._http.url
        self.answers: list[Reply] = []
        self.gates = list(gates)
        self.name = name
        self.kind: str | None = None
        self.title = "Decide"
        self.may_decide = True
        self.quorum = 1
        # Under four eyes whoever changes a plan is involved, and may not approve it.
        self.four_eyes = False
        self.amended_by: str | None = None
        # In place of the content's own digest.
        self.digest: str | None = None
        # Are so while no gate waits.
        self.status: OperationStatus = "completed"
        self.outcome: OperationOutcome | None = "completed"
        self.error: str | None = None
        self.reason: str | None = None
        self.ended: HistoryEnd | None = None
        self.stage = "gmail_execution"
        self.history: list[HistoryEntry] = []
        self.results: ComprehensiveResults | None = None
        self.changes = ResultChanges()
        self.file = FileAnswer("application/pdf", b"%PDF-1.7\n\x00\xff\r\n")
        # Refusals of the next requests, before anything else is looked at.
        self.refusals: list[tuple[int, str]] = []
        # What a newer site says besides.
        self.more: dict[str, Any] = {}

    def __enter__(self) -> Self:
        self._http.start()
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        self._http.stop()

    @property
    def content(self) -> dict[str, Any]:
        """What the gate that waits is about."""
        told: dict[str, Any] = self.gates[0].model_dump(mode="json")
        return told | ({"involved": [self.amended_by]} if self.amended_by else {})

    def happens(self, **entry: Any) -> None:
        """Write something into the history."""
        given = {"id": len(self.history) + 1, "iteration": 1, "stage": "agent_execution", "result": {}}
        self.history.append(HistoryEntry.model_validate({**given, "timestamp": NOW, **entry}))

    def answer(self, asked: Asked) -> Mapping[str, Any] | FileAnswer:
        """The answer to a request: JSON, or a file."""
        if self.refusals:
            status, detail = self.refusals.pop(0)
            raise Problem(status, "Refused", detail)
        found: Record
        match asked.method, re.sub(r"^/\d+", "/ID", asked.path.removeprefix(_PATH)):
            case "POST", "":
                found = self._start(read_body(OperationRequest, asked.body))
            case "GET", "":
                found = self._list(asked.query)
            case "GET", "/ID":
                found = self._status()
            case "POST", "/ID/plan":
                found = self._decide("operation_plan", read_body(PlanDecision, asked.body))
            case "POST", "/ID/results":
                found = self._decide("operation_results", read_body(ResultsDecision, asked.body))
            case "POST", "/ID/agent":
                found = self._decide("operation_", read_body(AgentDecision, asked.body))
            case "GET", "/ID/history":
                found = ExecutionContext(
                    original_task=self.name,
                    workflow_type="comprehensive",
                    execution_history=tuple(self.history),
                    plan_approvals=(),
                    final_approvals=(),
                    ended=self.ended,
                )
            case "GET", "/ID/results" if self.results is not None:
                found = IterationResults(
                    operation_id=7,
                    iteration=self.results.iteration,
                    approved=True,
                    approved_by="ann",
                    results=self.results,
                )
            case "GET", "/ID/compare":
                left, right = int(asked.query["left"]), int(asked.query["right"])
                found = IterationComparison(operation_id=7, left=left, right=right, changes=self.changes)
            case "GET", "/ID/export":
                return self.file
            case "POST", "/ID/cancel":
                self.gates, self.status = [], "cancelled"
                found = OperationBegun(
                    operation_id=7, plan_id="w7", status="cancelled", message="The operation is cancelled."
                )
            case _:
                raise Problem(404, "OperationNotFound", "operation 7 has no such thing")
        return {**found.model_dump(mode="json"), **self.more}

    def _start(self, request: OperationRequest) -> OperationBegun:
        self.name = request.query
        return OperationBegun(
            operation_id=7, plan_id="w7", status="pending", message="The operation has begun."
        )

    def _standing(self) -> OperationStatus:
        return "awaiting_approval" if self.gates else self.status

    def _list(self, query: Mapping[str, str]) -> OperationList:
        one = OperationSummary(
            operation_id=7, plan_id="w7", name=self.name, topic="macro", task_type="comprehensive",
            requested_by="ann", status=self._standing(), outcome=None if self.gates else self.outcome,
            reason=self.reason, waits_for_decision=bool(self.gates), created_at=NOW, updated_at=NOW,
        )  # fmt: skip
        return OperationList(operations=(one,), next_before=7 if query.get("limit") == "1" else None)

    def _status(self) -> OperationStatusResponse:
        return OperationStatusResponse(
            operation_id=7,
            plan_id="w7",
            name=self.name,
            topic="macro",
            task_type="comprehensive",
            query=self.name,
            requested_by="ann",
            status=self._standing(),
            iteration=1,
            progress=OperationProgress.model_validate(
                {
                    "plan_id": "w7",
                    "current_stage": self.stage,
                    "progress_percentage": 36.4,
                    "current_agent": "gmail",
                    "estimated_remaining": 150.0,
                    "completed_agents": ("gmail",),
                    "pending_agents": ("accounts_payable", "analysis"),
                }
            ),
            created_at=NOW,
            updated_at=NOW,
            waits_for=None,
            error=self.error,
            reason=self.reason,
            outcome=None if self.gates else self.outcome,
            approval=self._gate() if self.gates else None,
        )

    def _gate(self) -> GateShown:
        return GateShown(
            approval_id=str(20 - len(self.gates)),
            kind=self.kind or GATE_KINDS[type(self.gates[0]).__name__],
            digest=self.digest or content_digest(self.content),
            title=self.title,
            content=self.content,
            expires_at=NOW,
            may_decide=self.may_decide,
            amended_by=self.amended_by,
        )

    def _decide(self, kind: str, reply: Reply) -> OperationDecided:
        if not self.gates:
            raise Problem(409, "ApprovalConflict", "approval 19 is already approved")
        if not self._gate().kind.startswith(kind):
            raise Problem(409, "ApprovalConflict", "operation 7 asks something else now")
        if reply.digest != content_digest(self.content):
            told = "approval 19 shows other content than was shown to you: look at it again"
            raise Problem(409, "ApprovalConflict", told)
        changed = isinstance(reply, PlanDecision) and reply.modified_plan is not None
        if isinstance(reply, PlanDecision) and reply.modified_plan is not None:
            self._check_edit(reply)
        if isinstance(reply, AgentDecision) and (reply.given or {}).get("amount") == 13:
            raise Problem(422, "InputInvalid", "given: amount: 13 is not what the schema says")
        self.answers.append(reply)
        digest = None
        if self.four_eyes and changed:
            self.amended_by, self.may_decide = "ann", False
            message, digest = (
                "Your yes is kept: 1 more must approve exactly this.",
                content_digest(self.content),
            )
        elif len(self.answers) < self.quorum:
            message, digest = (
                "Your yes is kept: 1 more must approve exactly this.",
                content_digest(self.content),
            )
        else:
            self.gates.pop(0)
            message = "Decided: it goes on."
        return OperationDecided(
            operation_id=7,
            plan_id="w7",
            approval_id="19",
            decision="pending" if digest else "approved",
            status=self._standing(),
            message=message,
            digest=digest,
        )

    def _check_edit(self, reply: PlanDecision) -> None:
        """As the site does: what is made of the plan must be one."""
        shown = self.gates[0]
        assert isinstance(shown, PlanShown)
        assert reply.modified_plan is not None
        try:
            edited(shown.plan, reply.modified_plan)
        except InputInvalid as error:
            raise Problem(422, "InputInvalid", str(error)) from error
