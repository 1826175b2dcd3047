"""A publication: what is decided on when one is asked for, and what its workflow comes to.

The approval's digest covers a `Publication` whole; what is not in it was not shown.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from models.content.articles import (
    Article,
    ArticleVersion,
    AttachedResource,
    EditorFindings,
    RevealedResource,
)
from models.content.quoting import Written
from models.record import Record
from models.runtime.gated_kinds import Shown


class PublicationText(Record):
    """The article in a publication. One that was asked for under release 0.1.0 says not how it is written."""

    id: int
    topic: str
    version: int
    headline: str
    keywords: str | None
    content: Annotated[str, Shown("quote")]
    written: Written = "prose"


class Publication(Record):
    """What the approver sees.

    `desk_notes`: how the text came about, which its readers are not told; see `ArticleVersion`.
    `becomes_readable`: the resources that its readers will be able to read by it, and are not yet.
    `involved`: who wrote, submitted or asked for this version; see `Approval.involved`. `also_takes`: scopes
    that approving takes beside the article's own; see `Approval.also_takes`. One that was asked for under
    release 0.1.0 says nothing of these.
    """

    article: Annotated[PublicationText, Shown("first")]
    resources: tuple[AttachedResource, ...]
    editor_report: EditorFindings | None
    desk_notes: tuple[str, ...] = ()
    becomes_readable: tuple[RevealedResource, ...] = ()
    involved: tuple[str, ...] = ()
    also_takes: tuple[str, ...] = ()
    editor_notes: Annotated[str | None, Shown("quote")]


class PublicationInput(Record):
    """What the workflow is given."""

    article_id: int


class PublicationResult(Record):
    """What the workflow came to; only `approved` was published."""

    decision: Literal["approved", "rejected", "expired", "void"]
    approval_id: str


def publication_content(
    article: Article,
    version: ArticleVersion,
    editor_notes: str | None,
    *,
    becomes_readable: Sequence[RevealedResource] = (),
    involved: Sequence[str] = (),
    also_takes: Sequence[str] = (),
) -> dict[str, Any]:
    """A `Publication` as JSON: an approval's content."""
    return Publication(
        article=PublicationText(
            id=article.id,
            topic=article.topic,
            version=version.version,
            headline=version.headline,
            keywords=version.keywords,
            content=version.content,
            written=version.written,
        ),
        resources=version.resources,
        editor_report=version.editor_report,
        desk_notes=version.desk_notes,
        becomes_readable=tuple(becomes_readable),
        involved=tuple(involved),
        also_takes=tuple(also_takes),
        editor_notes=editor_notes,
    ).model_dump(mode="json")
