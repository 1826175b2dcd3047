"""Which findings are about what was asked: what is not is no source, whatever found it.

Called by the drafter, before findings become resources. Search ranks what there is, and the nearest of a
small stock may be far off. So all that was searched for is measured: by its meaning, never under the floor of
search itself, and by the words of the question.
"""

import asyncio
from typing import NamedTuple

from pydantic import Field

from actors.search.embedder import Embedder
from actors.text.language import language_of
from actors.text.relevance import QuestionWords, best_passages
from actors.text.vectors import cosine
from models.content.drafting import Finding
from models.record import Record

# Cosines of MiniLM: passages that answer a question have 0.4 and more, others of the field 0.2 to 0.4.
_ANSWERS, _BESIDE = 0.4, 0.3
# The characters that are compared in meaning: about as much as the embedding model reads.
_PASSAGE = 1000
# The sources of what is stored here.
_OURS = frozenset(("local", "signoff"))


class SubjectBrief(Record):
    """What was asked, and what was found by searching for it."""

    query: str
    findings: tuple[Finding, ...] = Field(min_length=1)


class OnSubject(Record):
    """For each finding of a brief, in order: whether it is about what was asked."""

    about: tuple[bool, ...]


async def on_subject(brief: SubjectBrief, embedder: Embedder, *, floor: float) -> OnSubject:
    """Measure every finding by its best passages.

    Args:
        floor: the cosine under which search finds nothing (`knowledge_base.min_score`).

    Raises:
        ModelUnavailable: the embedding model is away.
    """
    measures = await asyncio.to_thread(_measures, brief)
    question, *vectors = await embedder.embed([brief.query, *(one.passages for one in measures)])
    return OnSubject(
        about=tuple(
            one.found_outside_in_another_language
            or is_about(cosine(question, vector), one.share, floor=floor)
            for one, vector in zip(measures, vectors, strict=True)
        )
    )


def is_about(near: float, share: float | None, *, floor: float) -> bool:
    """Whether a text is about a question.

    Args:
        near: the cosine of its best passages.
        share: of the question's content words, those that the text has; None for one in another language.
    """
    if near < floor:
        return False
    if share is None:
        return near >= _BESIDE
    return near >= _ANSWERS or share >= 1.0 or (near >= _BESIDE and share >= 0.5)


class _Measure(NamedTuple):
    """What a finding is measured by: its best passages, and the share of the question's words that it has.

    Neither tells much across languages: there the word of a search engine outside counts.
    """

    passages: str
    share: float | None
    found_outside_in_another_language: bool


def _measures(brief: SubjectBrief) -> list[_Measure]:
    wanted, language = QuestionWords(brief.query), language_of(brief.query)
    found = []
    for finding in brief.findings:
        text = _words_of(finding)
        foreign = finding.kind == "text" and language_of(text) != language
        share = None if foreign else wanted.shared_with(text) / max(1, wanted.count)
        outside = foreign and finding.source not in _OURS
        found.append(_Measure(best_passages(text, brief.query, _PASSAGE), share, outside))
    return found


def _words_of(finding: Finding) -> str:
    said = [finding.name, finding.content or ""]
    if finding.kind == "table":
        said = [finding.name, finding.description or "", " ".join(finding.columns or ())]
    return "\n".join(part for part in said if part)
