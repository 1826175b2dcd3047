"""Approved results as Markdown, for people: the report, with each claim's evidence.

What others wrote and must be shown to the letter (words, ids, places, names of people) stands in code spans,
in which no dialect makes links, images, tags, mentions or mathematics; sentences are escaped
(`actors.platform.text.markdown`). Tables are not used: how a `|` in a code span is read differs between
dialects.
"""

import re
from collections.abc import Iterable

from actors.platform.text.markdown import escaped
from actors.systems.operations.exports.report import (
    OperationReport,
    ReportAgent,
    ReportItem,
    ReportLine,
    ReportSentence,
    ReportWrite,
    kind_words,
    report,
    share,
    side_agent,
)
from actors.systems.operations.exports.shown_evidence import EvidencePair, EvidenceSide, MarkedEvidence
from models.operations.exports import ApprovedResults
from models.text import seen

_MOST = 8_000
_BREAKS = re.compile(r"[\r\n\t]")
_TICKS = re.compile(r"`+")
_MOCK = " **(mock data)**"


def as_markdown(approved: ApprovedResults) -> str:
    """The report as CommonMark: headings, lists and code spans, nothing else."""
    return "\n\n".join(_blocks(report(approved))) + "\n"


def code_span(text: str) -> str:
    """A text as it is, on one line, in a code span longer than any backticks in it (CommonMark 6.1)."""
    line = _BREAKS.sub(" ", seen(text))
    if not line.strip():
        return "*(nothing that can be seen)*"
    ticks = "`" * (max((len(run) for run in _TICKS.findall(line)), default=0) + 1)
    # One space on either side is taken off when it is shown; without it, backticks at the ends run together.
    padded = line[0] in " `" or line[-1] in " `"
    return f"{ticks} {line} {ticks}" if padded else f"{ticks}{line}{ticks}"


def _blocks(told: OperationReport) -> Iterable[str]:
    yield f"# {code_span(told.title)}"
    yield told.subtitle
    if told.warning is not None:
        yield f"> **{escaped(told.warning, _MOST)}**"
    yield _list(_line(line) for line in told.approval)
    yield "## What was asked"
    yield escaped(told.question, _MOST) or "Nothing."
    yield "## Summary"
    yield _list(_sentence(said) for said in told.summary) if told.summary else "Nothing is summed up."
    yield escaped(told.written_by, _MOST)
    if told.recommendations:
        yield "## Recommendations"
        yield _list(_sentence(said) for said in told.recommendations)
    yield "## Figures"
    yield _list(_line(line) for line in told.figures)
    yield "## What contradicts"
    if not told.conflicts:
        yield "Nothing was found that contradicts."
    for conflict in told.conflicts:
        yield f"### {conflict.mark}: {kind_words(conflict.kind)}, {code_span(conflict.about)}"
        yield escaped(conflict.explanation, _MOST)
        yield _list(_side(side) for pair in conflict.pairs for side in (pair.left, pair.right))
    yield "## What belongs together"
    if not told.correlations:
        yield "Nothing was found that belongs together."
    for one in told.correlations:
        yield f"### {one.mark}: {_score(one)}"
        yield _list(_match(pair) for pair in one.pairs)
    yield "## What was read"
    yield _list(_agent(one) for one in told.agents)
    if told.writes:
        yield "## What was changed elsewhere, or was to be"
        yield _list(_write(one) for one in told.writes)
    if told.items:
        yield "## Where the evidence is"
        yield _list(_item(item) for item in told.items)
    if told.missing:
        yield "## What is not in it"
        yield _list(escaped(text, _MOST) for text in told.missing)


def _write(one: ReportWrite) -> str:
    call = f"{code_span(one.call)} with {code_span(one.arguments)}"
    return f"{call}: {escaped(one.became, _MOST)} (decided by {code_span(one.by)})"


def _list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _line(line: ReportLine) -> str:
    value = code_span(line.value) if line.given else escaped(line.value, _MOST)
    return f"**{line.label}:** {value}"


def _sentence(said: ReportSentence) -> str:
    marks = ", ".join(escaped(mark) for mark in said.marks) or "no evidence is named"
    return f"{escaped(said.text, _MOST)} \\[{marks}\\]{_MOCK if said.mock else ''}"


def _score(one: MarkedEvidence) -> str:
    assert one.score is not None, "it is a correlation"
    return f"about the same, with a probability of {share(one.score)}"


def _match(pair: EvidencePair) -> str:
    assert pair.score is not None, "it is a match"
    sides = "\n".join(f"  - {_side(side)}" for side in (pair.left, pair.right))
    return f"{kind_words(pair.kind)}, alike by {share(pair.score)}:\n{sides}"


def _side(side: EvidenceSide) -> str:
    where = f"{escaped(side_agent(side.agent))}, {code_span(side.item)} at {_place(side.place)}"
    return f"{where}{_MOCK if side.mock else ''}: {code_span(side.words)}"


def _place(path: str) -> str:
    return code_span(path) if path else "its top"


def _agent(one: ReportAgent) -> str:
    told = (
        f"**{one.agent}** through {code_span(one.service)}: {escaped(one.state, _MOST)}; "
        f"quality {one.quality}; items: {one.items}; calls: {one.calls}; {one.seconds} s"
    )
    summary = f". {escaped(one.summary, _MOST)}" if one.summary else ""
    return told + (_MOCK if one.mock else "") + summary


def _item(item: ReportItem) -> str:
    where = f"call {item.call} of {code_span(item.tool)} on {code_span(item.server)}"
    mock = _MOCK if item.mock else ""
    return f"{code_span(item.item)}: {item.agent}, {where}, at {_place(item.place)}{mock}"
