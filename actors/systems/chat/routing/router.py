"""The router: what a message asks for, who answers it, on which topic, and whether the caller may.

`main_chat` asks it for every message that is no yes to what was asked. The intent comes from the likeness
to examples, as a probability; the model is asked only where that is unsure and `ask_model` is on, and chooses
among the likeliest. What the caller may do, and what was asked before, count a little; the caller's rights
never depend on what a message says.
"""

import asyncio
import logging
import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

from actors.platform.llm.client import ModelClient, RejectedReply
from actors.platform.llm.prompts import TwoPartPrompt
from actors.platform.text.classifying.similarity import Likeness
from actors.platform.text.normal_form import clipped, has_letters, normal_form
from actors.systems.chat.routing.access import Access
from actors.systems.chat.routing.deep_research import asks_for_deep_research, research_named
from actors.systems.chat.routing.operations import asks_for_operation, operation_named
from actors.systems.chat.routing.topics import TopicFinder
from actors.systems.chat.turn.article_numbers import articles_named
from models.chat.intents import Intents
from models.chat.messages import INTENTS, Intent, Route, Turn
from models.config.chat import RoutingConfig
from models.config.publishing import TopicConfig
from models.error_lines import error_line
from models.errors import SignoffError
from models.llm import ModelCall
from models.record import Record

_log = logging.getLogger(__name__)

_MODEL_SECONDS = 20.0  # a person waits for the choice
_HEAD, _TAIL = 600, 300  # characters of a message that the model chooses by
# People seldom ask for what they may not do: it takes four times the likeness.
_NOT_PERMITTED = 0.25
# A short message often goes on with what was asked before ("and the other one?"): its odds double at most.
_GOES_ON = 1.0
_SHORT = 6  # words
# What a message names that says this is put to the stored sources, whatever else it says.
_KNOWLEDGE_BASE = re.compile(
    r"\b(?:knowledge ?base|baz(?:a|y|ie|e) wiedzy|wissens(?:datenbank|basis|bank))\b"
)
_SLIGHT = 0.01  # what is less likely is not offered to the model
# Beside a conversation that is quoted, what is less likely is no command: clients' own prompts reach .94.
_PLAIN = 0.95
_ON_ARTICLES = frozenset({"submit", "review", "changes", "publish"})


class Choice(Record):
    """What the model answers. The schema it gets allows the candidates alone."""

    intent: Intent


class _Judgement(NamedTuple):
    intent: Intent
    by: Literal["example", "similarity", "model", "best_guess"]
    score: float
    reason: str
    instead: Intent | None = None
    calls: tuple[ModelCall, ...] = ()


