"""The agent that writes about a tree: sections, and single sentences in place of refused ones.

A `SectionWriter`, by way of the agent `organizer`. It is shown points by their
numbers, without their sources' addresses, and cites by numbers; what it writes besides is for `read_draft`
to judge. Seed 002 §7.3, OrganizerAgent.
"""

import asyncio
from collections.abc import Collection, Sequence

from actors.platform.llm.client import Completions, ModelClient, RejectedReply, fits_window
from actors.platform.llm.prompts import TwoPartPrompt
from actors.platform.text.language import Language
from actors.platform.text.links import links
from actors.systems.research.synthesis.draft_reply import SectionReply, draft_schema, read_draft
from actors.systems.research.synthesis.ports import RewriteRequest
from models.config import BreakerConfig, SynthesisConfig
from models.llm import Answer
from models.record import Record
from models.research.synthesis import CitablePoint, SectionOffer
from models.text import one_line, shortened

WRITING_PROMPT, REWRITING_PROMPT = "write_section.md", "rewrite_sentence.md"
_NAME = "section_writer"
# Characters of what is shown: more of a quotation is for the checks.
_LONGEST_QUOTE, _LONGEST_STATEMENT, _LONGEST_TITLE, _LONGEST_REASON = 800, 300, 150, 600
# A sentence of an answer with its points, in tokens, as long as most of them are.
_SENTENCE_TOKENS = 100


class ShownPoint(Record):
    """A point as the model is shown it, each text on one line. `statement` only where it says more."""

    id: int
    quote: str
    statement: str
    title: str


class ResearchWriter:
    """Writes with the model of `research.synthesis.llm`, where `writes` is `prose`.

    Args:
        prompt: shown HEADING, POINTS, MOST, a number of sentences, and LANGUAGE.
        rewriting_prompt: shown SENTENCE, CITED, numbers of points, REASON, POINTS and LANGUAGE.
    """

    def __init__(
        self,
        *,
        settings: SynthesisConfig,
        breaker: BreakerConfig,
        prompt: str,
        rewriting_prompt: str,
        completions: Completions | None = None,
    ) -> None:
        self._most = settings.most_sentences
        self._prompt = TwoPartPrompt(source=prompt, name=WRITING_PROMPT)
        self._rewriting = TwoPartPrompt(source=rewriting_prompt, name=REWRITING_PROMPT)
        self._model = ModelClient(
            agent=_NAME, settings=settings.llm, completions=completions, breaker=breaker
        )

    async def write(self, offer: SectionOffer, language: Language) -> Answer[SectionReply]:
        """A draft in `language`, with one sentence at least that cites a point; `read_draft` reads it.

        Raises:
            ModelUnavailable: the model is away.
            ModelReplyInvalid: no reply had such a sentence.
            ModelRefused, ModelTimedOut, PromptTooLong: of this section alone.
        """
        most = max(1, min(self._most, 2 * len(offer.points), self._room()))
        values: dict[str, object] = {
            "HEADING": one_line(offer.heading),
            "MOST": most,
            "LANGUAGE": language,
        }
        return await self._asked(self._prompt, values, offer.points, language, most=most, least=1)

    async def rewrite(self, request: RewriteRequest, language: Language) -> Answer[SectionReply]:
        """One sentence in place of another one; none where the points say nothing of the kind.

        Raises:
            ModelUnavailable: the model is away.
            ModelReplyInvalid: no reply was of the form that was asked for.
            ModelRefused, ModelTimedOut, PromptTooLong: of this sentence alone.
        """
        cited = set(request.sentence.points)
        # Where there is no room for all, those that it cites are shown.
        points = sorted(request.points, key=lambda point: point.id not in cited)
        values: dict[str, object] = {
            "SENTENCE": one_line(request.sentence.text),
            "CITED": list(request.sentence.points),
            "REASON": shortened(request.reason, _LONGEST_REASON),
            "LANGUAGE": language,
        }
        return await self._asked(self._rewriting, values, points, language, most=1, least=0)

    async def _asked(
        self,
        prompt: TwoPartPrompt,
        values: dict[str, object],
        points: Sequence[CitablePoint],
        language: Language,
        *,
        most: int,
        least: int,
    ) -> Answer[SectionReply]:
        system, user, offered = await asyncio.to_thread(self._fitted, prompt, values, points)

        def accept(reply: SectionReply) -> SectionReply:
            _check(reply, offered, language, most=most, least=least)
            return reply

        return await self._model.ask_record(
            system=system,
            user=user,
            reply=SectionReply,
            accept=accept,
            schema=draft_schema(offered, most=most),
        )

    def _fitted(
        self, prompt: TwoPartPrompt, values: dict[str, object], points: Sequence[CitablePoint]
    ) -> tuple[str, str, list[int]]:
        """Both messages with as many points as there is room for, the first ones, and their ids."""
        shown = [_shown(point) for point in points]
        while True:
            system, user = prompt.render(**values, POINTS=shown)
            if len(shown) <= 1 or fits_window(system, user, self._model.settings):
                return system, user, [point.id for point in shown]
            shown = shown[: len(shown) * 3 // 4]

    def _room(self) -> int:
        return self._model.settings.max_tokens // _SENTENCE_TOKENS


def _shown(point: CitablePoint) -> ShownPoint:
    # A bounded string of xgrammar holds no `\"`: a model that is shown one could not copy it.
    quote, statement = (one_line(text).replace('"', "”") for text in (point.quote, point.statement))
    title = shortened(point.title or "", _LONGEST_TITLE)
    return ShownPoint(
        id=point.id,
        quote=shortened(quote, _LONGEST_QUOTE),
        statement="" if statement in quote else shortened(statement, _LONGEST_STATEMENT),
        title="" if links(title) else title,
    )


def _check(
    reply: SectionReply, offered: Collection[int], language: Language, *, most: int, least: int
) -> None:
    """Refuse a reply of which nothing can be used: another try may do better."""
    if "sentences" not in reply.model_fields_set:
        raise RejectedReply("sentences is not there: give a list")
    draft = read_draft(reply, offered, language=language, most=most)
    if draft.sentences or (reply.sentences == [] and least == 0):
        return
    faults = ", ".join(f"{fault} ({count})" for fault, count in sorted(draft.refused.items()))
    raise RejectedReply(f"no sentence could be used: {faults or 'there is none'}")
