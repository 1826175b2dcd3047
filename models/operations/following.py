"""Operations in lists, and two iterations of one beside each other."""

from datetime import datetime

from models.operations.operations import OperationStatus
from models.operations.results import ComprehensiveResults, ResultChanges
from models.record import Record


class OperationSummary(Record):
    """An operation in a list. `reason`: why it ended without what was asked for."""

    operation_id: int
    plan_id: str
    name: str
    topic: str
    task_type: str
    requested_by: str
    status: OperationStatus
    outcome: str | None
    reason: str | None = None
    waits_for_decision: bool
    created_at: datetime
    updated_at: datetime


class OperationList(Record):
    """Operations, the newest first; `next_before` asks for older ones, None where there are none."""

    operations: tuple[OperationSummary, ...]
    next_before: int | None = None


class IterationResults(Record):
    """What an iteration came to, and whether people have approved it; `approved_by` names each of them."""

    operation_id: int
    iteration: int
    approved: bool
    approved_by: str | None
    results: ComprehensiveResults


class IterationComparison(Record):
    """What is otherwise in the iteration `right` than in `left`."""

    operation_id: int
    left: int
    right: int
    changes: ResultChanges
