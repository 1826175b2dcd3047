"""The one client for model calls: any OpenAI-compatible endpoint, Signoff's own vLLM by default.

Agents own a `ModelClient` made from their settings. A structured answer is asked for with a JSON
schema and validated. Whatever goes wrong, the wire or the reply, shares one budget: `max_retries`
tries after the first for each answer (seed 004 §0.2), then it raises with the last fault.
"""

import asyncio
import hashlib
import json
import re
import time
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from actors.runtime.prompts import fence
from models.config import ModelSettings, SchemaLimits
from models.errors import ModelReplyInvalid, ModelUnavailable, PromptTooLong
from models.llm import Answer, ModelCall

T = TypeVar("T")
R = TypeVar("R", bound=BaseModel)

_THINKING = re.compile(r"<think>.*?</think>", re.DOTALL)
_FENCE = re.compile(r"\A```[a-zA-Z]*[ \t]*(?:\r?\n|(?=[{\[]))(.*?)\s*```\s*\Z", re.DOTALL)
# Bytes of UTF-8 per token, on the safe side: English runs at about 4, Polish at 3, Chinese at 2 to 3.
_BYTES_PER_TOKEN = 3


class RejectedReply(Exception):
    """A reply broke a rule that only the caller knows; the text tells the model what to mend."""


class TransportFault(Exception):
    """A call failed in a way that may pass (connection, timeout, 429, 5xx); `call` is its record."""

    def __init__(self, message: str, call: ModelCall) -> None:
        super().__init__(message)
        self.call = call


class Completions(Protocol):
    """The seam to a model: one chat completion, tried once.

    Raises TransportFault where another try may help, ModelUnavailable where none will.
    """

    async def complete(
        self, *, messages: list[dict[str, str]], response_format: dict[str, Any] | None
    ) -> tuple[str, ModelCall]:
        """The reply's text, and what the call cost."""
        ...


class OpenAICompletions:
    """Chat completions over HTTP with the `openai` package, which retries nothing here.

    No proxy is taken from the environment: a call goes to `api_base` and nowhere else.
    """

    def __init__(self, *, agent: str, settings: ModelSettings) -> None:
        import openai

        self._agent = agent
        self._settings = settings
        self._openai = openai
        self._client = openai.AsyncOpenAI(
            base_url=settings.api_base,
            api_key=settings.api_key.get_secret_value(),
            timeout=settings.timeout_seconds,
            max_retries=0,
            http_client=openai.DefaultAsyncHttpxClient(trust_env=False),
        )

    async def complete(
        self, *, messages: list[dict[str, str]], response_format: dict[str, Any] | None
    ) -> tuple[str, ModelCall]:
        """One completion; `timeout_seconds` bounds the whole of it, however slowly bytes trickle in."""
        settings, openai = self._settings, self._openai
        extra: dict[str, Any] = {"response_format": response_format} if response_format else {}
        started = time.monotonic()
        try:
            async with asyncio.timeout(settings.timeout_seconds):
                reply = await self._client.chat.completions.create(
                    model=settings.model,
                    messages=messages,  # type: ignore[arg-type]  # plain dicts, as the wire has them
                    max_tokens=settings.max_tokens,
                    temperature=settings.temperature,
                    extra_body=settings.extra_body or None,
                    **extra,
                )
        except (
            TimeoutError,
            openai.APIConnectionError,
            openai.RateLimitError,
            openai.InternalServerError,
        ) as error:
            message = self._explain(error)
            raise TransportFault(message, self._call(messages, started, fault=message[:500])) from error
        except openai.OpenAIError as error:
            raise ModelUnavailable(self._explain(error)) from error
        except json.JSONDecodeError as error:
            raise ModelUnavailable(self._explain(ValueError(f"the reply is not JSON: {error}"))) from error
        return self._read(reply, messages, started)

    def _explain(self, error: Exception) -> str:
        what = str(error) or type(error).__name__
        if isinstance(error, (self._openai.APITimeoutError, TimeoutError)):
            what = f"no answer within timeout_seconds ({self._settings.timeout_seconds:g} s)"
        elif isinstance(error, self._openai.APIConnectionError) and error.__cause__ is not None:
            what = f"{what} ({error.__cause__})"
        return f"{self._agent}: model {self._settings.model} at {self._settings.api_base}: {what}"

    def _call(
        self, messages: list[dict[str, str]], started: float, *, reply: Any = None, fault: str | None
    ) -> ModelCall:
        usage = reply.usage if reply else None
        return ModelCall(
            agent=self._agent,
            model=(reply and reply.model) or self._settings.model,
            prompt_sha256=prompt_digest(messages),
            prompt_tokens=usage.prompt_tokens if usage else 0,
            completion_tokens=usage.completion_tokens if usage else 0,
            latency_seconds=round(time.monotonic() - started, 4),
            error=fault,
        )

    def _read(self, reply: Any, messages: list[dict[str, str]], started: float) -> tuple[str, ModelCall]:
        # The package checks nothing: a login page comes as a str, `{}` as a completion full of None.
        choices = reply.choices if isinstance(reply, self._openai.types.chat.ChatCompletion) else None
        message = choices[0].message if choices else None
        text = message.content or "" if message else None
        if choices is None or not isinstance(text, str):
            raise ModelUnavailable(self._explain(ValueError("the reply is not a chat completion")))
        fault = {
            "length": f"cut at max_tokens ({self._settings.max_tokens})",
            "content_filter": "withheld by the endpoint's content filter",
            "abort": "broken off by the endpoint",
        }.get(choices[0].finish_reason)
        return text, self._call(messages, started, reply=reply, fault=fault)


