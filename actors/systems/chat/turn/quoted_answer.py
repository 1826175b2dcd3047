"""An answer of quotations: the sentences of its sources that answer a message, word for word.

Called by the agents' context where `chat.assistant_llm.writes` is quotes. Code finds and ranks the sentences;
the model chooses among them by number, and writes nothing.
"""

import asyncio
from collections.abc import Sequence

from actors.platform.extractive.candidates import Candidate, in_order, ranked, shortlist
from actors.platform.extractive.choosing import Chooser
from actors.platform.llm.client import Completions
from actors.platform.search.embedder import Embedder, OpenAIEmbedder
from actors.platform.text.language import language_of
from actors.platform.text.markdown import escaped
from actors.platform.text.quotation_marks import quoted
from actors.systems.chat.turn.sources import CitedSource
from models.chat.messages import Usage
from models.config import Config
from models.llm import Answer, ModelCall
from models.record import Record

_COMPARED = 40
_OFFERED = 8
_LEAST, _MOST = 1, 4
# All of a sentence that may be quoted, and what escaping adds.
_LONGEST = 1000
# How near to the message the least of the sentences may be, compared with the nearest.
_SHARE = 0.35


class QuotedAnswer(Record):
    """What is quoted of each source, by its number, in Markdown."""

    quotations: tuple[tuple[int, str], ...]


class QuotedAnswers:
    """Finds what of some sources answers a message. `prompt` is the source of `choose.md`."""

    def __init__(
        self,
        *,
        agent: str,
        config: Config,
        prompt: str,
        embedder: Embedder | None = None,
        completions: Completions | None = None,
    ) -> None:
        breaker = config.outages.breaker
        self._embedder = embedder or OpenAIEmbedder(settings=config.embedding, breaker=breaker)
        self._chooser = Chooser(
            agent=agent,
            settings=config.chat.assistant_llm,
            breaker=breaker,
            prompt=prompt,
            completions=completions,
        )

    async def answer(self, message: str, sources: Sequence[CitedSource]) -> Answer[QuotedAnswer]:
        """The quotations, by source; none where no sentence of theirs can be quoted by itself.

        Raises:
            ModelUnavailable: the model, or that of the embeddings, is away.
        """
        texts = [source.text for source in sources]
        found = await asyncio.to_thread(shortlist, texts, message, most=_COMPARED)
        if not found:
            return Answer(value=QuotedAnswer(quotations=()))
        aim, *vectors = await self._embedder.embed([message, *(one.text for one in found)])
        best = await asyncio.to_thread(ranked, found, vectors=vectors, request=aim, most=_OFFERED)
        best = [one for one in best if one.relevance >= _SHARE * best[0].relevance]
        choice = await self._chooser.choose(
            message, headlines=["none"], offered=[one.text for one in best], least=_LEAST, most=_MOST
        )
        chosen = in_order([best[n] for n in choice.value.sentences])
        shown = tuple((sources[one.source].number, _shown(one, sources[one.source])) for one in chosen)
        return Answer(value=QuotedAnswer(quotations=shown), calls=choice.calls)


def usage_of(calls: Sequence[ModelCall]) -> Usage:
    """What some calls of a model cost."""
    return Usage(
        prompt_tokens=sum(call.prompt_tokens for call in calls),
        completion_tokens=sum(call.completion_tokens for call in calls),
    )


def _shown(one: Candidate, source: CitedSource) -> str:
    """The sentence in quotation marks; without where code made it of the source's table."""
    words = escaped(one.text, _LONGEST)
    return words if one.text in source.computed else quoted(words, language_of(one.text))
