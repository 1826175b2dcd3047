"""One agent's model endpoint: the `openai` client, what is sent with each call, streams, and faults by name.

`actors.platform.llm.client` asks for whole replies through it; `actors.platform.llm.chat_model` reads the
chunks of streamed ones. The package retries nothing here. No proxy is taken from the environment: a call goes
to `api_base` and nowhere else; where the configuration has none, that is this site's own `/llm/v1`, vLLM
(`serve/inference/llm.py`). The package checks nothing of what an event holds, so every chunk is validated
here: what is no chunk raises, and never becomes half an answer.
"""

import asyncio
import contextlib
import hashlib
import json
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pydantic import BaseModel, ValidationError

from actors.platform.llm.breaker import breaker_of
from actors.platform.llm.edge import BrokenOff, Edge, EdgeFault, FaultNames, NotOfThisApi, address_of
from models.config import BreakerConfig, ModelSettings
from models.errors import ModelRefused, ModelTimedOut, ModelUnavailable, SignoffError
from models.llm import ModelCall
from models.text import without_halves

# A chat message as the wire has it; `content` may be None beside `tool_calls`.
Message = Mapping[str, Any]


_NAMES = FaultNames(away=ModelUnavailable, refused=ModelRefused, timed_out=ModelTimedOut)


@dataclass(frozen=True, kw_only=True)
class ToolDelta:
    """A part of a tool call. Parts with the same `index` belong together; some servers give none."""

    index: int | None = None
    id: str | None = None
    name: str = ""
    arguments: str = ""


@dataclass(frozen=True, kw_only=True)
class StreamChunk:
    """A part of a reply. `usage` is tokens of prompt and completion, where the server tells them."""

    text: str = ""
    tools: tuple[ToolDelta, ...] = ()
    finish_reason: str | None = None
    model: str | None = None
    usage: tuple[int, int] | None = None


class Streams(Protocol):
    """The seam to a model: one streamed chat completion, tried once."""

    def chunks(
        self,
        *,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, Any]],
        max_tokens: int | None,
        temperature: float | None,
    ) -> AsyncGenerator[StreamChunk, None]:
        """The reply as it comes; closing it (`aclose`) ends the call at the server.

        Raises TransportFault where another try may help, ModelUnavailable or ModelRefused where none will.
        """
        ...


class TransportFault(Exception):
    """A call failed in a way that may pass (connection, timeout, 429, 5xx).

    `call` is its record, `error` what it comes to when no other try is left, and `retry_after_seconds` the
    pause that the endpoint asked for.
    """

    def __init__(
        self, error: SignoffError, call: ModelCall, *, retry_after_seconds: float | None = None
    ) -> None:
        super().__init__(str(error))
        self.error = error
        self.call = call
        self.retry_after_seconds = retry_after_seconds


class Endpoint:
    """The client of one agent's model, and the words for what goes wrong with it.

    `breaker` says when the process stops asking an endpoint that is away; without it every call is tried.
    """

    def __init__(self, *, agent: str, settings: ModelSettings, breaker: BreakerConfig | None = None) -> None:
        import openai

        self.agent = agent
        self.settings = settings
        self.openai = openai
        self.client = openai.AsyncOpenAI(
            base_url=settings.api_base,
            api_key=settings.api_key.get_secret_value(),
            timeout=settings.timeout_seconds,
            max_retries=0,
            http_client=openai.DefaultAsyncHttpxClient(trust_env=False),
        )
        self._edge = Edge(
            waits_for=model_at(settings),
            names=_NAMES,
            breaker=breaker_of(settings.api_base, settings.model, breaker),
            explain=self.explain,
            timeout=f"no answer within timeout_seconds ({settings.timeout_seconds:g} s)",
        )

    def request(
        self,
        messages: Sequence[Message],
        *,
        response_format: Mapping[str, Any] | None = None,
        max_tokens: int | None = None,
        temperature: float | None = None,
    ) -> dict[str, Any]:
        """What a call is made with; see `reply_limit` for `max_tokens`."""
        settings = self.settings
        extra_body = dict(settings.extra_body)
        if settings.priority is not None:
            extra_body["priority"] = settings.priority
        request: dict[str, Any] = {
            "model": settings.model,
            "messages": without_surrogates(list(messages)),
            "max_tokens": reply_limit(settings, max_tokens),
            "temperature": settings.temperature if temperature is None else temperature,
            "extra_body": extra_body or None,
        }
        if response_format:
            request["response_format"] = response_format
        return request

    @contextlib.contextmanager
    def call(self, messages: Sequence[Message], started: float) -> Iterator[Callable[[], None]]:
        """One exchange; what it yields may be called as soon as the endpoint has begun to answer.

        Raises:
            TransportFault: another try may help.
            ModelUnavailable, ModelRefused: none will, now.
        """
        try:
            with self._edge.call(prompt_digest(messages)) as answered:
                yield answered
        except EdgeFault as fault:
            if not fault.passing:
                raise fault.error from fault.__cause__
            raise self.fault(fault.error, messages, started, fault.retry_after_seconds) from fault.__cause__

    def fault(
        self,
        error: SignoffError,
        messages: Sequence[Message],
        started: float,
        retry_after_seconds: float | None = None,
    ) -> TransportFault:
        """A fault that may pass, with the record of its call."""
        record = self.record_of(messages, started, fault=str(error))
        return TransportFault(error, record, retry_after_seconds=retry_after_seconds)

    def record_of(self, messages: Sequence[Message], started: float, **known: Any) -> ModelCall:
        """The record of a call; see `call_record`."""
        return call_record(
            agent=self.agent, settings=self.settings, messages=messages, started=started, **known
        )

    def explain(self, what: str) -> str:
        """What went wrong, in words that name the agent, the model and where it is."""
        return f"{self.agent}: {model_at(self.settings)}: {what}"


