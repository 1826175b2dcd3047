"""Workflows over HTTP: list them, look at one and at what happened to it, stop it, begin it again."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from models.people.scopes import check_permission
from models.people.users import UserContext
from models.runtime.events import Event
from models.runtime.outages import named
from models.runtime.standing import WorkflowStanding
from models.runtime.workflows import Workflow, WorkflowStatus
from models.store import events
from models.store.database import Database
from models.store.runtime import tasks, workflows
from models.store.runtime.standing import standing
from models.tools import Prose
from serve.auth.caller import Caller
from serve.problems import problem_responses

router = APIRouter(
    prefix="/api/workflows", tags=["workflows"], responses=problem_responses(401, 403, 404, 409, 422, 503)
)


class Cancellation(BaseModel):
    """Why a workflow is stopped; it is kept with the workflow."""

    model_config = ConfigDict(extra="forbid")

    reason: Annotated[Prose, Field(min_length=1, max_length=500)]


@router.get("")
async def list_workflows(
    request: Request,
    caller: Caller,
    status: Annotated[list[WorkflowStatus], Query()] = [],  # noqa: B006  FastAPI copies it
    before: str | None = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> list[WorkflowStanding]:
    """The newest workflows, newest first, of any of the statuses; `before`: older than the one of that id.

    Takes `global:reader`; their contents take `global:editor`.
    """
    caller.require_global("reader")
    database: Database = request.app.state.database
    async with database.connection() as connection:
        found = await workflows.recent(connection, limit=limit, statuses=status, before=before)
        stand = await standing(connection, found, kinds=request.app.state.kinds)
    return [_shown(workflow, caller) for workflow in stand]


@router.get("/{workflow_id}")
async def get_workflow(request: Request, caller: Caller, workflow_id: str) -> WorkflowStanding:
    """One workflow. Takes `global:reader`."""
    caller.require_global("reader")
    database: Database = request.app.state.database
    async with database.connection() as connection:
        found = await workflows.get(connection, workflow_id)
        [stands] = await standing(connection, [found], kinds=request.app.state.kinds)
    return _shown(stands, caller)


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
        found = await events.read(connection, after=after, limit=limit, workflow_ids=[workflow_id])
    seen = [event for event in found if event.visible_to(caller.subject, caller.scopes)]
    return [event.as_told_to(caller.scopes) for event in seen]


def _shown(workflow: WorkflowStanding, caller: UserContext) -> WorkflowStanding:
    """Readers see how it stands; what it works on is not published, nor where what it waits for is.

    Nor why it ended so, as that tells of what it works on, nor its digest: that would say whether somebody
    guessed right.
    """
    if check_permission([scope for scope in caller.scopes if scope.is_global], "editor"):
        return workflow
    told = dict.fromkeys(("result", "error", "key", "reason"))
    hidden: dict[str, Any] = {**told, "input": {}, "input_digest": ""}
    waits_for = named(workflow.parked_for) if workflow.parked_for else None
    return workflow.model_copy(update={**hidden, "parked_for": waits_for})


@router.post("/{workflow_id}/cancel")
async def cancel_workflow(
    request: Request, caller: Caller, workflow_id: str, cancellation: Cancellation
) -> Workflow:
    """Stop a workflow for good: what runs it writes nothing more. Takes `global:editor`."""
    caller.require_global("editor")
    database: Database = request.app.state.database
    async with database.transaction() as connection:
        return await tasks.stop(
            connection,
            workflow_id,
            by=caller.subject,
            reason=cancellation.reason,
            config=request.app.state.config,
            kinds=request.app.state.kinds,
        )


@router.post("/{workflow_id}/retry")
async def retry_workflow(request: Request, caller: Caller, workflow_id: str) -> Workflow:
    """Begin a failed workflow again from its last step, or try a parked one now. Takes `global:editor`."""
    caller.require_global("editor")
    database: Database = request.app.state.database
    async with database.transaction() as connection:
        return await tasks.retry(connection, workflow_id, kinds=request.app.state.kinds)
