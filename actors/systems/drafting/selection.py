"""Which findings become a draft's resources (seed 000 §3.2, ResearchSubAgent). Pure.

Called by the steps of drafting, between the branches and the writing. What is stored already comes before
the same thing found again, every branch gets its turn, and what is kept fits the tools that store it.
"""

import math
from itertools import chain, zip_longest
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from models.content.articles import Cell
from models.content.drafting import NAMED, STORED_ROWS, Finding, Findings, origin
from models.record import Record
from models.runtime.approvals import content_digest
from models.text import cut, one_line, seen, shortened, storable

# What the tools that create resources take at most (actors/platform/tools/resources.py).
_NAME = 255
_DESCRIPTION = 2000
_TEXT = 1_000_000
_COLUMNS = 200
_ROWS = 50_000
_CELLS = 200_000


class Selection(Record):
    """The findings to write from, best first within their branches; `left_out` had no room.

    `off_subject` names what was found and is not about what was asked.
    """

    chosen: tuple[Finding, ...]
    left_out: int
    off_subject: tuple[str, ...] = ()


def select(findings: tuple[Findings, ...], *, most: int, off_subject: tuple[str, ...] = ()) -> Selection:
    """At most `most` of what is `usable`, each branch in its turn."""
    chosen = _in_turn([list(branch.found) for branch in findings])
    return Selection(
        chosen=tuple(chosen[:most]), left_out=max(0, len(chosen) - most), off_subject=off_subject
    )


def usable(findings: tuple[Findings, ...]) -> tuple[Findings, ...]:
    """What can become a resource, each thing once, as the tools take it."""
    fitted = [
        [fit for one in branch.found if (fit := _fitted(storable_finding(one))) is not None]
        for branch in findings
    ]
    named = next((number for number, branch in enumerate(findings) if branch.branch == NAMED), None)
    return tuple(
        branch.model_copy(update={"found": tuple(found)})
        for branch, found in zip(findings, _distinct(fitted, named=named), strict=True)
    )


def storable_finding(finding: Finding) -> Finding:
    """The finding without what neither JSON nor Postgres can keep: NUL, halves of characters, NaN.

    What is shown of it as a label or a note says nothing that can't be seen, either.
    """
    rows, columns = finding.rows, finding.columns
    texts = {name: getattr(finding, name) for name in ("name", "description", "content", "source", "url")}
    return finding.model_copy(
        update={
            **{name: None if text is None else storable(text) for name, text in texts.items()},
            "description": None if finding.description is None else seen(storable(finding.description)),
            "columns": None if columns is None else tuple(storable(column) for column in columns),
            "rows": None if rows is None else tuple(tuple(_cell(cell) for cell in row) for row in rows),
        }
    )


def _in_turn(branches: list[list[Finding]]) -> list[Finding]:
    """One of each branch, then the next of each."""
    return [one for one in chain.from_iterable(zip_longest(*branches)) if one is not None]


def _distinct(branches: list[list[Finding]], *, named: int | None = None) -> list[list[Finding]]:
    """Each thing once, in order; what is stored stays, and the same thing found elsewhere goes.

    Args:
        named: the branch of what the question named itself: what stands for one of those takes its place.
    """
    places = [(turn, number) for number, branch in enumerate(branches) for turn in range(len(branch))]

    def first(place: tuple[int, int]) -> tuple[bool, bool, int, bool, tuple[int, int]]:
        # Of a stored resource a search may know no more than a snippet, of a table no more than its words.
        finding = branches[place[1]][place[0]]
        stored = finding.resource_id is not None
        whole = -len(finding.content or "") * stored
        return not stored, finding.rows is None, whole, place[1] != named, place

    places.sort(key=first)
    kept: dict[tuple[int, int], Finding] = {}
    stands_for: dict[str, tuple[int, int]] = {}
    for place in places:
        turn, number = place
        finding = branches[number][turn]
        keys, pages = _keys(finding), _page(finding)
        # The texts of one document are several findings, of one page.
        own = number == named and all(stands_for.get(page, place)[1] == number for page in pages)
        apart = set() if finding.resource_id or own else pages
        known = next((stands_for[key] for key in (*keys, *apart) if key in stands_for), None)
        if known is None:
            kept[place] = finding
        elif number == named != known[1] and not keys.isdisjoint(stands_for):
            kept[place] = kept.pop(known)
            stands_for = {key: place if it == known else it for key, it in stands_for.items()}
            known = place
        elif finding.article_id is not None:
            # A copy that an earlier research stored: its words are the article's.
            kept[known] = kept[known].model_copy(
                update={"article_id": finding.article_id, "name": finding.name, "url": finding.url}
            )
        for key in keys | pages:
            stands_for.setdefault(key, known or place)
    return [[kept[place] for place in sorted(kept) if place[1] == number] for number in range(len(branches))]


