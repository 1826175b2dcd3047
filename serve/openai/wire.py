"""What OpenAI clients are told: the answer whole, or as chunks (OpenAI's API reference, "Chat").

`serve.openai.door` writes with it. To OpenAI's shapes it adds one member, `signoff`.
"""

import time
import uuid
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from models.chat.messages import AgentType, ChatStatus, Done, Usage, WorkflowState
from serve.openai.request import CompletionRequest


class _Told(BaseModel):
    model_config = ConfigDict(frozen=True)


class Tokens(_Told):
    """Tokens of all model calls of an answer."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class Facts(_Told):
    """What Signoff adds to OpenAI's shape. `task_id`: a task goes on, see `GET /api/tasks/{task_id}`.

    `took_as`: one line on what the message was taken for, where that was a guess.
    """

    agent_type: AgentType
    tools_used: tuple[str, ...]
    task_id: str | None
    workflow_state: WorkflowState | None
    status: ChatStatus
    topic: str | None
    took_as: str | None


FinishReason = Literal["stop", "length"]


class Reply(_Told):
    """The answer's text."""

    role: Literal["assistant"] = "assistant"
    content: str
    refusal: None = None


class Choice(_Told):
    """The one answer. `length`: the budget ran out, and it is what there was by then."""

    index: Literal[0] = 0
    message: Reply
    logprobs: None = None
    finish_reason: FinishReason


class Completion(_Told):
    """A whole answer."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: tuple[Choice, ...]
    usage: Tokens
    signoff: Facts


class Delta(_Told):
    """What a chunk adds."""

    role: Literal["assistant"] | None = None
    content: str | None = None
    refusal: None = None


class Change(_Told):
    """The one answer, as far as a chunk brings it on."""

    index: int
    delta: Delta
    logprobs: None
    finish_reason: FinishReason | None


class Chunk(_Told):
    """A piece of a streamed answer; it is written without what was not set."""

    id: str
    object: Literal["chat.completion.chunk"]
    created: int
    model: str
    choices: tuple[Change, ...]
    usage: Tokens | None = None
    signoff: Facts | None = None


class Writing:
    """One answer on its way to the wire: its id, and the text as the `stop` strings cut it."""

    def __init__(self, asked: CompletionRequest) -> None:
        self.id = f"chatcmpl-{uuid.uuid4().hex}"
        self._created = int(time.time())
        self._asked = asked
        self._cut = Cut(asked.stop)

    def whole(self, done: Done) -> Completion:
        """The answer in one."""
        text = self._cut.feed(done.response) + self._cut.rest()
        return Completion(
            id=self.id,
            created=self._created,
            model=self._asked.model,
            choices=(Choice(message=Reply(content=text), finish_reason=_finish(done)),),
            usage=_tokens(done.usage),
            signoff=_facts(done),
        )

    def begins(self) -> str:
        """The first chunk."""
        return self._chunk(Delta(role="assistant", content="", refusal=None))

    def goes_on(self, text: str) -> str:
        """A piece of the text as a chunk; empty while it may yet become one of the `stop` strings."""
        told = self._cut.feed(text)
        return self._chunk(Delta(content=told)) if told else ""

    def ends(self, done: Done) -> str:
        """The last chunks: what was held back, why it ends, the tokens if asked for, and the end."""
        rest, options = self._cut.rest(), self._asked.stream_options
        told = self._chunk(Delta(content=rest)) if rest else ""
        told += self._chunk(Delta(), _finish(done), signoff=_facts(done))
        if options is not None and options.include_usage:
            told += self._line((), usage=_tokens(done.usage))
        return told + "data: [DONE]\n\n"

    def _chunk(self, delta: Delta, finish: FinishReason | None = None, **more: Any) -> str:
        options = self._asked.stream_options
        if options is not None and options.include_usage:
            more["usage"] = None
        return self._line((Change(index=0, delta=delta, logprobs=None, finish_reason=finish),), **more)

    def _line(self, choices: tuple[Change, ...], **more: Any) -> str:
        chunk = Chunk(
            id=self.id,
            object="chat.completion.chunk",
            created=self._created,
            model=self._asked.model,
            choices=choices,
            **more,
        )
        return f"data: {chunk.model_dump_json(exclude_unset=True)}\n\n"


class Cut:
    """A text that comes in pieces, up to the first of the `stops` that is whole; it is not told itself.

    Where pieces begin and end makes no difference.
    """

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = tuple(stops)
        self._held = ""
        self._over = False

    def feed(self, piece: str) -> str:
        """What can be told now: all but an end that may be the beginning of a stop."""
        if self._over:
            return ""
        text = self._held + piece
        found = [(at + len(stop), at) for stop in self._stops if (at := text.find(stop)) >= 0]
        if found:
            self._over, self._held = True, ""
            return text[: min(found)[1]]
        longest = max((len(stop) for stop in self._stops), default=1) - 1
        for length in range(min(longest, len(text)), 0, -1):
            if any(stop.startswith(text[-length:]) for stop in self._stops):
                self._held = text[-length:]
                return text[:-length]
        self._held = ""
        return text

    def rest(self) -> str:
        """What was held back, once no more comes."""
        return self._held


def _finish(done: Done) -> FinishReason:
    return "length" if done.status == "limited" else "stop"


def _tokens(usage: Usage) -> Tokens:
    return Tokens(
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        total_tokens=usage.prompt_tokens + usage.completion_tokens,
    )


def _facts(done: Done) -> Facts:
    return Facts(
        agent_type=done.agent_type,
        tools_used=done.tools_used,
        task_id=done.task_id,
        workflow_state=done.workflow_state,
        status=done.status,
        topic=done.topic,
        took_as=done.took_as,
    )
