"""What people's answers mean for an operation that goes on. Pure."""

from collections.abc import Mapping

from models.mcp.tool_answers import GivenToServer
from models.operations.plans import OperationAgent
from models.operations.questions import AgentQuestion
from models.operations.results import AgentResult, ProposedWrite, WriteOutcome
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
    """A person wants a write sent that was not, or perhaps not: he is asked about it anew."""
    return result.model_copy(update={"writes": result.writes[:-1]})


def writes_elsewhere(
    written: tuple[WriteOutcome, ...], results: Mapping[OperationAgent, AgentResult]
) -> tuple[WriteOutcome, ...]:
    """What was sent, or perhaps, and is in no result that stands: its agent has read anew since."""
    here = {outcome.approval_id for one in results.values() for outcome in one.writes}
    return tuple(one for one in written if one.approval_id not in here)


def sent_already(written: tuple[WriteOutcome, ...], write: ProposedWrite) -> tuple[WriteOutcome, ...]:
    """What became of the same call before."""
    wanted = (write.server, write.tool, write.arguments)
    return tuple(one for one in written if (one.write.server, one.write.tool, one.write.arguments) == wanted)
