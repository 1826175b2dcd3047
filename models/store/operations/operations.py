"""Operations as they were asked for: each has a workflow."""

from collections.abc import Sequence
from typing import Any

from psycopg.errors import UniqueViolation
from psycopg.types.json import Jsonb

from models.errors import InputInvalid, OperationNotFound
from models.operations.operations import Operation, OperationRequest, OperationTask
from models.runtime.approvals import content_digest
from models.runtime.workflows import Permission, WorkflowRequest
from models.store.database import Connection
from models.store.runtime import workflows
from models.text import one_line

KIND = "operation"
_MOST_NAME = 120
_COLUMNS = "id, workflow_id, topic, name, query, task_type, requested_by, request_id, created_at"


async def start(
    connection: Connection, request: OperationRequest, *, requested_by: str, gates: Sequence[str]
) -> tuple[Operation, bool]:
    """Begin an operation in the caller's transaction; whether it is new.

    `gates` are those at which its type stops now: what the site's settings say later changes nothing of it.

    The same `request_id` of the same person is the operation that is there.

    Raises:
        InputInvalid: that one was asked for in other words.
    """
    try:
        async with connection.transaction():  # a savepoint: who asks for the same at once finds it
            return await _insert(connection, request, requested_by, gates), True
    except UniqueViolation:
        assert request.request_id is not None, "only a request's id is unique"
        known = await _of_request(connection, requested_by, request.request_id)
        if (known.query, known.topic, known.task_type) != (request.query, request.topic, request.task_type):
            raise InputInvalid(
                f"request_id: {request.request_id!r} names operation {known.id}, asked for in other words: "
                "give another one"
            ) from None
        return known, False


async def get(connection: Connection, operation_id: int) -> Operation:
    """One operation; OperationNotFound if there is none."""
    cursor = await connection.execute(
        f"SELECT {_COLUMNS} FROM operations WHERE id = %s".encode(), (operation_id,)
    )
    row = await cursor.fetchone()
    if row is None:
        raise OperationNotFound(f"there is no operation {operation_id}")
    return Operation.model_validate(row)


async def of_workflow(connection: Connection, workflow_id: str) -> Operation:
    """The operation that a workflow runs; OperationNotFound if it runs none."""
    cursor = await connection.execute(
        f"SELECT {_COLUMNS} FROM operations WHERE workflow_id = %s".encode(), (workflow_id,)
    )
    row = await cursor.fetchone()
    if row is None:
        raise OperationNotFound(f"workflow {workflow_id} runs no operation")
    return Operation.model_validate(row)


async def keep_progress(connection: Connection, operation_id: int, progress: dict[str, Any]) -> None:
    """How far it is, in the transaction of the step that says so."""
    await connection.execute(
        "UPDATE operations SET progress = %s WHERE id = %s", (Jsonb(progress), operation_id)
    )


async def _insert(
    connection: Connection, request: OperationRequest, requested_by: str, gates: Sequence[str]
) -> Operation:
    given = OperationTask(**request.model_dump(), gates=tuple(gates)).model_dump(mode="json")
    workflow = await workflows.create(
        connection,
        WorkflowRequest(
            kind=KIND,
            input=given,
            input_digest=content_digest(given),
            requested_by=requested_by,
            permission=Permission(role="analyst", topic=request.topic),
        ),
    )
    cursor = await connection.execute(
        f"""INSERT INTO operations (workflow_id, topic, name, query, task_type, requested_by, request_id)
            VALUES (%s, %s, %s, %s, %s, %s, %s) RETURNING {_COLUMNS}""".encode(),
        (
            workflow.id,
            request.topic,
            one_line(one_line(request.query)[:_MOST_NAME]),
            request.query,
            request.task_type,
            requested_by,
            request.request_id,
        ),
    )
    return Operation.model_validate(await cursor.fetchone())


async def _of_request(connection: Connection, requested_by: str, request_id: str) -> Operation:
    cursor = await connection.execute(
        f"SELECT {_COLUMNS} FROM operations WHERE requested_by = %s AND request_id = %s".encode(),
        (requested_by, request_id),
    )
    return Operation.model_validate(await cursor.fetchone())
