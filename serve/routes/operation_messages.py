"""An operation over a WebSocket: seed 003's messages, replayed after a reconnect, and answers to them.

Messages are made of the operation's events, so they come in one order and none is missed; what is large in
them is read when it is told, from what is kept for good. Answers go through the same tools as those over
REST.
"""

import contextlib
import json
from collections.abc import AsyncGenerator
from typing import Any

from fastapi import APIRouter, WebSocket
from pydantic import TypeAdapter, ValidationError

from actors.tools.registry import Registry
from models.errors import InputInvalid, OperationNotFound, SignoffError
from models.operations.events import ComprehensiveResultsReady, WorkflowProgressUpdate
from models.operations.messages import message_of_approval, message_of_results
from models.operations.operations import Operation
from models.people.users import UserContext
from models.runtime.event_catalogue import ApprovalRequested
from models.runtime.events import Event
from models.store import approval_inbox
from models.store.operations import history, operations
from models.store.people import users
from models.tools import Number
from serve.problems import members_of
from serve.routes.events import Subscription
from serve.streams.feed import Position
from serve.streams.websocket import Ended, Renew, converse, hear, is_ping, let_in, tell

router = APIRouter(tags=["operations"])

_MAX_MESSAGE = 32_768  # characters: feedback is at most 5,000, and instructions 2,000 for each agent
_NUMBER: TypeAdapter[int] = TypeAdapter(Number)
_TOOL_OF = {
    "plan_approval_response": "decide_operation_plan",
    "final_results_approval_response": "decide_operation_results",
    "agent_decision": "decide_operation_agent",
    "user_clarification_response": "clarify_operation",
}
# How a workflow ends otherwise than by its results: these are told as they are.
_ENDS = ("workflow.failed", "workflow.cancelled", "workflow.parked")


@router.websocket("/ws/operations/{operation_id}")
async def converse_about_operation(socket: WebSocket, operation_id: str) -> None:
    """Follow one operation from `after` on (0: from its start), and answer what it asks.

    `{"type": …, "id": …, "data": {…}}` with seed 003's types; `id` is where to resume (`?after=`). Answers
    have the type of `_TOOL_OF` and the seed's fields in `data`; each gets `decided`, or `error` with its
    problem.
    """

    async def talk(caller: UserContext, renew: Renew) -> Ended:
        state = socket.app.state
        registry: Registry = state.registry
        operation = await _visible(socket, operation_id, caller)
        wish = Subscription.model_validate(
            {"after": socket.query_params.get("after", "0"), "workflow_id": operation.workflow_id}
        )
        feed = wish.follow(state.feed, state.database, caller)

        async def answer(text: str) -> str | None:
            return '{"type": "pong"}' if is_ping(text) else await _answered(registry, renew, operation, text)

        telling = tell(socket, _messages(socket, feed, operation, caller), caller)
        return await converse(telling, hear(socket, answer, most=_MAX_MESSAGE))

    await let_in(socket, talk)


async def _visible(socket: WebSocket, number: str, caller: UserContext) -> Operation:
    """The operation, for an analyst of its topic; to all others there is none."""
    try:
        ident = _NUMBER.validate_python(number)
    except ValidationError as error:
        raise InputInvalid(f"operation_id: {number[:40]!r} is no number of an operation") from error
    after = socket.query_params.get("after", "0")
    if not after.isascii() or not after.isdigit() or len(after) > 18:
        raise InputInvalid("after: give the id of the last message that you have, or leave it out")
    async with socket.app.state.database.connection() as connection:
        operation = await operations.get(connection, ident)
    if not caller.has("analyst", operation.topic):
        raise OperationNotFound(f"there is no operation {ident}")
    return operation


async def _messages(
    socket: WebSocket,
    feed: AsyncGenerator[Event | Position, None],
    operation: Operation,
    caller: UserContext,
) -> AsyncGenerator[str, None]:
    async with contextlib.aclosing(feed):
        async for item in feed:
            if isinstance(item, Position):
                yield json.dumps({"type": "position", "after": item.after})
                continue
            # Whoever asked is told of events as himself; what they lead to takes the right as it is now.
            async with socket.app.state.database.connection() as connection:
                left = await users.scopes_left(connection, caller.subject, caller.scopes)
            if not caller.model_copy(update={"scopes": left}).has("analyst", operation.topic):
                raise OperationNotFound(f"there is no operation {operation.id}")
            if (told := await _message(socket, item, operation, caller)) is not None:
                yield json.dumps({"type": told[0], "id": item.id, "data": told[1]})


async def _message(
    socket: WebSocket, event: Event, operation: Operation, caller: UserContext
) -> tuple[str, dict[str, Any]] | None:
    """An event as the seed's message; None where it is none."""
    if event.type == WorkflowProgressUpdate.type or event.type in _ENDS:
        return event.type, event.data
    if event.type == ApprovalRequested.type:
        async with socket.app.state.database.connection() as connection:
            approval = await approval_inbox.get(connection, str(event.data["approval_id"]))
        return (
            message_of_approval(approval, at=event.at)
            if approval.shown_to(caller.subject, caller.scopes)
            else None
        )
    if event.type == ComprehensiveResultsReady.type:
        async with socket.app.state.database.connection() as connection:
            results = await history.results_of(connection, operation.id, int(event.data["iteration"]))
        return None if results is None else message_of_results(results, at=event.at)
    return None


async def _answered(registry: Registry, renew: Renew, operation: Operation, text: str) -> str:
    """What came of an answer, as a message."""
    try:
        said = _read(text)
        tool = _TOOL_OF[said["type"]]
        given = said["data"] | {"operation_id": operation.id}
        decided = await registry.call(tool, given, caller=await renew(), door="rest")
    except SignoffError as error:
        return json.dumps({"type": "error", "data": members_of(error)})
    return json.dumps({"type": "decided", "data": decided.model_dump(mode="json")})


def _read(text: str) -> dict[str, Any]:
    """An answer's type and data. InputInvalid where it has none."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputInvalid("message: send a JSON object with type and data") from error
    known = ", ".join(_TOOL_OF)
    if not isinstance(said, dict) or said.get("type") not in tuple(_TOOL_OF):
        raise InputInvalid(f"type: send one of {known}")
    if not isinstance(said.get("data"), dict) or set(said) - {"type", "data"}:
        raise InputInvalid("data: send an object with the fields of the answer, and nothing beside it")
    if "operation_id" in said["data"]:
        # It may be another one than this socket's: which of them is meant is not clear, so neither is.
        raise InputInvalid("data.operation_id: the address of the socket says which it is: leave it out")
    return said
