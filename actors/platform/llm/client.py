"""The client for whole replies of models: any OpenAI-compatible endpoint, Signoff's own vLLM by default.

Streamed replies are `actors.platform.llm.chat_model`'s.

Agents own a `ModelClient` made from their settings. A structured answer is asked for with a JSON
schema and validated. Whatever goes wrong, the wire or the reply, shares one budget: `max_retries`
tries after the first for each answer (seed 004 §0.2), then it raises with the last fault.
"""

import asyncio
import json
import re
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from actors.platform.llm.edge import BrokenOff, NotOfThisApi
from actors.platform.llm.endpoint import Endpoint, Message, TransportFault
from actors.platform.llm.prompts import fence
from actors.platform.llm.shown import shown_json
from models.config import BreakerConfig, ModelSettings, SchemaLimits
from models.errors import ModelReplyInvalid, PromptTooLong
from models.json_once import ambiguity
from models.llm import Answer, ModelCall
from models.text import seen

T = TypeVar("T")
R = TypeVar("R", bound=BaseModel)

# What JSON may escape: a whole pair, half of one, or anything else; and halves that are not escaped.
_ESCAPE = re.compile(
    r"\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|(?P<half>\\u[dD][89a-fA-F][\da-fA-F]{2})|\\.",
    re.DOTALL,
)
_HALF = re.compile("[\ud800-\udfff]")
_FENCE = re.compile(r"```[a-zA-Z]*[ \t]*(?:\r?\n|(?=[{\[]))")
# Bytes of UTF-8 per token, on the safe side: English runs at about 4, Polish at 3, Chinese at 2 to 3.
BYTES_PER_TOKEN = 3
# A message's role, and the marks around it.
_TOKENS_AROUND = 4

# For what a refused reply is told, and the marks around messages, in tokens.
_AROUND = 300


class RejectedReply(Exception):
    """A reply broke a rule that only the caller knows; the text tells the model what to mend."""


class Completions(Protocol):
    """The seam to a model: one chat completion, tried once.

    Raises TransportFault where another try may help, ModelUnavailable or ModelRefused where none will.
    """

    async def complete(
        self,
        *,
        messages: Sequence[Message],
        response_format: dict[str, Any] | None,
        max_tokens: int | None = None,
    ) -> tuple[str, ModelCall]:
        """The reply's text, and what the call cost. `max_tokens` can only lower the configured one."""
        ...


class OpenAICompletions:
    """Chat completions over HTTP, each tried once."""

    def __init__(
        self,
        *,
        agent: str,
        settings: ModelSettings,
        endpoint: Endpoint | None = None,
        breaker: BreakerConfig | None = None,
    ) -> None:
        self._endpoint = endpoint or Endpoint(agent=agent, settings=settings, breaker=breaker)

    async def complete(
        self,
        *,
        messages: Sequence[Message],
        response_format: dict[str, Any] | None,
        max_tokens: int | None = None,
    ) -> tuple[str, ModelCall]:
        """One completion; `timeout_seconds` bounds the whole of it, however slowly bytes trickle in."""
        endpoint = self._endpoint
        request = endpoint.request(messages, response_format=response_format, max_tokens=max_tokens)
        started = time.monotonic()
        with endpoint.call(messages, started):
            async with asyncio.timeout(endpoint.settings.timeout_seconds):
                reply = await endpoint.client.chat.completions.create(**request)
            # The package checks nothing: a login page comes as a str, `{}` as a completion full of None.
            choices = reply.choices if isinstance(reply, endpoint.openai.types.chat.ChatCompletion) else None
            message = choices[0].message if choices else None
            text = message.content or "" if message else None
            if choices is None or not isinstance(text, str):
                raise NotOfThisApi("the reply is not a chat completion: check api_base")
            if choices[0].finish_reason == "abort":
                raise BrokenOff("the reply was broken off by the endpoint")
        call = endpoint.record_of(
            messages,
            started,
            model=reply.model,
            usage=(reply.usage.prompt_tokens, reply.usage.completion_tokens) if reply.usage else None,
            fault=broken_off(choices[0].finish_reason, request["max_tokens"]),
        )
        return text, call


def broken_off(finish_reason: str | None, max_tokens: int) -> str | None:
    """What a finish reason says against a reply: it was broken off, and by what."""
    return {
        "length": f"cut at max_tokens ({max_tokens})",
        "content_filter": "withheld by the endpoint's content filter",
        "abort": "broken off by the endpoint",
    }.get(finish_reason or "")


