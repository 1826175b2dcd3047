"""What happens to approvals, written as events; and the end of those whose workflow has ended.

Whoever follows the inbox hears of each end: also of one that nobody decided, for what asked is over.
"""

from models.runtime.approvals import Approval
from models.runtime.event_catalogue import ApprovalEvent, ApprovalVoid
from models.store import approval_inbox, events
from models.store.database import Connection


async def tell(
    connection: Connection, event: type[ApprovalEvent], approval: Approval, by: str | None
) -> None:
    """Write what happened to an approval."""
    await events.tell(
        connection,
        event(approval_id=approval.id, kind=approval.kind, about=approval.about, title=approval.title, by=by),
        approval.workflow_id,
        topic=approval.topic,
        role="editor",
        person=approval.requested_by,
    )


async def void_of_ended(connection: Connection, workflow_id: str, *, why: str) -> None:
    """End what a workflow still waits for, which has ended and is locked, in the caller's transaction."""
    cursor = await connection.execute(
        """UPDATE approvals SET status = 'void', decided_at = now(), notes = %s
           WHERE workflow_id = %s AND status = 'pending' RETURNING id""",
        (why, workflow_id),
    )
    for row in await cursor.fetchall():
        await tell(connection, ApprovalVoid, await approval_inbox.get(connection, row["id"]), None)