def _keys(finding: Finding) -> set[str]:
    """What two findings have in common that are the same thing."""
    # Of a long table that is stored its newest rows are read.
    rows = None if finding.rows is None else [list(row) for row in finding.rows[-STORED_ROWS:]]
    words = " ".join((finding.content or "").split())
    keys = {content_digest({"content": words, "columns": finding.columns, "rows": rows})}
    if finding.resource_id is not None:
        keys.add(f"resource:{finding.resource_id}")
    return keys


def _page(finding: Finding) -> set[str]:
    """Where a text was read. One page may hold many tables, and one service answers for many series."""
    if not finding.url or finding.kind == "table":
        return set()
    try:
        parts = urlsplit(finding.url.strip())
    except ValueError:
        return {finding.url}
    host, path = parts.netloc.lower(), parts.path.rstrip("/")
    return {urlunsplit((parts.scheme.lower(), host, path, parts.query, ""))}


def _fitted(finding: Finding) -> Finding | None:
    """The finding as the tools take it; None where there is nothing in it."""
    body = _text(finding) if finding.kind == "text" else _table(finding)
    if body is None:
        return None
    source = shortened(finding.source, _NAME) or "unknown"
    name = shortened(finding.name, _NAME) or f"Untitled ({shortened(source, 100)})"
    return finding.model_copy(
        update={
            **body,
            "name": name,
            "source": source,
            "description": finding.description if finding.resource_id else _described(finding, source),
        }
    )


def _described(finding: Finding, source: str) -> str:
    """Where it comes from, before whatever else is said of it."""
    lines = [origin(source)]
    if finding.url and one_line(finding.url):
        lines.append(f"url: {shortened(finding.url, _DESCRIPTION // 2)}")
    if finding.description:
        lines.append(finding.description.strip())
    told = "\n".join(lines)
    return cut(told, _DESCRIPTION)


def _text(finding: Finding) -> dict[str, Any] | None:
    content = (finding.content or "").strip()[:_TEXT]
    if not any(character.isalnum() for character in content):
        return None
    return {"content": content, "columns": None, "rows": None}


def _table(finding: Finding) -> dict[str, Any] | None:
    """The table with as many rows as there is room for, the newest where they come by date."""
    columns = tuple(one_line(column)[:_NAME] for column in finding.columns or ())[:_COLUMNS]
    wide = len(finding.columns or ())
    whole = [row for row in finding.rows or () if len(row) == wide]
    if not columns or not whole:
        return None
    room = min(_ROWS, _CELLS // len(columns))
    kept = whole[-room:] if _ascends(whole) else whole[:room]
    return {"content": None, "columns": columns, "rows": tuple(row[: len(columns)] for row in kept)}


def _ascends(rows: list[tuple[Cell, ...]]) -> bool:
    """Whether the last row is the newest: the first column is the date, `YYYY-MM-DD`."""
    return str(rows[0][0]) <= str(rows[-1][0])


def _cell(cell: Cell) -> Cell:
    if isinstance(cell, str):
        return storable(cell)
    # JSON has no word for what is no number.
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell
