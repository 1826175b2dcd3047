"""Events of an operation, each written in the transaction of the step that it tells of."""

from collections.abc import Collection

from models.operations.events import WorkflowProgressUpdate
from models.operations.operations import AGENT_AT, CurrentStage, Operation
from models.operations.plans import OperationAgent, OperationPlan
from models.runtime.event_catalogue import EventData
from models.store import events
from models.store.database import Connection
from models.store.operations import operations

# Before any agent runs: the plan, and its approval.
_BEFORE = 2


async def tell(connection: Connection, operation: Operation, event: EventData) -> None:
    """Write an event that the topic's analysts see, and whoever asked."""
    await events.tell(
        connection,
        event,
        operation.workflow_id,
        topic=operation.topic,
        role="analyst",
        person=operation.requested_by,
    )


async def tell_progress(
    connection: Connection,
    operation: Operation,
    *,
    iteration: int,
    stage: CurrentStage,
    plan: OperationPlan,
    done: Collection[OperationAgent],
) -> None:
    """Write how far it is."""
    told = update(operation, iteration=iteration, stage=stage, plan=plan, done=done)
    await operations.keep_progress(connection, operation.id, told.as_json())
    await tell(connection, operation, told)


def update(
    operation: Operation,
    *,
    iteration: int,
    stage: CurrentStage,
    plan: OperationPlan,
    done: Collection[OperationAgent],
) -> WorkflowProgressUpdate:
    """Of all stages, those that are over. `pending_agents` are of the plan, the one at work among them."""
    sequence = plan.agent_sequence
    pending = [agent for agent in sequence if agent not in done]
    stages = _BEFORE + len(sequence) + 2
    over = stages if stage == "completed" else _over(stage, len(sequence) - len(pending), len(sequence))
    left = len(pending) / len(sequence) * plan.estimated_duration
    return WorkflowProgressUpdate(
        operation_id=operation.id,
        plan_id=operation.workflow_id,
        iteration=iteration,
        current_stage=stage,
        progress_percentage=round(100.0 * over / stages, 1),
        current_agent=AGENT_AT.get(stage),
        estimated_remaining=round(left, 1),
        completed_agents=tuple(agent for agent in sequence if agent in done),
        pending_agents=tuple(pending),
    )


def _over(stage: CurrentStage, agents_done: int, agents: int) -> int:
    match stage:
        case "plan_creation":
            return 0
        case "plan_approval":
            return 1
        case "results_compilation":
            return _BEFORE + agents
        case "final_approval":
            return _BEFORE + agents + 1
    return _BEFORE + agents_done
