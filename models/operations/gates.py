"""The gates of an operation: what a person is shown at each, by the kind of its approval. Seed 003."""

from collections.abc import Mapping

from models.operations.plans import PlanShown
from models.operations.questions import AgentQuestion, AgentReview, WriteShown
from models.operations.results import ComprehensiveResults
from models.record import Record

CONTENT_OF_OPERATION_GATE: Mapping[str, type[Record]] = {
    "operation_plan": PlanShown,
    "operation_question": AgentQuestion,
    "operation_review": AgentReview,
    "operation_write": WriteShown,
    "operation_results": ComprehensiveResults,
}
