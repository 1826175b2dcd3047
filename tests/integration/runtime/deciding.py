"""A person who decides at a gate."""

from typing import Any

from models.people.scopes import read_scopes
from models.runtime.approvals import Approval
from models.store import approval_inbox
from models.store.database import Database
from tests.integration.workflows import ended

EDITOR = read_scopes(["global:editor"])


async def waiting(database: Database, workflow_id: str) -> Approval:
    """The approval a workflow waits for."""
    await ended(database, workflow_id, "waiting")
    async with database.connection() as connection:
        [approval] = await approval_inbox.of_workflow(connection, workflow_id)
    return approval


def yes(approval: Approval, **more: Any) -> dict[str, Any]:
    """A well-formed approval of what was shown."""
    return {"decision": "approve", "digest": approval.digest, **more}
