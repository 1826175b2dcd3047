"""Articles and resources: what is written, in which version, and where it stands. Seed 000 §8.1, §9.1.

draft → editor → pending_approval → published, and back. Every write makes a new version; the published
one stays readable while the next is in work. Resources never change once written.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from models.content.differences import unified_diff
from models.content.editorial import ArticleGenerationResult
from models.content.quoting import Written
from models.errors import ArticleConflict
from models.record import Record

ArticleStatus = Literal["draft", "editor", "pending_approval", "published"]
ResourceKind = Literal["text", "table"]
# Published once a published article rests on it.
ResourceStatus = Literal["draft", "published"]
Cell = str | int | float | bool | None
_DIFF_LINES = 200
# What takes an article on from each status.
_NEXT: Mapping[ArticleStatus, str] = {
    "draft": "submit it for review first",
    "editor": "it is with the editors: publish it, or send it back for changes",
    "pending_approval": "its publication waits for a decision: decide on that first",
    "published": "write a new version of it first",
}


def check_status(article_id: int, status: ArticleStatus, wanted: ArticleStatus, to_be: str) -> None:
    """ArticleConflict, with what to do, where an article is not in the status that something takes."""
    if status != wanted:
        raise ArticleConflict(
            f"article {article_id} is {status}: only one in status {wanted} can be {to_be}; {_NEXT[status]}",
            status=status,
        )


class Article(Record):
    """A row of `articles`. `version` is the newest, `published_version` what readers see.

    `approval_id` is the request for publication that is open, `workflow_id` what waits for it.
    `drafted_by` is the editorial workflow that wrote the first draft, if one did; `submitted_by` who handed
    it to the editors last.
    """

    id: int
    topic: str
    status: ArticleStatus
    version: int
    published_version: int | None
    author: str
    approval_id: str | None
    workflow_id: str | None
    drafted_by: str | None
    created_at: datetime
    updated_at: datetime
    submitted_at: datetime | None
    submitted_by: str | None
    published_at: datetime | None


class BlockingConcern(Record):
    """What an editorial batch still had against an article."""

    excerpt: str
    review_note: str


class EditorFindings(Record):
    """What an editorial batch came to: its report in short, for whoever decides on publishing."""

    final_status: Literal["SUCCESS", "FAILED"]
    rounds: int
    blocking_concerns: tuple[BlockingConcern, ...]
    artifacts_dir: str | None


class AttachedResource(Record):
    """A resource as an article version names it."""

    id: int
    kind: ResourceKind
    name: str
    digest: str


class RevealedResource(AttachedResource):
    """An attached resource that the readers of the article's topic can't read before it is published.

    `attached_by` is on whose right it rests there; `open` is where it is read in full. What was shown under
    the release before says nothing of `created_by`.
    """

    topic: str
    status: ResourceStatus
    created_by: str | None = None
    attached_by: str
    open: str


class ArticleVersion(Record):
    """One version of an article, whole. `written`: see `models.content.quoting`.

    `desk_notes` stand beside the text, for whoever decides on it: how it came about. Readers don't get them.
    """

    article_id: int
    version: int
    headline: str
    keywords: str | None
    content: str
    editor_report: EditorFindings | None
    written: Written
    desk_notes: tuple[str, ...] = ()
    written_by: str
    written_at: datetime
    resources: tuple[AttachedResource, ...]


class Resource(Record):
    """A row of `resources`. A table has `columns` and `rows`; its `content` is the same as text."""

    id: int
    kind: ResourceKind
    status: ResourceStatus
    name: str
    description: str | None
    topic: str
    content: str
    columns: tuple[str, ...] | None
    rows: tuple[tuple[Cell, ...], ...] | None
    digest: str
    created_by: str
    created_at: datetime


def what_changed(old: ArticleVersion, new: ArticleVersion) -> dict[str, Any]:
    """The differences between two versions, for people: which fields, and the content's unified diff."""
    fields = [
        name
        for name in ("headline", "keywords", "content", "resources", "editor_report", "written", "desk_notes")
        if getattr(old, name) != getattr(new, name)
    ]
    diff = unified_diff(old.content, new.content, f"version {old.version}", f"version {new.version}")
    if len(diff) > _DIFF_LINES:
        diff = [*diff[:_DIFF_LINES], f"… and {len(diff) - _DIFF_LINES} lines more"]
    return {
        "from_version": old.version,
        "to_version": new.version,
        "written_by": new.written_by,
        "fields": fields,
        "headline": [old.headline, new.headline] if "headline" in fields else None,
        "content_diff": diff,
    }


def findings_of(result: ArticleGenerationResult) -> EditorFindings | None:
    """An editorial result's report in short."""
    report = result.editor_report
    if report is None:
        return None
    return EditorFindings(
        final_status=report.final_status,
        rounds=report.total_iterations,
        blocking_concerns=tuple(
            BlockingConcern(excerpt=concern.excerpt, review_note=concern.review_note)
            for concern in report.blocking_concerns or ()
        ),
        artifacts_dir=result.artifacts_dir,
    )
