"""Deciding at the gates of a kind: which gate is meant, and one person's yes, no, or change.

REST, WebSocket, chat and terminal come through here, so the rules are the same. People alone decide: tools
that come here are offered to no agent and no MCP client (`for_models=False`).
"""

from collections.abc import Callable, Collection
from typing import Any

from actors.platform.gates.kind_tools import KindTools, One
from actors.platform.tools.decisions import check_decides, knows_of
from actors.platform.tools.tool import ToolContext
from models.errors import ApprovalConflict, ApprovalNotFound
from models.runtime.approvals import Approval
from models.store import approval_inbox, decisions
from models.tools import ToolPermission

# Who may decide is the approval's own scope, so any reader may try.
ANYONE = ToolPermission(required_role="reader", topic_scoped=False)


async def gate_meant(
    tools: KindTools[One],
    context: ToolContext,
    request: Any,
    *,
    digest: str | None,
    kinds: Collection[str] | None = None,
    approval_id: str | None = None,
    check: Callable[[One], None] = lambda one: None,
) -> tuple[One, Approval]:
    """The gate that waits, or else the last one, so that the answer can say what became of it.

    Whoever may not see the one that is named is told nothing of it, and whoever may not decide at this gate
    is told that alone: nothing that was sent is looked at before.

    Args:
        digest: of what the person was shown; without it, only what was shown once can be meant.
        kinds: of the approvals that are meant; without any, all are.
        approval_id: the approval that is meant, where it is named.
        check: what else must be so of the one that is meant; it raises where it isn't.

    Raises:
        ApprovalNotFound, PermissionMissing, and what `tools` has for one that there is not.
        ApprovalConflict: something else is asked than what is meant.
    """
    one = await tools.get(context.connection, tools.number_in(request))
    every = await approval_inbox.listed_of_workflow(context.connection, one.workflow_id)
    known = [each for each in every if knows_of(context, each)]
    if not known and not context.caller.has(tools.kind.role, one.topic):
        raise tools.not_found(one.id)
    if approval_id is not None:
        known = [each for each in known if each.id == approval_id]
    named, where = f"{tools.noun} {one.id}", tools.where.format(one.id)
    if not known:
        raise ApprovalNotFound(f"{named} asks you nothing{'' if kinds is None else ' of that kind'}")
    listed = next((each for each in known if each.status == "pending"), known[-1])
    meant = await approval_inbox.get(context.connection, listed.id)
    decisions.check_reached(meant, context.caller.scopes)
    check_decides(context, meant)
    check(one)

    def refused(why: str) -> ApprovalConflict:
        return ApprovalConflict(why, approval_id=meant.id, status=meant.status)

    if kinds is not None and meant.kind not in kinds:
        if meant.status == "pending":
            raise refused(f"{named} asks something else now: {meant.title}")
        raise refused(
            f"{named} waits for no decision now: the last one, {meant.title!r}, is {meant.status} "
            f"(GET {where} tells how it stands)"
        )
    if digest is None and approval_id is None and (len(every) > 1 or meant.asked is not None):
        raise refused(
            f"{named} has asked more than once: send the digest of what you were shown (GET {where})"
        )
    if approval_id is not None and meant.asked is not None and meant.status == "pending":
        raise refused(
            f"approval {meant.id} shows what somebody changed since it was asked: decide with its digest"
        )
    return one, meant


async def decide(
    context: ToolContext,
    approval: Approval,
    *,
    yes: bool,
    digest: str | None,
    notes: str | None,
    besides: dict[str, Any] | None = None,
) -> Approval:
    """One person's yes or no to what the digest is of; see `decisions.decide_in`."""
    return await decisions.decide_in(
        context.connection,
        approval_id=approval.id,
        answer={
            "decision": "approve" if yes else "reject",
            "digest": digest or approval.digest,
            "notes": notes,
        },
        decided_by=context.caller.subject,
        scopes=context.caller.scopes,
        besides=besides,
    )


async def change(
    context: ToolContext,
    approval: Approval,
    *,
    digest: str | None,
    content: dict[str, Any],
    notes: str | None,
) -> Approval:
    """One person's yes to what he made of what the digest is of; see `decisions.amend_in`."""
    return await decisions.amend_in(
        context.connection,
        approval_id=approval.id,
        digest=digest or approval.digest,
        content=content,
        notes=notes,
        amended_by=context.caller.subject,
        scopes=context.caller.scopes,
    )
