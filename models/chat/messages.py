"""Chat: what people say and what they are told, on the way between a door, the agents and the store.

A door makes a `Turn` of a message. `main_chat` finds its `Route`, and the agent that the route names
answers with a stream of pieces, the last of which is `Done`. Seed 000 §2.2, §4.1, §1.5.
"""

from datetime import datetime
from typing import Annotated, Literal, get_args

from pydantic import Field

from models import trace_context
from models.chat.acts import Confirmed, Unclear
from models.llm import ModelCall
from models.people.users import UserContext
from models.record import Record

AgentType = Literal[
    "main_chat",
    "article_query",
    "analyst",
    "resource_query",
    "web_search",
    "data_download",
    "editor",
]

# What a message asks for; the examples are in `configs/intents.yaml`.
Intent = Literal[
    "general",  # greetings, thanks, small talk, what the assistant can do
    "read",  # a question to be answered from published articles
    "resources",  # find stored sources: texts and tables
    "research",  # write a new article from research
    "web",  # look something up on the web or in the news, now
    "data",  # download figures: prices, rates, yields, economic series
    "submit",  # hand a draft to the editors
    "review",  # look at an article as its editor
    "changes",  # send an article back to its writer
    "publish",  # ask for an article's publication
    "approvals",  # what waits for a decision; approving itself is not done in chat
    "tasks",  # how far is my research or publication; stop it
]
INTENTS: tuple[Intent, ...] = get_args(Intent)

# How an answer ended. `processing`: a task was begun and goes on; `asks`: it is done on the next message's
# yes; `refused`: it takes a role that the caller lacks; `limited`: the budget ran out, and the answer is what
# there was by then.
ChatStatus = Literal["completed", "processing", "asks", "refused", "limited", "interrupted", "failed"]


class ChatMessage(Record):
    """One message of a conversation, as models see it."""

    role: Literal["user", "assistant"]
    content: str


class WorkflowState(Record):
    """The seed's WorkflowContext (§4.1), of a task that a chat began. `workflow_type` is its kind's word."""

    workflow_id: str
    workflow_type: str
    started_at: datetime
    current_article_id: int | None = None
    current_topic: str | None = None
    pending_resources: tuple[int, ...] = ()
    attached_resources: tuple[int, ...] = ()
    approval_pending: bool = False
    approval_request_id: int | None = None
    approval_callback_url: str | None = None


class Beside(Record):
    """What a message says beside a conversation that it quotes: `words`, which may be a client's own.

    `told` is what a client would be told, where the form that it wants is known.
    """

    words: str
    told: str | None = None


class Turn(Record):
    """One message to be answered, with all that an agent needs to know.

    `history` is what was said before, oldest first; the agent trims it. `instructions` is what an OpenAI
    client sent as system messages: the user's own words, with no more rights than the rest of them.
    `request_id` is the client's name for this request: a task is begun once for it. `answers` is the question
    of the assistant's that the client says it answers. `max_tokens` may only lower what the
    configuration allows; `temperature` takes the place of what it says. `whole`: nobody reads the answer
    before its end, so its pieces may come late. `traceparent` is of the request that it came by. `beside`:
    it quotes a conversation. `aside`: it may be a client's own, so no question is dropped by it.
    """

    caller: UserContext
    message: str
    history: tuple[ChatMessage, ...] = ()
    topic: str | None = None
    article_id: int | None = None
    instructions: str | None = None
    conversation_id: str | None = None
    request_id: str | None = None
    answers: str | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    whole: bool = False
    traceparent: str | None = Field(default_factory=trace_context.current)
    beside: Beside | None = None
    aside: bool = False


class Route(Record):
    """Who answers a turn, and why. `score` is the probability of the intent, 0 to 1.

    `by`: what decided (`beside`: no plain command stands beside a conversation that is quoted); `sure`: it
    was no guess; `instead`: what else was likeliest; `took_as` is that of `Routed`. `confirmed` is what the
    message is the yes to; `unclear`, that it is one to several questions, or to one that is over. `refusal`
    is the scope the caller lacks for it; then `main_chat` says so.
    """

    intent: Intent
    agent_type: AgentType
    topic: str | None
    reason: str
    score: float
    by: Literal["example", "similarity", "model", "best_guess", "confirmed", "beside"]
    sure: bool = True
    instead: Intent | None = None
    took_as: str | None = None
    refusal: str | None = None
    confirmed: Confirmed | None = None
    unclear: Unclear | Literal["over"] | None = None
    calls: tuple[ModelCall, ...] = ()


class Usage(Record):
    """Tokens of the model calls of an answer."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


class Routed(Record):
    """The first piece: who answers.

    `took_as`, where that was a guess, says in one line what the message was taken for, and how to say
    otherwise.
    """

    type: Literal["routed"] = "routed"
    agent_type: AgentType
    intent: Intent
    topic: str | None
    reason: str
    took_as: str | None = None

    @classmethod
    def of(cls, route: Route) -> "Routed":
        """What people are told of a route."""
        return cls(
            agent_type=route.agent_type,
            intent=route.intent,
            topic=route.topic,
            reason=route.reason,
            took_as=route.took_as,
        )


class Said(Record):
    """A piece of the answer's text, to be put after those before it."""

    type: Literal["said"] = "said"
    text: str


class ToolUsed(Record):
    """A tool was called. `status` is `ok` or the error's name; `about` such as `article:17`."""

    type: Literal["tool"] = "tool"
    name: str
    status: str
    about: str | None = None


class Done(Record):
    """The last piece: `response` is the whole text, the pieces before it put together.

    `took_as` is that of `Routed`.
    """

    type: Literal["done"] = "done"
    response: str
    agent_type: AgentType
    topic: str | None
    status: ChatStatus
    tools_used: tuple[str, ...] = ()
    workflow_state: WorkflowState | None = None
    task_id: str | None = None
    usage: Usage = Usage()
    calls: tuple[ModelCall, ...] = ()
    took_as: str | None = None


Piece = Annotated[Routed | Said | ToolUsed | Done, Field(discriminator="type")]
