"""The model that people talk to: replies stream in, tools can be asked for, choices keep to a JSON schema.

Agents of the chat own a `ChatModel` made from their settings. A transport fault is tried again only while
nothing was given out: half of one answer must not be followed by half of another. Leave a stream by closing
it (`contextlib.aclosing`): that ends the call at the server at once.
"""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from actors.platform.llm.client import (
    Completions,
    ModelClient,
    OpenAICompletions,
    RejectedReply,
    broken_off,
    json_answer,
    strip_fence,
    text_tokens,
)
from actors.platform.llm.endpoint import (
    Endpoint,
    Message,
    OpenAIStreams,
    StreamChunk,
    Streams,
    ToolDelta,
    TransportFault,
    call_record,
    model_at,
    reply_limit,
)
from actors.platform.llm.shown import ShownPieces
from actors.platform.llm.thinking import Spoken
from models.config import BreakerConfig, ModelSettings
from models.errors import ModelReplyInvalid, ModelUnavailable
from models.json_once import read_once
from models.llm import Answer, ModelCall
from models.text import seen_within

# The finish reason of a reply that was still coming when the caller's time was over.
DEADLINE = "deadline"


@dataclass(frozen=True)
class TextDelta:
    """A piece of the reply's text, never empty."""

    text: str


@dataclass(frozen=True)
class ToolRequest:
    """A tool that the model asks for; `arguments` is what it wrote, which may be no JSON at all."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Ended:
    """The last thing of a stream: the call's record, and why it ended (`stop`, `length`, `tool_calls`, …).

    `retried` are the records of tries that failed before it.
    """

    call: ModelCall
    finish_reason: str
    retried: tuple[ModelCall, ...] = ()


@dataclass
class _ReplySoFar:
    """One try's reply, as far as it has come."""

    spoken: Spoken = field(default_factory=Spoken)
    shown: ShownPieces = field(default_factory=ShownPieces)
    given: bool = False
    tools: dict[int, ToolRequest] = field(default_factory=dict)
    finish_reason: str | None = None
    model: str | None = None
    usage: tuple[int, int] | None = None

    def take(self, chunk: StreamChunk) -> str:
        """The text that may be given out, now that `chunk` has come."""
        self.model = chunk.model or self.model
        self.usage = chunk.usage or self.usage
        self.finish_reason = chunk.finish_reason or self.finish_reason
        for delta in chunk.tools:
            self._add(delta)
        return self.shown.feed(self.spoken.feed(chunk.text))

    def rest(self) -> str:
        """What is left when there comes no more."""
        return self.shown.feed(self.spoken.finish()) + self.shown.finish()

    def _add(self, delta: ToolDelta) -> None:
        last = max(self.tools, default=-1)
        if (index := delta.index) is None:
            # Without an index, an id of its own or a first part begins the next call.
            new = last < 0 or (delta.id is not None and delta.id != self.tools[last].id)
            index = last + 1 if new else last
        known = self.tools.get(index, ToolRequest(id=delta.id or f"call_{index}", name="", arguments=""))
        self.tools[index] = ToolRequest(
            id=known.id, name=known.name + delta.name, arguments=known.arguments + delta.arguments
        )


