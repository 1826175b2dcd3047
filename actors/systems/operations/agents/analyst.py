"""The agent `analysis`: compares what the others found, and says what it comes to. Seed 003 (Analysis Agent).

Called once the agents that read a system are done. What belongs together, what contradicts each other and
every figure come from code (`actors.systems.operations.linking`); a model may only put them in words, and
what it writes without evidence, or with a number that its evidence does not have, is dropped.
"""

import asyncio
import re
import time
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Literal

from actors.platform.llm.client import Completions, ModelClient, RejectedReply
from actors.platform.llm.prompts import TwoPartPrompt
from actors.platform.text.language import language_of
from actors.platform.text.links import links
from actors.systems.operations.linking.link import link
from actors.systems.operations.summary import (
    MOST_SENTENCES,
    bearing_first,
    mark_of_conflict,
    mark_of_correlation,
    recommendations,
    summary,
)
from models.config import BreakerConfig, ModelSettings
from models.errors import ModelRefused, ModelReplyInvalid, ModelTimedOut, PromptTooLong
from models.llm import Answer, ModelCall
from models.operations.evidence import Conflict, LinkedItems
from models.operations.items import SourceItem
from models.operations.results import Analysis, EvidencedSentence
from models.operations.tasks import AnalysisOutcome, AnalysisTask
from models.record import Record
from models.text import one_line, shortened

SUMMARY_PROMPT = "write_summary.md"
_NAME = "analysis"
_LONGEST_SENTENCE = 400
_MOST_SHOWN = 60
_NUMBER = re.compile(r"\d[\d.,/:-]*")
_NUMERIC = ("Nd", "Nl", "No")  # categories of characters that are digits or numbers


class SentenceReply(Record):
    """A sentence of a model's, and the marks that it rests on."""

    text: str
    evidence: tuple[str, ...]


class SummaryReply(Record):
    """What a model makes of what was found."""

    summary: tuple[SentenceReply, ...]
    recommendations: tuple[SentenceReply, ...]


class OperationAnalyst:
    """Compares, and writes with the model of `operations.analysis_llm` where `writes` is `model`.

    Args:
        prompt: shown QUESTION, FEEDBACK, FOUND (what was found with its marks), MOST and LANGUAGE.
    """

    def __init__(
        self,
        *,
        writes: Literal["model", "code"],
        settings: ModelSettings,
        breaker: BreakerConfig,
        prompt: str,
        completions: Completions | None = None,
    ) -> None:
        self._writes = writes
        self._settings = settings
        self._prompt = TwoPartPrompt(source=prompt, name=SUMMARY_PROMPT)
        self._model = ModelClient(agent=_NAME, settings=settings, completions=completions, breaker=breaker)

    async def compare(self, task: AnalysisTask) -> Answer[AnalysisOutcome]:
        """What was found to belong together and to contradict each other, and what is said about it.

        Raises:
            ModelUnavailable: the model is away.
        """
        began = time.monotonic()
        items = [item for result in task.results if result.result for item in result.result.items]
        linked = await asyncio.to_thread(link, items)
        analysis, calls = await self._said(task, items, linked)
        score = sum(one.score for one in linked.correlations) / len(linked.correlations or (1,))
        analysis = analysis.model_copy(
            update={
                "correlation_score": round(score, 4),
                "execution_time": round(time.monotonic() - began, 3),
            }
        )
        return Answer(value=AnalysisOutcome(linked=linked, analysis=analysis), calls=calls)

    async def _said(
        self, task: AnalysisTask, items: list[SourceItem], linked: LinkedItems
    ) -> tuple[Analysis, tuple[ModelCall, ...]]:
        conflicts = await asyncio.to_thread(bearing_first, linked, items, task.leads)
        found = _found(linked, conflicts)
        if self._writes == "code" or not found:
            return _by_code(linked, conflicts), ()
        language = language_of(task.question)
        try:
            system, user = await asyncio.to_thread(
                self._prompt.render,
                QUESTION=task.question,
                FEEDBACK="\n".join(said for said in (task.instructions, task.feedback) if said),
                FOUND="\n".join(f"{mark}: {text}" for mark, text in found.items()),
                MOST=MOST_SENTENCES,
                LANGUAGE=language,
            )
            answer = await self._model.ask_record(
                system=system, user=user, reply=SummaryReply, accept=_checked, schema=_schema(list(found))
            )
        except (ModelReplyInvalid, ModelRefused, ModelTimedOut, PromptTooLong) as failed:
            # What was compared stands without a model's words: code says them, and this says why.
            said = _by_code(linked, conflicts)
            calls = failed.calls if isinstance(failed, ModelReplyInvalid) else ()
            return said.model_copy(
                update={"error": f"the model wrote nothing usable: {one_line(str(failed))}"}
            ), calls
        kept, dropped = _supported(answer.value.summary, found)
        advised, more = _supported(answer.value.recommendations, found)
        return Analysis(
            status="completed",
            executive_summary=kept,
            recommendations=advised,
            llm_used=self._settings.model,
            dropped=dropped + more,
        ), answer.calls


