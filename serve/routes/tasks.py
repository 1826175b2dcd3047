"""Tasks over HTTP (seed 000 §1.5): what became of a research or a publication, and stopping it."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from pydantic import Field

from models.config import Config
from models.record import Record
from models.runtime.tasks import Task
from models.runtime.workflow_kinds import Kinds
from models.store.database import Database
from models.store.runtime import tasks
from models.tools import PlainText, Prose
from serve.auth.caller import Caller
from serve.problems import problem_responses

router = APIRouter(prefix="/api/tasks", tags=["tasks"], responses=problem_responses(401, 422, 503))

TaskId = Annotated[PlainText, Field(min_length=1, max_length=64)]


class TaskCancellation(Record):
    """Why a task is stopped, where there is something to say; it is kept with the task."""

    reason: Annotated[Prose, Field(min_length=1, max_length=500)] = "cancelled"


@router.get("")
async def list_tasks(
    request: Request,
    caller: Caller,
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
    before: Annotated[TaskId | None, Query()] = None,
) -> list[Task]:
    """The tasks that the caller began, newest first.

    `before` is the id of the last one of the page before.
    """
    config, database, kinds = _of(request)
    async with database.transaction() as connection:
        return await tasks.recent(
            connection,
            caller.subject,
            scopes=caller.scopes,
            limit=limit,
            config=config,
            kinds=kinds,
            before=before,
        )


@router.get("/{task_id}", responses=problem_responses(404))
async def get_task(request: Request, caller: Caller, task_id: Annotated[TaskId, Path()]) -> Task:
    """One task: the caller's own or, with `global:editor`, anybody's.

    `status` is in Signoff's words: `queued`, `running`, `waiting` (for a human's decision), `succeeded`,
    `failed`, `cancelled`; or how it ended without what was asked for: `rejected`, `expired`, `void`,
    `not_enough`, `nothing_found`, `nothing_read`, `nothing_extracted`, `nothing_written`. `reason` says why.
    `result` is there once it has come to its end.
    """
    config, database, kinds = _of(request)
    async with database.transaction() as connection:
        return await tasks.get(
            connection, task_id, person=caller.subject, scopes=caller.scopes, config=config, kinds=kinds
        )


@router.post("/{task_id}/cancel", responses=problem_responses(404, 409))
async def cancel_task(
    request: Request,
    caller: Caller,
    task_id: Annotated[TaskId, Path()],
    cancellation: TaskCancellation | None = None,
) -> Task:
    """Stop a task for good: the caller's own or, with `global:editor`, anybody's.

    An article whose publication is stopped goes back to its editor. 409 when the task is over.
    """
    config, database, kinds = _of(request)
    async with database.transaction() as connection:
        return await tasks.cancel(
            connection,
            task_id,
            person=caller.subject,
            scopes=caller.scopes,
            reason=(cancellation or TaskCancellation()).reason,
            config=config,
            kinds=kinds,
        )


def _of(request: Request) -> tuple[Config, Database, Kinds]:
    state = request.app.state
    return state.config, state.database, state.kinds
