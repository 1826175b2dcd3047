"""The tools that begin an operation and cancel it. Seed 003.

Beginning it only asks: nothing is read before a person approved the plan, where the type of task stops there.
"""

from typing import Annotated

from pydantic import Field

from actors.platform.tools.tool import Input, Output, ToolContext, tool
from actors.platform.tools.visibility import known_topic
from actors.systems.operations.tools.visible import OPERATIONS, OperationId, lacking_sources
from models.errors import InputInvalid, PermissionMissing
from models.near_names import suggestion
from models.operations.operations import OperationBegun, OperationRequest, OperationStatus
from models.store.operations import history, operations
from models.tools import Prose


class StartOperationRequest(OperationRequest, Input):
    """What somebody wants to know, and on which topic."""


class StartOperationResponse(OperationBegun, Output):
    """The operation has a number; follow it with `get_operation`. `plan_id` names it in messages."""


async def _topic(context: ToolContext, request: StartOperationRequest) -> str:
    return known_topic(context.config, request.topic)


@tool(
    OPERATIONS.asking,
    rest="POST /api/operations -> 201",
    effect=("writes", "asks", "leaves the site"),
    topic=_topic,
    lacking=lacking_sources,
)
async def start_operation(context: ToolContext, request: StartOperationRequest) -> StartOperationResponse:
    """Ask why a bill is late, or what systems disagree on: a person approves the plan, then it runs."""
    _check_type(context, request.task_type)
    operation, new = await operations.start(
        context.connection,
        request,
        requested_by=context.caller.subject,
        gates=context.config.operations.task_types[request.task_type].gates,
    )
    return StartOperationResponse(
        operation_id=operation.id,
        plan_id=operation.workflow_id,
        status=await OPERATIONS.status(context.connection, operation),
        message="The operation has begun." if new else "It was begun before, by the same request_id.",
    )


def _check_type(context: ToolContext, name: str) -> None:
    """It is one of the site's, and one at which nobody is asked takes a person's own word.

    Raises:
        InputInvalid, PermissionMissing.
    """
    settings = context.config.operations
    if name not in settings.task_types:
        raise InputInvalid(f"task_type: there is no {name!r}: {suggestion(name, tuple(settings.task_types))}")
    if "plan" in settings.task_types[name].gates:
        return
    if settings.approval.four_eyes or settings.approval.quorum > 1:
        raise InputInvalid(
            f"task_type: with {name} nobody approves the plan, and this site has others decide "
            "(operations.approval): choose another type"
        )
    if not context.caller.decides:
        raise PermissionMissing(
            f"task_type: with {name} nobody approves the plan, which takes a person's own word, and this "
            "token is one for an agent or a client: choose another, or begin it with your own (auth.decide)"
        )


class CancelOperationRequest(Input):
    """Which one is cancelled, and why; the reason is kept with it."""

    operation_id: OperationId
    reason: Annotated[Prose, Field(min_length=1, max_length=500)] = "cancelled"


class CancelOperationResponse(Output):
    """That it is cancelled. What was read and decided until then stays in its history."""

    operation_id: int
    status: OperationStatus
    message: str


@tool(
    OPERATIONS.on_topic,
    rest="POST /api/operations/{id=operation_id}/cancel",
    effect="writes",
    topic=OPERATIONS.topic,
    about=OPERATIONS.about,
)
async def cancel_operation(context: ToolContext, request: CancelOperationRequest) -> CancelOperationResponse:
    """Cancel an operation for good: once this is answered nothing more is kept, and nothing more goes out.

    A call that changes something and had gone out by then may be done all the same: the answer names it.
    """
    connection = context.connection
    operation = await OPERATIONS.visible(context, connection, request.operation_id)
    cancelled = await OPERATIONS.stop(context, operation, request.reason, verb="cancel")
    sending = await history.under_way(connection, operation.workflow_id)
    under_way = f" {sending} was being sent: look there whether it was done." if sending else ""
    return CancelOperationResponse(
        operation_id=operation.id,
        status=OPERATIONS.statuses[cancelled.status],
        message=f"The operation is cancelled; its history stays.{under_way}",
    )
