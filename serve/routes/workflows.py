"""Workflows over HTTP: list them, look at one and at what happened to it, stop it."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from models.config import PublishingConfig
from models.events import Event
from models.store import events, publishing, workflows
from models.store.database import Database
from models.workflows import Workflow
from serve.auth import Caller
from serve.problems import problem_responses

router = APIRouter(
    prefix="/api/workflows", tags=["workflows"], responses=problem_responses(401, 403, 404, 409, 422, 503)
)


class Cancellation(BaseModel):
    """Why a workflow is stopped; it is kept with the workflow."""

    model_config = ConfigDict(extra="forbid")

    reason: Annotated[str, Field(min_length=1, max_length=500)]


@router.get("")
async def list_workflows(
    request: Request, caller: Caller, limit: Annotated[int, Query(ge=1, le=500)] = 50
) -> list[Workflow]:
    """The newest workflows, newest first. Takes `global:reader`."""
    caller.require_global("reader")
    database: Database = request.app.state.database
    async with database.connection() as connection:
        return await workflows.recent(connection, limit=limit)


@router.get("/{workflow_id}")
async def get_workflow(request: Request, caller: Caller, workflow_id: str) -> Workflow:
    """One workflow. Takes `global:reader`."""
    caller.require_global("reader")
    database: Database = request.app.state.database
    async with database.connection() as connection:
        return await workflows.get(connection, workflow_id)


@router.get("/{workflow_id}/events")
async def get_events(
    request: Request,
    caller: Caller,
    workflow_id: str,
    after: Annotated[int, Query(ge=0, le=2**63 - 1)] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 500,
) -> list[Event]:
    """What happened to a workflow after event `after`, in order. Takes `global:reader`."""
    caller.require_global("reader")
    database: Database = request.app.state.database
    async with database.connection() as connection:
        await workflows.get(connection, workflow_id)
        return await events.read(connection, after=after, limit=limit, workflow_ids=[workflow_id])


@router.post("/{workflow_id}/cancel")
async def cancel_workflow(
    request: Request, caller: Caller, workflow_id: str, cancellation: Cancellation
) -> Workflow:
    """Stop a workflow for good: what runs it writes nothing more. Takes `global:editor`."""
    caller.require_global("editor")
    database: Database = request.app.state.database
    async with database.transaction() as connection:
        reason = f"{cancellation.reason} ({caller.subject})"
        cancelled = await workflows.cancel(connection, workflow_id, reason=reason)
        # An article whose publication is stopped goes back to its editor.
        settings: PublishingConfig = request.app.state.config.publishing
        await publishing.give_back_of_workflow(
            connection, workflow_id, reason=f"stopped: {reason}", settings=settings
        )
        return cancelled
