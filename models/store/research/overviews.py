"""Research as people follow it, in Postgres: how far it is, what was said and done, and what it came to.

Called by the tools that begin a research and follow it; nothing is written here. Seed 002 §8.1.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from models.errors import ApprovalNotFound, ResearchNotFound
from models.people.scopes import Scope
from models.research.agent_workflows import (
    STATUS_OF,
    AgentWorkflow,
    AgentWorkflowStatus,
    ProgressInfo,
    ResearchCounts,
    ResearchOutcome,
    ResearchStatusResponse,
    Step,
    WaitingGate,
)
from models.research.following import (
    AgentMessage,
    ResearchList,
    ResearchMessages,
    ResearchResults,
    ResearchSummary,
    ResearchToolUses,
    ResearchUrl,
    ToolUse,
)
from models.research.operations import operation
from models.research.synthesis import SynthesisCounts
from models.research.trees import Tree
from models.store import approval_inbox
from models.store.database import Connection
from models.store.research import durations, figures, sentences
from models.store.research.figures import PENDING, TREE_ID, UPDATED, ResearchFigures
from models.store.runtime.standing import Came, reasons

_WORKFLOW_STATUS: Mapping[str, str] = {here: there for there, here in STATUS_OF.items()}
# What came of the gate of the result: whoever let its time pass has not said yes.
_SAID_YES: Mapping[str | None, bool] = {"approved": True, "rejected": False, "expired": False}


async def status(
    connection: Connection, research: AgentWorkflow, *, person: str, scopes: Iterable[Scope]
) -> ResearchStatusResponse:
    """How far a research is; the gate that waits is there for those alone whom it is shown to.

    Raises:
        ResearchNotFound: it has gone since.
    """
    found = await figures.read(connection, research.id)
    outcome = None if found.result is None else found.result.outcome
    came = Came(research.workflow_id, outcome or found.status, found.error)
    reason = (await reasons(connection, [came])).get(research.workflow_id)
    return ResearchStatusResponse(
        id=research.id,
        name=research.name,
        status=STATUS_OF[found.status],
        task_type=found.task_type,
        current_step=found.current.step,
        current_agent=found.current.agent,
        progress=await _progress(connection, found, outcome, reason),
        agent_reasoning=found.said,
        results=ResearchCounts(
            urls_discovered=found.urls_discovered,
            urls_scraped=found.urls_scraped,
            knowledge_points=found.points,
            relationships=found.relationships,
            knowledge_tree_id=found.tree_id,
        ),
        created_at=research.created_at,
        updated_at=found.updated_at,
        project_id=research.project_id,
        topic=research.topic,
        parent_workflow_id=research.parent_id,
        waits_for=found.waits_for,
        error=found.error,
        outcome=outcome,
        reason=reason,
        approval=await _gate(connection, found.pending, person, tuple(scopes)),
    )


async def estimate(connection: Connection, steps: Sequence[Step]) -> float | None:
    """How many minutes some steps take, before they begin; None where nothing is known of one of them."""
    return durations.minutes(await durations.learnt(connection), steps)


async def recent(
    connection: Connection,
    *,
    topics: Collection[str],
    requested_by: str | None,
    status: AgentWorkflowStatus | None,
    project_id: int | None,
    parent_workflow_id: int | None,
    before: int | None,
    limit: int,
) -> ResearchList:
    """The newest researches on some topics, newest first; what is None narrows nothing.

    Args:
        before: only those that are older than the one of this id.
    """
    cursor = await connection.execute(
        f"""SELECT a.id, a.workflow_id, a.name, w.status, w.error, a.task_type, a.project_id, a.topic,
                   a.requested_by,
                   a.parent_id AS parent_workflow_id, {PENDING} IS NOT NULL AS waits_for_decision,
                   w.result ->> 'outcome' AS outcome, a.created_at, {UPDATED} AS updated_at
            FROM agent_workflows a JOIN workflows w ON w.id = a.workflow_id
            WHERE a.topic = ANY(%(topics)s)
              AND (%(by)s::text IS NULL OR a.requested_by = %(by)s)
              AND (%(status)s::text IS NULL OR w.status = %(status)s)
              AND (%(project)s::bigint IS NULL OR a.project_id = %(project)s)
              AND (%(parent)s::bigint IS NULL OR a.parent_id = %(parent)s)
              AND (%(before)s::bigint IS NULL OR a.id < %(before)s)
            ORDER BY a.id DESC LIMIT %(limit)s + 1""".encode(),
        {
            "topics": list(topics),
            "by": requested_by,
            "status": None if status is None else _WORKFLOW_STATUS[status],
            "project": project_id,
            "parent": parent_workflow_id,
            "before": before,
            "limit": limit,
        },
    )
    rows, last = _cut(await cursor.fetchall(), limit)
    came = [Came(row["workflow_id"], row["outcome"] or row["status"], row.pop("error")) for row in rows]
    why = await reasons(connection, came)
    found = [
        ResearchSummary.model_validate(
            row | {"status": STATUS_OF[row["status"]], "reason": why.get(row.pop("workflow_id"))}
        )
        for row in rows
    ]
    return ResearchList(workflows=tuple(found), next_before=last)


async def messages(connection: Connection, research_id: int, *, after: int, limit: int) -> ResearchMessages:
    """What its agents said, in the order in which it was kept, after the one of the id `after`.

    A page never leaves one out that is kept later under a lower id. Each is written in a transaction that
    holds the workflow's row (`claims.fence`) before it takes an id, and until it commits: of one research
    there is no second writer meanwhile, though its pages are read side by side or another runner takes over.
    """
    cursor = await connection.execute(
        """SELECT id, agent_type, step, content, reasoning, metadata, created_at FROM agent_messages
           WHERE research_id = %s AND id > %s ORDER BY id LIMIT %s + 1""",
        (research_id, after, limit),
    )
    rows, last = _cut(await cursor.fetchall(), limit)
    said = tuple(AgentMessage.model_validate(row) for row in rows)
    return ResearchMessages(workflow_id=research_id, messages=said, next_after=last)


async def tool_uses(connection: Connection, research_id: int, *, after: int, limit: int) -> ResearchToolUses:
    """The calls of tools, in the order in which they were kept, as `messages` has it."""
    cursor = await connection.execute(
        """SELECT id, tool_name, agent_type, input, output, status, error_message, duration_ms, created_at
           FROM workflow_tools WHERE research_id = %s AND id > %s ORDER BY id LIMIT %s + 1""",
        (research_id, after, limit),
    )
    rows, last = _cut(await cursor.fetchall(), limit)
    used = tuple(ToolUse.model_validate(row) for row in rows)
    return ResearchToolUses(workflow_id=research_id, tools=used, next_after=last)


async def results(connection: Connection, research: AgentWorkflow) -> ResearchResults:
    """What a research has come to so far: its addresses, its tree as it is now, and all its sentences.

    Raises:
        ResearchNotFound: it has gone since.
    """
    cursor = await connection.execute(
        f"""SELECT w.status, w.result, w.error, k.id, k.tree,
                   (SELECT p.status FROM approvals p
                    WHERE p.workflow_id = w.id AND p.gate = 'result') AS said,
                   (SELECT p.decided_by FROM approvals p
                    WHERE p.workflow_id = w.id AND split_part(p.gate, '/', 1) = w.result ->> 'ended_at'
                      AND p.status = 'rejected') AS ended_by
            FROM agent_workflows a JOIN workflows w ON w.id = a.workflow_id
            LEFT JOIN knowledge_trees k ON k.id = {TREE_ID} AND k.project_id = a.project_id
            WHERE a.id = %s""".encode(),
        (research.id,),
    )
    row = await cursor.fetchone()
    if row is None:
        raise ResearchNotFound(f"there is no research {research.id}")
    outcome = (row["result"] or {}).get("outcome") or row["status"]
    why = await reasons(connection, [Came(research.workflow_id, outcome, row["error"])])
    written = await sentences.get_all(connection, research.id)
    return ResearchResults(
        workflow_id=research.id,
        status=STATUS_OF[row["status"]],
        result=row["result"],
        urls=await _urls(connection, research.id),
        tree=None if row["id"] is None else Tree.model_validate(row["tree"] | {"id": row["id"]}).export(),
        counts=SynthesisCounts.model_validate(Counter(one.outcome for one in written)),
        sentences=written,
        approved=_SAID_YES.get(row["said"]),
        ended_by=row["ended_by"],
        reason=why.get(research.workflow_id),
    )


async def _progress(
    connection: Connection, found: ResearchFigures, outcome: ResearchOutcome | None, reason: str | None
) -> ProgressInfo:
    return ProgressInfo(
        completed_steps=len(found.done),
        total_steps=len(found.steps),
        percentage=found.percentage,
        current_operation=operation(
            STATUS_OF[found.status],
            found.current.step,
            outcome=outcome,
            reason=reason,
            waits_for=found.waits_for,
            done=found.urls_done,
            approved=found.urls_approved,
        ),
        urls_done=found.urls_done,
        urls_approved=found.urls_approved,
        estimated_minutes_left=await _minutes_left(connection, found),
    )


async def _minutes_left(connection: Connection, found: ResearchFigures) -> float | None:
    """For the agents' steps that are still to be done; None where it has ended, or is not planned yet."""
    if found.ended or not found.steps:
        return None
    # A tree that is shown at its gate is laid out: what is left of its step is to keep it.
    steps = [each.step for each in found.left if not (found.tree_shown and each.step == "build_tree")]
    return durations.minutes(await durations.learnt(connection), steps, urls=found.urls_left)


