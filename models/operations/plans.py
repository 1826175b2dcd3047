"""Plans of operations: which agents run, in which order, why, and which tools each may call. Seed 003.

A plan is approved by a person as it stands; nothing changes it afterwards but another decision.
"""

from collections.abc import Sequence
from typing import Annotated, Literal, get_args

from pydantic import Field, model_validator

from models.mcp.served_tools import ServerAddress
from models.operations.items import SourceAgent
from models.record import Record
from models.runtime.gated_kinds import Shown

OperationAgent = Literal["gmail", "accounts_payable", "crm", "analysis"]
SOURCE_AGENTS: tuple[SourceAgent, ...] = get_args(SourceAgent)
ANALYSIS: OperationAgent = "analysis"
PlanComplexity = Literal["low", "medium", "high"]

_MOST_LEADS = 40
# Characters of what a server says of a tool, as people and models are shown it.
LONGEST_DESCRIPTION = 300


class AllowedTool(Record):
    """A tool that an agent may call while the plan stands, by the digest of what its server declares.

    `address` is where that server is: none elsewhere is called. `description` is the server's own, cut.
    `writes`: each call of it is shown to a person first, with its exact arguments.
    """

    server: str
    tool: str
    description: Annotated[str, Shown("quote")] = ""
    digest: str
    address: ServerAddress = None
    writes: bool = False


class AgentStep(Record):
    """One agent's part of a plan. `instructions` are a person's; no agent writes them."""

    agent: OperationAgent
    why: str
    tools: tuple[AllowedTool, ...] = ()
    instructions: str = ""


class OperationPlan(Record):
    """What is to be done (`plan` of the seed's `plan_approval_request`).

    Agents run in the order of `agent_sequence`, each with what the earlier ones found; with `side_by_side`
    those that read a system run at once, and none of them is told of the others. `estimated_duration` is in
    seconds. `leads` are the names, numbers and words that are looked for; `notes` say what is not to be had.
    """

    description: str
    agent_sequence: tuple[OperationAgent, ...] = Field(min_length=1)
    estimated_duration: float
    data_sources: tuple[str, ...]
    complexity: PlanComplexity
    steps: Annotated[tuple[AgentStep, ...], Shown("table", columns=("agent", "why", "tools", "instructions"))]
    side_by_side: bool = False
    leads: tuple[str, ...] = Field(default=(), max_length=_MOST_LEADS)
    notes: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _is_whole(self) -> "OperationPlan":
        if fault := sequence_fault(self.agent_sequence):
            raise ValueError(f"agent_sequence: {fault}")
        if tuple(step.agent for step in self.steps) != self.agent_sequence:
            raise ValueError("steps: one is needed for each agent of agent_sequence, in its order")
        return self

    def step(self, agent: OperationAgent) -> AgentStep:
        """An agent's part; KeyError where it has none."""
        return {step.agent: step for step in self.steps}[agent]

    @property
    def sources(self) -> tuple[SourceAgent, ...]:
        """The agents that read a system, in their order."""
        return tuple(agent for agent in self.agent_sequence if agent != "analysis")


class PlanShown(Record):
    """What the gate of a plan shows: exactly what will run. `feedback` is what it was made anew for.

    `number` counts the plans of an operation: of two that say the same, a late yes to the first is none to
    the other.
    """

    plan_id: str
    question: Annotated[str, Shown("quote")]
    iteration: int
    number: int = 1
    plan: Annotated[OperationPlan, Shown("first")]
    feedback: Annotated[str | None, Shown("quote")] = None


def sequence_fault(agents: Sequence[str]) -> str | None:
    """What is wrong with an order of agents; None where nothing is."""
    known = get_args(OperationAgent)
    if unknown := [agent for agent in agents if agent not in known]:
        return f"there is no agent {unknown[0]!r}: choose among {', '.join(known)}"
    if twice := [agent for agent in known if list(agents).count(agent) > 1]:
        return f"{twice[0]} is there twice: each agent runs once"
    if ANALYSIS in agents and agents[-1] != ANALYSIS:
        return "analysis compares what the others found: put it last"
    if not any(agent in agents for agent in SOURCE_AGENTS):
        return f"nothing would be read: leave one of {', '.join(SOURCE_AGENTS)}"
    return None