class ModelClient:
    """An agent's way to its model: checks the prompt's size, asks, validates, asks again."""

    def __init__(
        self, *, agent: str, settings: ModelSettings, completions: Completions | None = None
    ) -> None:
        self._agent = agent
        self.settings = settings
        self._completions = completions or OpenAICompletions(agent=agent, settings=settings)

    async def text(self, *, system: str, user: str, accept: Callable[[str], T]) -> Answer[T]:
        """Ask for free text. `accept` turns it into a value, or raises RejectedReply."""
        return await self._ask(system=system, user=user, response_format=None, accept=accept)

    async def record(
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
        bounded = bounded_schema(schema or reply.model_json_schema(), self.settings.schema_limits)
        response_format = {
            "type": "json_schema",
            "json_schema": {"name": reply.__name__, "schema": bounded, "strict": True},
        }

        def parse(text: str) -> T:
            try:
                return accept(reply.model_validate_json(strip_fence(text)))
            except ValidationError as error:
                raise RejectedReply(_validation_faults(error)) from error

        return await self._ask(system=system, user=user, response_format=response_format, accept=parse)

    async def _ask(
        self,
        *,
        system: str,
        user: str,
        response_format: dict[str, Any] | None,
        accept: Callable[[str], T],
    ) -> Answer[T]:
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        self._check_size(messages)
        calls: list[ModelCall] = []
        asked, fault = messages, ""
        for attempt in range(self.settings.max_retries + 1):
            if attempt:
                await asyncio.sleep(self.settings.retry_delay)
            try:
                text, call = await self._completions.complete(messages=asked, response_format=response_format)
            except TransportFault as broken:
                calls.append(broken.call)
                if attempt == self.settings.max_retries:
                    raise ModelUnavailable(str(broken)) from broken
                continue
            try:
                if call.error:
                    raise RejectedReply(f"the reply was {call.error}")
                if "<think>" in text and "</think>" not in text:
                    # An empty rest is no answer: it must not pass for an empty review.
                    raise RejectedReply("the reply never came out of its thinking")
                return Answer(value=accept(strip_thinking(text)), calls=(*calls, call))
            except RejectedReply as rejected:
                fault = str(rejected)
                calls.append(call.model_copy(update={"error": fault[:500]}))
                asked = self._ask_again(messages, reply=strip_thinking(text), fault=fault)
        raise ModelReplyInvalid(
            f"{self._agent}: model {self.settings.model}: no usable reply in "
            f"{self.settings.max_retries + 1} tries: {fault}"
        )

    def _ask_again(self, messages: list[dict[str, str]], *, reply: str, fault: str) -> list[dict[str, str]]:
        """The prompt with the refused reply sent back, or only the fault where the window is too small.

        User and assistant take turns in both: many chat templates refuse anything else.
        """
        again = [
            *messages,
            {"role": "assistant", "content": reply or "(nothing)"},
            {"role": "user", "content": _mend(fault)},
        ]
        if _rough_tokens(again) + self.settings.max_tokens <= self.settings.context_window:
            return again
        *before, last = messages
        return [*before, {"role": "user", "content": f"{last['content']}\n{_mend(fault)}"}]

    def _check_size(self, messages: list[dict[str, str]]) -> None:
        settings = self.settings
        tokens = _rough_tokens(messages)
        allowed = settings.context_window * settings.context_window_threshold // 100
        if tokens > allowed:
            raise PromptTooLong(
                f"{self._agent}: the prompt has about {tokens} tokens, over {allowed} "
                f"({settings.context_window_threshold} % of context_window {settings.context_window}): "
                "shorten the source, or use a model with a larger context window"
            )


def _rough_tokens(messages: list[dict[str, str]]) -> int:
    return sum(len(m["content"].encode("utf-8", "replace")) // _BYTES_PER_TOKEN + 4 for m in messages)


def prompt_digest(messages: list[dict[str, str]]) -> str:
    """SHA-256 (hex) of the messages as canonical JSON."""
    return hashlib.sha256(json.dumps(messages, sort_keys=True).encode()).hexdigest()


def strip_thinking(text: str) -> str:
    """Drop `<think>…</think>` text, also where the model never closed it or never opened it."""
    text = _THINKING.sub("", text)
    if "</think>" in text:
        text = text.rsplit("</think>", 1)[1]
    if "<think>" in text:
        text = text.split("<think>", 1)[0]
    return text.strip()


def strip_fence(text: str) -> str:
    """Drop a Markdown code fence around a whole reply (seed 004 §5)."""
    match = _FENCE.match(text.strip())
    return match.group(1) if match else text.strip()


def bounded_schema(schema: dict[str, Any], limits: SchemaLimits) -> dict[str, Any]:
    """A copy of a JSON schema with `limits` put in as `maxLength` and `maxItems`."""

    def walk(node: Any, field: str | None) -> Any:
        if isinstance(node, list):
            return [walk(part, field) for part in node]
        if not isinstance(node, dict):
            return node
        copy = {
            key: (
                {name: walk(part, name) for name, part in value.items()}
                if key in ("properties", "$defs") and isinstance(value, dict)
                else walk(value, field)
            )
            for key, value in node.items()
        }
        length = limits.fields.get(field or "", limits.strings)
        if copy.get("type") == "string" and length and not {"enum", "const", "maxLength"} & set(copy):
            copy["maxLength"] = length
        if copy.get("type") == "string" and field in limits.at_least and not {"enum", "const"} & set(copy):
            copy["minLength"] = limits.at_least[field]
        if copy.get("type") == "array" and limits.items and "maxItems" not in copy:
            copy["maxItems"] = limits.items
        return copy

    bounded = walk(schema, None)
    assert isinstance(bounded, dict)
    return bounded


def _validation_faults(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_input=False)[:5]
    return "; ".join(
        f"{'.'.join(str(part) for part in fault['loc']) or 'reply'}: {fault['msg']}" for fault in faults
    )


def _mend(fault: str) -> str:
    # A fault may quote the reply, and so whatever the reply was made from: it is fenced like that.
    return f"The last reply was refused:\n{fence(fault, 'fault')}\nAnswer again, whole, with this mended."
