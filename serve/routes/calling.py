"""An endpoint that is a call of a tool: with the caller's rights, limits and record, as any call."""

from typing import Any, TypeVar

from fastapi import Request

from actors.platform.tools.registry import Registry
from models.people.users import UserContext

T = TypeVar("T")


async def call(request: Request, caller: UserContext, tool: str, given: dict[str, Any], answer: type[T]) -> T:
    """What the tool answers, which is an `answer`. Raises what the tool refuses."""
    registry: Registry = request.app.state.registry
    called = await registry.call(tool, given, caller=caller, door="rest")
    assert isinstance(called, answer)
    return called
