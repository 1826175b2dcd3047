"""What happened in an operation, and what each iteration of it came to.

Each row is written in the transaction of the step that it tells of; rows of the history are never changed.
"""

from typing import Any

from psycopg.types.json import Jsonb
from pydantic import BaseModel

from models.operations.history import (
    ExecutionContext,
    FinalApproval,
    HistoryEnd,
    HistoryEntry,
    PlanApproval,
    Stage,
)
from models.operations.operations import Operation
from models.operations.plans import OperationPlan
from models.operations.results import ComprehensiveResults
from models.runtime.workflows import ENDED_STATUSES
from models.store.database import Connection
from models.store.runtime import workflows
from models.store.runtime.standing import Came, reasons


async def under_way(connection: Connection, workflow_id: str) -> str | None:
    """The tool of a write that was sent, and of which nothing is known yet; None where there is none."""
    cursor = await connection.execute(
        """SELECT sent.value ->> 'tool' AS tool FROM documents sent
           WHERE sent.workflow_id = %s AND sent.key LIKE 'write_sent/%%' AND NOT EXISTS (
             SELECT FROM documents done WHERE done.workflow_id = sent.workflow_id
             AND done.key = replace(sent.key, 'write_sent/', 'write_done/'))""",
        (workflow_id,),
    )
    row = await cursor.fetchone()
    return None if row is None else str(row["tool"])


async def tell(
    connection: Connection,
    operation_id: int,
    *,
    iteration: int,
    stage: Stage,
    agent: str | None,
    result: BaseModel | dict[str, Any],
    feedback: str | None = None,
    by: str | None = None,
) -> None:
    """Write what happened."""
    given = result.model_dump(mode="json") if isinstance(result, BaseModel) else result
    await connection.execute(
        """INSERT INTO operation_history (operation_id, iteration, stage, agent, result, user_feedback, by)
           VALUES (%s, %s, %s, %s, %s, %s, %s)""",
        (operation_id, iteration, stage, agent, Jsonb(given), feedback, by),
    )


async def keep_plan(connection: Connection, operation_id: int, iteration: int, plan: OperationPlan) -> None:
    """The plan that an iteration goes by."""
    await connection.execute(
        """INSERT INTO operation_iterations (operation_id, iteration, plan) VALUES (%s, %s, %s)
           ON CONFLICT (operation_id, iteration) DO UPDATE SET plan = excluded.plan""",
        (operation_id, iteration, Jsonb(plan.model_dump(mode="json"))),
    )


async def keep_results(
    connection: Connection, operation_id: int, iteration: int, results: ComprehensiveResults
) -> None:
    """What an iteration came to."""
    await connection.execute(
        """INSERT INTO operation_iterations (operation_id, iteration, plan, results) VALUES (%s, %s, %s, %s)
           ON CONFLICT (operation_id, iteration) DO UPDATE SET results = excluded.results""",
        (
            operation_id,
            iteration,
            Jsonb(results.plan.model_dump(mode="json")),
            Jsonb(results.model_dump(mode="json")),
        ),
    )


async def results_of(
    connection: Connection, operation_id: int, iteration: int | None = None
) -> ComprehensiveResults | None:
    """What an iteration came to; without one, the last that came to anything. None where none did."""
    cursor = await connection.execute(
        """SELECT results FROM operation_iterations
           WHERE operation_id = %(id)s AND results IS NOT NULL
             AND (%(iteration)s::int IS NULL OR iteration = %(iteration)s)
           ORDER BY iteration DESC LIMIT 1""",
        {"id": operation_id, "iteration": iteration},
    )
    row = await cursor.fetchone()
    return None if row is None else ComprehensiveResults.model_validate(row["results"])


async def context(connection: Connection, operation: Operation) -> ExecutionContext:
    """All that happened, in its order (`Enhanced Execution Context` of seed 003)."""
    cursor = await connection.execute(
        """SELECT id, iteration, stage, agent, result, user_feedback, by, created_at AS timestamp
           FROM operation_history WHERE operation_id = %s ORDER BY id""",
        (operation.id,),
    )
    entries = tuple(HistoryEntry.model_validate(row) for row in await cursor.fetchall())
    return ExecutionContext(
        original_task=operation.query,
        workflow_type=operation.task_type,
        execution_history=entries,
        plan_approvals=tuple(
            PlanApproval(
                iteration=entry.iteration,
                approved=entry.result["status"] == "approved",
                feedback=entry.user_feedback,
                by=entry.by,
                timestamp=entry.timestamp,
            )
            for entry in entries
            if entry.stage == "plan_approval"
        ),
        final_approvals=tuple(
            FinalApproval(
                iteration=entry.iteration,
                approved=entry.result["status"] == "approved",
                revision_type=entry.result.get("revision_type") or "none",
                feedback=entry.user_feedback,
                by=entry.by,
                timestamp=entry.timestamp,
            )
            for entry in entries
            if entry.stage == "final_approval"
        ),
        ended=await _ended(connection, operation.workflow_id),
    )


async def _ended(connection: Connection, workflow_id: str) -> HistoryEnd | None:
    """How it ended, which its row says and no step writes; None while it goes on."""
    workflow = await workflows.get(connection, workflow_id)
    if workflow.status not in ENDED_STATUSES or workflow.finished_at is None:
        return None
    outcome = str((workflow.result or {}).get("outcome", workflow.status))
    why = await reasons(connection, [Came(workflow_id, outcome, workflow.error)])
    return HistoryEnd(status=outcome, reason=why.get(workflow_id), timestamp=workflow.finished_at)
