"""Approvals as they are read: one, a workflow's, those about a thing, and a person's inbox."""

from collections.abc import Iterable

from psycopg.types.json import Jsonb

from models.errors import ApprovalNotFound
from models.people.scopes import GLOBAL, ROLES, Scope
from models.runtime.approvals import Approval, ApprovalStatus
from models.store.database import Connection

_ROWS = """
SELECT a.id, a.workflow_id, a.gate, a.kind, a.about, a.title, {content} AS content, {asked} AS asked,
       a.digest, a.requested_by, a.required_scope, a.four_eyes, a.quorum, a.void_reason, a.amended_by,
       a.answer, a.status, a.decided_by, a.notes, a.created_at, a.expires_at, a.decided_at,
       coalesce((SELECT jsonb_agg(jsonb_build_object('voter', v.voter, 'decision', v.decision,
                                                     'notes', v.notes, 'at', v.at) ORDER BY v.at, v.voter)
                 FROM approval_votes v WHERE v.approval_id = a.id), '[]') AS votes
FROM approvals a
"""
_SELECT = _ROWS.format(content="a.content", asked="a.asked")
# A list says who may decide, which of the content takes these. The rest may be a megabyte each.
_NAMED = "'involved', a.content -> 'involved', 'also_takes', a.content -> 'also_takes'"
_LISTED = _ROWS.format(content=f"jsonb_build_object({_NAMED})", asked="NULL")


async def get(connection: Connection, approval_id: str) -> Approval:
    """One approval; ApprovalNotFound if there is none."""
    cursor = await connection.execute(_SELECT + "WHERE a.id = %s", (approval_id,))
    row = await cursor.fetchone()
    if row is None:
        raise ApprovalNotFound(f"there is no approval {approval_id!r}")
    return Approval.model_validate(row)


async def of_workflow(connection: Connection, workflow_id: str) -> list[Approval]:
    """A workflow's approvals, oldest first."""
    cursor = await connection.execute(
        _SELECT + "WHERE a.workflow_id = %s ORDER BY a.created_at, a.id", (workflow_id,)
    )
    return [Approval.model_validate(row) for row in await cursor.fetchall()]


async def pending_of_workflow(connection: Connection, workflow_id: str) -> list[Approval]:
    """Those of a workflow that wait for a decision, oldest first."""
    cursor = await connection.execute(
        _SELECT + "WHERE a.workflow_id = %s AND a.status = 'pending' ORDER BY a.created_at, a.id",
        (workflow_id,),
    )
    return [Approval.model_validate(row) for row in await cursor.fetchall()]


async def listed_of_workflow(connection: Connection, workflow_id: str) -> list[Approval]:
    """A workflow's approvals, oldest first, with as much of their `content` as `inbox` has."""
    cursor = await connection.execute(
        _LISTED + "WHERE a.workflow_id = %s ORDER BY a.created_at, a.id", (workflow_id,)
    )
    return [Approval.model_validate(row) for row in await cursor.fetchall()]


async def pending_digests(connection: Connection, workflow_id: str) -> list[tuple[str, str]]:
    """The id and the digest of each of a workflow's approvals that waits, oldest first."""
    cursor = await connection.execute(
        """SELECT id, digest FROM approvals WHERE workflow_id = %s AND status = 'pending'
           ORDER BY created_at, id""",
        (workflow_id,),
    )
    return [(row["id"], row["digest"]) for row in await cursor.fetchall()]


async def about(connection: Connection, thing: str) -> list[Approval]:
    """The approvals about a thing (`article:17`), newest first."""
    cursor = await connection.execute(
        _SELECT + "WHERE a.about = %s ORDER BY a.created_at DESC, length(a.id) DESC, a.id DESC", (thing,)
    )
    return [Approval.model_validate(row) for row in await cursor.fetchall()]


