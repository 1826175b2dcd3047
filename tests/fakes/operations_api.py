"""The REST API of operations on loopback: `tests.fakes.gated_api`."""

from collections.abc import Mapping
from typing import Any

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
    OperationBegun,
    OperationProgress,
    OperationRequest,
    OperationStatusResponse,
)
from models.operations.plans import PlanShown
from models.operations.results import ComprehensiveResults, OperationOutcome, ResultChanges
from models.record import Record
from models.runtime.approvals import GateShown
from tests.fakes.gated_api import NOW, GatedApi
from tests.fakes.heard_api import Asked, FileAnswer, Problem, read_body

# The kind of gate that shows each content.
GATE_KINDS = {record.__name__: kind for kind, record in CONTENT_OF_OPERATION_GATE.items()}
Reply = PlanDecision | ResultsDecision | AgentDecision


class OperationsApi(GatedApi):
    """Operation 7."""

    command = "operations"
    path = "/api/operations"
    kinds = GATE_KINDS

    def __init__(self, *gates: Record, name: str = "Why is Northgate unpaid?") -> None:
        super().__init__(*gates, name=name)
        self.outcome: OperationOutcome | None = "completed"
        self.ended: HistoryEnd | None = None
        self.stage = "gmail_execution"
        self.history: list[HistoryEntry] = []
        self.results: ComprehensiveResults | None = None
        self.changes = ResultChanges()
        self.file = FileAnswer("application/pdf", b"%PDF-1.7\n\x00\xff\r\n")

    def happens(self, **entry: Any) -> None:
        """Write something into the history."""
        given = {"id": len(self.history) + 1, "iteration": 1, "stage": "agent_execution", "result": {}}
        self.history.append(HistoryEntry.model_validate({**given, "timestamp": NOW, **entry}))

    def tell(self, what: str, asked: Asked) -> Record | FileAnswer | None:
        """The answer to a request."""
        match what:
            case "POST ":
                return self._start(read_body(OperationRequest, asked.body))
            case "GET ":
                return self._list(asked.query)
            case "GET /ID":
                return self._status()
            case "POST /ID/plan":
                return self._decide("operation_plan", read_body(PlanDecision, asked.body))
            case "POST /ID/results":
                return self._decide("operation_results", read_body(ResultsDecision, asked.body))
            case "POST /ID/agent":
                return self._decide("operation_", read_body(AgentDecision, asked.body))
            case "GET /ID/history":
                return ExecutionContext(
                    original_task=self.name,
                    workflow_type="comprehensive",
                    execution_history=tuple(self.history),
                    plan_approvals=(),
                    final_approvals=(),
                    ended=self.ended,
                )
            case "GET /ID/results" if self.results is not None:
                return IterationResults(
                    operation_id=7,
                    iteration=self.results.iteration,
                    approved=True,
                    approved_by="ann",
                    results=self.results,
                )
            case "GET /ID/compare":
                left, right = int(asked.query["left"]), int(asked.query["right"])
                return IterationComparison(operation_id=7, left=left, right=right, changes=self.changes)
            case "GET /ID/export":
                return self.file
            case "POST /ID/cancel":
                self.gates, self.status = [], "cancelled"
                return OperationBegun(
                    operation_id=7, plan_id="w7", status="cancelled", message="The operation is cancelled."
                )
        return None

    def _start(self, request: OperationRequest) -> OperationBegun:
        self.name = request.query
        return OperationBegun(
            operation_id=7, plan_id="w7", status="pending", message="The operation has begun."
        )

    def _list(self, query: Mapping[str, str]) -> OperationList:
        one = OperationSummary(
            operation_id=7, plan_id="w7", name=self.name, topic="macro", task_type="comprehensive",
            requested_by="ann", status=self.standing, outcome=None if self.gates else self.outcome,
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
            status=self.standing,
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
            approval=GateShown.model_validate(gate) if (gate := self.gate()) else None,
        )

    def _decide(self, kind: str, reply: Reply) -> OperationDecided:
        self.check(reply.digest)
        gate = self.gate()
        assert gate is not None
        if not gate["kind"].startswith(kind):
            raise Problem(409, "ApprovalConflict", "operation 7 asks something else now")
        changed = isinstance(reply, PlanDecision) and reply.modified_plan is not None
        if isinstance(reply, PlanDecision) and reply.modified_plan is not None:
            self._check_edit(reply)
        if isinstance(reply, AgentDecision) and (reply.given or {}).get("amount") == 13:
            raise Problem(422, "InputInvalid", "given: amount: 13 is not what the schema says")
        came = self.decided(reply, changed=changed)
        return OperationDecided(
            operation_id=7,
            plan_id="w7",
            approval_id="19",
            decision="pending" if came["digest"] else "approved",
            status=self.standing,
            **came,
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
