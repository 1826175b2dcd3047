"""Tasks: workflows as those who began them see them, with the seed's workflow context (000 §4.1)."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from models.chat import WorkflowState
from models.config import Config, PublishingConfig
from models.errors import ArticleNotFound, InputInvalid, TaskNotFound, WorkflowConflict, WorkflowNotFound
from models.outages import without_addresses
from models.scopes import Scope, check_permission
from models.store import approval_inbox, articles, publishing, workflows
from models.store.database import Connection
from models.tasks import TASK_KINDS, Task
from models.workflows import Workflow


async def get(
    connection: Connection, task_id: str, *, person: str, scopes: Iterable[Scope], config: Config
) -> Task:
    """One task, for its requester and for `global:editor`; TaskNotFound for everybody else."""
    scopes = tuple(scopes)
    return await _task(connection, await _seen(connection, task_id, person, scopes), config, scopes)


async def recent(
    connection: Connection,
    person: str,
    *,
    scopes: Iterable[Scope],
    limit: int,
    config: Config,
    before: str | None = None,
) -> list[Task]:
    """The tasks that a person began, newest first; `before`: those that are older than that one.

    Raises:
        InputInvalid: `before` is none of theirs.
    """
    query = {"person": person, "kinds": list(TASK_KINDS), "before": before, "limit": limit}
    mine = "requested_by = %(person)s AND kind = ANY(%(kinds)s)"
    if before is not None:
        cursor = await connection.execute(
            f"SELECT 1 FROM workflows WHERE id = %(before)s AND {mine}".encode(), query
        )
        if await cursor.fetchone() is None:
            raise InputInvalid(f"before: you have no task {before!r}: start from the newest again")
    cursor = await connection.execute(
        f"""SELECT id FROM workflows WHERE {mine}
              AND (%(before)s::text IS NULL OR (created_at, id) <
                   (SELECT w.created_at, w.id FROM workflows w WHERE w.id = %(before)s))
            ORDER BY created_at DESC, id DESC LIMIT %(limit)s""".encode(),
        query,
    )
    ids = [row["id"] for row in await cursor.fetchall()]
    found = {workflow.id: workflow for workflow in await workflows.get_many(connection, ids)}
    scopes = tuple(scopes)
    return [await _task(connection, found[task_id], config, scopes) for task_id in ids]


async def cancel(
    connection: Connection, task_id: str, *, person: str, scopes: Iterable[Scope], reason: str, config: Config
) -> Task:
    """Stop a task for good, for its requester and for `global:editor`.

    Raises:
        TaskNotFound, WorkflowEnded.
    """
    scopes = tuple(scopes)
    await _seen(connection, task_id, person, scopes)
    stopped = await stop(connection, task_id, by=person, reason=reason, settings=config.publishing)
    return await _task(connection, stopped, config, scopes)


async def stop(
    connection: Connection, workflow_id: str, *, by: str, reason: str, settings: PublishingConfig
) -> Workflow:
    """Stop a workflow, whoever may: an article whose publication is stopped goes back to its editor.

    Raises:
        WorkflowNotFound, WorkflowEnded.
    """
    told = f"{reason} ({by})"
    stopped = await workflows.cancel(connection, workflow_id, reason=told)
    await publishing.give_back_of_workflow(
        connection, workflow_id, reason=f"stopped: {told}", settings=settings
    )
    return stopped


async def retry(connection: Connection, workflow_id: str) -> Workflow:
    """Begin a failed workflow again, whoever may, or try a parked one now.

    Raises:
        WorkflowNotFound.
        WorkflowConflict: see `workflows.retry`; or it is a publication that has given its article back.
    """
    workflow = await workflows.get(connection, workflow_id)
    if workflow.kind == publishing.KIND and workflow.status == "failed":
        number = _number(workflow.input, "article_id")
        if not await publishing.still_waits(connection, workflow_id):
            raise WorkflowConflict(
                f"publication {workflow_id} failed and gave article {number} back to its editor: mend what "
                "its error says, and ask for the publication again",
                status=workflow.status,
            )
    return await workflows.retry(connection, workflow_id)


async def state_of(connection: Connection, workflow_id: str, config: Config) -> WorkflowState:
    """The seed's workflow context of a task as it stands. Raises WorkflowNotFound, TaskNotFound."""
    return await _state(connection, await workflows.get(connection, workflow_id), config)


