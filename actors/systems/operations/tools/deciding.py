"""Deciding at the gates of an operation. For people only: no agent and no MCP client is offered it.

REST, WebSocket, chat and terminal come through here, so the rules are the same. Seed 003.
"""

from collections.abc import Collection, Mapping
from typing import Any, Literal

from actors.platform.gates.deciding import ANYONE, change, decide, gate_meant
from actors.platform.mcp.schemas import fault_in
from actors.platform.tools.tool import Input, Output, ToolContext, tool
from actors.systems.operations.clarification import read_answer
from actors.systems.operations.plan_edits import edited
from actors.systems.operations.tools.visible import OPERATIONS, OperationId
from models.errors import InputInvalid
from models.operations.decisions import (
    AgentDecision,
    ClarificationResponse,
    GateAnswer,
    OperationDecided,
    PlanDecision,
    ResultsDecision,
)
from models.operations.operations import Operation
from models.operations.plans import PlanShown
from models.operations.questions import AgentQuestion
from models.operations.results import ComprehensiveResults
from models.operations.revisions import Revision
from models.record import Record
from models.runtime.approvals import Approval
from models.store import decisions
from models.visible import shows_something

# What each answer about an agent means for what is asked: a yes, a no, or what a server is given.
_MEANINGS: Mapping[str, Mapping[str, Literal["yes", "no", "given", "declined"]]] = {
    "failed": {"retry": "yes", "skip": "no"},
    "write_unknown": {"retry": "yes", "skip": "no"},
    "write_not_sent": {"retry": "yes", "skip": "no"},
    "server_asks": {"answer": "given", "decline": "declined", "skip": "no"},
    "operation_write": {"accept": "yes", "skip": "no"},
    "operation_review": {"accept": "yes", "revise": "no"},
}
_TOLD = {
    "retry": "It is tried again.",
    "skip": "It goes on without.",
    "accept": "Taken: it goes on.",
    "revise": "The agent does it again, by what you said.",
    "decline": "The server is told that it is given nothing.",
    "answer": "Your answer goes to the server; who may see the approval sees it there, too.",
}


class DecideOperationPlanRequest(PlanDecision, Input):
    """One person's decision on a plan; `digest` is that of what he was shown."""

    operation_id: OperationId


class DecideOperationResultsRequest(ResultsDecision, Input):
    """One person's decision on results."""

    operation_id: OperationId


class DecideOperationAgentRequest(AgentDecision, Input):
    """What one person says about an agent."""

    operation_id: OperationId


class ClarifyOperationRequest(ClarificationResponse, Input):
    """One person's answer in words."""

    operation_id: OperationId


class OperationDecidedResponse(OperationDecided, Output):
    """What came of it."""


@tool(
    ANYONE,
    rest="POST /api/operations/{id=operation_id}/plan",
    effect="writes",
    about=OPERATIONS.about,
    for_models=False,
)
async def decide_operation_plan(
    context: ToolContext, request: DecideOperationPlanRequest
) -> OperationDecidedResponse:
    """Approve the plan of an operation, approve it with changes, or have another one made.

    409, and nothing happens, where `digest` is not that of what is shown now.
    """
    operation, approval = await _meant(context, request, {"operation_plan"})
    if request.modified_plan is None:
        decided = await _decide(context, approval, request, request.approved, request.feedback)
        told = "Approved: it runs now." if request.approved else "Another plan is made, by what you said."
        return await _answer(context, operation, decided, told)
    await decisions.check_open(context.connection, approval, request.digest or approval.digest)
    shown = PlanShown.model_validate(approval.subject)
    content = shown.model_copy(update={"plan": edited(shown.plan, request.modified_plan)})
    decided = await _change(context, approval, request, content, request.feedback)
    return await _answer(context, operation, decided, "Approved as you changed it: that runs now.")


@tool(
    ANYONE,
    rest="POST /api/operations/{id=operation_id}/results",
    effect="writes",
    about=OPERATIONS.about,
    for_models=False,
)
async def decide_operation_results(
    context: ToolContext, request: DecideOperationResultsRequest
) -> OperationDecidedResponse:
    """Approve exactly these results of an operation, or say what is to be done again. 409 as for plans."""
    operation, approval = await _meant(context, request, {"operation_results"})
    revision: Revision | None = None
    if request.revision_type != "none":
        revision = Revision(
            revision_type=request.revision_type,
            target_agents=request.target_agents,
            feedback=request.feedback or "",
        )
        _check_targets(revision, ComprehensiveResults.model_validate(approval.subject))
    decided = await _decide(
        context,
        approval,
        request,
        request.approved,
        request.feedback,
        besides=None if revision is None else revision.model_dump(mode="json"),
    )
    told = "Approved." if revision is None else f"{_again(revision)} What you said is given to them."
    exports = _exports(operation) if request.approved and request.export_results else ()
    return await _answer(context, operation, decided, told, exports=exports)


@tool(
    ANYONE,
    rest="POST /api/operations/{id=operation_id}/agent",
    effect="writes",
    about=OPERATIONS.about,
    for_models=False,
)
async def decide_operation_agent(
    context: ToolContext, request: DecideOperationAgentRequest
) -> OperationDecidedResponse:
    """Say what becomes of an agent that failed or is asked something, of a write, or of what one found."""
    kinds = {"operation_question", "operation_write", "operation_review"}
    operation, approval = await _meant(context, request, kinds)
    asked = AgentQuestion.model_validate(approval.subject) if approval.kind == "operation_question" else None
    meanings = _MEANINGS[approval.kind if asked is None else asked.kind]
    if (meaning := meanings.get(request.answer)) is None:
        raise InputInvalid(f"answer: {request.answer} means nothing here: send {' or '.join(meanings)}")
    if meaning == "given":
        assert asked is not None, "only a server's question takes something"
        content = await _with_given(asked, dict(request.given or {}))
        decided = await _change(context, approval, request, content, request.feedback)
    elif meaning == "declined":
        assert asked is not None, "only a server's question can be declined"
        content = asked.model_copy(update={"given": None, "declined": True})
        decided = await _change(context, approval, request, content, request.feedback)
    else:
        notes = request.feedback or (None if meaning == "yes" else "go on without it")
        decided = await _decide(context, approval, request, meaning == "yes", notes)
    return await _answer(context, operation, decided, _TOLD[request.answer])


