"""Numbers of a draft in prose that none of its sources has, found by code.

Called by the drafter. Numbers, percentages, dates and names of months are compared in their normal forms;
what was computed from a table counts as its source's. They are told to whoever reads the draft.
"""

from collections.abc import Iterator

from actors.platform.figures.numbers import unsupported_numbers
from actors.platform.text.language import language_of
from actors.systems.drafting.draft import Draft, DraftBrief
from actors.systems.drafting.source_excerpts import facts
from models.content.drafting import Finding

_MOST = 10


def numbers_without_source(draft: Draft, brief: DraftBrief) -> tuple[str, ...]:
    """The numbers and dates of a draft that stand nowhere in its sources, each once; ten at most."""
    said = "\n".join([draft.headline, *(statement.text for statement in draft.statements)])
    sources = [brief.query, *(told for source in brief.sources for told in _said(source.finding))]
    computed = [sentence for told in facts(brief) for sentence in told]
    found = unsupported_numbers(said, language_of(said), sources, computed)
    return tuple(dict.fromkeys(one.text.strip() for one in found))[:_MOST]


def _said(finding: Finding) -> Iterator[str]:
    """All that a source says, each text by itself: their languages may differ."""
    yield finding.name
    if finding.description:
        yield finding.description
    if finding.content:
        yield finding.content
    if finding.rows:
        cells = [
            *(finding.columns or ()),
            *(cell for row in finding.rows for cell in row if cell is not None),
        ]
        yield " ; ".join(map(str, cells))
