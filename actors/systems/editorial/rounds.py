"""What the rounds of a topic came to, read from its journal: drafts, concerns, verdicts, and their result.

The desk asks it while the topic is edited, the files are written from it afterwards.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol, TypeVar

from models.content.editorial import (
    ArticleGenerationResult,
    ArticleMetadata,
    ArticleResponse,
    ArticleReviewRaw,
    ArticleReviewResult,
    Concern,
    ConcernMappingResult,
    EditorReport,
    IterationReport,
    Outcome,
    TopicInput,
    Verdict,
    WriterFeedback,
    WrittenArticle,
)
from models.content.quoting import ChosenBy, Written
from models.record import Record

R = TypeVar("R", bound=Record)

_MAX_SUGGESTIONS = 5


class Terms(Record):
    """What a topic's editing was begun with; a configuration that changes meanwhile changes no journal.

    `writes`: who writes the article; `day` is that of the beginning, ISO 8601. Releases before said neither.
    """

    rounds: int
    writes: Written = "prose"
    day: str | None = None


class Review(Record):
    """A review as written and as parsed."""

    raw: ArticleReviewRaw
    parsed: ArticleReviewResult


class Kept(Protocol):
    """Gives the document under a key as a record of a type, or None."""

    def __call__(self, key: str, type_: type[R]) -> R | None: ...


class Rounds:
    """A topic's rounds, counted from 1.

    Args:
        kept: where the topic's documents are.
        artifacts_dir: the folder of the topic's run, as its result names it.
    """

    def __init__(self, *, topic: TopicInput, kept: Kept, artifacts_dir: Path) -> None:
        self.topic = topic
        self.kept = kept
        self._artifacts_dir = artifacts_dir

    def terms(self) -> Terms:
        """What the editing was begun with; of a topic that never began, nothing is said."""
        return self.kept("terms", Terms) or Terms(rounds=0)

    def draft(self, round_: int) -> WrittenArticle:
        """The round's draft."""
        return self._must(f"draft/{round_}", WrittenArticle)

    def concerns(self, round_: int) -> list[Concern]:
        """The concerns that the round's review raised."""
        return self._must(f"review/{round_}", Review).parsed.concerns

    def mapping(self, round_: int) -> ConcernMappingResult:
        """Which specialist got which concern."""
        return self._must(f"mapping/{round_}", ConcernMappingResult)

    def verdicts(self, round_: int) -> list[Verdict]:
        """The round's verdicts, ordered by concern, however the specialists finished."""
        ids = sorted(concern.concern_id for concern in self.concerns(round_))
        return [self._must(f"verdict/{round_}/{concern_id}", Verdict) for concern_id in ids]

    def feedback(self, round_: int) -> WriterFeedback:
        """What the writer is told after the round."""
        feedback: WriterFeedback = compile_feedback(iteration=round_, verdicts=self.verdicts(round_))
        return feedback

    def objections(self, round_: int) -> list[str]:
        """What verdicts were against in a round, in the draft's own words."""
        against = {verdict.concern_id for verdict in self.verdicts(round_) if verdict.blocks}
        return [c.excerpt for c in self.concerns(round_) if c.concern_id in against]

    def finished(self) -> int:
        """How many rounds have all their verdicts."""
        done = 0
        while (review := self.kept(f"review/{done + 1}", Review)) and all(
            self.kept(f"verdict/{done + 1}/{c.concern_id}", Verdict) for c in review.parsed.concerns
        ):
            done += 1
        return done

    def result(
        self, rounds: int, *, outcome: Outcome | None, error: str | None, at: datetime
    ) -> ArticleGenerationResult:
        """The canonical JSON after so many rounds; `outcome` is None where the topic ended in an error."""
        iterations = [self._iteration(number, last=number == rounds) for number in range(1, rounds + 1)]
        report = editor_report(iterations, outcome=outcome) if iterations else None
        article: ArticleResponse | None = None
        if outcome == "passed":
            article = iterations[-1].article_draft
        elif iterations:
            article = best_round(iterations).article_draft
        else:
            article = self.kept("draft/1", WrittenArticle)
        chosen_by = article.chosen_by if isinstance(article, WrittenArticle) else None
        return ArticleGenerationResult(
            success=outcome == "passed",
            article=article,
            metadata=article_metadata(self.topic, written=self.terms().writes, chosen_by=chosen_by, at=at),
            editor_report=report,
            artifacts_dir=str(self._artifacts_dir),
            error=error,
        )

    def _iteration(self, round_: int, *, last: bool) -> IterationReport:
        mapping = self.kept(f"mapping/{round_}", ConcernMappingResult)
        return IterationReport(
            iteration_number=round_,
            concerns=self.concerns(round_),
            mappings=mapping.mappings if mapping else [],
            verdicts=self.verdicts(round_),
            feedback_to_writer=None if last else self.feedback(round_),
            article_draft=self.draft(round_),
        )

    def _must(self, key: str, type_: type[R]) -> R:
        found = self.kept(key, type_)
        assert found is not None, f"step {key} has been passed but left no document"
        return found


