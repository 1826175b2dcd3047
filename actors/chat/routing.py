"""The router: what a message asks for, who answers it, on which topic, and whether the caller may.

`main_chat` asks it first for every message. The intent comes from the likeness to examples; the model is
asked only when that is unsure, and chooses among the likeliest. Then what the caller may do goes before what
they may not; their rights never depend on what a message says.
"""

import asyncio
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from actors.chat.access import Access
from actors.chat.ranking import Ranked, Ranking
from actors.chat.topics import TopicFinder
from actors.chat.wording import clipped, has_letters, normal_form
from actors.runtime.embedder import Embedder
from actors.runtime.llm import ModelClient, RejectedReply
from actors.runtime.prompts import ChatPrompt
from models.articles import Record
from models.chat import Intent, Route, Turn
from models.config_chat import RoutingConfig
from models.config_publishing import TopicConfig
from models.errors import SignoffError
from models.intents import Intents
from models.llm import ModelCall
from models.text import one_line

_log = logging.getLogger(__name__)

_MODEL_SECONDS = 20.0  # a person waits for the choice
_HEAD, _TAIL = 600, 300  # characters of a message that the model chooses by


class Choice(Record):
    """What the model answers. The schema it gets allows the candidates alone."""

    intent: Intent


class _Verdict(NamedTuple):
    intent: Intent
    by: Literal["example", "similarity", "model", "best_guess"]
    score: float
    reason: str
    calls: tuple[ModelCall, ...] = ()


class Router:
    """Routes turns. It keeps the examples ready and embeddings of the last messages, nothing else.

    Args:
        intents: the examples, and words that name topics.
        settings: when likeness decides, and whether the model is asked otherwise.
        topics: the site's topics by slug.
        embedder: gives embeddings; while it fails, letters alone decide.
        model: chooses where likeness is unsure; None never asks.
        prompt: the source of `routing.md`; it gets MESSAGE, BEFORE (what the caller said before it, or
            nothing) and CANDIDATES (intents, the likeliest first).
        vectors_dir: where the examples' embeddings are kept for the next start; None keeps them nowhere.
        embedding_model: the embedding model's name, by which kept embeddings are told apart.
    """

    def __init__(
        self,
        *,
        intents: Intents,
        settings: RoutingConfig,
        topics: Mapping[str, TopicConfig],
        embedder: Embedder,
        model: ModelClient | None,
        prompt: str,
        vectors_dir: Path | None = None,
        embedding_model: str = "",
    ) -> None:
        self._settings = settings
        self._model = model
        self._prompt = ChatPrompt(source=prompt, name="routing.md")
        self._examples = {
            normal_form(example): intent
            for intent, examples in intents.examples.items()
            for example in examples
        }
        self._ranking = Ranking(intents, embedder=embedder, model_name=embedding_model, folder=vectors_dir)
        self._access = Access(topics=topics, finder=TopicFinder(topics, intents.topics))

    async def warm(self) -> bool:
        """Get everything ready, so that the first message need not wait. Whether embeddings could be had."""
        return await self._ranking.warm()

    async def close(self) -> None:
        """Stop what is under way in the background."""
        await self._ranking.close()

    async def route(self, turn: Turn) -> Route:
        """Who answers a turn.

        A caller without the role is routed to `main_chat`, with the scope it takes as `refusal`. Faults of
        the embedding model or of the model make it less sure, and are logged; they never fail it.

        Raises:
            TopicUnknown: the turn's `topic` is none of the site's.
        """
        self._access.check_topic(turn)
        verdict = await self._judge(turn)
        place = self._access.place(verdict.intent, turn)
        return Route(
            intent=verdict.intent,
            agent_type=place.agent_type,
            topic=place.topic,
            reason=f"{verdict.reason}; takes {place.refusal}" if place.refusal else verdict.reason,
            score=verdict.score,
            by=verdict.by,
            refusal=place.refusal,
            calls=verdict.calls,
        )

    async def _judge(self, turn: Turn) -> _Verdict:
        normal = normal_form(turn.message)
        if intent := self._examples.get(normal):
            return _Verdict(intent, "example", 1.0, f"is an example of {intent}")
        if not has_letters(normal):
            return _Verdict("general", "best_guess", 0.0, "has no words")
        ranked = await self._ranking.rank(normal)
        if not ranked.by_meaning:
            reason = f"spelled most like the examples of {ranked.best}"
            return _Verdict(ranked.best, "best_guess", ranked.score, reason)
        settings = self._settings
        if ranked.score >= settings.min_score and ranked.margin >= settings.min_margin:
            reason = f"like the examples of {ranked.best}"
            return _Verdict(ranked.best, "similarity", ranked.score, reason)
        candidates = self._candidates(turn, ranked)
        if self._model and settings.ask_model and len(candidates) > 1:
            chosen = await self._ask(self._model, turn, ranked, candidates)
            if chosen:
                return chosen
        guess = candidates[0]
        return _Verdict(guess, "best_guess", ranked.scores[guess], f"most like the examples of {guess}")

    def _candidates(self, turn: Turn, ranked: Ranked) -> tuple[Intent, ...]:
        """The likeliest intents, of which likeness can't tell the right one.

        Those that the caller may use, where there are any: nobody is refused what was perhaps not asked.
        """
        likeliest = tuple(ranked.scores)[: self._settings.candidates]
        if ranked.score >= self._settings.min_score:
            least = ranked.score - self._settings.min_margin
            likeliest = tuple(intent for intent in likeliest if ranked.scores[intent] > least)
        permitted = tuple(intent for intent in likeliest if self._access.place(intent, turn).refusal is None)
        return permitted or likeliest

    async def _ask(
        self, model: ModelClient, turn: Turn, ranked: Ranked, candidates: tuple[Intent, ...]
    ) -> _Verdict | None:
        """The model's choice among the likeliest intents; None where it gives none in time."""
        said = [message.content for message in turn.history if message.role == "user"]
        system, user = self._prompt.render(
            MESSAGE=clipped(turn.message, _HEAD, _TAIL),
            BEFORE=clipped(said[-1], _HEAD, _TAIL) if said else "",
            CANDIDATES=candidates,
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
                answer = await model.record(
                    system=system, user=user, reply=Choice, accept=accept, schema=schema
                )
        except (TimeoutError, SignoffError) as error:
            # Also an outage: a guess settles nothing, and what comes of it meets the outage by itself.
            what = one_line(error) if isinstance(error, SignoffError) else f"none within {_MODEL_SECONDS:g} s"
            _log.warning("a message is routed by the best guess: %s", what)
            return None
        reason = f"the model chose among {', '.join(candidates)}"
        return _Verdict(answer.value, "model", ranked.scores[answer.value], reason, answer.calls)
