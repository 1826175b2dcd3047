"""What people's answers mean for an operation that goes on. Pure."""

from collections.abc import Mapping

from models.mcp.tool_answers import GivenToServer
from models.operations.plans import OperationAgent
from models.operations.questions import AgentQuestion
from models.operations.results import AgentResult
from models.operations.tasks import AnsweredCall
from models.runtime.approvals import GateDecision


def with_answer(
    answered: tuple[AnsweredCall, ...], asked: AgentQuestion, decision: GateDecision
) -> tuple[AnsweredCall, ...]:
    """The calls whose server asked something, with what a person gave to the last one, if anything."""
    question, call = asked.server_question, asked.call
    assert question is not None, "a server has asked"
    assert call is not None, "it asked at a call"
    said = AgentQuestion.model_validate(decision.amended) if decision.amended else None
    given = None if said is None else said.given
    if (said is not None and said.declined) or (given is None and question.requested is not None):
        answer = GivenToServer(key=question.key, action="decline", state=question.state)
    else:
        answer = GivenToServer(key=question.key, action="accept", content=given, state=question.state)
    return (*(one for one in answered if one.call != call), AnsweredCall(call=call, given=answer))


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


def without_last_write(result: AgentResult) -> AgentResult:
    """A person wants a write sent again whose outcome is not known: he is asked about it anew."""
    return result.model_copy(update={"writes": result.writes[:-1]})
