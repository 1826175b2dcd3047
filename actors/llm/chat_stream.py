"""The seam to a model that streams: chat completions as chunks, each tried once.

`actors.llm.chat_model` reads them. The `openai` package reads the events and checks nothing of what they
hold, so every chunk is validated here: what is no chunk raises, and never becomes half an answer.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pydantic import BaseModel, ValidationError

from actors.llm.edge import BrokenOff, NotOfThisApi
from actors.llm.endpoint import Endpoint, Message


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
            chunk = _Chunk.model_validate(piece)
        except ValidationError as error:
            raise self._refuse(f"the stream holds a malformed chunk: {error.errors()[0]['msg']}") from error
        choice = chunk.choices[0] if chunk.choices else _Choice()
        delta = choice.delta or _Delta()
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


class _Function(BaseModel):
    name: str | None = None
    arguments: str | None = None


class _ToolCall(BaseModel):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None


class _Delta(BaseModel):
    content: str | None = None
    tool_calls: list[_ToolCall] | None = None


class _Choice(BaseModel):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Usage(BaseModel):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Chunk(BaseModel):
    choices: list[_Choice]
    model: str | None = None
    usage: _Usage | None = None
