"""The report of approved results: what Markdown and PDF say, each thing once, for people to read. Pure.

Every figure and every name is the record's; only headings and the words between them are written here. Texts
from outside stand in it as they are: each form keeps them text in its own way.
"""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from decimal import ROUND_DOWN, Decimal

from actors.systems.operations.exports.shown_evidence import (
    MarkedEvidence,
    cited_items,
    conflicts,
    correlations,
)
from models.operations.exports import ApprovedResults
from models.operations.items import SourceItem
from models.operations.plans import ANALYSIS
from models.operations.results import AgentResult, EvidencedSentence, WriteOutcome
from models.record import Record
from models.text import how_many

AGENTS: Mapping[str, str] = {
    "gmail": "Gmail",
    "accounts_payable": "Accounts payable",
    "crm": "CRM",
    "analysis": "Analysis",
}


class ReportLine(Record):
    """A value under its name. `given`: somebody's name, or what else is shown to the letter."""

    label: str
    value: str
    given: bool = False


class ReportSentence(Record):
    """Something that is claimed, with the marks of its evidence. `mock`: some of that is a stand-in's."""

    text: str
    marks: tuple[str, ...]
    mock: bool


class ReportAgent(Record):
    """What one agent read, and from where."""

    agent: str
    state: str
    summary: str
    service: str
    quality: str
    items: str
    calls: str
    seconds: str
    mock: bool


class ReportWrite(Record):
    """A call that changes something elsewhere: with what, what became of it, and who decided."""

    call: str
    arguments: str
    became: str
    by: str


class ReportItem(Record):
    """An item that something in the report rests on, and where to find it again."""

    item: str
    agent: str
    server: str
    tool: str
    call: int
    place: str
    mock: bool


class OperationReport(Record):
    """All of a report, in the order in which it is read. `warning` says what is mock data."""

    title: str
    subtitle: str
    footer: str
    warning: str | None
    question: str
    approval: tuple[ReportLine, ...]
    summary: tuple[ReportSentence, ...]
    recommendations: tuple[ReportSentence, ...]
    written_by: str
    figures: tuple[ReportLine, ...]
    conflicts: tuple[MarkedEvidence, ...]
    correlations: tuple[MarkedEvidence, ...]
    agents: tuple[ReportAgent, ...]
    writes: tuple[ReportWrite, ...]
    items: tuple[ReportItem, ...]
    missing: tuple[str, ...]


def report(approved: ApprovedResults) -> OperationReport:
    """The report of some approved results."""
    results, approval = approved.results, approved.approval
    mocked = approved.mocked
    contradicting, belonging, cited = conflicts(approved), correlations(approved), cited_items(results)
    items = tuple(_item(item, mock=item.mock or item.agent in mocked) for item in cited)
    stand_ins = {one.mark for one in (*contradicting, *belonging) if any(pair.mock for pair in one.pairs)}
    stand_ins |= {item.item for item in items if item.mock}
    people = ", ".join(vote.voter for vote in approval.votes)
    return OperationReport(
        title=approved.name,
        subtitle=f"Approved results of operation {approved.operation_id}",
        footer=f"Approval {approval.approval_id}, iteration {approval.iteration}, by {people}",
        warning=_warning(mocked),
        question=results.question,
        approval=tuple(_approval(approved)),
        summary=_sentences(results.analysis.executive_summary, stand_ins),
        recommendations=_sentences(results.analysis.recommendations, stand_ins),
        written_by=_written_by(approved),
        figures=_figures(approved),
        conflicts=contradicting,
        correlations=belonging,
        agents=tuple(_agent(one, mock=one.agent in mocked) for one in results.results),
        writes=tuple(_write(one) for one in results.writes),
        items=items,
        missing=results.missing,
    )


def share(value: float) -> str:
    """A share from 0 to 1 with two digits, cut and not rounded: nothing is told to be surer than it is."""
    return str(Decimal(str(value)).quantize(Decimal("0.01"), ROUND_DOWN))


def kind_words(kind: str) -> str:
    """A kind of match or of conflict, as people read it: `due_date` as `Due date`."""
    return kind.replace("_", " ").capitalize()


def side_agent(agent: str) -> str:
    """An agent as people read it."""
    return AGENTS.get(agent, agent)


