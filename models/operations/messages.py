"""Seed 003's messages: what a person is asked and told, under the seed's types and fields. Pure.

Beside the seed's fields stand `approval_id`, `digest` and `iteration`, by which an answer names what was
shown; `amended_by`, who has changed it since it was asked; and `decided`: what became of it, None while it
waits. Of a plan, and of what is asked about an agent, `asked` is the whole content that the digest covers.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from models.operations.events import WorkflowProgressUpdate
from models.operations.plans import PlanShown
from models.operations.questions import AgentQuestion, AgentReview, WriteShown
from models.operations.results import AgentResult, Analysis, ComprehensiveResults
from models.runtime.approvals import Approval

Message = tuple[str, dict[str, Any]]
# How an operation stands that does not go on: it waits for something that is away, or has ended.
Standing = Literal["parked", "completed", "expired", "failed", "cancelled"]
_REVIEW_RESULTS = "Please review the comprehensive analysis and approve or request revisions"
_REVIEW_AGENT = "Please approve or provide revision"


def message_of_approval(approval: Approval, *, at: datetime) -> Message | None:
    """What an approval asks, as the seed has it; None where it is no operation's."""
    named = {
        "approval_id": approval.id,
        "digest": approval.digest,
        "amended_by": approval.amended_by,
        "decided": None if approval.status == "pending" else approval.status,
        "timestamp": at.isoformat(),
    }
    match approval.kind:
        case "operation_plan":
            plan = PlanShown.model_validate(approval.subject)
            told = {
                "plan_id": plan.plan_id,
                "iteration": plan.iteration,
                "plan": plan.plan.model_dump(mode="json"),
                "feedback": plan.feedback,
                "asked": approval.content,
            }
            return "plan_approval_request", told | named
        case "operation_results":
            results = ComprehensiveResults.model_validate(approval.subject)
            told = {
                "plan_id": results.plan_id,
                "iteration": results.iteration,
                "comprehensive_results": comprehensive(results, at=at),
                "question": _REVIEW_RESULTS,
                "revision_options": {
                    "full_replan": True,
                    "specific_agents": list(results.plan.agent_sequence),
                    "analysis_only": "analysis" in results.plan.agent_sequence,
                },
            }
            return "final_results_approval_request", told | named
        case "operation_review":
            review = AgentReview.model_validate(approval.subject)
            told = {
                "agent_result": review.agent_result.model_dump(mode="json"),
                "question": _REVIEW_AGENT,
            }
            return _clarification(approval, review, told | named)
        case "operation_question":
            asked = AgentQuestion.model_validate(approval.subject)
            told = {
                "agent_result": asked.what,
                "question": approval.title,
                "kind": asked.kind,
                "requested": None if asked.server_question is None else asked.server_question.requested,
            }
            return _clarification(approval, asked, told | named)
        case "operation_write":
            shown = WriteShown.model_validate(approval.subject)
            told = {
                "agent_result": shown.write.why,
                "question": approval.title,
                "kind": "write",
                "write": shown.write.model_dump(mode="json"),
            }
            return _clarification(approval, shown, told | named)
    return None


def _clarification(
    approval: Approval, shown: AgentReview | AgentQuestion | WriteShown, told: dict[str, Any]
) -> Message:
    """What is asked about an agent: `told`, and all that is decided on."""
    about = {
        "request_id": approval.id,
        "plan_id": shown.plan_id,
        "iteration": shown.iteration,
        "agent": shown.agent,
        "asked": approval.content,
    }
    return "user_clarification_request", about | told


def message_of_standing(progress: WorkflowProgressUpdate, status: Standing, *, reason: str | None) -> Message:
    """How far an operation had come that does not go on (`workflow_progress_update`), and why it does not.

    Nobody is at work then; how long the rest will take is known of what is completed alone.
    """
    told = progress.model_dump(mode="json") | {"current_agent": None, "status": status, "reason": reason}
    if status != "completed":
        told["estimated_remaining"] = None
    return WorkflowProgressUpdate.type, told


def message_of_results(results: ComprehensiveResults, *, at: datetime) -> Message:
    """An iteration's results (`comprehensive_results_ready`)."""
    return "comprehensive_results_ready", comprehensive(results, at=at)


def comprehensive(results: ComprehensiveResults, *, at: datetime) -> dict[str, Any]:
    """`data` of the seed's `comprehensive_results_ready`: agents by name, the analysis as one of them."""
    agents: dict[str, Any] = {
        one.agent: _agent(one, reused=one.agent in results.reused) for one in results.results
    }
    if "analysis" in results.plan.agent_sequence:
        agents["analysis"] = _analysis(results.analysis)
    return results.model_dump(mode="json", exclude={"analysis", "reused"}) | {
        "results": agents,
        "executive_summary": _joined(results.analysis),
        "recommendations": [one.text for one in results.analysis.recommendations],
        "mocked": list(results.stand_ins),
        "timestamp": at.isoformat(),
    }


def _agent(one: AgentResult, *, reused: bool) -> Mapping[str, Any]:
    """One agent's result, with the seed's word for its status."""
    skipped = one.status == "skipped"
    told = {"status": "error" if skipped else one.status, "skipped": skipped, "reused": reused}
    return one.model_dump(mode="json", exclude={"agent"}) | told


def _analysis(analysis: Analysis) -> Mapping[str, Any]:
    """The analysis as an agent's result; each of its sentences with its evidence."""
    text = _joined(analysis)
    return analysis.model_dump(mode="json") | {
        "status": analysis.status,
        "result": text,
        "metadata": {
            "analysis_length": len(text),
            "correlation_score": analysis.correlation_score,
            "llm_used": analysis.llm_used,
            "execution_time": analysis.execution_time,
        },
    }


def _joined(analysis: Analysis) -> str:
    return " ".join(f"{one.text} [{', '.join(one.evidence)}]" for one in analysis.executive_summary)
