"""What all tools of operations have in common: who sees one, and where they are kept."""

from typing import Annotated

from pydantic import Field

from actors.platform.gates.kind_tools import KindTools
from actors.systems.operations.system import OPERATION
from models.config import Config
from models.errors import OperationNotFound
from models.operations.operations import Operation
from models.store.operations import operations, overviews
from models.tools import Number

OPERATIONS: KindTools[Operation] = KindTools(
    kind=OPERATION,
    noun="operation",
    get=operations.get,
    missing=OperationNotFound,
    statuses=overviews.STATUS_OF_WORKFLOW,
    where="/api/operations/{}",
)
OperationId = Annotated[Number, Field(description="The operation, by its number", examples=[7])]


def lacking_sources(config: Config) -> str | None:
    """The setting without which there is nothing to read."""
    return None if config.operations.sources else "operations.sources"
