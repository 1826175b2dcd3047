"""What a person says at the gates of an operation besides yes: another plan, or what is to be done again.

Strict, because unclear is not yes. Seed 003 (Plan Approval Response, Final Results Approval Response).
"""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, FailFast, Field, model_validator

from models.operations.plans import OperationAgent
from models.record import Record
from models.tools import Prose

RevisionType = Literal["full_replan", "specific_agents", "analysis_only"]
MOST_FEEDBACK = 5000
Feedback = Annotated[Prose, Field(min_length=1, max_length=MOST_FEEDBACK)]
AgentNames = Annotated[tuple[OperationAgent, ...], FailFast()]


class PlanEdit(BaseModel):
    """What a person makes of a plan (`modified_plan` of the seed): another order, fewer agents, instructions.

    What is left out of `agent_sequence`, and what is in `skip_agents`, does not run.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    agent_sequence: AgentNames = Field(default=(), max_length=8)
    skip_agents: AgentNames = Field(default=(), max_length=8)
    side_by_side: Annotated[bool, Field(strict=True)] | None = None
    instructions: dict[OperationAgent, Annotated[Prose, Field(max_length=2000)]] = Field(default_factory=dict)

    @property
    def reorders(self) -> bool:
        """Whether another sequence is given; an empty one is no sequence, and is refused as such."""
        return "agent_sequence" in self.model_fields_set


class Revision(Record):
    """What is to be done again, and how: kept with the decision that asks for it."""

    revision_type: RevisionType
    target_agents: tuple[OperationAgent, ...] = ()
    feedback: str

    @model_validator(mode="after")
    def _names_agents(self) -> "Revision":
        if fault := targets_fault(self.revision_type, self.target_agents):
            raise ValueError(f"target_agents: {fault}")
        return self


def targets_fault(revision_type: str, targets: Sequence[str]) -> str | None:
    """What is wrong with the agents that are to run again; None where nothing is."""
    if revision_type == "specific_agents" and not targets:
        return "name the agents that are to run again"
    if revision_type != "specific_agents" and targets:
        return f"they go with specific_agents, not with {revision_type}: leave them out"
    if len(set(targets)) < len(targets):
        return "name each agent once"
    return None