class Router:
    """Routes turns. It keeps no state.

    Args:
        intents: the examples, and words that name topics.
        likeness: what was trained on the examples.
        settings: when likeness decides, and whether the model is asked otherwise.
        topics: the site's topics by slug.
        model: chooses where likeness is unsure and `ask_model` is on; None never asks.
        prompt: the source of `routing.md`; it gets MESSAGE, BEFORE (what the caller said before it, or
            nothing), CANDIDATES (intents, the likeliest first) and PERMITTED (those the caller may use).
    """

    def __init__(
        self,
        *,
        intents: Intents,
        likeness: Likeness,
        settings: RoutingConfig,
        topics: Mapping[str, TopicConfig],
        model: ModelClient | None,
        prompt: str,
    ) -> None:
        self._likeness = likeness
        self._settings = settings
        self._model = model
        self._prompt = TwoPartPrompt(source=prompt, name="routing.md")
        self._examples = {
            normal_form(example): intent
            for intent, examples in intents.examples.items()
            for example in examples
        }
        self._access = Access(topics=topics, finder=TopicFinder(topics, intents.topics))

    async def route(self, turn: Turn) -> Route:
        """Who answers a turn.

        A caller without the role is routed to `main_chat`, with the scope it takes as `refusal`. Faults of
        the model make it less sure, and are logged; they never fail it.

        Raises:
            TopicUnknown: the turn's `topic` is none of the site's.
        """
        self._access.check_topic(turn)
        return self._routed(await self._judge(turn), turn)

    def route_plain(self, turn: Turn) -> Route | None:
        """Who answers a turn that plainly asks for something by its words alone; None of any other.

        Raises:
            TopicUnknown: the turn's `topic` is none of the site's.
        """
        self._access.check_topic(turn)
        normal = normal_form(turn.message)
        verdict = self._known(turn, normal)
        if verdict is None:
            found = _by_intent(self._likeness.probabilities(normal))
            best = max(found, key=lambda each: found[each])
            if found[best] < max(_PLAIN, self._settings.sure):
                return None
            verdict = _Judgement(best, "similarity", found[best], f"like the examples of {best}")
            if best in _ON_ARTICLES and not articles_named(turn.message):
                return None
        return None if verdict.intent == "general" else self._routed(verdict, turn)

    def _routed(self, verdict: _Judgement, turn: Turn) -> Route:
        place = self._access.place(verdict.intent, turn)
        return Route(
            intent=verdict.intent,
            agent_type=place.agent_type,
            topic=place.topic,
            reason=f"{verdict.reason}; takes {place.refusal}" if place.refusal else verdict.reason,
            score=verdict.score,
            by=verdict.by,
            sure=verdict.by == "example" or verdict.score >= self._settings.sure,
            instead=verdict.instead,
            refusal=place.refusal,
            calls=verdict.calls,
        )

    async def _judge(self, turn: Turn) -> _Judgement:
        normal = normal_form(turn.message)
        if (known := self._known(turn, normal)) is not None:
            return known
        found = self._probabilities(turn, normal)
        best, second = list(found)[:2]
        if found[best] >= self._settings.sure:
            return _Judgement(best, "similarity", found[best], f"like the examples of {best}", second)
        offered = list(found)[: self._settings.candidates]
        candidates = tuple(intent for intent in offered if found[intent] >= _SLIGHT)
        if self._model and self._settings.ask_model and len(candidates) > 1:
            chosen = await self._ask(self._model, turn, found, candidates)
            if chosen:
                return chosen
        return _Judgement(best, "best_guess", found[best], f"most like the examples of {best}", second)

    def _known(self, turn: Turn, normal: str) -> _Judgement | None:
        """What needs no likeness."""
        if intent := self._examples.get(normal):
            return _Judgement(intent, "example", 1.0, f"is an example of {intent}")
        if not has_letters(normal):
            return _Judgement("general", "best_guess", 0.0, "has no words")
        if research_named(turn.message):
            return _Judgement("tasks", "similarity", 1.0, "names a deep research by its number")
        if operation_named(turn.message):
            return _Judgement("tasks", "similarity", 1.0, "names an operation by its number")
        if asks_for_deep_research(turn.message):
            return _Judgement("research", "similarity", 1.0, "asks for deep research")
        if asks_for_operation(turn.message):
            return _Judgement("research", "similarity", 1.0, "asks for an operation")
        if _KNOWLEDGE_BASE.search(normal):
            return _Judgement("resources", "similarity", 1.0, "speaks of the knowledge base")
        return None

    def _probabilities(self, turn: Turn, normal: str) -> dict[Intent, float]:
        """How likely each intent is, the likeliest first: by message, caller and what was said before."""
        found = _by_intent(self._likeness.probabilities(normal))
        said = _said(turn)
        if said and len(normal.split()) <= _SHORT and has_letters(before := normal_form(said[-1])):
            for intent, likely in _by_intent(self._likeness.probabilities(before)).items():
                found[intent] *= 1 + _GOES_ON * likely
        for intent in found:
            if self._access.place(intent, turn).refusal is not None:
                found[intent] *= _NOT_PERMITTED
        whole = sum(found.values())
        return {intent: found[intent] / whole for intent in sorted(found, key=lambda each: -found[each])}

    async def _ask(
        self, model: ModelClient, turn: Turn, found: dict[Intent, float], candidates: tuple[Intent, ...]
    ) -> _Judgement | None:
        """The model's choice among the likeliest intents; None where it gives none in time."""
        said = _said(turn)
        system, user = self._prompt.render(
            MESSAGE=clipped(turn.message, _HEAD, _TAIL),
            BEFORE=clipped(said[-1], _HEAD, _TAIL) if said else "",
            CANDIDATES=candidates,
            PERMITTED=tuple(c for c in candidates if self._access.place(c, turn).refusal is None),
        )
        schema = {
            "type": "object",
            "properties": {"intent": {"type": "string", "enum": list(candidates)}},
            "required": ["intent"],
            "additionalProperties": False,
        }

        def accept(choice: Choice) -> Intent:
            # Not every endpoint keeps to a schema.
            if choice.intent not in candidates:
                raise RejectedReply(f"intent: must be one of {', '.join(candidates)}")
            return choice.intent

        try:
            async with asyncio.timeout(_MODEL_SECONDS):
                answer = await model.ask_record(
                    system=system, user=user, reply=Choice, accept=accept, schema=schema
                )
        except (TimeoutError, SignoffError) as error:
            # Also an outage: a guess settles nothing, and what comes of it meets the outage by itself.
            what = (
                error_line(error) if isinstance(error, SignoffError) else f"none within {_MODEL_SECONDS:g} s"
            )
            _log.warning("a message is routed by the best guess: %s", what)
            return None
        reason = f"the model chose among {', '.join(candidates)}"
        instead = next(intent for intent in candidates if intent != answer.value)
        return _Judgement(answer.value, "model", found[answer.value], reason, instead, answer.calls)


def _by_intent(found: dict[str, float]) -> dict[Intent, float]:
    return {intent: found[intent] for intent in INTENTS if intent in found}


def _said(turn: Turn) -> list[str]:
    """What the caller said before, oldest first."""
    return [message.content for message in turn.history if message.role == "user"]
