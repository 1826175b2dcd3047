"""A scripted model in place of the endpoint: unit tests give it replies and read what it was sent.

`ScriptedCompletions` stands where `OpenAICompletions` does, `ScriptedStreams` where `OpenAIStreams` does, so
a test needs no server. For real HTTP see model_server.py.
"""

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from actors.platform.llm.endpoint import Message, StreamChunk, prompt_digest
from models.llm import ModelCall


@dataclass(frozen=True, kw_only=True)
class Cut:
    """A reply that the endpoint cut short (finish_reason `length`)."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One call: its messages and its response format."""

    messages: list[dict[str, str]]
    response_format: dict[str, Any] | None

    @property
    def system(self) -> str:
        """The system message."""
        return self.messages[0]["content"]

    @property
    def user(self) -> str:
        """The first user message: the prompt, without what a retry adds in messages of its own."""
        return self.messages[1]["content"]

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema that was asked for."""
        assert self.response_format is not None
        schema = self.response_format["json_schema"]["schema"]
        assert isinstance(schema, dict)
        return schema


class ScriptedCompletions:
    """Gives `replies` one after another and records the calls. A dict is sent as JSON, an error is raised.

    A call beyond the last reply fails the test.
    """

    def __init__(self, *replies: str | dict[str, Any] | Cut | Exception) -> None:
        self.script(*replies)

    def script(self, *replies: str | dict[str, Any] | Cut | Exception) -> None:
        """Begin anew, with these."""
        self._replies: Sequence[str | dict[str, Any] | Cut | Exception] = replies
        self.asked: list[Asked] = []

    async def complete(
        self,
        *,
        messages: list[dict[str, str]],
        response_format: dict[str, Any] | None,
        max_tokens: int | None = None,
    ) -> tuple[str, ModelCall]:
        """The next reply; each costs 10 prompt tokens and 5 of its own."""
        self.asked.append(Asked(messages=messages, response_format=response_format))
        assert len(self.asked) <= len(self._replies), f"an unscripted call: {messages[-1]['content']}"
        reply = self._replies[len(self.asked) - 1]
        if isinstance(reply, Exception):
            raise reply
        call = ModelCall(
            agent="scripted",
            model="scripted",
            prompt_sha256=prompt_digest(messages),
            prompt_tokens=10,
            completion_tokens=5,
            latency_seconds=0.0,
            error="cut at max_tokens" if isinstance(reply, Cut) else None,
        )
        if isinstance(reply, Cut):
            return reply.text, call
        return reply if isinstance(reply, str) else json.dumps(reply), call


class ScriptedStreams:
    """Streams `replies` one after another, each a list of chunks or an error that is raised after them.

    It stands where `OpenAIStreams` does. The last reply is given again and again when there are no more.
    """

    def __init__(self, *replies: Sequence[StreamChunk | Exception]) -> None:
        self._replies = replies
        self.asked: list[list[dict[str, Any]]] = []
        self.offered: list[list[str]] = []
        self.limits: list[int | None] = []

    async def chunks(
        self,
        *,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, Any]],
        max_tokens: int | None,
        temperature: float | None,
    ) -> AsyncGenerator[StreamChunk, None]:
        """The next reply's chunks."""
        reply = self._replies[min(len(self.asked), len(self._replies) - 1)]
        self.asked.append([dict(message) for message in messages])
        self.offered.append([tool["function"]["name"] for tool in tools])
        self.limits.append(max_tokens)
        for piece in reply:
            if isinstance(piece, Exception):
                raise piece
            yield piece