def _approval(approved: ApprovedResults) -> Iterable[ReportLine]:
    approval = approved.approval
    for vote in approval.votes:
        yield ReportLine(label="Approved by", value=vote.voter, given=True)
        yield ReportLine(label="On", value=_moment(vote.at))
        if vote.notes:
            yield ReportLine(label="Who said", value=vote.notes)
    yield ReportLine(label="Approval", value=f"{approval.approval_id}, of iteration {approval.iteration}")
    if len(approval.votes) != 1 or approval.votes[0].at != approval.approved_at:
        yield ReportLine(label="Decided on", value=_moment(approval.approved_at))
    yield ReportLine(label="Operation", value=f"{approved.operation_id}, in the topic {approved.topic}")
    yield ReportLine(label="Asked for by", value=approved.requested_by, given=True)
    yield ReportLine(label="Asked for on", value=_moment(approved.requested_at))
    yield ReportLine(label="SHA-256 of what was shown", value=approval.digest, given=True)


def _warning(mocked: tuple[str, ...]) -> str | None:
    if not mocked:
        return None
    names = ", ".join(side_agent(agent) for agent in mocked)
    return (
        f"Mock data: what {names} answered, or some of it, is made up and comes from no real system. "
        "Do not pay or decide by it. What rests on it is marked."
    )


def _sentences(said: tuple[EvidencedSentence, ...], stand_ins: set[str]) -> tuple[ReportSentence, ...]:
    return tuple(
        ReportSentence(text=one.text, marks=one.evidence, mock=not stand_ins.isdisjoint(one.evidence))
        for one in said
    )


def _item(item: SourceItem, *, mock: bool) -> ReportItem:
    return ReportItem(
        item=item.id,
        agent=side_agent(item.agent),
        server=item.server,
        tool=item.tool,
        call=item.call,
        place=item.path,
        mock=mock,
    )


def _write(one: WriteOutcome) -> ReportWrite:
    call = one.write
    return ReportWrite(
        call=f"{call.tool} of {call.server}" + (f" at {call.address}" if call.address else ""),
        arguments=json.dumps(call.arguments, ensure_ascii=False),
        became=one.became,
        by=one.decided_by or "nobody",
    )


def _written_by(approved: ApprovedResults) -> str:
    analysis = approved.results.analysis
    if ANALYSIS not in approved.results.plan.agent_sequence:
        return "Nobody wrote about it: the plan went without the analysis."
    if analysis.status == "error":
        return f"The analysis failed: {analysis.error or 'it did not say why'}"
    if analysis.llm_used is None:
        return "Put together by code from the evidence."
    dropped = how_many(analysis.dropped, "sentence")
    left_out = f" {dropped} without evidence left out." if analysis.dropped else ""
    return f"Written by the model {analysis.llm_used} on the evidence that is named.{left_out}"


def _figures(approved: ApprovedResults) -> tuple[ReportLine, ...]:
    told = approved.results.correlations
    return (
        ReportLine(label="Pairs", value=str(told.cross_references)),
        ReportLine(label="Contradictions", value=str(len(approved.results.conflicts))),
        ReportLine(label="Vendor mentions", value=str(told.vendor_mentions)),
        ReportLine(label="Consistency (0 to 1)", value=share(told.data_consistency)),
        ReportLine(label="Quality (0 to 1)", value=share(told.quality_score)),
    )


def _agent(one: AgentResult, *, mock: bool) -> ReportAgent:
    calls = one.metadata.tool_calls
    failed = sum(call.status == "failed" for call in calls)
    found = one.result
    items = "none" if found is None else str(len(found.items))
    if found is not None and found.left_out:
        items += f", {found.left_out} left out"
    state = one.status if one.error is None else f"{one.status}: {one.error}"
    return ReportAgent(
        agent=side_agent(one.agent),
        state=f"{state}, in iteration {one.iteration}",
        summary="" if found is None else found.summary,
        service=one.metadata.service_used,
        quality=one.metadata.data_quality,
        items=items,
        calls=f"{len(calls)}, {failed} failed" if failed else str(len(calls)),
        seconds=f"{one.metadata.execution_time:.1f}",
        mock=mock,
    )


def _moment(at: datetime) -> str:
    """A moment in UTC, to the second."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
