"""Seed 003's messages: what a person is asked and told, under the seed's types and fields. Pure.

Beside the seed's fields stand `approval_id`, `digest` and `iteration`, by which an answer names what was
shown, and `decided`: what became of it since, None while it waits.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from models.operations.plans import PlanShown
from models.operations.questions import AgentQuestion, AgentReview, WriteShown
from models.operations.results import Analysis, ComprehensiveResults
from models.runtime.approvals import Approval

Message = tuple[str, dict[str, Any]]
_REVIEW_RESULTS = "Please review the comprehensive analysis and approve or request revisions"
_REVIEW_AGENT = "Please approve or provide revision"


def message_of_approval(approval: Approval, *, at: datetime) -> Message | None:
    """What an approval asks, as the seed has it; None where it is no operation's."""
    named = {
        "approval_id": approval.id,
        "digest": approval.digest,
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
                "request_id": approval.id,
                "plan_id": review.plan_id,
                "agent": review.agent,
                "agent_result": review.agent_result.model_dump(mode="json"),
                "question": _REVIEW_AGENT,
            }
            return "user_clarification_request", told | named
        case "operation_question":
            asked = AgentQuestion.model_validate(approval.subject)
            told = {
                "request_id": approval.id,
                "plan_id": asked.plan_id,
                "agent": asked.agent,
                "agent_result": asked.what,
                "question": approval.title,
                "kind": asked.kind,
                "requested": None if asked.server_question is None else asked.server_question.requested,
            }
            return "user_clarification_request", told | named
        case "operation_write":
            shown = WriteShown.model_validate(approval.subject)
            told = {
                "request_id": approval.id,
                "plan_id": shown.plan_id,
                "agent": shown.agent,
                "agent_result": shown.write.why,
                "question": approval.title,
                "kind": "write",
                "write": shown.write.model_dump(mode="json"),
            }
            return "user_clarification_request", told | named
    return None


def message_of_results(results: ComprehensiveResults, *, at: datetime) -> Message:
    """An iteration's results (`comprehensive_results_ready`)."""
    return "comprehensive_results_ready", comprehensive(results, at=at)


def comprehensive(results: ComprehensiveResults, *, at: datetime) -> dict[str, Any]:
    """`data` of the seed's `comprehensive_results_ready`: agents by name, the analysis as one of them."""
    agents: dict[str, Any] = {
        one.agent: {
            "status": "error" if one.status == "skipped" else one.status,
            "result": None if one.result is None else one.result.model_dump(mode="json"),
            "metadata": one.metadata.model_dump(mode="json"),
            "error": one.error,
            "reused": one.agent in results.reused,
        }
        for one in results.results
    }
    if "analysis" in results.plan.agent_sequence:
        agents["analysis"] = _analysis(results.analysis)
    return {
        "plan_id": results.plan_id,
        "iteration": results.iteration,
        "results": agents,
        "correlations": results.correlations.model_dump(mode="json"),
        "matches": [one.model_dump(mode="json") for one in results.matches],
        "conflicts": [one.model_dump(mode="json") for one in results.conflicts],
        "executive_summary": _joined(results.analysis),
        "recommendations": [one.text for one in results.analysis.recommendations],
        "missing": list(results.missing),
        "mocked": list(results.stand_ins),
        "changes": None if results.changes is None else results.changes.model_dump(mode="json"),
        "timestamp": at.isoformat(),
    }


def _analysis(analysis: Analysis) -> Mapping[str, Any]:
    text = _joined(analysis)
    return {
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
