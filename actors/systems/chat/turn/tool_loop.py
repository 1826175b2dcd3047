"""The loop of model and tools that answers a message (ReAct): the model asks for tools until it answers.

The answering agents of the chat run a `ToolLoop`. What tools answer is data: it is cut, fenced, and never
decides what is called, because only the offered tools can be, and `call` checks each call again. A turn that
reaches its budget ends with what it has and says so.
"""

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Literal

from actors.platform.llm.chat_model import DEADLINE, ChatModel, Ended, TextDelta, ToolRequest
from actors.platform.llm.client import rough_tokens, text_tokens
from actors.platform.llm.endpoint import Message, reply_limit
from actors.platform.tools.tool import Tool
from actors.systems.chat.turn.budget import Budget, Limit
from actors.systems.chat.turn.model_messages import Prompts
from actors.systems.chat.turn.offered_tools import ANSWER, Call, OfferedTools, ToolReport
from actors.systems.chat.turn.transcript import Transcript
from models.chat.messages import ToolUsed, Usage
from models.config.chat import ToolUseConfig
from models.errors import ModelReplyInvalid
from models.llm import ModelCall

# A call of the model with fewer tokens for its reply is not worth its prompt.
_LEAST_REPLY = 32
# Tools that one reply may ask for; those beyond get no answer but that.
_CALLS_AT_ONCE = 5
_EMPTY_REPLIES = 2


@dataclass(frozen=True)
class LoopOutcome:
    """How a conversation with the model ended.

    `limited`: the budget was reached, and the text says so. `usage` and `calls` are of this conversation's
    model calls; where the endpoint did not tell the tokens, `usage` has estimates.
    """

    status: Literal["completed", "limited"]
    usage: Usage
    calls: tuple[ModelCall, ...]


