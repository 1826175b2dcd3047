"""Which operations a caller sees: those on topics in which he is an analyst, or more."""

from typing import Annotated, Any

from pydantic import Field

from actors.platform.tools.tool import ToolContext
from models.config import Config
from models.errors import OperationNotFound
from models.operations.operations import Operation
from models.people.scopes import Role
from models.store.database import Connection
from models.store.operations import operations
from models.tools import Number, ToolPermission

OPERATION_ROLE: Role = "analyst"
OPERATES = ToolPermission(required_role=OPERATION_ROLE, topic_scoped=True)
OPERATES_ANYWHERE = ToolPermission(required_role=OPERATION_ROLE, topic_scoped=False)
OperationId = Annotated[Number, Field(description="The operation, by its number", examples=[7])]


def lacking_sources(config: Config) -> str | None:
    """The setting without which there is nothing to read."""
    return None if config.operations.sources else "operations.sources"


async def visible_operation(context: ToolContext, connection: Connection, operation_id: int) -> Operation:
    """The operation, if the caller may see it; else OperationNotFound, as if it did not exist."""
    operation = await operations.get(connection, operation_id)
    if not context.caller.has(OPERATION_ROLE, operation.topic):
        raise OperationNotFound(f"there is no operation {operation_id}")
    return operation


async def topic_of_operation(context: ToolContext, request: Any) -> str:
    """The topic of the operation that the request names."""
    async with context.database.connection() as connection:
        return (await visible_operation(context, connection, request.operation_id)).topic


async def about_operation(context: ToolContext, request: Any) -> tuple[str | None, str | None]:
    """For the record alone, so that it says what a person tried who may not know of the operation."""
    about = f"operation:{request.operation_id}"
    try:
        return (await operations.get(context.connection, request.operation_id)).topic, about
    except OperationNotFound:
        return None, about
