"""What operations say of themselves, as events. Seed 003's messages are made of these and of approvals'."""

from typing import Literal, Self

from models.operations.operations import CurrentStage
from models.operations.plans import OperationAgent
from models.runtime.event_catalogue import EventData


class WorkflowProgressUpdate(EventData):
    """How far an operation is (seed 003). `estimated_remaining` is in seconds."""

    type = "workflow_progress_update"
    operation_id: int
    plan_id: str
    iteration: int
    current_stage: CurrentStage
    progress_percentage: float
    current_agent: OperationAgent | Literal["planner"] | None
    estimated_remaining: float | None
    completed_agents: tuple[OperationAgent, ...]
    pending_agents: tuple[OperationAgent, ...]

    @classmethod
    def at_first(cls, operation_id: int, plan_id: str) -> Self:
        """How far an operation is that has said nothing yet: its plan is made."""
        return cls(
            operation_id=operation_id,
            plan_id=plan_id,
            iteration=1,
            current_stage="plan_creation",
            progress_percentage=0.0,
            current_agent="planner",
            estimated_remaining=None,
            completed_agents=(),
            pending_agents=(),
        )


class ComprehensiveResultsReady(EventData):
    """An iteration's results are compiled: read them by the operation's number."""

    type = "comprehensive_results_ready"
    operation_id: int
    plan_id: str
    iteration: int
    conflicts: int
    correlations: int