class ModelClient:
    """An agent's way to its model: checks the prompt's size, asks, validates, asks again.

    `breaker`: see `Endpoint`; `completions` stands in for the endpoint.
    """

    def __init__(
        self,
        *,
        agent: str,
        settings: ModelSettings,
        completions: Completions | None = None,
        breaker: BreakerConfig | None = None,
    ) -> None:
        self._agent = agent
        self.settings = settings
        self._completions = completions or OpenAICompletions(agent=agent, settings=settings, breaker=breaker)

    async def ask_text(self, *, system: str, user: str, accept: Callable[[str], T]) -> Answer[T]:
        """Ask for free text. `accept` turns it into a value, or raises RejectedReply."""
        return await self.ask(_prompt(system, user), response_format=None, accept=accept)

    async def ask_record(
        self,
        *,
        system: str,
        user: str,
        reply: type[R],
        accept: Callable[[R], T],
        schema: dict[str, Any] | None = None,
    ) -> Answer[T]:
        """Ask for a JSON record of type `reply`; `schema` narrows its own schema when given.

        Raises:
            ModelReplyInvalid: the last reply still did not validate, or `accept` refused it.
        """
        response_format = json_answer(reply.__name__, schema or reply.model_json_schema(), self.settings)

        def parse(text: str) -> T:
            said = whole_characters(strip_fence(text))
            if reason := ambiguity(said):
                raise RejectedReply(reason)
            try:
                return accept(reply.model_validate_json(shown_json(said)))
            except ValidationError as error:
                raise RejectedReply(validation_faults(error)) from error

        return await self.ask(_prompt(system, user), response_format=response_format, accept=parse)

    async def ask(
        self,
        messages: Sequence[Message],
        *,
        response_format: dict[str, Any] | None,
        accept: Callable[[str], T],
        max_tokens: int | None = None,
    ) -> Answer[T]:
        """Go on from `messages`, the last of them the user's; ask again until `accept` takes the reply.

        Raises:
            PromptTooLong: nothing was sent.
            ModelUnavailable: the endpoint is away; ModelRefused, ModelTimedOut: of this request alone.
            ModelReplyInvalid: `accept` raised RejectedReply for the last reply too.
        """
        self.check_size(messages)
        calls: list[ModelCall] = []
        asked, fault = list(messages), ""
        for attempt in range(self.settings.max_retries + 1):
            if attempt:
                await asyncio.sleep(self.settings.retry_delay)
            try:
                text, call = await self._completions.complete(
                    messages=asked, response_format=response_format, max_tokens=max_tokens
                )
            except TransportFault as broken:
                calls.append(broken.call)
                if attempt == self.settings.max_retries or self._too_soon(broken):
                    raise broken.error from broken
                continue
            try:
                if call.error:
                    raise RejectedReply(f"the reply was {call.error}")
                if "<think>" in text and "</think>" not in text:
                    # An empty rest is no answer: it must not pass for an empty review.
                    raise RejectedReply("the reply never came out of its thinking")
                return Answer(value=accept(seen(strip_thinking(text))), calls=(*calls, call))
            except RejectedReply as rejected:
                fault = str(rejected)
                calls.append(call.model_copy(update={"error": fault[:500]}))
                asked = self._ask_again(messages, reply=strip_thinking(text), fault=fault)
        refused = ModelReplyInvalid(
            f"{self._agent}: model {self.settings.model}: no usable reply in "
            f"{self.settings.max_retries + 1} tries: {fault}"
        )
        refused.calls = tuple(calls)
        raise refused

    def _too_soon(self, broken: TransportFault) -> bool:
        """Whether the endpoint asked for a longer pause than there is before the next try."""
        return (broken.retry_after_seconds or 0.0) > self.settings.retry_delay

    def _ask_again(self, messages: Sequence[Message], *, reply: str, fault: str) -> list[Message]:
        """The prompt with the refused reply sent back, or only the fault where the window is too small.

        User and assistant take turns in both: many chat templates refuse anything else.
        """
        again: list[Message] = [
            *messages,
            {"role": "assistant", "content": reply or "(nothing)"},
            {"role": "user", "content": _mend(fault)},
        ]
        if rough_tokens(again) + self.settings.max_tokens <= self.settings.context_window:
            return again
        *before, last = messages
        return [*before, {**last, "content": f"{last['content']}\n{_mend(fault)}"}]

    def check_size(self, messages: Sequence[Message], *, besides: int = 0) -> None:
        """Raise PromptTooLong where messages, and `besides` tokens, are over their share of the window."""
        settings = self.settings
        tokens = rough_tokens(messages) + besides
        allowed = settings.context_window * settings.context_window_threshold // 100
        if tokens > allowed:
            raise PromptTooLong(
                f"{self._agent}: the prompt has about {tokens} tokens, over {allowed} "
                f"({settings.context_window_threshold} % of context_window {settings.context_window}): "
                "shorten the source, or use a model with a larger context window"
            )


