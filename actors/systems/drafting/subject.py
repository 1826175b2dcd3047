"""Which findings are about what was asked: what is not is no source, whatever found it.

Called by the drafter, before findings become resources. Search ranks what there is, and the nearest of a
small stock may be far off. So all that was searched for is measured: by what tells the question's subject
(`telling`), and by its meaning, never under the floor of search itself. The floors were measured with the
bundled model on the 72 pairs of `tests/unit/drafting/questions.yaml`: none of 40 texts on something else is a
source, and 30 of 32 that are about it are.
"""

import asyncio
from typing import NamedTuple

from pydantic import Field

from actors.platform.search.embedder import Embedder
from actors.platform.text.language import Language, language_of
from actors.platform.text.relevance import best_passages, subject_words
from actors.platform.text.vectors import cosine
from actors.systems.drafting.telling import Borne, QuestionSubject
from models.content.drafting import Finding
from models.record import Record

# From the share of the words that tell, how near a text must be that lacks the rest. MiniLM reads English;
# what is in one other language is near by that alone, and across languages it knows little more than names.
_ENGLISH = ((2 / 3, 0.4), (1 / 2, 0.55), (0.0, 0.6))
_OTHER = ((2 / 3, 0.45),)
_ACROSS = ((1 / 2, 0.2), (0.0, 0.5))
# Across languages: where all is borne, and where a name is.
_BORNE_ACROSS, _NAME_ACROSS = 0.0, 0.2
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
    """FindingMeasure every finding by its best passages.

    Args:
        floor: the cosine under which search finds nothing (`knowledge_base.min_score`).

    Raises:
        ModelUnavailable: the embedding model is away.
    """
    measures = await asyncio.to_thread(_measures, brief)
    asked = " ".join(subject_words(brief.query)) or brief.query
    question, *vectors = await embedder.embed([asked, *(one.passages for one in measures)])
    return OnSubject(
        about=tuple(
            is_about(cosine(question, vector), one, floor=floor)
            for one, vector in zip(measures, vectors, strict=True)
        )
    )


def is_about(near: float, measure: "FindingMeasure", *, floor: float) -> bool:
    """Whether a text is about a question.

    Args:
        near: the cosine of its best passages to the words of the question that carry meaning.
    """
    borne = measure.borne
    if borne.elsewhere or borne.lacks_name:
        return False
    if measure.foreign:
        least = _BORNE_ACROSS if borne.share == 1.0 else _NAME_ACROSS
        if measure.found_outside or (near >= least and (borne.share == 1.0 or borne.name_borne)):
            return True
        return any(borne.share >= share and near >= least for share, least in _ACROSS)
    if near < floor:
        return False
    floors = _ENGLISH if measure.language == "en" else _OTHER
    return borne.share == 1.0 or any(borne.share >= share and near >= least for share, least in floors)


class FindingMeasure(NamedTuple):
    """What a finding is measured by: its best passages, and what they bear of the question.

    In a language that is not the question's (`foreign`) meaning tells little: the word of a search engine
    outside counts there, as long as nothing is wanting that has a name.
    """

    passages: str
    borne: Borne
    language: Language
    foreign: bool
    found_outside: bool


def _measures(brief: SubjectBrief) -> list[FindingMeasure]:
    telling = QuestionSubject(brief.query)
    found = []
    for finding in brief.findings:
        text = _words_of(finding)
        passages = best_passages(text, brief.query, _PASSAGE)
        foreign = language_of(text) != telling.language
        outside = finding.kind == "text" and finding.source not in _OURS
        found.append(
            FindingMeasure(
                passages, telling.borne_by(finding.name, passages), telling.language, foreign, outside
            )
        )
    return found


def _words_of(finding: Finding) -> str:
    said = [finding.name, finding.content or ""]
    if finding.kind == "table":
        said = [finding.name, finding.description or "", " ".join(finding.columns or ())]
    return "\n".join(part for part in said if part)
