"""The beginning and the end of drafting: its workflow, and the word to whoever asked for it.

Seed 000 §1.5. What happens between is in `actors/systems/drafting`.
"""

from models.runtime.approvals import content_digest
from models.runtime.event_catalogue import DraftingOutcome, Notification
from models.runtime.workflows import Permission, Workflow, WorkflowRequest
from models.store import events
from models.store.database import Connection
from models.store.runtime import asked as asked_workflows

KIND = "research_article"


async def ask(
    connection: Connection,
    *,
    topic: str,
    query: str,
    article_id: int | None,
    tonality: str | None,
    by: str,
    request_id: str | None,
) -> tuple[Workflow, bool]:
    """Queue a workflow that drafts an article; or find the one that `by` began under this `request_id`.

    Returns whether it is a new one, too.

    Args:
        article_id: the draft to write; None: a new one.
        tonality: how the article is to sound.
        request_id: the requester's own name for this request.

    Raises:
        RequestConflict: the request of that name was another one.
    """
    asked = {"topic": topic, "query": query, "article_id": article_id}
    request = WorkflowRequest(
        kind=KIND,
        input={**asked, "tonality": tonality},
        input_digest=content_digest(asked),
        requested_by=by,
        permission=Permission(role="analyst", topic=topic),
    )
    return await asked_workflows.begin(
        connection, request, request_id=request_id, named="research", noun="research"
    )


async def notify(
    connection: Connection,
    workflow_id: str,
    *,
    topic: str,
    to: str,
    outcome: DraftingOutcome,
    article_id: int | None,
    headline: str,
    reason: str | None,
) -> None:
    """Tell whoever asked what became of it."""
    told = Notification(
        task_id=workflow_id,
        outcome=outcome,
        article_id=article_id,
        headline=headline,
        reason=reason,
        to=to,
    )
    await events.tell(connection, told, workflow_id, topic=topic, role="admin", person=to)