class ToolLoop:
    """One conversation with the model under way. Without tools it is one streamed answer to `messages`.

    Args:
        messages: the last of them is the user's.
        tools: those the caller may use; the first `use.shown` of them are offered.
        call: carries out a tool with its arguments, and checks the permission. Its SignoffErrors are told to
            the model; an outage and anything else is raised.
        prompts: with the files `tool_*.md` and `empty_answer.md`.
        say: told the answer's text, piece by piece, as it comes.
        stopped: what the person is told where a limit ended it.
        used: told of each call of a tool.
        max_tokens: lowers what the settings allow for a reply.
    """

    def __init__(
        self,
        *,
        model: ChatModel,
        use: ToolUseConfig,
        tools: Sequence[Tool],
        call: Call,
        messages: Sequence[Message],
        budget: Budget,
        prompts: Prompts,
        say: Callable[[str], None],
        stopped: Callable[[Limit], str],
        used: Callable[[ToolUsed], None],
        max_tokens: int | None = None,
        temperature: float | None = None,
    ) -> None:
        self._model = model
        self._use = use
        self._offered = OfferedTools(tools, shown=use.shown, call=call)
        self._transcript = Transcript(
            messages, settings=model.settings, prompts=prompts, result_tokens=use.result_tokens
        )
        self._budget = budget
        self._prompts = prompts
        self._say = say
        self._stopped = stopped
        self._used = used
        self._max_tokens = reply_limit(model.settings, max_tokens)
        self._temperature = temperature
        # What it ran into, and whether the person was told something.
        self._limit: Limit | None = None
        self._spoke = False
        self._calls: list[ModelCall] = []
        self._usage = Usage()
        self._answered = False
        self._empty_replies = 0

    async def run(self) -> LoopOutcome:
        """Have the model answer: rounds of tools, then the answer.

        Raises:
            PromptTooLong, ModelUnavailable, ModelRefused, ModelTimedOut: of the model.
            ModelReplyInvalid: the answer was empty twice, or a choice kept to no schema.
        """
        await self._look_up()
        while not self._answered and self._affords_answer():
            await self._answer()
        if self._limit is not None:
            sentence = self._stopped(self._limit)
            self._say(f"\n\n{sentence}" if self._spoke else sentence)
        return LoopOutcome(
            status="completed" if self._limit is None else "limited",
            usage=self._usage,
            calls=tuple(self._calls),
        )

    async def _look_up(self) -> None:
        """Rounds of tools, until the model wants no more or has answered."""
        native = self._use.calling == "native"
        looking_up = len(self._offered) > 0
        while looking_up:
            if (hindrance := self._hindrance()) is not None:
                self._limit = hindrance
                break
            before, rounds = list(self._transcript.messages), self._budget.rounds_left
            await (self._native_round() if native else self._chosen_round())
            looking_up = self._budget.rounds_left < rounds and self._limit is None
            if self._transcript.room < 0:
                self._transcript.messages, self._limit, looking_up = before, "window", False

    async def _native_round(self) -> None:
        """The model answers, or asks for tools by the API's own calls."""
        prompt = self._transcript.tokens + self._tool_tokens
        after = prompt + self._use.result_tokens + _LEAST_REPLY
        text, requests = await self._reply(
            self._transcript.messages,
            at_most=self._budget.tokens_left - prompt - after,
            tools=self._offered.functions,
        )
        text = text.strip()
        if self._limit == "seconds":
            self._answered = True
        elif not requests:
            self._answered = bool(text)
            self._empty_replies += not text
        elif self._budget.rounds_left == 0:
            self._limit = "iterations"
        else:
            self._limit = None  # a request that was cut is told to the model, like any that is malformed
            self._budget.begin_round()
            self._transcript.add_requests(text, requests)
            for at, request in enumerate(requests):
                if at < _CALLS_AT_ONCE:
                    report = await self._carry_out(request.name, request.arguments)
                else:
                    report = ToolReport(f"only {_CALLS_AT_ONCE} calls at a time", is_error=True)
                self._transcript.add_report(request, report)

    async def _chosen_round(self) -> None:
        """The model chooses a tool, or to answer, by a JSON schema; the answer is a call of its own."""
        asked = self._transcript.to_choose(self._offered.listed)
        prompt, started = rough_tokens(asked), time.monotonic()
        try:
            async with asyncio.timeout(self._budget.working_seconds_left):
                chosen = await self._model.choose(
                    asked,
                    name="next_step",
                    schema=self._offered.choices,
                    max_tokens=max(_LEAST_REPLY, self._budget.tokens_left - 2 * prompt),
                )
        except TimeoutError:
            self._limit = "seconds"
            broken = self._model.record_of(asked, started, fault="broken off: the time for it was over")
            self._count(broken, prompt=prompt, reply=0)
            return
        for call in chosen.calls:
            self._count(call, prompt=prompt, reply=_LEAST_REPLY)
        if chosen.value["use"] == ANSWER:
            return
        if self._budget.rounds_left == 0:
            self._limit = "iterations"
            return
        report = await self._carry_out(chosen.value["use"], chosen.value.get("arguments", {}))
        if report.repeated:
            return  # it has read that already: time to answer
        self._budget.begin_round()
        self._transcript.add_choice(chosen.value, report)

    async def _answer(self) -> None:
        """The answer without tools, streamed."""
        messages = self._transcript.to_answer(after_empty=self._empty_replies > 0)
        # A request for a tool that was not offered is nothing.
        text, _ = await self._reply(messages, at_most=self._budget.tokens_left - rough_tokens(messages))
        if text:
            self._answered = True
            return
        self._empty_replies += 1
        if self._empty_replies == _EMPTY_REPLIES:
            if self._limit is not None:
                self._answered = True
                return
            raise ModelReplyInvalid(
                f"model {self._model.settings.model}: the answer was empty, also when asked for again"
            )

    async def _reply(
        self, messages: Sequence[Message], *, at_most: int, tools: Sequence[dict[str, Any]] = ()
    ) -> tuple[str, list[ToolRequest]]:
        """One streamed reply of `at_most` tokens, said and counted; `limit` says what cut it.

        Its text, and the tools that it asks for.
        """
        stream = self._model.stream(
            messages,
            tools=tools,
            max_tokens=min(self._max_tokens, max(_LEAST_REPLY, at_most)),
            temperature=self._temperature,
            seconds=self._budget.seconds_left,
        )
        words: list[str] = []
        requests: list[ToolRequest] = []
        async with aclosing(stream) as pieces:
            async for piece in pieces:
                match piece:
                    case TextDelta(text):
                        self._say(f"\n\n{text}" if self._spoke and not words else text)
                        words.append(text)
                        self._spoke = True
                        # What is read from a full buffer waits for nothing, and would let nobody else run.
                        await asyncio.sleep(0)
                    case ToolRequest():
                        requests.append(piece)
                    case Ended():
                        ended = piece
        self._calls.extend(ended.retried)
        text = "".join(words)
        asked = "".join(request.name + request.arguments for request in requests)
        prompt = rough_tokens(messages) + (self._tool_tokens if tools else 0)
        self._count(ended.call, prompt=prompt, reply=text_tokens(text + asked))
        if ended.finish_reason == DEADLINE:
            self._limit = "seconds"
        elif ended.finish_reason == "length" and at_most < self._max_tokens:
            self._limit = self._limit or "tokens"
        return text, requests

    async def _carry_out(self, name: str, arguments: str | dict[str, Any]) -> ToolReport:
        seconds = self._budget.working_seconds_left
        report = await self._offered.carry_out(name, arguments, seconds=seconds)
        if report.used is not None:
            self._used(report.used)
        if report.timed_out:
            self._limit = "seconds"
        return report

    def _hindrance(self) -> Limit | None:
        """What keeps the turn from another round of tools with an answer after it."""
        prompt = self._transcript.tokens + self._tool_tokens
        if self._budget.working_seconds_left <= 0:
            return "seconds"
        if self._budget.tokens_left < 2 * (prompt + _LEAST_REPLY) + self._use.result_tokens:
            return "tokens"
        return "window" if self._transcript.room < self._tool_tokens else None

    @property
    def _tool_tokens(self) -> int:
        """What offering the tools adds to a prompt."""
        if self._use.calling == "native":
            return text_tokens(json.dumps(self._offered.functions))
        return rough_tokens(self._transcript.to_choose(self._offered.listed)) - self._transcript.tokens

    def _affords_answer(self) -> bool:
        """Whether there are seconds and tokens for the answer; without them the turn is limited."""
        if self._budget.seconds_left <= 0:
            self._limit = "seconds"
        elif self._budget.tokens_left < self._transcript.tokens + _LEAST_REPLY:
            self._limit = "tokens"
        else:
            return True
        return False

    def _count(self, call: ModelCall, *, prompt: int, reply: int) -> None:
        usage = self._budget.count(call, prompt=prompt, reply=reply)
        self._usage = Usage(
            prompt_tokens=self._usage.prompt_tokens + usage.prompt_tokens,
            completion_tokens=self._usage.completion_tokens + usage.completion_tokens,
        )
        self._calls.append(call)
