"""What operations say of themselves, as events. Seed 003's messages are made of these and of approvals'."""

from typing import Literal

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


class ComprehensiveResultsReady(EventData):
    """An iteration's results are compiled: read them by the operation's number."""

    type = "comprehensive_results_ready"
    operation_id: int
    plan_id: str
    iteration: int
    conflicts: int
    correlations: int
