"""Operations as people follow them, in Postgres: how far each is, and which gate waits. It writes nothing."""

from collections.abc import Collection, Iterable, Mapping

from models.errors import OperationNotFound
from models.operations.events import WorkflowProgressUpdate
from models.operations.following import OperationList, OperationSummary
from models.operations.operations import (
    Operation,
    OperationProgress,
    OperationStatus,
    OperationStatusResponse,
)
from models.people.scopes import Scope
from models.runtime.approvals import GateShown
from models.runtime.workflows import WorkflowStatus
from models.store import approval_inbox
from models.store.database import Connection
from models.store.runtime.standing import Came, reasons

STATUS_OF_WORKFLOW: Mapping[WorkflowStatus, OperationStatus] = {
    "queued": "pending",
    "running": "running",
    "waiting": "awaiting_approval",
    "parked": "parked",
    "succeeded": "completed",
    "failed": "failed",
    "cancelled": "cancelled",
}
_WORKFLOW_STATUS = {here: there for there, here in STATUS_OF_WORKFLOW.items()}


async def status(
    connection: Connection, operation: Operation, *, person: str, scopes: Iterable[Scope]
) -> OperationStatusResponse:
    """How an operation stands; the gate that waits is there for those alone whom it is shown to.

    Raises:
        OperationNotFound: it has gone since.
    """
    cursor = await connection.execute(
        """SELECT w.status, w.parked_for, w.error, w.result, w.updated_at, o.progress
           FROM operations o JOIN workflows w ON w.id = o.workflow_id WHERE o.id = %s""",
        (operation.id,),
    )
    row = await cursor.fetchone()
    if row is None:
        raise OperationNotFound(f"there is no operation {operation.id}")
    outcome = (row["result"] or {}).get("outcome")
    came = Came(operation.workflow_id, outcome or row["status"], row["error"])
    why = await reasons(connection, [came])
    told = (
        WorkflowProgressUpdate.at_first(operation.id, operation.workflow_id)
        if row["progress"] is None
        else WorkflowProgressUpdate.model_validate(row["progress"])
    )
    return OperationStatusResponse(
        operation_id=operation.id,
        plan_id=operation.workflow_id,
        name=operation.name,
        topic=operation.topic,
        task_type=operation.task_type,
        query=operation.query,
        requested_by=operation.requested_by,
        status=STATUS_OF_WORKFLOW[row["status"]],
        iteration=told.iteration,
        progress=OperationProgress(
            plan_id=operation.workflow_id,
            **told.model_dump(exclude={"operation_id", "plan_id", "iteration"}),
        ),
        created_at=operation.created_at,
        updated_at=row["updated_at"],
        waits_for=row["parked_for"],
        error=row["error"],
        outcome=outcome,
        reason=why.get(operation.workflow_id),
        approval=await _gate(connection, operation, person, tuple(scopes)),
    )


async def recent(
    connection: Connection,
    *,
    topics: Collection[str],
    requested_by: str | None,
    status: OperationStatus | None,
    before: int | None,
    limit: int,
) -> OperationList:
    """The newest operations on some topics, newest first; what is None narrows nothing."""
    cursor = await connection.execute(
        """SELECT o.id AS operation_id, o.workflow_id AS plan_id, o.name, o.topic, o.task_type,
                  o.requested_by,
                  w.status, w.error, w.result ->> 'outcome' AS outcome, o.created_at, w.updated_at,
                  EXISTS (SELECT 1 FROM approvals p
                          WHERE p.workflow_id = w.id AND p.status = 'pending') AS waits_for_decision
           FROM operations o JOIN workflows w ON w.id = o.workflow_id
           WHERE o.topic = ANY(%(topics)s)
             AND (%(by)s::text IS NULL OR o.requested_by = %(by)s)
             AND (%(status)s::text IS NULL OR w.status = %(status)s)
             AND (%(before)s::bigint IS NULL OR o.id < %(before)s)
           ORDER BY o.id DESC LIMIT %(limit)s + 1""",
        {
            "topics": list(topics),
            "by": requested_by,
            "status": None if status is None else _WORKFLOW_STATUS[status],
            "before": before,
            "limit": limit,
        },
    )
    rows = await cursor.fetchall()
    shown = rows[:limit]
    why = await reasons(
        connection, [Came(row["plan_id"], row["outcome"] or row["status"], row.pop("error")) for row in shown]
    )
    return OperationList(
        operations=tuple(
            OperationSummary.model_validate(
                row | {"status": STATUS_OF_WORKFLOW[row["status"]], "reason": why.get(row["plan_id"])}
            )
            for row in shown
        ),
        next_before=shown[-1]["operation_id"] if len(rows) > limit else None,
    )


async def _gate(
    connection: Connection, operation: Operation, person: str, scopes: tuple[Scope, ...]
) -> GateShown | None:
    waiting = next(iter(await approval_inbox.pending_of_workflow(connection, operation.workflow_id)), None)
    if waiting is None or not waiting.shown_to(person, scopes):
        return None
    return GateShown.of(waiting, person, scopes)
