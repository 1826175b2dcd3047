"""The editor's report: what the rounds came to, and which draft is the best of them.

Pure functions over the records of seed 004 §4. The best draft has the fewest verdicts against it, and
of equals the latest; a blocked article's concerns are those of its best draft.
"""

from collections.abc import Sequence
from datetime import UTC, datetime

from models.content.editorial import (
    ArticleMetadata,
    Concern,
    EditorReport,
    IterationReport,
    Outcome,
    TopicInput,
)
from models.content.quoting import ChosenBy, Written


def best_round(iterations: Sequence[IterationReport]) -> IterationReport:
    """The iteration whose draft is kept when none passed."""
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
