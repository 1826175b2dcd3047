"""Research as it was asked for: each has a workflow, a project, and perhaps a parent. Seed 002 §4."""

from psycopg.errors import UniqueViolation
from psycopg.types.json import Jsonb

from models.errors import InputInvalid, ResearchLimited, ResearchNotFound
from models.knowledge.projects import Project
from models.research.agent_workflows import AgentWorkflow, StartRequest
from models.research.intents import IntentReading
from models.runtime.approvals import content_digest
from models.runtime.workflows import OPEN_STATUSES, Permission, WorkflowRequest
from models.store.database import Connection
from models.store.runtime import workflows
from models.text import one_line

KIND = "research"
_MOST_NAME = 120
# Held to the end of the transaction in which a person begins a research.
_LOCK = "SELECT pg_advisory_xact_lock(hashtext('signoff researches'), hashtext(%s))"
_COLUMNS = (
    "id, workflow_id, project_id, topic, name, task_type, requested_by, request_id, parent_id, created_at, "
    "intent"
)


async def start(
    connection: Connection,
    request: StartRequest,
    *,
    project: Project,
    requested_by: str,
    most_at_once: int | None = None,
) -> tuple[AgentWorkflow, bool]:
    """Begin a research in the caller's transaction; whether it is new.

    The same `request_id` of the same person is the research that is there.

    Args:
        most_at_once: researches that the person may have under way, this one among them.

    Raises:
        InputInvalid: that one was asked for in other words; or the parent is of another topic.
        ResearchLimited: as many are under way.
        ResearchNotFound: there is no such parent.
    """
    if most_at_once is not None:
        # First of all: of two that are begun at once, the second one sees what came of the first.
        await connection.execute(_LOCK, (requested_by,))
    given = request.model_dump(mode="json") | {"project_id": project.id, "topic": project.topic}
    if request.request_id is not None:
        known = await _of_request(connection, requested_by, request.request_id)
        if known is not None:
            await _check_same(connection, known, given)
            return known, False
    if request.parent_workflow_id is not None:
        parent = await get(connection, request.parent_workflow_id)
        if parent.topic != project.topic:
            raise InputInvalid(
                f"parent_workflow_id: {parent.id} is of the topic {parent.topic}, and this one of "
                f"{project.topic}: begin it in the same topic"
            )
    if most_at_once is not None:
        await _check_room(connection, requested_by, most_at_once)
    try:
        async with connection.transaction():  # a savepoint: who asks for the same at once finds it
            return await _insert(connection, request, given, project, requested_by), True
    except UniqueViolation:
        assert request.request_id is not None, "only a request's id is unique"
        known = await _of_request(connection, requested_by, request.request_id)
        assert known is not None, "what conflicts is there"
        await _check_same(connection, known, given)
        return known, False


async def get(connection: Connection, research_id: int, *, lock: bool = False) -> AgentWorkflow:
    """One research; ResearchNotFound if there is none."""
    locked = "FOR UPDATE" if lock else ""
    cursor = await connection.execute(
        f"SELECT {_COLUMNS} FROM agent_workflows WHERE id = %s {locked}".encode(), (research_id,)
    )
    row = await cursor.fetchone()
    if row is None:
        raise ResearchNotFound(f"there is no research {research_id}")
    return AgentWorkflow.model_validate(row)


async def is_known(connection: Connection, requested_by: str, request_id: str | None) -> bool:
    """Whether a person has begun one under this name."""
    return request_id is not None and await _of_request(connection, requested_by, request_id) is not None


async def of_workflow(connection: Connection, workflow_id: str) -> AgentWorkflow:
    """The research that a workflow runs; ResearchNotFound if it runs none."""
    cursor = await connection.execute(
        f"SELECT {_COLUMNS} FROM agent_workflows WHERE workflow_id = %s".encode(), (workflow_id,)
    )
    row = await cursor.fetchone()
    if row is None:
        raise ResearchNotFound(f"workflow {workflow_id} runs no research")
    return AgentWorkflow.model_validate(row)


async def classified(connection: Connection, research_id: int, intent: IntentReading) -> None:
    """Keep what a research is taken to ask for; its task type is the row's from now on."""
    await connection.execute(
        "UPDATE agent_workflows SET intent = %s, task_type = %s WHERE id = %s",
        (Jsonb(intent.model_dump(mode="json")), intent.task_type, research_id),
    )


async def _check_room(connection: Connection, person: str, most: int) -> None:
    cursor = await connection.execute(
        """SELECT count(*) AS n FROM agent_workflows a JOIN workflows w ON w.id = a.workflow_id
           WHERE a.requested_by = %s AND w.status = ANY(%s)""",
        (person, list(OPEN_STATUSES)),
    )
    row = await cursor.fetchone()
    assert row is not None
    if row["n"] >= most:
        raise ResearchLimited(
            f"{row['n']} researches of yours are under way, and {most} may be at once "
            "(research.limits, max_workflows): stop one, or wait until one has ended"
        )


async def _insert(
    connection: Connection,
    request: StartRequest,
    given: dict[str, object],
    project: Project,
    requested_by: str,
) -> AgentWorkflow:
    workflow = await workflows.create(
        connection,
        WorkflowRequest(
            kind=KIND,
            input=given,
            input_digest=content_digest(given),
            requested_by=requested_by,
            permission=Permission(role="analyst", topic=project.topic),
        ),
    )
    cursor = await connection.execute(
        f"""INSERT INTO agent_workflows
                (workflow_id, project_id, topic, name, task_type, requested_by, request_id, parent_id)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s) RETURNING {_COLUMNS}""".encode(),
        (
            workflow.id,
            project.id,
            project.topic,
            one_line(one_line(request.user_query)[:_MOST_NAME]),
            request.task_type,
            requested_by,
            request.request_id,
            request.parent_workflow_id,
        ),
    )
    return AgentWorkflow.model_validate(await cursor.fetchone())


async def _of_request(connection: Connection, requested_by: str, request_id: str) -> AgentWorkflow | None:
    cursor = await connection.execute(
        f"SELECT {_COLUMNS} FROM agent_workflows WHERE requested_by = %s AND request_id = %s".encode(),
        (requested_by, request_id),
    )
    row = await cursor.fetchone()
    return None if row is None else AgentWorkflow.model_validate(row)


async def _check_same(connection: Connection, known: AgentWorkflow, given: dict[str, object]) -> None:
    asked = (await workflows.get(connection, known.workflow_id)).input
    if asked != given:
        raise InputInvalid(
            f"request_id: {known.request_id!r} names research {known.id}, asked for in other words: "
            "give another one"
        )