async def _gate(
    connection: Connection, approval_id: str | None, person: str, scopes: Sequence[Scope]
) -> WaitingGate | None:
    """What waits for a person; None where nothing does, by now, or it is not shown to this one."""
    if approval_id is None:
        return None
    try:
        approval = await approval_inbox.get(connection, approval_id)
    except ApprovalNotFound:
        return None
    if approval.status != "pending" or not approval.shown_to(person, scopes):
        return None
    return WaitingGate(
        approval_id=approval.id,
        kind=approval.kind,
        digest=approval.digest,
        title=approval.title,
        content=approval.content,
        expires_at=approval.expires_at,
        amended_by=approval.amended_by,
        may_decide=approval.may_be_decided_by(person, scopes),
    )


async def _urls(connection: Connection, research_id: int) -> tuple[ResearchUrl, ...]:
    cursor = await connection.execute(
        """SELECT number, url, title, relevance_score AS score, source, user_approval, decided_by,
                  approval_id, (metadata ->> 'instead_of')::int AS instead_of,
                  metadata ->> 'pasted_by' AS pasted_by, source_id, fault, reason
           FROM url_candidates WHERE research_id = %s ORDER BY number""",
        (research_id,),
    )
    return tuple(ResearchUrl.model_validate(row) for row in await cursor.fetchall())


def _cut(rows: Sequence[dict[str, Any]], limit: int) -> tuple[Sequence[dict[str, Any]], int | None]:
    """A page of rows, and the id that leads on where there is one more."""
    return rows[:limit], rows[limit - 1]["id"] if len(rows) > limit else None
