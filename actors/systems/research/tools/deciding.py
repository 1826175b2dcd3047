"""Deciding at the gates of a research. For people only: no agent and no MCP client is offered it.

What a person changes is what is approved (`actors.systems.research.gate_changes`). Seed 002 §8.2
(`ApprovalRequest`).
"""

import asyncio
from typing import Any, Literal

from actors.platform.tools.decisions import check_decides, knows_of
from actors.platform.tools.tool import Input, Output, ToolContext, tool
from actors.systems.research.gate_changes import changed_content
from actors.systems.research.tools.visible import ROLE, WorkflowId, about_research
from models.errors import ApprovalConflict, ApprovalNotFound, InputInvalid, ResearchNotFound
from models.research.agent_workflows import STATUS_OF, AgentWorkflow, Step
from models.research.gate_decisions import ApproveRequest, ApproveResponse
from models.research.url_lists import UnreadableList, UrlList
from models.runtime.approvals import Approval
from models.store import approval_inbox, decisions
from models.store.research import agent_workflows, candidates, progress, trees
from models.store.runtime import workflows
from models.tools import ToolPermission

_ANYONE = ToolPermission(required_role="reader", topic_scoped=False)
# After a no at these, nothing more is done. Pages that can't be read are gone on without.
_ENDING = frozenset({"research_urls", "research_tree", "research_result"})


class DecideResearchRequest(ApproveRequest, Input):
    """One person's decision, with what he changes; `digest` is that of what he was shown."""

    workflow_id: WorkflowId


class DecideResearchResponse(ApproveResponse, Output):
    """`ApprovalResponse` of the seed."""


@tool(
    _ANYONE,
    rest="POST /api/v1/agent-workflows/{id=workflow_id}/approve",
    effect="writes",
    about=about_research,
    for_models=False,
)
async def decide_research(context: ToolContext, request: DecideResearchRequest) -> DecideResearchResponse:
    """Approve what a research shows at its gate, approve it with changes, or reject it.

    409, and nothing happens, where `digest` is not that of what is shown now.
    """
    if request.decision != "modify" and request.modifications is not None:
        raise InputInvalid(f"modifications: they go with modify: leave them out to {request.decision}")
    research = await agent_workflows.get(context.connection, request.workflow_id)
    approval = await _meant(context, research, request)
    if request.decision == "modify":
        decided = await _modified(context, research, approval, request)
    else:
        decided = await _decided(context, approval, request)
    workflow = await workflows.get(context.connection, research.workflow_id)
    return DecideResearchResponse(
        message=_told(decided, context.caller.subject, modified=request.decision == "modify"),
        workflow_id=research.id,
        status=STATUS_OF[workflow.status],
        next_step=await _next_step(context, research, decided),
        digest=decided.digest if decided.status == "pending" else None,
    )


async def _meant(context: ToolContext, research: AgentWorkflow, request: DecideResearchRequest) -> Approval:
    """The gate that waits, or else the last one, so that the answer can say what became of it."""
    every = await approval_inbox.listed_of_workflow(context.connection, research.workflow_id)
    known = [approval for approval in every if knows_of(context, approval)]
    if not known:
        if context.caller.has(ROLE, research.topic):
            raise ApprovalNotFound(f"research {research.id} asks you nothing")
        raise ResearchNotFound(f"there is no research {research.id}")
    listed = next((approval for approval in known if approval.status == "pending"), known[-1])
    meant = await approval_inbox.get(context.connection, listed.id)
    check_decides(context, meant)
    if request.digest is None and (len(every) > 1 or meant.asked is not None):
        raise ApprovalConflict(
            f"research {research.id} has asked more than once: send the digest of what you were shown "
            f"(GET /api/v1/agent-workflows/{research.id})",
            approval_id=meant.id,
            status=meant.status,
        )
    return meant


async def _decided(context: ToolContext, approval: Approval, request: DecideResearchRequest) -> Approval:
    return await decisions.decide_in(
        context.connection,
        approval_id=approval.id,
        answer={
            "decision": request.decision,
            "digest": request.digest or approval.digest,
            "notes": request.notes,
        },
        decided_by=context.caller.subject,
        scopes=context.caller.scopes,
    )


async def _modified(
    context: ToolContext, research: AgentWorkflow, approval: Approval, request: DecideResearchRequest
) -> Approval:
    changes, caller = request.modifications, context.caller
    digest = request.digest or approval.digest
    decisions.check_reached(approval, caller.scopes)
    # Before anything is looked at: numbers of a list that is shown no more would mean others.
    await decisions.check_open(context.connection, approval, digest)
    content = await asyncio.to_thread(
        changed_content, approval, changes, by=caller.subject, config=context.config
    )
    await _check_against_kept(context, research, approval, content)
    return await decisions.amend_in(
        context.connection,
        approval_id=approval.id,
        digest=digest,
        content=content,
        notes=request.notes or (changes.notes if changes is not None else None),
        amended_by=caller.subject,
        scopes=caller.scopes,
    )


async def _check_against_kept(
    context: ToolContext, research: AgentWorkflow, approval: Approval, content: dict[str, Any]
) -> None:
    """What only Postgres knows of a change: the tree that is to grow, and pages that were let in before.

    Raises:
        InputInvalid, TreeNotFound.
    """
    connection = context.connection
    if approval.kind == "research_urls":
        tree_id = UrlList.model_validate(content).config.category_id
        if tree_id is not None:
            await trees.get(connection, research.project_id, tree_id)
    if approval.kind == "research_unreadable":
        let_in = await candidates.let_in(connection, research.id)
        given = [one.url for one in UnreadableList.model_validate(content).instead if one.url is not None]
        if again := next((url for url in given if url in let_in), None):
            raise InputInvalid(f"modifications.instead: {again} was approved before: give another")
        most = context.config.research.limits.of(research.topic).max_urls
        if given and (asked_for := len(let_in) + len(given)) > most:
            raise InputInvalid(
                f"modifications.instead: {asked_for} addresses would be asked for in all, and this topic's "
                f"plan allows {most}: paste texts, or go on without them"
            )


def _told(decided: Approval, by: str, *, modified: bool) -> str:
    approved = {vote.voter for vote in decided.votes if vote.decision == "approve"}
    if decided.status == "rejected":
        on = "the research ends" if decided.kind in _ENDING else "it goes on without these pages"
        return f"Rejected: {on}."
    if decided.status == "pending":
        # One who has said yes may have lost the right to since.
        missing = max(1, decided.quorum - len(approved))
        more = "another person" if missing == 1 else f"{missing} other people"
        if modified and decided.amended_by == by:
            what = "tree" if decided.kind == "research_tree" else "list"
            return f"{by} changed the {what}: the changed {what} is shown now, and {more} must approve it."
        so_far = f"approved by {decided.quorum - missing} of {decided.quorum} so far"
        return f"Your yes is kept: {so_far}, and {more} must approve it."
    return "Approved as you changed it." if decided.amended_by == decided.decided_by else "Approved."


async def _next_step(
    context: ToolContext, research: AgentWorkflow, decided: Approval
) -> Step | Literal["completed"]:
    if decided.status == "rejected" and decided.kind in _ENDING:
        return "completed"
    at, after = await progress.at_and_after(context.connection, research.id)
    return at if decided.status == "pending" else after or "completed"
