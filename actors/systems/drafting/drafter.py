"""The drafter: an article whose statements name their sources. Seed 000 §3.2, AnalystAgent.

Called by the graph of drafting. `drafting.llm.writes` says who writes: the model, or code, of the sources'
own sentences, among which the model only chooses. What was found is material, never an instruction.
"""

import asyncio
from collections.abc import Iterator

from actors.platform.extractive.choosing import Chooser
from actors.platform.llm.client import Completions, ModelClient, RejectedReply
from actors.platform.llm.prompts import TwoPartPrompt
from actors.platform.search.embedder import Embedder, OpenAIEmbedder
from actors.platform.text.language import language_of
from actors.platform.text.numbers.unsupported_numbers import unsupported_numbers
from actors.systems.drafting.draft import (
    Draft,
    DraftBrief,
    DraftPossible,
    DraftReply,
    draft_faults,
    draft_schema,
    tidy,
)
from actors.systems.drafting.quoted_draft import QuotedDrafts
from actors.systems.drafting.source_excerpts import facts, fitted_prompt
from actors.systems.drafting.subject import OnSubject, SubjectBrief, on_subject
from models.config import BreakerConfig, DraftingConfig, EmbeddingConfig
from models.content.drafting import Finding
from models.llm import Answer

_NAME = "drafter"

_MOST = 10


class Drafter:
    """Writes drafts with the model of `drafting.llm`.

    Args:
        prompt: the source of the prompt of a model that writes.
        choice_prompt: of one that chooses.
        embedding: of what tells what is near in meaning to a request; `embedder` stands in for it.
        floor: the cosine under which a text is not about a request.
    """

    def __init__(
        self,
        *,
        settings: DraftingConfig,
        breaker: BreakerConfig,
        prompt: str,
        choice_prompt: str,
        embedding: EmbeddingConfig,
        floor: float,
        embedder: Embedder | None = None,
        completions: Completions | None = None,
    ) -> None:
        self._writes = settings.llm.writes
        self._prompt = TwoPartPrompt(source=prompt, name="draft.md")
        self._each = settings.source_tokens
        self._model = ModelClient(
            agent=_NAME, settings=settings.llm, completions=completions, breaker=breaker
        )
        chooser = Chooser(
            agent=_NAME,
            settings=settings.llm,
            breaker=breaker,
            prompt=choice_prompt,
            completions=completions,
        )
        self._floor = floor
        self._embedder = embedder or OpenAIEmbedder(settings=embedding, breaker=breaker)
        self._quoted = QuotedDrafts(chooser=chooser, embedder=self._embedder, floor=floor)

    async def on_subject(self, brief: SubjectBrief) -> Answer[OnSubject]:
        """Choose the findings about what was asked. Raises as `drafting.subject.on_subject` does."""
        return Answer(value=await on_subject(brief, self._embedder, floor=self._floor))

    async def enough(self, brief: DraftBrief) -> Answer[DraftPossible]:
        """Whether there is something to write from. Of a model that writes prose that is not asked."""
        found = self._writes != "quotes" or await self._quoted.enough(brief)
        return Answer(value=DraftPossible(to_write_from=found))

    async def write(self, brief: DraftBrief) -> Answer[Draft]:
        """The article, each statement with the numbers of its sources.

        Raises:
            ModelReplyInvalid: no draft of a model that writes was usable after the configured retries.
            NothingToQuote: no source holds a sentence that can be quoted, or a figure.
        """
        return await (self._quoted.put_together(brief) if self._writes == "quotes" else self._prose(brief))

    async def _prose(self, brief: DraftBrief) -> Answer[Draft]:
        system, user = await asyncio.to_thread(
            fitted_prompt, self._prompt, brief, settings=self._model.settings, each=self._each
        )

        def accept(reply: DraftReply) -> Draft:
            draft = tidy(reply)
            if faults := draft_faults(draft, brief.sources):
                raise RejectedReply(" ".join(faults))
            return draft

        schema = draft_schema(len(brief.sources))
        answer = await self._model.ask_record(
            system=system, user=user, reply=DraftReply, accept=accept, schema=schema
        )
        unsupported = await asyncio.to_thread(numbers_without_source, answer.value, brief)
        language = await asyncio.to_thread(language_of, brief.query)
        draft = answer.value.model_copy(update={"unsupported": unsupported, "language": language})
        return Answer(value=draft, calls=answer.calls)


def numbers_without_source(draft: Draft, brief: DraftBrief) -> tuple[str, ...]:
    """The numbers and dates of a draft that stand nowhere in its sources, each once; ten at most.

    They are compared in their normal forms; what was computed from a table counts as its source's.
    """
    said = "\n".join([draft.headline, *(statement.text for statement in draft.statements)])
    sources = [brief.query, *(told for source in brief.sources for told in _said(source.finding))]
    computed = [sentence for told in facts(brief) for sentence in told]
    found = unsupported_numbers(said, language_of(said), sources, computed)
    return tuple(dict.fromkeys(one.text.strip() for one in found))[:_MOST]


def _said(finding: Finding) -> Iterator[str]:
    """All that a source says, each text by itself: their languages may differ."""
    yield finding.name
    if finding.description:
        yield finding.description
    if finding.content:
        yield finding.content
    if finding.rows:
        cells = [
            *(finding.columns or ()),
            *(cell for row in finding.rows for cell in row if cell is not None),
        ]
        yield " ; ".join(map(str, cells))
