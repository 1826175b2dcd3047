"""How far an operation is, as it is told while it runs. Pure."""

from collections.abc import Collection

from models.operations.events import WorkflowProgressUpdate
from models.operations.operations import AGENT_AT, CurrentStage, Operation
from models.operations.plans import OperationAgent, OperationPlan

# Before any agent runs: the plan, and its approval.
_BEFORE = 2


def update(
    operation: Operation,
    *,
    iteration: int,
    stage: CurrentStage,
    plan: OperationPlan,
    done: Collection[OperationAgent],
) -> WorkflowProgressUpdate:
    """Of all stages, those that are over. `pending_agents` are of the plan, the one at work among them."""
    sequence = plan.agent_sequence
    pending = [agent for agent in sequence if agent not in done]
    stages = _BEFORE + len(sequence) + 2
    over = stages if stage == "completed" else _over(stage, len(sequence) - len(pending), len(sequence))
    left = len(pending) / len(sequence) * plan.estimated_duration
    return WorkflowProgressUpdate(
        operation_id=operation.id,
        plan_id=operation.workflow_id,
        iteration=iteration,
        current_stage=stage,
        progress_percentage=round(100.0 * over / stages, 1),
        current_agent=AGENT_AT.get(stage),
        estimated_remaining=round(left, 1),
        completed_agents=tuple(agent for agent in sequence if agent in done),
        pending_agents=tuple(pending),
    )


def _over(stage: CurrentStage, agents_done: int, agents: int) -> int:
    match stage:
        case "plan_creation":
            return 0
        case "plan_approval":
            return 1
        case "results_compilation":
            return _BEFORE + agents
        case "final_approval":
            return _BEFORE + agents + 1
    return _BEFORE + agents_done
