"""What the scripted model server was told to do and what it saw: rules in, recorded calls out.

`Book` lives in the server's event loop and is its only state. Tests and benchmarks make `Rule`s and
read `Call`s through `tests.fakes.model.model_server.ModelServer`. The first live rule that matches a call
applies to it, so rules with `times=1` written one after another are a script.
"""

import asyncio
import json
import time
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, PositiveInt

State = Literal["started", "held", "finished", "cancelled"]


class ToolCall(BaseModel):
    """A tool that the scripted model asks for. `arguments` as text is sent as it is, valid JSON or not."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    arguments: dict[str, Any] | str = Field(default_factory=dict)

    @property
    def text(self) -> str:
        """The arguments as the wire has them."""
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)


class Rule(BaseModel):
    """What to do with a matching call. A rule without `kind` and `contains` matches every call.

    `kind` is an agent kind (`writer`, `fact_check`, …: the name of its prompt file), a JSON schema's
    name, `text` (no schema) or `embeddings`. `contains` is looked for in the prompt, case and all.
    `delay` (seconds) replaces the server's fixed latency; `chunk_delay` lies between streamed chunks.
    `hold` blocks the call until POST /release, before anything else. `drop` resets the connection.
    `retry_after` (seconds) goes with an error's `status`.
    `raw` is sent as the whole body, as `raw_type`, in place of a chat completion.
    `extra` is put into a chat reply beside `choices`, as search models put `citations` there.
    `tool_calls` are asked for, after the text of `reply` where there is one; `finish_reason` is then
    `tool_calls`, and the rule applies only to calls that offer tools. `pieces` are the very deltas of a
    streamed reply, in place of its words. A stream is reset after `drop_after` deltas. `usage` false leaves
    token counts out, as old servers do.
    `times` is how many calls it applies to; None means all. A `standing` one applies where no other does,
    and outlives a reset.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str | None = None
    contains: str | None = None
    reply: str | None = None
    status: int | None = Field(default=None, ge=400, le=599)
    retry_after: NonNegativeFloat | None = None
    delay: NonNegativeFloat | None = None
    chunk_delay: NonNegativeFloat = 0.0
    hold: bool = False
    drop: bool = False
    raw: str | None = None
    raw_type: str = "text/html"
    finish_reason: Literal["stop", "length", "content_filter", "abort"] = "stop"
    extra: dict[str, Any] = Field(default_factory=dict)
    tool_calls: tuple[ToolCall, ...] = ()
    pieces: tuple[str, ...] | None = None
    drop_after: PositiveInt | None = None
    usage: bool = True
    times: PositiveInt | None = None
    standing: bool = False

    @property
    def ending(self) -> str:
        """The finish reason that is sent."""
        return "tool_calls" if self.tool_calls and self.finish_reason == "stop" else self.finish_reason


class Script(BaseModel):
    """The body of POST /script: rules to add, and the fixed latency in seconds when it changes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rules: tuple[Rule, ...] = ()
    latency: NonNegativeFloat | None = None


class Release(BaseModel):
    """The body of POST /release: the oldest `times` held calls, or all of them and the rules too."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str | None = None
    times: PositiveInt | None = None


class Call(BaseModel):
    """One recorded request. Times are `time.monotonic()` seconds, the same clock for all processes.

    `status` is the HTTP status sent: None while under way, when the client left, or when dropped.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    number: int
    kind: str
    schema_name: str | None
    prompt: str
    body: dict[str, Any]
    started: float
    finished: float | None = None
    held: bool = False
    status: int | None = None
    cancelled: bool = False
    dropped: bool = False

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The chat messages as they were sent; empty for an embeddings call."""
        return list(self.body.get("messages", []))

    @property
    def priority(self) -> int | None:
        """What vLLM's priority scheduling would have gone by."""
        return self.body.get("priority")

    @property
    def stream(self) -> bool:
        """Whether the reply was asked for as a stream."""
        return bool(self.body.get("stream"))

    @property
    def tools(self) -> list[str]:
        """The names of the tools that were offered by the API's own tool calling, in order."""
        return [tool["function"]["name"] for tool in self.body.get("tools") or ()]

    def is_kind(self, kind: str | None) -> bool:
        """Whether the call came from this agent kind, or asked for this JSON schema; None is any."""
        return kind in (None, self.kind, self.schema_name)

    def reached(self, state: State) -> bool:
        """Whether the call is in `state`; every call has `started`, and a cancelled one not `finished`."""
        return {
            "started": True,
            "held": self.held,
            "finished": self.finished is not None and not self.cancelled,
            "cancelled": self.cancelled,
        }[state]


