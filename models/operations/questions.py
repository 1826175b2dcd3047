"""What an operation asks a person on its way: about an agent that could not do its part.

`number` counts what is asked of its kind: where the same happens again, a late answer to the first is none
to it.
"""

from typing import Annotated, Literal

from models.mcp.tool_answers import ServedToolCall, ServerQuestion
from models.operations.plans import OperationAgent
from models.operations.results import AgentResult, ProposedWrite, WriteOutcome
from models.record import Record
from models.runtime.gated_kinds import Shown


class AgentQuestion(Record):
    """An agent failed or took too long; a server asks something; or nobody knows whether a write was done.

    Approving a `failed` one tries again; one where `server_asks` goes on with `given`, or `declined`; a
    `write_unknown` or `write_not_sent` one asks about the `call` once more. Rejecting goes on without.
    """

    plan_id: str
    question: Annotated[str, Shown("quote")]
    iteration: int
    number: int = 1
    agent: OperationAgent
    kind: Literal["failed", "server_asks", "write_unknown", "write_not_sent"]
    what: Annotated[str, Shown("first")]
    call: ServedToolCall | None = None
    server_question: ServerQuestion | None = None
    given: dict[str, object] | None = None
    declined: bool = False


class AgentReview(Record):
    """What one agent has come to, where a person looks at each (`user_clarification_request` of the seed).

    Approving takes it as it is; rejecting has the agent do it again, with what the person said.
    """

    plan_id: str
    question: Annotated[str, Shown("quote")]
    iteration: int
    number: int = 1
    agent: OperationAgent
    agent_result: Annotated[AgentResult, Shown("first")]


class WriteShown(Record):
    """A call that would change something: approved is this call, with exactly these arguments, once.

    `sent_before` is what became of the same call where this operation has sent it already, or was refused it.
    """

    plan_id: str
    question: Annotated[str, Shown("quote")]
    iteration: int
    number: int = 1
    agent: OperationAgent
    write: Annotated[ProposedWrite, Shown("first")]
    sent_before: tuple[WriteOutcome, ...] = ()
