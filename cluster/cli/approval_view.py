"""How approvals are shown on a terminal: the inbox as a table, and one with all that its digest covers.

What people and models wrote stands to the right of the labels, on wrapped lines too, and is never markup:
no article can look like part of this command.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import yaml
from pydantic import ValidationError
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cluster.cli.gated.schemas import titled
from cluster.cli.printing import put, row
from cluster.plain_text import one_line, plain
from models.content.publication import Publication
from models.content.quoting import Written
from models.runtime.approvals import ApprovalDetails, ApprovalSummary

_SHORT_DIGEST = 12
_ANY_WIDTH = 10**9
_WRITTEN: dict[Written, str] = {
    "prose": "as prose",
    "quotes": "in quotations: of its sources' own sentences, put together by code",
}


def publication(approval: ApprovalDetails) -> Publication | None:
    """What the approval of a publication is about; None for other kinds and other shapes."""
    if approval.kind != "publish_article":
        return None
    try:
        return Publication.model_validate(approval.content)
    except ValidationError:
        return None


def table(approvals: Sequence[ApprovalSummary], console: Console, *, with_status: bool) -> None:
    """Print the inbox."""
    shown = Table(box=None, pad_edge=False)
    for name in ("id", "kind", "title", "asked by", "age", "expires in", "quorum", "digest"):
        shown.add_column(name, no_wrap=name != "title", overflow="fold")
    if with_status:
        shown.add_column("status", no_wrap=True)
        shown.add_column("why", overflow="fold")
    for approval in approvals:
        cells = [
            approval.id,
            approval.kind,
            approval.title,
            approval.requested_by,
            span(approval.age_seconds),
            _left(approval) if approval.status == "pending" else "",
            f"{len(approval.approved_by)}/{approval.quorum}",
            approval.digest[:_SHORT_DIGEST],
            *([approval.status, approval.reason or ""] if with_status else []),
        ]
        shown.add_row(*(Text(one_line(cell)) for cell in cells))
    console.print(shown)


def show(approval: ApprovalDetails, console: Console, schema: Mapping[str, Any]) -> None:
    """Print one approval: who asks for what, and the whole content, under the titles of its schema."""
    asked = f"{approval.requested_by}, {_when(approval.created_at)}, {span(approval.age_seconds)} ago"
    approvals = f"{len(approval.approved_by)} of {approval.quorum} approvals"
    row(console, "approval", f"{approval.id} {approval.kind}, {approval.status}")
    row(console, "title", approval.title)
    row(console, "topic", approval.topic or "all")
    row(console, "asked by", asked)
    row(console, "expires", f"{_when(approval.expires_at)}, in {_left(approval)}")
    row(console, "takes", f"{approval.required_scope}; {approvals} so far")
    for vote in approval.votes:
        row(console, "", f"{vote.voter}: {vote.decision}" + (f", {vote.notes}" if vote.notes else ""))
    if approval.reason:
        put(console, "why", approval.reason)
    if (found := publication(approval)) is not None:
        _show_publication(found, console)
    else:
        put(console, "content", as_yaml(titled(approval.content, schema)))
    row(console, "digest", approval.digest)


def _show_publication(found: Publication, console: Console) -> None:
    article, report = found.article, found.editor_report
    put(console, "notes", found.editor_notes or "none")
    row(console, "article", f"{article.id} in {article.topic}, version {article.version}")
    row(console, "headline", article.headline)
    row(console, "keywords", article.keywords or "none")
    row(console, "written", _WRITTEN[article.written])
    for number, note in enumerate(found.desk_notes):
        row(console, "" if number else "told", note)
    put(console, "text", article.content)
    for number, resource in enumerate(found.resources):
        named = f"{resource.id} {resource.kind}, {resource.digest[:_SHORT_DIGEST]}: {resource.name}"
        row(console, "" if number else "resources", named)
    if not found.resources:
        row(console, "resources", "none")
    for number, shown in enumerate(found.becomes_readable):
        hands = f"written by {shown.created_by or 'unknown'}, attached by {shown.attached_by}"
        what = f"{shown.id} {shown.status} of {shown.topic}, {hands}: {shown.open}"
        row(console, "" if number else "reveals", what)
    if found.also_takes:
        row(console, "", f"approving takes {', '.join(found.also_takes)} as well")
    row(console, "by", ", ".join(found.involved) or "unknown")
    if report is None:
        row(console, "desk", "the editorial desk has not seen it")
        return
    concerns = len(report.blocking_concerns)
    blocked = f"blocked by {concerns}" if concerns else "blocked by nothing"
    row(console, "desk", f"{report.final_status}, rounds: {report.rounds}, {blocked}")
    for concern in report.blocking_concerns:
        put(console, "", f"- “{concern.excerpt}”: {concern.review_note}")
    if report.artifacts_dir:
        row(console, "", f"kept in {report.artifacts_dir}")


def show_changes(changes: Mapping[str, Any], console: Console) -> None:
    """Print what is not as it was when the approval was asked for: see `articles.what_changed`."""
    diff = changes.get("content_diff")
    rest = {name: value for name, value in changes.items() if name != "content_diff"}
    put(console, "changed", as_yaml(rest))
    if isinstance(diff, list):
        put(console, "", "\n".join(str(line) for line in diff))


def span(seconds: float) -> str:
    """A time of this length in its largest unit: `41 s`, `59 min`, `47 h`, `6 days`."""
    if seconds < 60:
        return f"{max(0, int(seconds))} s"
    if seconds < 3600:
        return f"{int(seconds // 60)} min"
    if seconds < 48 * 3600:
        return f"{int(seconds // 3600)} h"
    return f"{int(seconds // 86400)} days"


def as_yaml(content: Any) -> str:
    """JSON content as YAML; texts of several lines as such."""
    text: str = yaml.dump(content, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=_ANY_WIDTH)
    return text.rstrip("\n")


class _Dumper(yaml.SafeDumper):
    pass


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    # In quotes YAML writes out what can't be seen; elsewhere some of it counts as the end of a line.
    style = '"' if plain(text) != text else "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)


def _left(approval: ApprovalSummary) -> str:
    return span(approval.seconds_left)


def _when(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M %Z}"