class Calls(BaseModel):
    """The answer of GET /calls: recorded calls in order of arrival, and how many changes there were."""

    model_config = ConfigDict(frozen=True)

    version: int
    calls: tuple[Call, ...]


class Book:
    """Rules, recorded calls and held calls. Every change wakes those who wait in `wait`."""

    def __init__(self, *, latency: float) -> None:
        self._first_latency = self.latency = latency
        self._rules: list[tuple[Rule, int | None]] = []
        self._calls: dict[int, Call] = {}
        self._gates: dict[int, asyncio.Event] = {}
        self._started = 0
        self._version = 0
        self._changed = asyncio.Event()

    def add(self, script: Script) -> None:
        """Append rules, and take over a new latency; calls under way keep theirs."""
        self._rules.extend((rule, rule.times) for rule in script.rules)
        self._rules.sort(key=lambda row: row[0].standing)
        if script.latency is not None:
            self.latency = script.latency

    def begin(
        self, *, kind: str, schema_name: str | None, prompt: str, body: dict[str, Any]
    ) -> tuple[Call, Rule]:
        """Record a call that has just arrived, and use up the rule that applies to it."""
        self._started += 1
        call = Call(
            number=self._started,
            kind=kind,
            schema_name=schema_name,
            prompt=prompt,
            body=body,
            started=time.monotonic(),
        )
        self._calls[call.number] = call
        self._change()
        for at, (rule, left) in enumerate(self._rules):
            offered = not rule.tool_calls or bool(call.tools)
            if offered and call.is_kind(rule.kind) and (rule.contains or "") in prompt:
                if left is not None:
                    self._rules[at : at + 1] = [(rule, left - 1)] if left > 1 else []
                return call, rule
        return call, Rule()

    async def pause(self, call: Call, rule: Rule) -> None:
        """Hold the call until it is released where the rule says so, then let its latency pass."""
        if rule.hold:
            gate = self._gates[call.number] = asyncio.Event()
            self._update(call.number, held=True)
            try:
                await gate.wait()
            finally:
                self._gates.pop(call.number, None)
                self._update(call.number, held=False)
        await asyncio.sleep(self.latency if rule.delay is None else rule.delay)

    def end(
        self, call: Call, *, status: int | None = None, cancelled: bool = False, dropped: bool = False
    ) -> None:
        """Record how the call ended."""
        self._update(
            call.number, finished=time.monotonic(), status=status, cancelled=cancelled, dropped=dropped
        )

    def release(self, what: Release) -> int:
        """Let held calls go on, oldest first; without `times` also end the rules that hold. How many."""
        held = [number for number in sorted(self._gates) if self._calls[number].is_kind(what.kind)]
        for number in held[: what.times]:
            self._gates.pop(number).set()
        if what.times is None:
            self._rules = [
                (rule.model_copy(update={"hold": False}) if what.kind in (None, rule.kind) else rule, left)
                for rule, left in self._rules
            ]
        return len(held[: what.times])

    def reset(self) -> None:
        """Forget rules but the standing ones, and calls; let held calls go, and take the first latency."""
        self.release(Release())
        self._rules = [row for row in self._rules if row[0].standing]
        self._calls.clear()
        self.latency = self._first_latency
        self._change()

    async def wait(
        self, *, newer_than: int, at_least: int, kind: str | None, state: State, timeout: float
    ) -> Calls:
        """The calls, once something changed since `newer_than` and `at_least` are in `state`.

        Returns what there is after `timeout` seconds; the caller sees by itself what is missing.
        """

        def ready() -> bool:
            found = sum(call.is_kind(kind) and call.reached(state) for call in self._calls.values())
            return self._version > newer_than and found >= at_least

        try:
            async with asyncio.timeout(timeout):
                while not ready():
                    await self._changed.wait()
        except TimeoutError:
            pass
        calls = tuple(call for call in self._calls.values() if call.is_kind(kind))
        return Calls(version=self._version, calls=calls)

    def _update(self, number: int, **values: object) -> None:
        if number in self._calls:  # a call from before a reset is forgotten
            self._calls[number] = self._calls[number].model_copy(update=values)
            self._change()

    def _change(self) -> None:
        self._version += 1
        self._changed.set()
        self._changed = asyncio.Event()
