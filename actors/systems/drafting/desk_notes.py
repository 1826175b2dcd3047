"""What the desk has to know of how a draft came about: beside the text, for whoever decides, never in it.

Called by the last step of drafting. Names and reasons were written by pages and models: they are one line of
plain text each.
"""

from collections.abc import Sequence

from actors.systems.drafting.draft import Draft, Source
from models.content.drafting import Branch, Finding
from models.record import Record
from models.text import one_line, shortened

_BRANCH_NAMES: dict[Branch, str] = {
    "web_search": "web search",
    "data_download": "data download",
    "resource_query": "stored resources",
}
_MOST_OF_REASON = 300
_MOST_NAMED = 5
_NAME = 80
NOTHING_TO_QUOTE = (
    "What was found holds no sentence on what was asked that can be quoted by itself, and no figures: add "
    "sources with whole sentences or tables, or set drafting.llm.writes to prose."
)
_GUARANTEE = (
    "Put together of quotations: what stands in quotation marks is its source's, word for word, and figures "
    "were computed from the tables in the footnotes. Which sentences were chosen is no guarantee."
)


class Searched(Record):
    """What became of one branch: what it found, or why it failed.

    `note` is the branch's own word on what was wanting.
    """

    branch: Branch
    found: tuple[Finding, ...] = ()
    note: str | None = None
    failure: str | None = None


def desk_notes(
    draft: Draft | None, sources: Sequence[Source], searched: Sequence[Searched], off_subject: Sequence[str]
) -> tuple[str, ...]:
    """A line for each thing: what to check, how it was written, what was not searched or not used, samples.

    Args:
        draft: None where there was too little to write from.
        off_subject: names of what was found and is not about what was asked.
    """
    lines = []
    if draft is not None and draft.unsupported:
        lines.append(f"In no source, so check them: {'; '.join(one_line(one) for one in draft.unsupported)}")
    if draft is not None and draft.written == "quotes":
        lines.append(_GUARANTEE)
    for words, branches in (
        ("Not searched", [(s, s.failure) for s in searched if s.failure is not None]),
        ("Nothing found", [(s, s.note) for s in searched if s.failure is None and not s.found]),
        ("Only in part", [(s, s.note) for s in searched if s.failure is None and s.found and s.note]),
    ):
        told = [
            _BRANCH_NAMES[one.branch] + (f": {shortened(why, _MOST_OF_REASON)}" if why else "")
            for one, why in branches
        ]
        if told:
            lines.append(f"{words}: {'; '.join(told)}")
    if off_subject:
        lines.append(f"Found and not used, for it is not about what was asked: {_listed(off_subject)}")
    named = () if draft is None else draft.named
    unnamed = [one.finding.name for n, one in enumerate(sources, 1) if n not in named]
    if draft is not None and unnamed:
        lines.append(f"Found and named in no footnote: {_listed(unnamed)}")
    samples = [one.finding.name for n, one in enumerate(sources, 1) if n in named and one.finding.is_sample]
    if samples:
        lines.append(f"Sample data, to try things on and not for publication: {_listed(samples)}")
    return tuple(lines)


def _listed(names: Sequence[str]) -> str:
    """The first few of some names, and how many more there are."""
    told = [f"“{shortened(name, _NAME)}”" for name in names[:_MOST_NAMED]]
    more = len(names) - len(told)
    return ", ".join(told) + (f" and {more} more" if more else "")