class ChatModel:
    """One agent's conversational model. `completions` and `streams` are the seams to the endpoint."""

    def __init__(
        self,
        *,
        agent: str,
        settings: ModelSettings,
        completions: Completions | None = None,
        streams: Streams | None = None,
        breaker: BreakerConfig | None = None,
    ) -> None:
        self.settings = settings
        self._agent = agent
        if completions is None or streams is None:
            endpoint = Endpoint(agent=agent, settings=settings, breaker=breaker)
            completions = completions or OpenAICompletions(agent=agent, settings=settings, endpoint=endpoint)
            streams = streams or OpenAIStreams(endpoint)
        self._streams = streams
        self._client = ModelClient(agent=agent, settings=settings, completions=completions)

    async def stream(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        max_tokens: int | None = None,
        temperature: float | None = None,
        seconds: float | None = None,
    ) -> AsyncGenerator[TextDelta | ToolRequest | Ended, None]:
        """The reply to `messages` as it comes: text, then the tools it asks for, then `Ended`.

        Args:
            tools: as the API takes them, `{"type": "function", "function": {…}}`.
            max_tokens: lowers the configured one.
            seconds: when they are over the stream ends with what there is, its finish reason `DEADLINE`.

        Raises:
            PromptTooLong: nothing was sent.
            ModelUnavailable: the endpoint is away, or broke off in mid-answer.
            ModelRefused, ModelTimedOut: of this request alone.
            ModelReplyInvalid: the endpoint's content filter withheld the reply.
        """
        self._client.check_size(messages, besides=text_tokens(json.dumps(list(tools))) if tools else 0)
        ends = None if seconds is None else time.monotonic() + seconds
        retried: list[ModelCall] = []
        for attempt in range(self.settings.max_retries + 1):
            if attempt:
                left = _left(ends)
                delay = self.settings.retry_delay
                await asyncio.sleep(delay if left is None else min(delay, left))
            reply, started = _ReplySoFar(), time.monotonic()
            chunks = self._streams.chunks(
                messages=messages, tools=tools, max_tokens=max_tokens, temperature=temperature
            )
            try:
                async with aclosing(self._spoken(chunks, reply, ends)) as pieces:
                    async for piece in pieces:
                        reply.given = True
                        yield TextDelta(piece)
                fault = self._fault(reply, max_tokens)
                call = self.record_of(messages, started, model=reply.model, usage=reply.usage, fault=fault)
                self._judge(reply, call)
            except TransportFault as broken:
                too_soon = (broken.retry_after_seconds or 0.0) > self.settings.retry_delay
                if reply.given or attempt == self.settings.max_retries or too_soon:
                    raise broken.error from broken
                retried.append(broken.call)
                continue
            if reply.finish_reason != DEADLINE:
                for index in sorted(reply.tools):
                    yield reply.tools[index]
            yield Ended(call=call, finish_reason=reply.finish_reason or "", retried=tuple(retried))
            return

    async def choose(
        self,
        messages: Sequence[Message],
        *,
        name: str,
        schema: dict[str, Any],
        max_tokens: int | None = None,
    ) -> Answer[dict[str, Any]]:
        """A JSON object that keeps to `schema`, called `name`; the model is held to it, and asked again.

        Raises:
            PromptTooLong, ModelUnavailable, ModelRefused, ModelTimedOut, and ModelReplyInvalid: no reply
                kept to the schema.
        """
        validator = Draft202012Validator(schema)

        def accept(text: str) -> dict[str, Any]:
            value = read_object(strip_fence(text))
            if fault := best_match(validator.iter_errors(value)):
                where = ".".join(str(part) for part in fault.absolute_path) or "reply"
                raise RejectedReply(f"{where}: {fault.message}")
            return value

        return await self._client.ask(
            messages,
            response_format=json_answer(name, schema, self.settings),
            accept=accept,
            max_tokens=max_tokens,
        )

    async def _spoken(
        self, chunks: AsyncGenerator[StreamChunk, None], reply: _ReplySoFar, ends: float | None
    ) -> AsyncGenerator[str, None]:
        """The text of a reply; the rest of it is gathered in `reply`."""
        try:
            async with aclosing(chunks):
                while True:
                    async with asyncio.timeout(_left(ends)):
                        chunk = await anext(chunks, None)
                    if chunk is None:
                        break
                    if piece := reply.take(chunk):
                        yield piece
        except TimeoutError:
            reply.finish_reason = DEADLINE
        if piece := reply.rest():
            yield piece

    def record_of(
        self,
        messages: Sequence[Message],
        started: float,
        *,
        model: str | None = None,
        usage: tuple[int, int] | None = None,
        fault: str | None = None,
    ) -> ModelCall:
        """The record of a call that began at `started` (`time.monotonic()`); see `call_record`."""
        return call_record(
            agent=self._agent,
            settings=self.settings,
            messages=messages,
            started=started,
            model=model,
            usage=usage,
            fault=fault,
        )

    def _fault(self, reply: _ReplySoFar, max_tokens: int | None) -> str | None:
        """What broke a reply off, or None where it is whole."""
        return {
            None: "broken off: the stream ended before the reply did",
            DEADLINE: "broken off: the time for it was over",
        }.get(reply.finish_reason) or broken_off(reply.finish_reason, reply_limit(self.settings, max_tokens))

    def _judge(self, reply: _ReplySoFar, call: ModelCall) -> None:
        waits_for = model_at(self.settings)
        where = f"{self._agent}: {waits_for}"
        if reply.finish_reason in (None, "abort"):
            raise TransportFault(ModelUnavailable(f"{where}: {call.error}", waits_for=waits_for), call)
        if reply.finish_reason == "content_filter":
            raise ModelReplyInvalid(f"{where}: the reply was {call.error}")


def read_object(text: str) -> dict[str, Any]:
    """A JSON object that a model wrote, as it is seen. RejectedReply says what is wrong with it."""
    try:
        value = read_once(text)
    except (ValueError, RecursionError) as error:
        raise RejectedReply(f"not valid JSON: {error}") from error
    if not isinstance(value, dict):
        raise RejectedReply("not a JSON object")
    shown: dict[str, Any] = seen_within(value)
    return shown


def _left(ends: float | None) -> float | None:
    return None if ends is None else max(0.0, ends - time.monotonic())