def _by_code(linked: LinkedItems, conflicts: Sequence[Conflict]) -> Analysis:
    return Analysis(
        status="completed",
        executive_summary=summary(linked, conflicts),
        recommendations=recommendations(conflicts),
    )


def _found(linked: LinkedItems, conflicts: Sequence[Conflict]) -> dict[str, str]:
    """Everything that may be spoken of, by its mark, contradictions first."""
    told = {mark_of_conflict(one.number): one.explanation for one in conflicts}
    for one in linked.correlations:
        shared = "; ".join(f"{match.kind}: {match.left.words} = {match.right.words}" for match in one.matches)
        told[mark_of_correlation(one.number)] = f"{one.left} and {one.right} are about the same ({shared})"
    return {mark: shortened(one_line(text), 500) for mark, text in list(told.items())[:_MOST_SHOWN]}


def _supported(
    sentences: tuple[SentenceReply, ...], found: Mapping[str, str]
) -> tuple[tuple[EvidencedSentence, ...], int]:
    """Those that name evidence and say no number that it has not, and how many were dropped."""
    kept = []
    for sentence in sentences[:MOST_SENTENCES]:
        text = shortened(one_line(sentence.text), _LONGEST_SENTENCE)
        marks = tuple(dict.fromkeys(mark for mark in sentence.evidence if mark in found))
        said = " ".join(found[mark] for mark in marks)
        if text and marks and _numbers(text) <= _numbers(said) and not links(text):
            kept.append(EvidencedSentence(text=text, evidence=marks))
    return tuple(kept), len(sentences) - len(kept)


def _numbers(text: str) -> set[str]:
    """The numbers that are said, in whatever digits: raised, circled and Roman ones are numbers, too."""
    plain = "".join(_plain_digit(char) if unicodedata.category(char) in _NUMERIC else char for char in text)
    return {number.rstrip(".,:-/") for number in _NUMBER.findall(plain)}


def _plain_digit(char: str) -> str:
    same = unicodedata.normalize("NFKC", char)
    if all(unicodedata.decimal(one, None) is not None for one in same):
        return "".join(str(unicodedata.decimal(one)) for one in same)
    return f" {unicodedata.numeric(char, 0):g} "


def _checked(reply: SummaryReply) -> SummaryReply:
    if not reply.summary:
        raise RejectedReply("summary is empty: write one sentence at least")
    return reply


def _schema(marks: list[str]) -> dict[str, object]:
    sentence = {
        "type": "object",
        "properties": {
            "text": {"type": "string", "minLength": 1, "maxLength": _LONGEST_SENTENCE},
            "evidence": {"type": "array", "items": {"enum": marks}, "minItems": 1, "maxItems": 6},
        },
        "required": ["text", "evidence"],
        "additionalProperties": False,
    }
    some = {"type": "array", "items": sentence, "maxItems": MOST_SENTENCES}
    return {
        "type": "object",
        "properties": {"summary": {**some, "minItems": 1}, "recommendations": some},
        "required": ["summary", "recommendations"],
        "additionalProperties": False,
    }
