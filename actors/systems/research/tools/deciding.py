"""Deciding at the gates of a research. For people only: no agent and no MCP client is offered it.

What a person changes is what is approved (`actors.systems.research.gate_changes`). Seed 002 §8.2
(`ApprovalRequest`).
"""

import asyncio
from typing import Any, Literal

from actors.platform.gates.deciding import ANYONE, change, decide, gate_meant
from actors.platform.tools.tool import Input, Output, ToolContext, tool
from actors.systems.research.gate_changes import changed_content
from actors.systems.research.tools.visible import RESEARCHES, WorkflowId
from models.errors import InputInvalid
from models.research.agent_workflows import AgentWorkflow, Step
from models.research.gate_decisions import ApproveRequest, ApproveResponse
from models.research.url_lists import UnreadableList, UrlList
from models.runtime.approvals import Approval
from models.store import decisions
from models.store.research import candidates, progress, trees

# After a no at these, nothing more is done. Pages that can't be read are gone on without.
_ENDING = frozenset({"research_urls", "research_tree", "research_result"})


class DecideResearchRequest(ApproveRequest, Input):
    """One person's decision, with what he changes; `digest` is that of what he was shown."""

    workflow_id: WorkflowId


class DecideResearchResponse(ApproveResponse, Output):
    """`ApprovalResponse` of the seed."""


@tool(
    ANYONE,
    rest="POST /api/v1/agent-workflows/{id=workflow_id}/approve",
    effect="writes",
    about=RESEARCHES.about,
    for_models=False,
)
async def decide_research(context: ToolContext, request: DecideResearchRequest) -> DecideResearchResponse:
    """Approve what a research shows at its gate, approve it with changes, or reject it.

    409, and nothing happens, where `digest` is not that of what is shown now.
    """
    if request.decision != "modify" and request.modifications is not None:
        raise InputInvalid(f"modifications: they go with modify: leave them out to {request.decision}")
    research, approval = await gate_meant(RESEARCHES, context, request, digest=request.digest)
    if request.decision == "modify":
        decided = await _modified(context, research, approval, request)
    else:
        yes = request.decision == "approve"
        decided = await decide(context, approval, yes=yes, digest=request.digest, notes=request.notes)
    return DecideResearchResponse(
        message=_told(decided, context.caller.subject, modified=request.decision == "modify"),
        workflow_id=research.id,
        status=await RESEARCHES.status(context.connection, research),
        next_step=await _next_step(context, research, decided),
        digest=decided.digest if decided.status == "pending" else None,
    )


async def _modified(
    context: ToolContext, research: AgentWorkflow, approval: Approval, request: DecideResearchRequest
) -> Approval:
    changes = request.modifications
    # Before anything is looked at: numbers of a list that is shown no more would mean others.
    await decisions.check_open(context.connection, approval, request.digest or approval.digest)
    content = await asyncio.to_thread(
        changed_content, approval, changes, by=context.caller.subject, config=context.config
    )
    await _check_against_kept(context, research, approval, content)
    notes = request.notes or (changes.notes if changes is not None else None)
    return await change(context, approval, digest=request.digest, content=content, notes=notes)


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
