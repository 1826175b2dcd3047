"""Users over HTTP: who you are here, who was seen, and which scopes are taken away from whom.

All but `/api/me` take `global:admin`. A revocation holds from the next request on, whatever the token says.
"""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from models.people.users import MAX_SUBJECT, Revocation, User, UserContext
from models.store.database import Database
from models.store.people import users
from models.tools import Prose
from serve.auth.caller import Caller
from serve.problems import problem_responses

router = APIRouter(
    prefix="/api",
    tags=["users"],
    responses=problem_responses(401, 503),
    generate_unique_id_function=lambda route: route.name,
)

_BIGGEST = 2**63 - 1
Subject = Annotated[
    str, Field(min_length=1, max_length=MAX_SUBJECT, description="The `sub` of the user's tokens.")
]
ScopeText = Annotated[
    str, Field(min_length=1, max_length=80, description="`{topic}:{role}`, `global:{role}`, or `*` for all.")
]


class Revoking(BaseModel):
    """Which scope to take away from whom, and why; the reason is kept."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"subject": "ann", "scope": "macro:analyst", "reason": "has moved to equity"}]
        },
    )

    subject: Subject
    scope: ScopeText
    reason: Annotated[Prose, Field(min_length=1, max_length=500)]


class Restoring(BaseModel):
    """Which revocation to end."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"subject": "ann", "scope": "macro:analyst"}]}
    )

    subject: Subject
    scope: ScopeText


@router.get("/me")
async def get_me(caller: Caller) -> UserContext:
    """Who you are here: the scopes of your token without those revoked from you, and your preferences."""
    return caller


@router.get("/users", responses=problem_responses(403, 422))
async def list_users(
    request: Request,
    caller: Caller,
    subject: Annotated[str | None, Query(max_length=MAX_SUBJECT)] = None,
    after: Annotated[int, Query(ge=0, le=_BIGGEST)] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> list[User]:
    """The users after id `after`, in order, or the one with a `subject`. Takes `global:admin`."""
    caller.require_global("admin")
    database: Database = request.app.state.database
    async with database.connection() as connection:
        return await users.list_users(connection, subject=subject, limit=limit, after=after)


@router.get("/users/{user_id}", responses=problem_responses(403, 404, 422))
async def get_user(
    request: Request, caller: Caller, user_id: Annotated[int, Path(ge=1, le=_BIGGEST)]
) -> User:
    """One user, with the scopes last seen and those revoked. Takes `global:admin`."""
    caller.require_global("admin")
    database: Database = request.app.state.database
    async with database.connection() as connection:
        return await users.get(connection, user_id)


@router.get("/revocations", responses=problem_responses(403, 422))
async def list_revocations(
    request: Request,
    caller: Caller,
    subject: Annotated[str | None, Query(max_length=MAX_SUBJECT)] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 500,
) -> list[Revocation]:
    """What is taken away from whom, the newest first. Takes `global:admin`."""
    caller.require_global("admin")
    database: Database = request.app.state.database
    async with database.connection() as connection:
        return await users.revocations(connection, subject, limit=limit)


@router.post("/revocations", responses=problem_responses(403, 422))
async def revoke_scope(request: Request, caller: Caller, revoking: Revoking) -> Revocation:
    """Take a scope away from a user, at once. What is revoked already stays so. Takes `global:admin`."""
    caller.require_global("admin")
    database: Database = request.app.state.database
    async with database.transaction() as connection:
        return await users.revoke(
            connection,
            revoking.subject,
            revoking.scope,
            reason=revoking.reason,
            revoked_by=caller.subject,
        )


@router.post("/revocations/restore", responses=problem_responses(403, 404, 422))
async def restore_scope(request: Request, caller: Caller, restoring: Restoring) -> Revocation:
    """End a revocation; the answer is what it was. Takes `global:admin`."""
    caller.require_global("admin")
    database: Database = request.app.state.database
    async with database.transaction() as connection:
        return await users.restore(connection, restoring.subject, restoring.scope, restored_by=caller.subject)
