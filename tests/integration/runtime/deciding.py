"""A person who decides at a gate."""

from datetime import UTC, datetime, timedelta
from typing import Any

from models.people.scopes import read_scopes
from models.people.users import Identity
from models.runtime.approvals import Approval
from models.store import approval_inbox
from models.store.database import Database
from models.store.people import users
from tests.integration.workflows import ended

EDITOR = read_scopes(["global:editor"])


async def waiting(database: Database, workflow_id: str) -> Approval:
    """The approval a workflow waits for."""
    await ended(database, workflow_id, "waiting")
    async with database.connection() as connection:
        [approval] = await approval_inbox.of_workflow(connection, workflow_id)
    return approval


async def editors(database: Database, *names: str) -> None:
    """People who are known to have EDITOR: of a quorum, only they count."""
    now = datetime.now(UTC)
    async with database.connection() as connection:
        for name in names:
            identity = Identity(
                subject=name,
                name=name,
                email=f"{name}@example.com",
                scopes=EDITOR,
                issued_at=now,
                expires_at=now + timedelta(hours=1),
            )
            await users.seen(connection, identity, grants_last_seconds=3600)


def yes(approval: Approval, **more: Any) -> dict[str, Any]:
    """A well-formed approval of what was shown."""
    return {"decision": "approve", "digest": approval.digest, **more}