def passed(verdicts: Sequence[Verdict]) -> bool:
    """Whether the draft may go out: no verdict says REWRITE or REMOVE."""
    return not any(verdict.blocks for verdict in verdicts)


def compile_feedback(*, iteration: int, verdicts: Sequence[Verdict]) -> WriterFeedback:
    """The feedback on one round's verdicts, in whatever order they came in (seed 004 §6.1.2).

    It is sent only when the draft did not pass.

    `rating` is 10, less 2 for each thing to do and 1 for each suggestion, and at least 1.
    """
    ordered = sorted(verdicts, key=lambda verdict: verdict.concern_id)
    todos = [v.suggested_fix for v in ordered if v.blocks and v.suggested_fix is not None]
    suggestions = [v.rationale for v in ordered if v.status == "KEEP"][:_MAX_SUGGESTIONS]
    return WriterFeedback(
        iteration=iteration,
        rating=max(1, min(10, 10 - 2 * len(todos) - len(suggestions))),
        passed=False,
        reasoning=_reasoning(todos),
        improvement_suggestions=suggestions,
        todo_list=todos,
        verdicts=ordered,
    )


def _reasoning(todos: Sequence[str]) -> str:
    if not todos:
        return "Concerns remain, and no verdict names a fix: see their rationales."
    listed = "\n".join(f"{number}. {todo}" for number, todo in enumerate(todos, start=1))
    return f"Required changes ({len(todos)}):\n{listed}"


def best_round(iterations: Sequence[IterationReport]) -> IterationReport:
    """The iteration whose draft is kept when none passed: the fewest verdicts against it, then the latest."""
    return min(iterations, key=lambda i: (sum(v.blocks for v in i.verdicts), -i.iteration_number))


def blocking_concerns(iteration: IterationReport) -> list[Concern]:
    """The concerns whose verdicts keep an iteration's draft from passing."""
    blocked = {verdict.concern_id for verdict in iteration.verdicts if verdict.blocks}
    return [concern for concern in iteration.concerns if concern.concern_id in blocked]


def editor_report(iterations: Sequence[IterationReport], *, outcome: Outcome | None) -> EditorReport:
    """The report over all rounds; `outcome` is None where the topic ended in an error."""
    passed = outcome == "passed"
    return EditorReport(
        iterations=list(iterations),
        total_iterations=len(iterations),
        final_status="SUCCESS" if passed else "FAILED",
        blocking_concerns=None if passed else blocking_concerns(best_round(iterations)),
    )


def article_metadata(
    topic: TopicInput, *, written: Written, chosen_by: ChosenBy | None, at: datetime
) -> ArticleMetadata:
    """The article's metadata, generated `at` (ISO 8601, UTC)."""
    return ArticleMetadata(
        **topic.source_metadata.model_dump(),
        style_mode=topic.style_mode,
        target_length_words=topic.target_length_words,
        written=written,
        chosen_by=chosen_by,
        generated_at=at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )
