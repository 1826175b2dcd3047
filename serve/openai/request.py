"""What OpenAI clients ask: the request of `POST /v1/chat/completions` (OpenAI's API reference, "Chat").

`serve.openai.door` makes a turn of it. What asks for something that Signoff does not do is refused by
name; hints that change nothing here (`top_p`, `seed`, `user`, …) are accepted.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    FailFast,
    Field,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from models.chat.messages import Beside, ChatMessage, Turn
from models.people.users import UserContext
from models.record import Record
from models.tools import PlainText

# As long as what `POST /api/chat` takes.
_MESSAGE = 20_000
_MESSAGES = 2000
_PARTS = 1000
_TOGETHER = 1_000_000
# The newest of them that the assistant is told of; it trims them to its model's context window.
_HISTORY = 200
_OWN_TOOLS = "Signoff's own tools are used: leave it out"


class _Given(BaseModel):
    """What clients send back from elsewhere holds more than is needed here."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Part(_Given):
    """A part of a message's content. Only text is taken."""

    type: PlainText
    text: PlainText = ""
    refusal: PlainText = ""

    @field_validator("type")
    @classmethod
    def _text(cls, value: str) -> str:
        if value not in ("text", "refusal"):
            raise ValueError(f"is {value[:40]!r}, which is not read here: send parts of type text")
        return value


def _parts(value: object) -> object:
    if value is None:
        return []
    return [{"type": "text", "text": value}] if isinstance(value, str) else value


def _spoken(value: object) -> object:
    if value in ("tool", "function"):
        raise ValueError(f"is {value}: results of the client's tools are not taken; {_OWN_TOOLS}")
    return value


class Message(_Given):
    """A message of the conversation, which the client keeps.

    `system` and `developer` are the caller's own words to the assistant, and give no rights.
    """

    role: Annotated[Literal["system", "developer", "user", "assistant"], BeforeValidator(_spoken)]
    # The first fault is enough: a body may hold 600,000 parts, each told five times over.
    content: Annotated[
        list[Part],
        Field(max_length=_PARTS),
        FailFast(),
        BeforeValidator(_parts, json_schema_input_type=str | list[Part] | None),
    ] = Field(default_factory=list)
    tool_calls: list[Any] | None = None
    function_call: Any = None

    @field_validator("tool_calls", "function_call")
    @classmethod
    def _no_calls(cls, value: object) -> object:
        if value:
            raise ValueError(f"calls of the client's tools are not taken; {_OWN_TOOLS}")
        return value

    @property
    def words(self) -> str:
        """Its text, parts put together."""
        return "\n".join(part.text or part.refusal for part in self.content)


class StreamOptions(Record):
    """`include_usage`: a last chunk tells the tokens."""

    include_usage: bool | None = None
    include_obfuscation: bool | None = None


def _stops(value: object) -> object:
    return [] if value is None else [value] if isinstance(value, str) else value


_Stop = Annotated[PlainText, Field(min_length=1, max_length=200)]
_Tokens = Annotated[int, Field(ge=1, le=2**31 - 1, strict=True)]
_Penalty = Annotated[float, Field(ge=-2, le=2, strict=True)]


# Members that are refused when they ask for something, as OpenAPI describes them.
_Nothing = Annotated[Any, WithJsonSchema({"type": "null"})]
_No = Annotated[bool | None, WithJsonSchema({"enum": [False, None]})]
_NoChoice = Annotated[Any, WithJsonSchema({"enum": ["none", "auto", None]})]
_NoTools = Annotated[list[Any] | None, WithJsonSchema({"type": "array", "items": {}, "maxItems": 0})]


