"""The review of an article of quotations: code finds the doubts, and the model says which of them count.

Called by the article review where a topic is written in quotes. What comes of it has the form of any review,
a list of bullets; its words are code's or the source's. Where the model answers badly, all doubts count.
"""

import asyncio
from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import NamedTuple

from actors.platform.extractive.doubts import Doubt, DoubtKind, doubts
from actors.platform.llm.client import Completions, ModelClient, RejectedReply
from actors.platform.text.language import language_of
from actors.systems.editorial.agents.material import topic_material
from actors.systems.editorial.agents.quoted_article import quotations_of, said_on
from actors.systems.editorial.briefs import AgentSettings, ReviewBrief
from models.content.editorial import (
    ArticleReviewRaw,
    Concern,
    ConcernMapping,
    ConcernMappingResult,
    ConcernType,
    SpecialistName,
)
from models.errors import ModelReplyInvalid
from models.llm import Answer
from models.record import Record


class _Sort(NamedTuple):
    """What kind of concern a doubt is, and whose."""

    concern_type: ConcernType
    specialist: SpecialistName


_SORTS: dict[DoubtKind, _Sort] = {
    "goes_on_otherwise": _Sort("truncation_completion", "opinion"),
    "set_right": _Sort("truncation_completion", "opinion"),
    "undated": _Sort("attribution_gap", "attribution"),
    "stale": _Sort("certainty_inflation", "opinion"),
    "first_person": _Sort("attribution_gap", "attribution"),
}
_REASON = "sorted by the kind of its doubt"


class CountingDoubts(Record):
    """What a model answers: the numbers of the doubts that count, from 1."""

    concerns: tuple[int, ...]


class QuotationReview:
    """Reviews articles of quotations. Prompt: `quotation_review`."""

    def __init__(self, *, settings: AgentSettings, completions: Completions | None = None) -> None:
        self._settings = settings
        self._prompt = settings.prompt("quotation_review")
        self._model = ModelClient(
            agent="article_review", settings=settings.model, completions=completions, breaker=settings.breaker
        )

    async def review(self, brief: ReviewBrief) -> Answer[ArticleReviewRaw]:
        """The doubts that count, as bullets; nothing where code has none, and then no model is asked."""
        found = await asyncio.to_thread(_doubts, brief)
        if not found:
            return Answer(value=ArticleReviewRaw(markdown_bullets=""))
        system, user = self._prompt.render(
            **topic_material(brief.topic, settings=self._settings), DOUBTS=[_shown(doubt) for doubt in found]
        )

        def accept(reply: CountingDoubts) -> list[Doubt]:
            numbers = sorted(set(reply.concerns))
            if wrong := [n for n in numbers if not 1 <= n <= len(found)]:
                raise RejectedReply(f"concerns names {wrong[0]}, and there is none of that number.")
            return [found[n - 1] for n in numbers]

        schema = {
            "type": "object",
            "properties": {
                "concerns": {
                    "type": "array",
                    "items": {"type": "integer", "enum": list(range(1, len(found) + 1))},
                    "maxItems": len(found),
                }
            },
            "required": ["concerns"],
            "additionalProperties": False,
        }
        try:
            answer = await self._model.ask_record(
                system=system, user=user, reply=CountingDoubts, accept=accept, schema=schema
            )
        except ModelReplyInvalid as refused:
            answer = Answer(value=found, calls=refused.calls)
        return Answer(value=ArticleReviewRaw(markdown_bullets=_bullets(answer.value)), calls=answer.calls)


def sorted_concerns(concerns: Sequence[Concern]) -> ConcernMappingResult:
    """Which specialist looks at each doubt: told by its kind alone."""
    mappings = []
    for concern in concerns:
        kind = next((kind for kind in _SORTS if f"”: {kind}: " in concern.review_note), None)
        sort = _SORTS[kind] if kind else _Sort("attribution_gap", "attribution")
        mappings.append(
            ConcernMapping(
                concern_id=concern.concern_id,
                concern_type=sort.concern_type,
                selected_agent=sort.specialist,
                confidence="high" if kind else "low",
                reason=_REASON,
            )
        )
    return ConcernMappingResult(mappings=mappings)


def _doubts(brief: ReviewBrief) -> list[Doubt]:
    day = date.fromisoformat(brief.day) if brief.day else datetime.now(UTC).date()
    return doubts(
        quotations_of(brief.draft, brief.topic),
        brief.topic.source_text,
        language_of(brief.topic.source_text),
        said_on=said_on(brief.topic.source_metadata),
        written_on=day,
    )


def _shown(doubt: Doubt) -> str:
    return f"“{doubt.excerpt}”: {doubt.note}"


def _bullets(found: Sequence[Doubt]) -> str:
    # The excerpt ends at the first closing mark: one of its own would end it too soon.
    return "".join(f"- “{_excerpt(doubt)}”: {doubt.kind}: {doubt.note}\n" for doubt in found)


def _excerpt(doubt: Doubt) -> str:
    parts = doubt.excerpt.replace("“", "”").split("”")
    return max(parts, key=len).strip()
