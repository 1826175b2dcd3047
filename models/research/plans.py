"""Plans of research: which steps are taken, by which agent. Seed 002 §5 (node 2)."""

from pydantic import Field

from models.record import Record
from models.research.agent_workflows import AgentType, Step


class PlannedStep(Record):
    """A step that is to be taken; `agent` is None where a person acts."""

    step: Step
    description: str
    agent: AgentType | None


class ResearchPlan(Record):
    """The steps in their order, and about how long they take where nobody is waited for, in minutes."""

    steps: tuple[PlannedStep, ...] = Field(min_length=1)
    estimated_minutes: int

    def has(self, step: Step) -> bool:
        """Whether the step is taken."""
        return any(planned.step == step for planned in self.steps)