class CompletionRequest(Record):
    """OpenAI's request. `model` is `signoff`, or `signoff-{topic}` for questions about one topic.

    The last message is the user's, and is answered; those before it are what was said. `max_tokens`
    may only lower what the site has set, and `temperature` takes its place. Nothing is kept of it as a
    conversation.
    """

    model: Annotated[PlainText, Field(min_length=1, max_length=200, examples=["signoff"])]
    messages: Annotated[list[Message], Field(min_length=1, max_length=_MESSAGES), FailFast()]
    stream: Annotated[bool, Field(strict=True)] | None = None
    stream_options: StreamOptions | None = None
    max_tokens: _Tokens | None = None
    max_completion_tokens: _Tokens | None = None
    temperature: Annotated[float, Field(ge=0, le=2, strict=True)] | None = None
    stop: Annotated[
        list[_Stop],
        Field(max_length=4),
        BeforeValidator(_stops, json_schema_input_type=str | list[_Stop] | None),
    ] = Field(default_factory=list)
    n: Annotated[int, Field(strict=True), WithJsonSchema({"const": 1})] | None = None

    # Accepted, and of no effect.
    frequency_penalty: _Penalty | None = None
    metadata: dict[str, Any] | None = None
    parallel_tool_calls: bool | None = None
    prediction: Any = None
    presence_penalty: _Penalty | None = None
    prompt_cache_key: str | None = None
    prompt_cache_options: Any = None
    prompt_cache_retention: str | None = None
    reasoning_effort: str | None = None
    safety_identifier: str | None = None
    seed: int | None = None
    service_tier: str | None = None
    top_p: Annotated[float, Field(ge=0, le=1, strict=True)] | None = None
    user: str | None = None
    verbosity: str | None = None

    # Refused, unless they ask for nothing.
    audio: _Nothing = None
    function_call: _NoChoice = None
    functions: _NoTools = None
    logit_bias: Annotated[dict[str, Any] | None, WithJsonSchema({"type": "object", "maxProperties": 0})] = (
        None
    )
    logprobs: _No = None
    modalities: Annotated[Any, WithJsonSchema({"enum": [["text"], None]})] = None
    moderation: _Nothing = None
    response_format: Annotated[dict[str, Any] | None, WithJsonSchema({"enum": [{"type": "text"}, None]})] = (
        None
    )
    store: _No = None
    tool_choice: _NoChoice = None
    tools: _NoTools = None
    top_logprobs: Annotated[int | None, WithJsonSchema({"enum": [0, None]})] = None
    web_search_options: _Nothing = None

    @field_validator("messages")
    @classmethod
    def _conversation(cls, messages: list[Message]) -> list[Message]:
        if messages[-1].role != "user":
            raise ValueError("the last one must be the user's: it is what is answered")
        if not messages[-1].words.strip():
            raise ValueError("the last one is blank: say something")
        if len(messages[-1].words) > _MESSAGE:
            raise ValueError(f"the last one is over {_MESSAGE} characters: send less")
        if len(_instructions(messages) or "") > _MESSAGE:
            raise ValueError(f"those of system and developer are over {_MESSAGE} characters: send less")
        if sum(len(message.words) for message in messages) > _TOGETHER:
            raise ValueError(f"together they are over {_TOGETHER} characters: send less")
        return messages

    @field_validator("n")
    @classmethod
    def _one(cls, value: int | None) -> int | None:
        if value not in (None, 1):
            raise ValueError("must be 1: there is one answer")
        return value

    @field_validator("tools", "functions", "web_search_options")
    @classmethod
    def _own_tools(cls, value: object) -> object:
        if value not in (None, []):
            raise ValueError(f"is not taken: {_OWN_TOOLS}")
        return value

    @field_validator("tool_choice", "function_call")
    @classmethod
    def _no_choice(cls, value: object) -> object:
        if value not in (None, "none", "auto"):
            raise ValueError(f"is not taken: {_OWN_TOOLS}, or send none")
        return value

    @field_validator("response_format")
    @classmethod
    def _text_only(cls, value: dict[str, Any] | None) -> dict[str, Any] | None:
        if value is not None and value.get("type") != "text":
            raise ValueError("must be of type text: the assistant answers people, leave it out")
        return value

    @field_validator("modalities")
    @classmethod
    def _no_audio(cls, value: object) -> object:
        if value not in (None, ["text"]):
            raise ValueError('must be ["text"]: nothing else is answered')
        return value

    @field_validator("audio", "logit_bias", "logprobs", "moderation", "top_logprobs")
    @classmethod
    def _not_done(cls, value: object) -> object:
        if value:
            raise ValueError("is not done here: leave it out")
        return value

    @field_validator("store")
    @classmethod
    def _not_stored(cls, value: bool | None) -> bool | None:
        if value:
            raise ValueError("nothing is stored here: leave it out, or use POST /api/chat")
        return value

    @model_validator(mode="after")
    def _one_limit(self) -> Self:
        if self.max_tokens and self.max_completion_tokens:
            raise ValueError("max_tokens and max_completion_tokens: send one of them")
        if self.stream_options is not None and not self.stream:
            raise ValueError("stream_options: is for stream true: leave it out")
        return self

    def turn(
        self,
        caller: UserContext,
        *,
        topic: str | None,
        request_id: str | None,
        beside: Beside | None,
        aside: bool,
    ) -> Turn:
        """What the assistant is asked."""
        said = [
            ChatMessage(role=message.role, content=message.words)
            for message in self.messages[:-1]
            if message.role in ("user", "assistant") and message.words.strip()
        ]
        return Turn(
            caller=caller,
            message=self.messages[-1].words,
            history=tuple(said[-_HISTORY:]),
            topic=topic,
            instructions=_instructions(self.messages),
            request_id=request_id,
            max_tokens=self.max_completion_tokens or self.max_tokens,
            temperature=self.temperature,
            whole=not self.stream,
            beside=beside,
            aside=aside,
        )


def _instructions(messages: list[Message]) -> str | None:
    given = [message.words for message in messages if message.role in ("system", "developer")]
    return "\n\n".join(words for words in given if words.strip()) or None