async def last_about(connection: Connection, thing: str) -> Approval | None:
    """The newest of them, with as much of its `content` as `inbox` has."""
    cursor = await connection.execute(
        _LISTED + "WHERE a.about = %s ORDER BY a.created_at DESC, length(a.id) DESC, a.id DESC LIMIT 1",
        (thing,),
    )
    row = await cursor.fetchone()
    return None if row is None else Approval.model_validate(row)


async def refused_articles(connection: Connection, person: str, *, limit: int) -> list[Approval]:
    """The requests for articles that this person asked for, or wrote, and that got a no; newest first.

    What was asked for again since is left out. Their `content` is as in `inbox`.
    """
    cursor = await connection.execute(
        _LISTED
        + """
        WHERE a.about LIKE 'article:%%' AND a.status IN ('rejected', 'expired')
          AND (a.requested_by = %(person)s
               OR a.about IN (SELECT 'article:' || r.id FROM articles r WHERE r.author = %(person)s))
          AND NOT EXISTS (SELECT 1 FROM approvals n WHERE n.about = a.about AND n.created_at > a.created_at)
        ORDER BY a.created_at DESC, length(a.id) DESC, a.id DESC LIMIT %(limit)s
        """,
        {"person": person, "limit": limit},
    )
    return [Approval.model_validate(row) for row in await cursor.fetchall()]


async def revealing(connection: Connection, resource_id: int) -> list[Approval]:
    """The approvals that wait, by which a resource would become readable."""
    cursor = await connection.execute(
        _SELECT
        + """WHERE a.status = 'pending'
             AND a.content -> 'becomes_readable' @> %s""",
        (Jsonb([{"id": resource_id}]),),
    )
    return [Approval.model_validate(row) for row in await cursor.fetchall()]


async def inbox(
    connection: Connection,
    person: str,
    scopes: Iterable[Scope],
    *,
    status: ApprovalStatus | None = None,
    kind: str | None = None,
    topic: str | None = None,
    requested_by: str | None = None,
    limit: int = 50,
    offset: int = 0,
) -> list[Approval]:
    """The approvals this person may decide, or asked for and may still see, oldest first.

    Their `content` holds only who is involved and what approving also takes; `get` reads all of it.
    """
    reached = [(scope.topic, role) for scope in scopes for role in ROLES[: scope.rank + 1]]
    cursor = await connection.execute(
        _LISTED
        + """
        WHERE (split_part(a.required_scope, ':', 2) = ANY(%(everywhere)s)
               OR a.required_scope = ANY(%(here)s)
               OR (a.requested_by = %(person)s
                   AND CASE WHEN a.about LIKE 'operation:%%'
                            THEN split_part(a.required_scope, ':', 1) = ANY(%(asks)s) OR %(asks_all)s
                            ELSE split_part(a.required_scope, ':', 1) = ANY(%(seen)s) OR %(sees_all)s END))
          AND (%(status)s::text IS NULL OR a.status = %(status)s)
          AND (%(kind)s::text IS NULL OR a.kind = %(kind)s)
          AND (%(topic)s::text IS NULL OR split_part(a.required_scope, ':', 1) = %(topic)s)
          AND (%(requested_by)s::text IS NULL OR a.requested_by = %(requested_by)s)
        ORDER BY a.created_at, length(a.id), a.id LIMIT %(limit)s OFFSET %(offset)s
        """,
        {
            "person": person,
            "everywhere": [role for where, role in reached if where == GLOBAL],
            "here": [f"{where}:{role}" for where, role in reached],
            # Of what this person asked for: see `Approval.shown_to`.
            "seen": [where for where, role in reached if role == "editor"] + [GLOBAL] * bool(reached),
            "sees_all": (GLOBAL, "editor") in reached,
            "asks": [where for where, role in reached if role == "analyst"],
            "asks_all": (GLOBAL, "analyst") in reached,
            "status": status,
            "kind": kind,
            "topic": topic,
            "requested_by": requested_by,
            "limit": limit,
            "offset": offset,
        },
    )
    return [Approval.model_validate(row) for row in await cursor.fetchall()]
