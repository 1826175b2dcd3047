"""The record of calls over HTTP: who called which tool, when, and what came of it."""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from models.errors import PermissionMissing
from models.people.scopes import on_topics
from models.store.database import Database
from models.store.people import tool_calls
from models.tools import ToolCall
from serve.auth.caller import Caller
from serve.problems import problem_responses

router = APIRouter(prefix="/api/audit", tags=["audit"])


@router.get("", responses=problem_responses(401, 403, 422, 503))
async def list_calls(
    request: Request,
    caller: Caller,
    user: Annotated[str | None, Query(max_length=255)] = None,
    tool: Annotated[str | None, Query(max_length=64)] = None,
    about: Annotated[str | None, Query(max_length=64, examples=["article:17"])] = None,
    before: Annotated[int | None, Query(ge=1, le=2**53 - 1)] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> list[ToolCall]:
    """The newest calls first. A topic's admin sees those on his topic, `global:admin` all of them."""
    if not caller.has("admin"):
        wanted = on_topics("{topic}:admin", request.app.state.config.publishing.topics)
        raise PermissionMissing(
            f"the record of calls takes the scope {wanted}", scope=wanted.replace(" or ", " ")
        )
    database: Database = request.app.state.database
    async with database.connection() as connection:
        return await tool_calls.read(
            connection, caller.scopes, person=user, tool=tool, about=about, before=before, limit=limit
        )
