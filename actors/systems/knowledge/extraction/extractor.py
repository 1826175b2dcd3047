"""The extractor: a model reads a chunk of a source and says what is known from it. Seed 002 §5, node 6.

Called by the batch that extracts. The model is shown the chunk as numbered sentences, and names a sentence
and a quote for each point; code finds the span, or drops the point and counts it. A chunk that the model
can't do has no points; a model that is away is no verdict on a chunk.
"""

import asyncio

from actors.platform.llm.client import Completions, ModelClient, text_tokens
from actors.platform.llm.prompts import TwoPartPrompt
from actors.systems.knowledge.extraction.chunks import chunk_sentences
from actors.systems.knowledge.extraction.ground_points import AnsweredPoints
from actors.systems.knowledge.extraction.prompt import PROMPT
from actors.systems.knowledge.extraction.reply import ExtractionReply, checked, extraction_schema, most_items
from actors.systems.knowledge.extraction.spans import ChunkText
from models.config import BreakerConfig, ExtractionConfig
from models.errors import ConfigInvalid, ModelRefused, ModelReplyInvalid, ModelTimedOut
from models.knowledge.points import DropReason, ExtractedChunk
from models.llm import Answer
from models.text import one_line, shortened

_NAME = "extractor"
# A title and an address, in characters; with what stands around them, in tokens.
_LONGEST = 300
_TOKENS_AROUND = 1_000
# What the numbers of sentences add to a chunk at most: see `chunks`.
_WITH_NUMBERS = 1.4


class Extractor:
    """Extracts with the model of `knowledge.extraction.llm`.

    Args:
        prompt: shown TITLE, URL, SENTENCES and MOST, a number of items for each list.

    Raises:
        ConfigInvalid: the model's window has no room for a chunk.
    """

    def __init__(
        self,
        *,
        settings: ExtractionConfig,
        breaker: BreakerConfig,
        prompt: str,
        completions: Completions | None = None,
    ) -> None:
        self._threshold = settings.threshold
        self._prompt = TwoPartPrompt(source=prompt, name=PROMPT)
        self._model = ModelClient(
            agent=_NAME, settings=settings.llm, completions=completions, breaker=breaker
        )
        llm = settings.llm
        room = min(
            llm.context_window * llm.context_window_threshold // 100, llm.context_window - llm.max_tokens
        )
        needed = int(settings.chunk_tokens * _WITH_NUMBERS) + text_tokens(prompt) + _TOKENS_AROUND
        if needed > room:
            raise ConfigInvalid(
                f"knowledge.extraction.chunk_tokens is {settings.chunk_tokens}: with its prompt a chunk may "
                f"have {needed} tokens, and the window of {llm.model} has room for {room}. Lower it, or use "
                "a model with a larger window"
            )

    async def extract(
        self, title: str | None, url: str | None, text: str, chunk: tuple[int, int]
    ) -> Answer[ExtractedChunk]:
        """The points of `text[chunk[0]:chunk[1]]`, with spans in `text`. See `chunk_spans` for the chunks.

        Raises:
            ModelUnavailable: the model is away.
        """
        sentences, source = await asyncio.to_thread(_read, text, chunk)
        if not sentences:
            return Answer(value=_nothing(chunk))
        # A bounded string of xgrammar holds no `\"`: a model that is shown one could not copy it. To `spans`
        # both marks are one.
        lines = [one_line(source.shown(*sentence)).replace('"', "”") for sentence in sentences]
        system, user = self._prompt.render(
            TITLE=shortened(title or "", _LONGEST),
            URL=shortened(url or "", _LONGEST),
            SENTENCES=lines,
            MOST=most_items(self._model.settings),
        )
        try:
            answer = await self._model.ask_record(
                system=system,
                user=user,
                reply=ExtractionReply,
                accept=lambda reply: checked(reply, len(sentences)),
                schema=extraction_schema(len(sentences), self._model.settings),
            )
        except ModelReplyInvalid as refused:
            return Answer(value=_nothing(chunk, "invalid_reply"), calls=refused.calls)
        except ModelRefused:
            return Answer(value=_nothing(chunk, "refused"))
        except ModelTimedOut:
            return Answer(value=_nothing(chunk, "timed_out"))
        points = AnsweredPoints(text, source, sentences, self._threshold)
        found = await asyncio.to_thread(points.of, answer.value)
        value = ExtractedChunk(start=chunk[0], end=chunk[1], points=found, dropped=dict(points.dropped))
        return Answer(value=value, calls=answer.calls)


def _read(text: str, chunk: tuple[int, int]) -> tuple[list[tuple[int, int]], ChunkText]:
    return chunk_sentences(text, chunk), ChunkText(text, chunk)


def _nothing(chunk: tuple[int, int], reason: DropReason | None = None) -> ExtractedChunk:
    return ExtractedChunk(start=chunk[0], end=chunk[1], points=(), dropped={reason: 1} if reason else {})
