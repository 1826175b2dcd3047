"""What an operation asks a person on its way: about an agent that could not do its part.

`number` counts what is asked of its kind: where the same happens again, a late answer to the first is none to it.
"""

from typing import Literal

from models.mcp.tool_answers import ServerQuestion
from models.operations.plans import OperationAgent
from models.operations.results import AgentResult
from models.record import Record


class AgentQuestion(Record):
    """An agent failed, took too long, or is asked something by a server.

    Approving tries the agent again, with `given` where the server asks, or told that it is `declined`; rejecting
    goes on without the agent.
    """

    plan_id: str
    question: str
    iteration: int
    number: int
    agent: OperationAgent
    kind: Literal["failed", "server_asks"]
    what: str
    server_question: ServerQuestion | None = None
    given: dict[str, object] | None = None
    declined: bool = False


class AgentReview(Record):
    """What one agent has come to, where a person looks at each (`user_clarification_request` of the seed).

    Approving takes it as it is; rejecting has the agent do it again, with what the person said.
    """

    plan_id: str
    question: str
    iteration: int
    number: int
    agent: OperationAgent
    agent_result: AgentResult
