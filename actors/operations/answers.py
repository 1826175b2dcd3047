"""What people's answers mean for an operation that goes on. Pure."""

from collections.abc import Mapping

from models.mcp.tool_answers import GivenToServer, ServerQuestion
from models.operations.plans import OperationAgent
from models.operations.questions import AgentQuestion
from models.operations.results import AgentResult
from models.runtime.approvals import GateDecision


def answer_to_server(question: ServerQuestion, decision: GateDecision) -> GivenToServer:
    """What goes back to a server that asked: what the person gave, or that he gives nothing."""
    said = AgentQuestion.model_validate(decision.amended) if decision.amended else None
    given = None if said is None else said.given
    if (said is not None and said.declined) or (given is None and question.requested is not None):
        return GivenToServer(key=question.key, action="decline", state=question.state)
    return GivenToServer(key=question.key, action="accept", content=given, state=question.state)


def unreviewed(
    results: Mapping[OperationAgent, AgentResult],
    readings: Mapping[OperationAgent, int],
    reviewed: Mapping[OperationAgent, int],
) -> list[OperationAgent]:
    """The agents whose last reading nobody has looked at, in the order in which they came."""
    return [
        agent
        for agent, one in results.items()
        if one.status == "completed" and reviewed.get(agent, 0) < readings.get(agent, 0)
    ]
