"""Scores a message for every intent, by meaning where the embedding model answers, else by letters alone.

Used by the router for each message, so nothing here waits long: the examples are embedded in the background,
a message's embedding is waited for at most a second, and a model that failed is left alone for some seconds.
"""

import asyncio
import logging
import time
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from actors.chat.example_vectors import example_vectors, unit_rows
from actors.chat.similarity import Likeness
from actors.chat.wording import clipped, normal_form
from actors.runtime.embedder import Embedder
from models.chat import Intent
from models.errors import ModelReplyInvalid, SignoffError
from models.intents import Intents

_log = logging.getLogger(__name__)

_PATIENCE = 1.0  # seconds
_MESSAGE_REST = 5.0  # seconds without messages for a model that failed
_EXAMPLES_REST = 30.0  # the same for all the examples, which are more work
_KEPT = 512  # messages whose embeddings are kept
# No text of so many characters has more tokens than small embedding models read (256).
_HEAD, _TAIL = 160, 80


@dataclass(frozen=True)
class Ranked:
    """Scores by intent, best first. `by_meaning`: whether the embeddings had a say."""

    scores: dict[Intent, float]
    by_meaning: bool

    @property
    def best(self) -> Intent:
        """The intent with the highest score."""
        return next(iter(self.scores))

    @property
    def score(self) -> float:
        """The best score, -1 to 1."""
        return self.scores[self.best]

    @property
    def margin(self) -> float:
        """How far the best is ahead of the next; 2, the most there can be, without a next."""
        first, *others = self.scores.values()
        return first - others[0] if others else 2.0


class Ranking:
    """The examples, ready to be compared with.

    Args:
        intents: the examples.
        embedder: gives embeddings; it may fail or hang.
        model_name: the embedding model's name, by which kept embeddings are told apart.
        folder: where the examples' embeddings are kept; None keeps them nowhere.
    """

    def __init__(
        self, intents: Intents, *, embedder: Embedder, model_name: str = "", folder: Path | None = None
    ) -> None:
        by_text = {
            normal_form(example): intent
            for intent, examples in intents.examples.items()
            for example in examples
        }
        self._texts, self._labels = list(by_text), list(by_text.values())
        self._embedder = embedder
        self._model_name = model_name
        self._folder = folder
        self._by_letters: asyncio.Task[Likeness] | None = None
        self._by_meaning: Likeness | None = None
        self._embedding: asyncio.Task[None] | None = None
        self._begun = 0.0
        self._examples_rest_until = 0.0
        self._message_rest_until = 0.0
        self._vectors: OrderedDict[str, Any] = OrderedDict()

    async def warm(self) -> bool:
        """Embed the examples, however long that takes. Whether it worked."""
        await self._letters()
        if self._by_meaning is None:
            await self._begin_embedding()
        return self._by_meaning is not None

    async def rank(self, text: str) -> Ranked:
        """The scores of a text in normal form. Never fails because of the embedding model."""
        likeness = await self._meaning()
        vector = await self._vector(text, likeness.dimension) if likeness else None
        if likeness is None or vector is None:
            likeness, vector = await self._letters(), None
        scores = likeness.scores(text, vector)
        return Ranked(scores=scores, by_meaning=vector is not None)  # type: ignore[arg-type]  # intents

    async def close(self) -> None:
        """Stop what is under way."""
        for task in (self._by_letters, self._embedding):
            if task and not task.done():
                task.cancel()
                await asyncio.wait({task})

    async def _letters(self) -> Likeness:
        if self._by_letters is None:
            # In a thread: it takes a part of a second, in which others are answered.
            self._by_letters = asyncio.create_task(asyncio.to_thread(Likeness, self._texts, self._labels))
        # Shielded: whoever asked first may go away, and the others want it still.
        return await asyncio.shield(self._by_letters)

    async def _meaning(self) -> Likeness | None:
        if self._by_meaning is None and time.monotonic() >= self._examples_rest_until:
            task = self._begin_embedding()
            left = self._begun + _PATIENCE - time.monotonic()
            if left > 0:
                await asyncio.wait({task}, timeout=left)
        return self._by_meaning

    def _begin_embedding(self) -> asyncio.Task[None]:
        if self._embedding is None or self._embedding.done():
            self._begun = time.monotonic()
            self._embedding = asyncio.create_task(self._embed_examples())
        return self._embedding

    async def _embed_examples(self) -> None:
        started = time.monotonic()
        try:
            vectors = await example_vectors(
                self._texts, embedder=self._embedder, model_name=self._model_name, folder=self._folder
            )
        except SignoffError as error:
            self._examples_rest_until = time.monotonic() + _EXAMPLES_REST
            _log.warning("messages are routed by letters alone for now: %s", error)
            return
        self._by_meaning = await asyncio.to_thread(Likeness, self._texts, self._labels, vectors)
        _log.info("%d examples embedded in %.1f s", len(self._texts), time.monotonic() - started)

    async def _vector(self, text: str, dimension: int | None) -> Any | None:
        text = clipped(text, _HEAD, _TAIL)
        if text in self._vectors:
            self._vectors.move_to_end(text)
            return self._vectors[text]
        if time.monotonic() < self._message_rest_until:
            return None
        try:
            async with asyncio.timeout(_PATIENCE):
                vector = unit_rows(await self._embedder.embed([text]), count=1)[0]
            if len(vector) != dimension:
                raise ModelReplyInvalid(f"it has {len(vector)} numbers, each example {dimension}")
        except (TimeoutError, SignoffError) as error:
            self._message_rest_until = time.monotonic() + _MESSAGE_REST
            what = str(error) or f"no embedding within {_PATIENCE:g} s"
            _log.warning("a message is routed by letters alone: %s", what)
            return None
        self._vectors[text] = vector
        if len(self._vectors) > _KEPT:
            self._vectors.popitem(last=False)
        return vector
