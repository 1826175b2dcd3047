"""The agent `intent_reader`: what a query asks for, where the request doesn't say. Seed 002 §5 (node 1), FR1.

Called by the first step of a research. The classifier answers; where it is unsure, the model is asked. No
answer is worth a research: where no model gives one, or it is away, the measured one stands as a guess.
"""

import asyncio
from typing import Literal

from actors.platform.llm.client import Completions, ModelClient, RejectedReply
from actors.platform.llm.prompts import TwoPartPrompt
from actors.platform.text.links import links
from actors.systems.research.intents.classify import TrainedIntents
from models.config import BreakerConfig, IntentsConfig
from models.errors import ModelRefused, ModelReplyInvalid, ModelTimedOut, ModelUnavailable, PromptTooLong
from models.llm import Answer, ModelCall
from models.record import Record
from models.research.intents import (
    COMPLEXITIES,
    LONGEST_MESSAGE,
    TASKS,
    Complexity,
    IntentReading,
    ResearchIntent,
    TaskType,
)
from models.text import shortened

PROMPT = "classify_message.md"
_NAME = "intent_reader"
_LONGEST_REASON = 240
# The reason comes first: a model that has named what is asked for is less likely to overlook it.
_SCHEMA = {
    "type": "object",
    "properties": {
        "reason": {"type": "string", "minLength": 1, "maxLength": _LONGEST_REASON},
        "task_type": {"type": "string", "enum": list(TASKS)},
        "complexity": {"type": "string", "enum": list(COMPLEXITIES)},
    },
    "required": ["reason", "task_type", "complexity"],
    "additionalProperties": False,
}


class IntentReply(Record):
    """What a model takes a message for, and why."""

    reason: str
    task_type: TaskType
    complexity: Complexity


class IntentReader:
    """Classifies messages; where it is unsure it asks the model of `research.intents.llm`.

    Args:
        prompt: shown MESSAGE.

    Raises:
        ConfigInvalid: the file of weights is missing or broken.
    """

    def __init__(
        self,
        *,
        settings: IntentsConfig,
        breaker: BreakerConfig,
        prompt: str,
        trained: TrainedIntents,
        completions: Completions | None = None,
    ) -> None:
        self._settings = settings
        self._intents = trained.read()
        self._prompt = TwoPartPrompt(source=prompt, name=PROMPT)
        self._model = ModelClient(
            agent=_NAME, settings=settings.llm, completions=completions, breaker=breaker
        )

    async def read(self, message: str, task_type: TaskType | None = None) -> Answer[IntentReading]:
        """What a message asks for. Nothing of a model is raised.

        Args:
            message: of which the first 2,000 characters are read.
            task_type: what the request says, which stands, whatever the message is like.
        """
        measured = await asyncio.to_thread(self._intents.classify, message, task_type)
        if task_type is not None:
            return Answer(value=_reading(measured, "given", f"the request asks for {task_type}"))
        told = f"its words speak for {measured.task_type} ({measured.score:.2f})"
        if measured.score >= self._settings.ask_below:
            return Answer(value=_reading(measured, "measured", "; ".join((told, *measured.why))))
        if self._settings.asks == "nobody":
            return Answer(value=_guess(measured, told, "no model is asked here"))
        reply, calls = await self._asked(message)
        if isinstance(reply, str):
            return Answer(value=_guess(measured, told, reply), calls=calls)
        intent = await asyncio.to_thread(self._intents.classify, message, reply.task_type)
        intent = intent.model_copy(update={"complexity": reply.complexity})
        told = f"{told}, which is unclear; the model takes it for {reply.task_type}: {reply.reason}"
        return Answer(value=_reading(intent, "model", told), calls=calls)

    async def _asked(self, message: str) -> tuple[IntentReply | str, tuple[ModelCall, ...]]:
        """What the model says, or in words why it says nothing; and the calls that it took."""
        try:
            system, user = await asyncio.to_thread(self._prompt.render, MESSAGE=message[:LONGEST_MESSAGE])
            answer = await self._model.ask_record(
                system=system, user=user, reply=IntentReply, accept=_checked, schema=_SCHEMA
            )
        except ModelReplyInvalid as refused:
            return "the model gave no usable answer", refused.calls
        except ModelUnavailable:
            # Its word is worth no wait: people see what it was taken for, and may stop it.
            return "the model is away", ()
        except (ModelRefused, ModelTimedOut, PromptTooLong):
            return "the model gave no answer", ()
        return answer.value, answer.calls


def _reading(
    intent: ResearchIntent,
    found: Literal["given", "measured", "model"],
    reasoning: str,
    *,
    is_guess: bool = False,
) -> IntentReading:
    return IntentReading(
        task_type=intent.task_type,
        complexity=intent.complexity,
        tools=intent.tools,
        score=intent.score,
        found=found,
        is_guess=is_guess,
        reasoning=reasoning,
    )


def _guess(intent: ResearchIntent, told: str, why_alone: str) -> IntentReading:
    reasoning = "; ".join((f"a guess: {told}", *intent.why, why_alone))
    return _reading(intent, "measured", reasoning, is_guess=True)


def _checked(reply: IntentReply) -> IntentReply:
    reason = shortened(reply.reason, _LONGEST_REASON)
    if not reason:
        raise RejectedReply("reason is empty: name what the message asks for")
    if links(reason):
        raise RejectedReply("reason holds an address: leave it out")
    return reply.model_copy(update={"reason": reason})
