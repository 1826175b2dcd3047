"""Workflows that people ask for: begun once under a request's own name, found by their topics."""

import json
from collections.abc import Collection

from models.errors import RequestConflict
from models.runtime.workflows import Workflow, WorkflowRequest
from models.store.database import Connection
from models.store.runtime import workflows


async def begin(
    connection: Connection, request: WorkflowRequest, *, request_id: str | None, named: str, noun: str
) -> tuple[Workflow, bool]:
    """Queue a workflow; or find the one that the same person began under this `request_id`.

    Returns whether it is a new one, too.

    Args:
        request_id: the requester's own name for this request.
        named: what keeps such names of one kind apart from those of others.
        noun: what people call the work.

    Raises:
        RequestConflict: the request of that name was another one.
    """
    if request_id is None:
        return await workflows.create(connection, request), True
    # As JSON: a person's name may hold whatever separates it from the rest.
    key = f"{named}:{json.dumps([request.requested_by, request_id], ensure_ascii=False)}"
    # Two at once: the second waits here, and finds the first.
    await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (key,))
    known = await workflows.latest_of_key(connection, key)
    if known is None:
        return await workflows.create(connection, request.model_copy(update={"key": key})), True
    if known.input_digest != request.input_digest:
        raise RequestConflict(
            f"request_id: {request_id!r} was used for another {noun}: use a new one for this"
        )
    return known, False


async def recent(
    connection: Connection,
    *,
    kind: str,
    topics: Collection[str],
    requested_by: str | None,
    before: str | None,
    limit: int,
) -> list[Workflow]:
    """The newest workflows of a kind on some topics, newest first; what is None narrows nothing.

    Raises:
        WorkflowNotFound: there is none of the id `before`.
    """
    at = None if before is None else (await workflows.get(connection, before)).created_at
    cursor = await connection.execute(
        """SELECT id FROM workflows
           WHERE kind = %(kind)s AND permission ->> 'topic' = ANY(%(topics)s)
             AND (%(by)s::text IS NULL OR requested_by = %(by)s)
             AND (%(at)s::timestamptz IS NULL OR (created_at, id) < (%(at)s, %(before)s))
           ORDER BY created_at DESC, id DESC LIMIT %(limit)s""",
        {
            "kind": kind,
            "topics": list(topics),
            "by": requested_by,
            "at": at,
            "before": before,
            "limit": limit,
        },
    )
    ids = [row["id"] for row in await cursor.fetchall()]
    found = {workflow.id: workflow for workflow in await workflows.get_many(connection, ids)}
    return [found[each] for each in ids]