async def _seen(connection: Connection, task_id: str, person: str, scopes: Iterable[Scope]) -> Workflow:
    try:
        workflow = await workflows.get(connection, task_id)
    except WorkflowNotFound:
        raise TaskNotFound(f"you have no task {task_id!r}") from None
    everywhere = check_permission([scope for scope in scopes if scope.is_global], "editor")
    if workflow.kind not in TASK_KINDS or not (everywhere or workflow.requested_by == person):
        raise TaskNotFound(f"you have no task {task_id!r}")
    return workflow


async def _task(
    connection: Connection, workflow: Workflow, config: Config, scopes: tuple[Scope, ...]
) -> Task:
    state = await _state(connection, workflow, config)
    # What came of it tells of the draft: whoever began it and sees the topic's drafts no more is told only
    # what they said themselves, and how it stands.
    shown = check_permission(scopes, "editor", state.current_topic)
    if not shown:
        state = _as_begun(state, workflow)
    error = workflow.error if shown else None
    if error and not check_permission([scope for scope in scopes if scope.is_global], "editor"):
        error = without_addresses(error)
    return Task(
        task_id=workflow.id,
        kind=workflow.kind,
        status=workflow.status,
        requested_by=workflow.requested_by,
        created_at=workflow.created_at,
        finished_at=workflow.finished_at,
        error=error,
        result=workflow.result if shown else None,
        workflow_state=state,
    )


def _as_begun(state: WorkflowState, workflow: Workflow) -> WorkflowState:
    article_id = _number(workflow.input, "article_id")
    return state.model_copy(
        update={
            "current_article_id": article_id,
            "current_topic": None,
            "pending_resources": (),
            "attached_resources": (),
            "approval_callback_url": state.approval_callback_url if article_id is not None else None,
        }
    )


async def _state(connection: Connection, workflow: Workflow, config: Config) -> WorkflowState:
    if (workflow_type := TASK_KINDS.get(workflow.kind)) is None:
        raise TaskNotFound(f"workflow {workflow.id!r} is no task: it is of the kind {workflow.kind!r}")
    result = workflow.result or {}
    # A research that is told which article to write names it before it has a result.
    article_id = _number(result, "article_id") or _number(workflow.input, "article_id")
    topic: str | None = workflow.input.get("topic")
    attached: tuple[int, ...] = ()
    if article_id is not None:
        # What a research was asked to write on may turn out not to be there.
        with suppress(ArticleNotFound):
            article = await articles.get(connection, article_id)
            version = await articles.get_version(connection, article_id, article.version)
            topic, attached = article.topic, tuple(resource.id for resource in version.resources)
    created = tuple(result.get("resources_created", ()))
    asked = await approval_inbox.of_workflow(connection, workflow.id)
    # Approvals are numbered; only those of other kinds of gates are named in another way.
    number = int(asked[-1].id) if asked and asked[-1].id.isdecimal() else None
    site = config.publishing.public_url.rstrip("/")
    return WorkflowState(
        workflow_id=workflow.id,
        workflow_type=workflow_type,
        started_at=workflow.started_at or workflow.created_at,
        current_article_id=article_id,
        current_topic=topic,
        pending_resources=tuple(resource for resource in created if resource not in attached),
        attached_resources=attached,
        approval_pending=any(approval.status == "pending" for approval in asked),
        approval_request_id=number,
        approval_callback_url=f"{site}/api/approvals/{article_id}" if asked and article_id else None,
    )


def _number(facts: Mapping[str, Any], name: str) -> int | None:
    found = facts.get(name)
    return found if isinstance(found, int) else None