def rough_tokens(messages: Sequence[Message]) -> int:
    """About how many tokens messages have, rather too many than too few."""
    return sum(text_tokens(_text(message)) + _TOKENS_AROUND for message in messages)


def text_tokens(text: str) -> int:
    """About how many tokens a text has, rather too many than too few."""
    return len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN


def _text(message: Message) -> str:
    called = message.get("tool_calls")
    return (message["content"] or "") + (json.dumps(called) if called else "")


def _prompt(system: str, user: str) -> list[Message]:
    return [{"role": "system", "content": system}, {"role": "user", "content": user}]


def strip_thinking(text: str) -> str:
    """Drop `<think>…</think>` text, also where the model never closed it or never opened it."""
    kept, at = [], 0
    while (start := text.find("<think>", at)) >= 0 and (end := text.find("</think>", start)) >= 0:
        kept.append(text[at:start])
        at = end + len("</think>")
    text = "".join([*kept, text[at:]])
    if "</think>" in text:
        text = text.rsplit("</think>", 1)[1]
    if "<think>" in text:
        text = text.split("<think>", 1)[0]
    return text.strip()


def strip_fence(text: str) -> str:
    """Drop a Markdown code fence around a whole reply (seed 004 §5)."""
    text = text.strip()
    opened = _FENCE.match(text)
    if opened is None or not text.endswith("```") or len(text) < opened.end() + 3:
        return text
    return text[opened.end() : -3].rstrip()


def whole_characters(text: str) -> str:
    """A reply's JSON without halves of characters, which no parser takes: a bounded string may end in one."""
    return _ESCAPE.sub(lambda escape: "" if escape["half"] else escape[0], _HALF.sub("", text))


def json_answer(name: str, schema: dict[str, Any], settings: ModelSettings) -> dict[str, Any]:
    """The `response_format` that holds a reply to a JSON schema, within the model's limits."""
    bounded = bounded_schema(schema, settings.schema_limits)
    return {"type": "json_schema", "json_schema": {"name": name, "schema": bounded, "strict": True}}


def bounded_schema(schema: dict[str, Any], limits: SchemaLimits) -> dict[str, Any]:
    """A copy of a JSON schema with `limits` put in as `maxLength` and `maxItems`."""

    def walk(node: Any, field: str | None) -> Any:
        if isinstance(node, list):
            return [walk(part, field) for part in node]
        if not isinstance(node, dict):
            return node
        copy: dict[str, Any] = {
            key: (
                {name: walk(part, name) for name, part in value.items()}
                if key in ("properties", "$defs") and isinstance(value, dict)
                else walk(value, field)
            )
            for key, value in node.items()
        }
        length = limits.fields.get(field or "", limits.strings)
        # xgrammar refuses a length beside a pattern or a format.
        closed = {"enum", "const", "pattern", "format"}
        if copy.get("type") == "string" and length and not closed & set(copy):
            copy["maxLength"] = min(length, copy.get("maxLength", length))
        if copy.get("type") == "string" and field in limits.at_least and not {"enum", "const"} & set(copy):
            copy["minLength"] = limits.at_least[field]
        if copy.get("type") == "array" and limits.items and "maxItems" not in copy:
            copy["maxItems"] = limits.items
        return copy

    bounded = walk(schema, None)
    assert isinstance(bounded, dict)
    return bounded


def validation_faults(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_input=False)[:5]
    return "; ".join(
        f"{'.'.join(str(part) for part in fault['loc']) or 'reply'}: {fault['msg']}" for fault in faults
    )


def _mend(fault: str) -> str:
    # A fault may quote the reply, and so whatever the reply was made from: it is fenced like that.
    return f"The last reply was refused:\n{fence(fault, 'fault')}\nAnswer again, whole, with this mended."


def fits_window(system: str, user: str, settings: ModelSettings) -> bool:
    """Whether both messages and an answer of full length are within the model's window, and its threshold."""
    threshold = settings.context_window * settings.context_window_threshold // 100
    allowed = min(threshold, settings.context_window - settings.max_tokens) - _AROUND
    return text_tokens(system) + text_tokens(user) <= allowed
