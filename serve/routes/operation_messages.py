"""An operation over a WebSocket: seed 003's messages, replayed after a reconnect, and answers to them.

What is told is made in `serve.streams.operation_sight`. Answers go through the same tools as those over REST.
"""

import json
from typing import Any

from fastapi import APIRouter, WebSocket
from pydantic import TypeAdapter, ValidationError

from actors.platform.tools.registry import Registry
from models.errors import InputInvalid, OperationNotFound, SignoffError
from models.operations.operations import Operation
from models.people.users import UserContext
from models.store.operations import operations
from models.tools import Number
from serve.streams.operation_sight import OperationSight
from serve.streams.websocket import Ended, Renew, converse, hear, is_ping, let_in, refusal, tell

router = APIRouter(tags=["operations"])

_MAX_MESSAGE = 32_768  # characters: feedback is at most 5,000, and instructions 2,000 for each agent
_NUMBER: TypeAdapter[int] = TypeAdapter(Number)
_TOOL_OF = {
    "plan_approval_response": "decide_operation_plan",
    "final_results_approval_response": "decide_operation_results",
    "agent_decision": "decide_operation_agent",
    "user_clarification_response": "clarify_operation",
}


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
        sight = OperationSight(state.database, operation, caller, renew)
        after = int(socket.query_params.get("after", "0"))

        async def answer(text: str) -> str | None:
            return '{"type": "pong"}' if is_ping(text) else await _answered(registry, renew, operation, text)

        telling = tell(socket, sight.follow(state.feed, after=after), caller)
        limit = state.config.tools.rate_limit
        return await converse(telling, hear(socket, answer, most=_MAX_MESSAGE, limit=limit))

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


async def _answered(registry: Registry, renew: Renew, operation: Operation, text: str) -> str:
    """What came of an answer, as a message."""
    try:
        said = _read(text)
        tool = _TOOL_OF[said["type"]]
        given = said["data"] | {"operation_id": operation.id}
        decided = await registry.call(tool, given, caller=await renew(), door="rest")
    except SignoffError as error:
        return refusal(error)
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
