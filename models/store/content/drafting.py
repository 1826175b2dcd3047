"""The beginning and the end of drafting: its workflow, and the word to whoever asked for it.

Seed 000 §1.5. What happens between is in `actors/systems/drafting`.
"""

import json

from models.errors import RequestConflict
from models.runtime.approvals import content_digest
from models.runtime.event_catalogue import DraftingOutcome, Notification
from models.runtime.workflows import Permission, Workflow, WorkflowRequest
from models.store import events
from models.store.database import Connection
from models.store.runtime import workflows

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
        # As JSON: a person's name may hold whatever separates it from the rest.
        key=None if request_id is None else f"research:{json.dumps([by, request_id], ensure_ascii=False)}",
        input={**asked, "tonality": tonality},
        input_digest=content_digest(asked),
        requested_by=by,
        permission=Permission(role="analyst", topic=topic),
    )
    if request.key is not None:
        # Two at once: the second waits here, and finds the first.
        await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (request.key,))
        if (known := await workflows.latest_of_key(connection, request.key)) is not None:
            if known.input_digest != request.input_digest:
                raise RequestConflict(
                    f"request_id: {request_id!r} was used for another research: use a new one for this"
                )
            return known, False
    return await workflows.create(connection, request), True


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
