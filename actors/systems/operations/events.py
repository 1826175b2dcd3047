"""Events of an operation, each written in the transaction of the step that it tells of."""

from collections.abc import Collection

from actors.systems.operations.progress import update
from models.operations.operations import CurrentStage, Operation
from models.operations.plans import OperationAgent, OperationPlan
from models.runtime.event_catalogue import EventData
from models.store import events
from models.store.database import Connection
from models.store.operations import operations


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
