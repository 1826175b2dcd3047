"""Tasks: workflows as those who began them see them, with the seed's workflow context (000 §4.1).

Which kinds there are is given: the systems, which lie above, declare them.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

from models.chat.messages import WorkflowState
from models.config import Config
from models.errors import ArticleNotFound, InputInvalid, TaskNotFound, WorkflowNotFound
from models.people.scopes import Scope, check_permission
from models.runtime.outages import without_addresses
from models.runtime.standing import WorkflowStanding
from models.runtime.tasks import Task, TaskStatus
from models.runtime.workflow_kinds import Kinds
from models.runtime.workflows import Workflow
from models.store import approval_inbox
from models.store.content import articles
from models.store.database import Connection
from models.store.runtime import workflows
from models.store.runtime.standing import standing


async def get(
    connection: Connection,
    task_id: str,
    *,
    person: str,
    scopes: Iterable[Scope],
    config: Config,
    kinds: Kinds,
) -> Task:
    """One task, for its requester and for `global:editor`; TaskNotFound for everybody else."""
    scopes = tuple(scopes)
    workflow = await _seen(connection, task_id, person, scopes, kinds)
    [task] = await _tasks(connection, [workflow], config, scopes, kinds)
    return task


async def recent(
    connection: Connection,
    person: str,
    *,
    scopes: Iterable[Scope],
    limit: int,
    config: Config,
    kinds: Kinds,
    before: str | None = None,
) -> list[Task]:
    """The tasks that a person began, newest first; `before`: those that are older than that one.

    Raises:
        InputInvalid: `before` is none of theirs.
    """
    query = {"person": person, "kinds": _seen_kinds(kinds), "before": before, "limit": limit}
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
    return await _tasks(connection, [found[task_id] for task_id in ids], config, tuple(scopes), kinds)


async def cancel(
    connection: Connection,
    task_id: str,
    *,
    person: str,
    scopes: Iterable[Scope],
    reason: str,
    config: Config,
    kinds: Kinds,
) -> Task:
    """Stop a task for good, for its requester and for `global:editor`.

    Raises:
        TaskNotFound, WorkflowEnded.
    """
    scopes = tuple(scopes)
    await _seen(connection, task_id, person, scopes, kinds)
    stopped = await stop(connection, task_id, by=person, reason=reason, config=config, kinds=kinds)
    [task] = await _tasks(connection, [stopped], config, scopes, kinds)
    return task


async def stop(
    connection: Connection, workflow_id: str, *, by: str, reason: str, config: Config, kinds: Kinds
) -> Workflow:
    """Stop a workflow, whoever may, and do what goes with it for its kind.

    Raises:
        WorkflowNotFound, WorkflowEnded.
    """
    told = f"{reason} ({by})"
    stopped = await workflows.cancel(connection, workflow_id, reason=told)
    kind = kinds.get(stopped.kind)
    if kind is not None and kind.stopped is not None:
        await kind.stopped(connection, workflow_id, told, config)
    return stopped


async def retry(connection: Connection, workflow_id: str, *, kinds: Kinds) -> Workflow:
    """Begin a failed workflow again, whoever may, or try a parked one now.

    Raises:
        WorkflowNotFound.
        WorkflowConflict: see `workflows.retry`; or its kind is not begun again as it stands.
    """
    workflow = await workflows.get(connection, workflow_id)
    kind = kinds.get(workflow.kind)
    if kind is not None and kind.check_retry is not None and workflow.status == "failed":
        await kind.check_retry(connection, workflow)
    return await workflows.retry(connection, workflow_id)


async def state_of(
    connection: Connection, workflow_id: str, config: Config, *, kinds: Kinds
) -> WorkflowState:
    """The seed's workflow context of a task as it stands. Raises WorkflowNotFound, TaskNotFound."""
    return await _state(connection, await workflows.get(connection, workflow_id), config, kinds)


async def _seen(
    connection: Connection, task_id: str, person: str, scopes: Iterable[Scope], kinds: Kinds
) -> Workflow:
    try:
        workflow = await workflows.get(connection, task_id)
    except WorkflowNotFound:
        raise TaskNotFound(f"you have no task {task_id!r}") from None
    everywhere = check_permission([scope for scope in scopes if scope.is_global], "editor")
    if workflow.kind not in _seen_kinds(kinds) or not (everywhere or workflow.requested_by == person):
        raise TaskNotFound(f"you have no task {task_id!r}")
    return workflow


def _seen_kinds(kinds: Kinds) -> list[str]:
    return [kind.name for kind in kinds.values() if kind.word is not None]


async def _tasks(
    connection: Connection,
    found: Sequence[Workflow],
    config: Config,
    scopes: tuple[Scope, ...],
    kinds: Kinds,
) -> list[Task]:
    """What each is to somebody with these scopes, in their order."""
    stand = await standing(connection, found, kinds=kinds)
    return [
        await _task(connection, workflow, stands, config, scopes, kinds)
        for workflow, stands in zip(found, stand, strict=True)
    ]


async def _task(
    connection: Connection,
    workflow: Workflow,
    stands: WorkflowStanding,
    config: Config,
    scopes: tuple[Scope, ...],
    kinds: Kinds,
) -> Task:
    state = await _state(connection, workflow, config, kinds)
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
        status=cast("TaskStatus", stands.outcome),
        reason=(error or stands.reason) if shown else None,
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


async def _state(connection: Connection, workflow: Workflow, config: Config, kinds: Kinds) -> WorkflowState:
    kind = kinds.get(workflow.kind)
    if kind is None or kind.word is None:
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
    asked = await approval_inbox.listed_of_workflow(connection, workflow.id)
    # Approvals are numbered; only those of other kinds of gates are named in another way.
    number = int(asked[-1].id) if asked and asked[-1].id.isdecimal() else None
    site = config.publishing.public_url.rstrip("/")
    return WorkflowState(
        workflow_id=workflow.id,
        workflow_type=kind.word,
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