class OpenAIStreams:
    """Streamed chat completions over HTTP with the `openai` package."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    async def chunks(
        self,
        *,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, Any]],
        max_tokens: int | None,
        temperature: float | None,
    ) -> AsyncGenerator[StreamChunk, None]:
        """One completion; `timeout_seconds` bounds the whole of it, however slowly it trickles in."""
        endpoint = self._endpoint
        request = endpoint.request(messages, max_tokens=max_tokens, temperature=temperature)
        if tools:
            request["tools"] = list(tools)
        extra_body = request.pop("extra_body") or {}
        request |= {"stream": True, "stream_options": {"include_usage": True}, **extra_body}
        started = time.monotonic()
        ends = started + endpoint.settings.timeout_seconds
        finish: str | None = None
        with endpoint.call(messages, started) as answered:
            async with asyncio.timeout(ends - time.monotonic()):
                # Chunks as plain JSON: a model of every field of each token's costs more than all the rest.
                stream = await endpoint.client.post(
                    "/chat/completions",
                    body=request,
                    cast_to=object,
                    stream=True,
                    stream_cls=endpoint.openai.AsyncStream[object],
                )
            try:
                self._check(stream.response.headers.get("content-type", ""))
                pieces = aiter(stream)
                while True:
                    # Around each wait, never around a yield: it would cut off whoever reads.
                    async with asyncio.timeout(ends - time.monotonic()):
                        piece = await anext(pieces, None)
                    if piece is None:
                        break
                    chunk = self._read(piece)
                    answered()
                    finish = chunk.finish_reason or finish
                    yield chunk
            finally:
                await stream.close()
            if finish is None:
                raise BrokenOff("broken off: the stream ended before the reply did")
            if finish == "abort":
                raise BrokenOff("the reply was broken off by the endpoint")

    def _check(self, content_type: str) -> None:
        if not content_type.startswith("text/event-stream"):
            raise self._refuse(f"the reply is not a stream of events but {content_type or 'of no type'}")

    def _read(self, piece: object) -> StreamChunk:
        if not isinstance(piece, dict):
            raise self._refuse("the stream does not hold chat completion chunks")
        try:
            chunk = _WireChunk.model_validate(piece)
        except ValidationError as error:
            raise self._refuse(f"the stream holds a malformed chunk: {error.errors()[0]['msg']}") from error
        choice = chunk.choices[0] if chunk.choices else _WireChoice()
        delta = choice.delta or _WireDelta()
        usage = chunk.usage
        return StreamChunk(
            text=delta.content or "",
            tools=tuple(
                ToolDelta(
                    index=call.index,
                    id=call.id,
                    name=(call.function and call.function.name) or "",
                    arguments=(call.function and call.function.arguments) or "",
                )
                for call in delta.tool_calls or ()
            ),
            finish_reason=choice.finish_reason,
            model=chunk.model,
            usage=(usage.prompt_tokens or 0, usage.completion_tokens or 0) if usage else None,
        )

    def _refuse(self, what: str) -> NotOfThisApi:
        return NotOfThisApi(f"{what}: check api_base")


def model_at(settings: ModelSettings) -> str:
    """What work that needs this model waits for while it is away."""
    return f"model {settings.model} at {address_of(settings.api_base)}"


def call_record(
    *,
    agent: str,
    settings: ModelSettings,
    messages: Sequence[Message],
    started: float,
    model: str | None = None,
    usage: tuple[int, int] | None = None,
    fault: str | None = None,
) -> ModelCall:
    """The record of a call that began at `started` (`time.monotonic()`) and has just ended.

    `usage` is tokens of prompt and completion; where the endpoint did not tell, they are recorded as 0.
    """
    prompt_tokens, completion_tokens = usage or (0, 0)
    latency = time.monotonic() - started
    return ModelCall(
        agent=agent,
        model=model or settings.model,
        prompt_sha256=prompt_digest(messages),
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        latency_seconds=round(latency, 4),
        error=fault and fault[:500],
        begun_at=round(time.time() - latency, 4),
    )


def reply_limit(settings: ModelSettings, max_tokens: int | None) -> int:
    """How many tokens a reply may have: a caller can only lower what is configured."""
    return settings.max_tokens if max_tokens is None else max(1, min(settings.max_tokens, max_tokens))


def prompt_digest(messages: Sequence[Message]) -> str:
    """SHA-256 (hex) of the messages as canonical JSON."""
    return hashlib.sha256(json.dumps(list(messages), sort_keys=True).encode()).hexdigest()


def without_surrogates(value: Any) -> Any:
    """A copy of a JSON value, `?` for lone surrogates: JSON can bring them in, UTF-8 can't carry them."""
    return json.loads(without_halves(json.dumps(value, ensure_ascii=False)))


class _WireFunction(BaseModel):
    name: str | None = None
    arguments: str | None = None


class _WireToolCall(BaseModel):
    index: int | None = None
    id: str | None = None
    function: _WireFunction | None = None


class _WireDelta(BaseModel):
    content: str | None = None
    tool_calls: list[_WireToolCall] | None = None


class _WireChoice(BaseModel):
    delta: _WireDelta | None = None
    finish_reason: str | None = None


class _WireUsage(BaseModel):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _WireChunk(BaseModel):
    choices: list[_WireChoice]
    model: str | None = None
    usage: _WireUsage | None = None