@tool(
    ANYONE,
    rest="POST /api/operations/{id=operation_id}/clarification",
    effect="writes",
    about=OPERATIONS.about,
    for_models=False,
)
async def clarify_operation(
    context: ToolContext, request: ClarifyOperationRequest
) -> OperationDecidedResponse:
    """Answer what an operation asks in words: OK, and nothing else, is a yes; all else is what to redo."""
    answer = GateAnswer(plan_id=request.plan_id)
    kinds = {"operation_plan", "operation_review", "operation_results"}
    operation, approval = await _meant(context, request, kinds, answer=answer, approval_id=request.request_id)
    yes = read_answer(request.answer, request.is_approval) == "approve"
    decided = await _decide(context, approval, answer, yes, request.answer)
    if yes:
        told = "Taken as a yes."
    elif approval.kind == "operation_review":
        told = "Taken as what is to be done otherwise: the agent does it again."
    else:
        told = "Taken as what is to be done otherwise: another plan is made, and shown to you before it runs."
    return await _answer(context, operation, decided, told)


async def _meant(
    context: ToolContext,
    request: Any,
    kinds: Collection[str],
    *,
    answer: GateAnswer | None = None,
    approval_id: str | None = None,
) -> tuple[Operation, Approval]:
    """The gate that is meant; see `gate_meant`. InputInvalid where it is of another plan."""
    said = answer or request

    def check(operation: Operation) -> None:
        if said.plan_id is not None and said.plan_id != operation.workflow_id:
            raise InputInvalid(
                f"plan_id: operation {operation.id} has the plan {operation.workflow_id}: look again"
            )

    return await gate_meant(
        OPERATIONS,
        context,
        request,
        digest=said.digest,
        kinds=kinds,
        approval_id=approval_id,
        check=check,
    )


async def _decide(
    context: ToolContext,
    approval: Approval,
    answer: GateAnswer,
    yes: bool,
    notes: str | None,
    *,
    besides: dict[str, Any] | None = None,
) -> Approval:
    if not yes and not shows_something(notes or ""):
        raise InputInvalid("feedback: is blank: say why not, or what is to be done otherwise")
    return await decide(context, approval, yes=yes, digest=answer.digest, notes=notes, besides=besides)


async def _change(
    context: ToolContext, approval: Approval, answer: GateAnswer, content: Record, notes: str | None
) -> Approval:
    made = content.model_dump(mode="json")
    return await change(context, approval, digest=answer.digest, content=made, notes=notes)


def _check_targets(revision: Revision, shown: ComprehensiveResults) -> None:
    """InputInvalid where an agent is to run again that did not run."""
    for agent in revision.target_agents:
        if agent not in shown.plan.agent_sequence:
            ran = ", ".join(shown.plan.agent_sequence)
            raise InputInvalid(
                f"target_agents: {agent} is not in the plan that ran ({ran}): ask for a full_replan to add it"
            )
    if revision.revision_type == "analysis_only" and "analysis" not in shown.plan.agent_sequence:
        raise InputInvalid("revision_type: analysis is not in the plan that ran: ask for a full_replan")


def _again(revision: Revision) -> str:
    if revision.revision_type == "full_replan":
        return "Another plan is made, and shown to you before it runs."
    if revision.revision_type == "analysis_only":
        return "What was found is compared again; nothing is read anew."
    return f"Done again: {', '.join(revision.target_agents)}, and what depends on it."


async def _with_given(asked: AgentQuestion, given: dict[str, Any]) -> AgentQuestion:
    """A server's question with what a person gives, whatever another gave or declined before.

    Raises:
        InputInvalid: that is not what it asks for.
    """
    question = asked.server_question
    assert question is not None, "a server asks"
    if question.requested is not None and (fault := await fault_in(given, question.requested)):
        raise InputInvalid(f"given: {fault}")
    return asked.model_copy(update={"given": given, "declined": False})


def _exports(operation: Operation) -> tuple[str, ...]:
    where = f"/api/operations/{operation.id}/export?format="
    return tuple(where + name for name in ("json", "markdown", "csv", "pdf"))


async def _answer(
    context: ToolContext,
    operation: Operation,
    decided: Approval,
    told: str,
    *,
    exports: tuple[str, ...] = (),
) -> OperationDecidedResponse:
    pending = decided.status == "pending"
    if pending:
        votes = sum(vote.decision == "approve" for vote in decided.votes)
        missing = max(1, decided.quorum - votes)
        told = f"Your yes is kept: {missing} more must approve exactly this."
    outcome: Literal["approved", "rejected", "pending"] = (
        "pending" if pending else "approved" if decided.status == "approved" else "rejected"
    )
    return OperationDecidedResponse(
        operation_id=operation.id,
        plan_id=operation.workflow_id,
        approval_id=decided.id,
        decision=outcome,
        status=await OPERATIONS.status(context.connection, operation),
        message=told,
        digest=decided.digest if pending else None,
        exports=() if pending else exports,
    )
