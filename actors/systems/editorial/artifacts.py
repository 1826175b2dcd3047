"""Where an article and its run's files go, and how they are written (seed 004 §7.1, §7.2).

Called once a topic has ended, and by the batch. Every file appears whole or not at all, so a step that
is redone after a crash writes the same names again and nobody ever reads half a file. Channel and slug
come from outside: they reach the disk only through `safe_part`.
"""

import hashlib
import unicodedata
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter

from models.config import EditorOutput
from models.content.editorial import (
    ArticleGenerationResult,
    ArticleResponse,
    ArticleReviewRaw,
    ArticleReviewResult,
    ConcernMappingResult,
    SourceMetadata,
    TopicInput,
    Verdict,
    WriterFeedback,
)
from models.files import write_atomically as write_atomically
from models.record import Record
from models.text import one_line

_MAX_PART_BYTES = 120  # leaves room for a suffix under the 255 bytes that file systems allow
_VERDICTS = TypeAdapter(list[Verdict])


def safe_part(text: str) -> str:
    """One path component for `text`: no separator, no leading dot, at most 120 bytes of UTF-8.

    Letters, digits, space, `.`, `_` and `-` stay. A text that has to change ends in `~` and a digest of
    the original; `~` is in no safe text, so two different texts never share a component.
    """
    safe = "".join(c if _is_plain(c) else "_" for c in text).strip()
    if safe.startswith("."):
        safe = "_" + safe[1:]
    unchanged = safe == text and unicodedata.is_normalized("NFC", text)
    if text and unchanged and len(text.encode()) <= _MAX_PART_BYTES:
        return text
    mark = "~" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    kept = safe.encode()[: _MAX_PART_BYTES - len(mark)].decode(errors="ignore").rstrip()
    return (kept or "_") + mark


def _is_plain(character: str) -> bool:
    # Marks (M*) are parts of letters in many scripts; Hindi could not be written without them.
    return character in " ._-" or unicodedata.category(character)[0] in "LMN"


def article_path(output: EditorOutput, *, channel_name: str, topic_slug: str) -> Path:
    """The canonical JSON of a topic: `<final_articles_dir>/<channel>/<topic_slug>.json`."""
    return output.final_articles_dir / safe_part(channel_name) / f"{safe_part(topic_slug)}.json"


def run_id(*, started: datetime, topic: TopicInput) -> str:
    """`<YYYYMMDDTHHMMSSZ>_<8 hex>`: the start in UTC and a digest of what was asked (seed 004 §6.1 [0]).

    Raises:
        ValueError: `started` has no time zone.
    """
    if started.tzinfo is None:
        raise ValueError("a run's start needs a time zone")
    asked = (
        topic.source_metadata.source_file
        + topic.source_metadata.topic_slug
        + topic.style_mode
        + topic.target_length_words
    )
    digest = hashlib.sha256(asked.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{started.astimezone(UTC):%Y%m%dT%H%M%SZ}_{digest}"


def artifacts_dir(output: EditorOutput, metadata: SourceMetadata, run_id: str) -> Path:
    """The folder of one run: `<run_artifacts_dir>/<channel>/<topic_slug>/<run_id>`."""
    return (
        output.run_artifacts_dir
        / safe_part(metadata.channel_name)
        / safe_part(metadata.topic_slug)
        / safe_part(run_id)
    )


def run_folder(output: EditorOutput, topic: TopicInput, *, started: datetime) -> Path:
    """The folder of a topic's run that was asked for at `started`."""
    return artifacts_dir(output, topic.source_metadata, run_id(started=started, topic=topic))


def render_markdown(article: ArticleResponse) -> str:
    """An article as one Markdown text: headline, alternative headline, description, body."""
    alternative, description = (one_line(t) for t in (article.alternativeHeadline, article.description))
    parts = [
        f"# {one_line(article.headline)}",
        f"*{alternative}*" if alternative else "",
        f"> {description}" if description else "",
        article.articleBody.strip(),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


class RunArtifacts:
    """The `files` of one run, by path; `iteration` counts from 1. Without `save_intermediate`, the last."""

    def __init__(self, *, directory: Path, save_intermediate: bool) -> None:
        self.directory = directory
        self.files: dict[Path, str] = {}
        self._save_intermediate = save_intermediate

    def writer_draft(self, iteration: int, article: ArticleResponse) -> None:
        """`iter{n}_writer_draft.json` and `.md`."""
        self._save_record(f"iter{iteration}_writer_draft.json", article)
        self._save(f"iter{iteration}_writer_draft.md", render_markdown(article))

    def article_review_raw(self, iteration: int, review: ArticleReviewRaw) -> None:
        """`iter{n}_article_review_raw.md`: the review as the agent wrote it."""
        self._save(f"iter{iteration}_article_review_raw.md", review.markdown_bullets)

    def article_review(self, iteration: int, review: ArticleReviewResult) -> None:
        """`iter{n}_article_review.json`."""
        self._save_record(f"iter{iteration}_article_review.json", review)

    def concern_mapping(self, iteration: int, mapping: ConcernMappingResult) -> None:
        """`iter{n}_concern_mapping.json`."""
        self._save_record(f"iter{iteration}_concern_mapping.json", mapping)

    def verdicts(self, iteration: int, verdicts: Sequence[Verdict]) -> None:
        """`iter{n}_verdicts.json`: a JSON array."""
        self._save(f"iter{iteration}_verdicts.json", _VERDICTS.dump_json(list(verdicts), indent=2).decode())

    def feedback(self, iteration: int, feedback: WriterFeedback) -> None:
        """`iter{n}_feedback.json`."""
        self._save_record(f"iter{iteration}_feedback.json", feedback)

    def finish(self, result: ArticleGenerationResult) -> None:
        """`editor_report.json`, `article.md` (each where there is one) and, last, `article_result.json`."""
        if result.editor_report is not None:
            report = result.editor_report.model_dump_json(indent=2)
            self.files[self.directory / "editor_report.json"] = report
        if result.article is not None:
            self.files[self.directory / "article.md"] = render_markdown(result.article)
        self.files[self.directory / "article_result.json"] = result.model_dump_json(indent=2)

    def _save_record(self, name: str, record: Record) -> None:
        self._save(name, record.model_dump_json(indent=2))

    def _save(self, name: str, text: str) -> None:
        if self._save_intermediate:
            self.files[self.directory / name] = text
