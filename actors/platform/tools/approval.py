"""A call that takes a person's yes (`requires_approval` of a tool): it is asked for, and nothing is done.

What is done after the yes is in `actors.platform.gates.tool_call`.
"""

from typing import Any, cast

from pydantic import BaseModel, create_model

from models.record import Record
from models.runtime.approvals import content_digest
from models.runtime.tool_calls import KIND, CallAsked, CallShown
from models.runtime.workflows import Permission, WorkflowRequest
from models.store.database import Connection
from models.store.runtime import workflows
from models.tools import Door


class MaybeAsked(Record):
    """A call's `answer`; or, where a person is asked first, the task in which that is done."""

    success: bool = True
    task_id: str | None = None


def maybe_asked(output: type[BaseModel]) -> Any:
    """The record of what a tool answers whose calls may take a yes."""
    return create_model(
        f"{output.__name__}OrAsked",
        __base__=MaybeAsked,
        __doc__=MaybeAsked.__doc__,
        answer=(cast(Any, output | None), None),
    )


async def ask(connection: Connection, call: CallShown, *, permission: Permission, door: Door) -> str:
    """Ask for a call; the task in which it is made after a yes."""
    given = CallAsked(call=call, door=door).model_dump(mode="json")
    workflow = await workflows.create(
        connection,
        WorkflowRequest(
            kind=KIND,
            input=given,
            input_digest=content_digest(given),
            requested_by=call.requested_by,
            permission=permission,
        ),
    )
    return workflow.id
