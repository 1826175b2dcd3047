"""How results of an operation look on a terminal: what agents found, what belongs together or contradicts.

`signoff operations` prints with it at the last gate and after it, as `cluster.cli.printing` says. What is
made up is marked wherever it stands.
"""

import json
from collections.abc import Mapping
from typing import Any

from rich.console import Console

from cluster.cli.approval_view import as_yaml
from cluster.cli.operations.plan_view import show_plan
from cluster.cli.operations.words import agent_words, all_agents, call_of
from cluster.cli.printing import LABEL, in_words, put, row, rows
from models.operations.evidence import Conflict, Correlation, Evidence
from models.operations.following import IterationComparison, IterationResults
from models.operations.results import (
    AgentResult,
    Analysis,
    ComprehensiveResults,
    EvidencedSentence,
    ProposedWrite,
    ResultChanges,
    ServedToolUse,
    WriteOutcome,
)
from models.text import how_many

_MOCK = "mock: not from the server"


def show_iteration(found: IterationResults, console: Console) -> None:
    """Print what an iteration came to, and who approved it."""
    by = "no" if not found.approved else f"yes, by {found.approved_by or 'a person'}"
    row(console, "operation", f"{found.operation_id}, iteration {found.iteration}")
    row(console, "approved", by)
    show_results(found.results, console)


def show_results(found: ComprehensiveResults, console: Console) -> None:
    """Print what all agents found, and what was made of it; last what they lack."""
    row(console, "plan id", f"{found.plan_id}, iteration {found.iteration}")
    put(console, "question", found.question)
    show_plan(found.plan, console)
    for result in found.results:
        show_agent_result(result, console, shown_in=found.iteration)
    for outcome in found.written_before:
        show_outcome(outcome, console)
    for match in found.matches:
        _show_match(match, console)
    for conflict in found.conflicts:
        _show_conflict(conflict, console)
    if not found.conflicts:
        row(console, "conflict", "none was found")
    figures = found.correlations
    row(
        console,
        "figures",
        f"cross-references {figures.cross_references}, consistency {figures.data_consistency}, "
        f"mentions of vendors {figures.vendor_mentions}, quality {figures.quality_score}",
    )
    _show_analysis(found.analysis, console)
    if found.changes is not None:
        show_changes(found.changes, console)
    if found.reused:
        row(console, "reused", f"{all_agents(found.reused)}: as an earlier iteration found it")
    rows(console, "missing", found.missing)
    if found.stand_ins:
        told = (
            f"what {all_agents(found.stand_ins)} found, or some of it, is made up: it is not from the server"
        )
        row(console, "mock", told)


def show_agent_result(found: AgentResult, console: Console, *, shown_in: int | None = None) -> None:
    """Print what one agent found, whole. `shown_in` is the iteration in whose results it stands."""
    how = found.metadata
    mock = "; MOCK, or some of it" if found.mocked else ""
    earlier = f"; of iteration {found.iteration}" if shown_in not in (None, found.iteration) else ""
    took = _seconds(how.execution_time)
    told = f"{found.status}; quality {how.data_quality}; by {how.service_used}; {took}"
    row(console, "agent", f"{agent_words(found.agent)}: {told}{mock}{earlier}", style="bold")
    if found.error:
        put(console, "error", found.error)
    for use in how.tool_calls:
        _show_call(use, console)
    for outcome in found.writes:
        show_outcome(outcome, console)
    if (it := found.result) is None:
        return
    put(console, "", it.summary)
    if it.leads:
        row(console, "", f"names, where others look for them: {', '.join(it.leads)}")
    for item in it.items:
        mock = f"; {_MOCK}" if item.mock else ""
        where = f"call {item.call}, {item.tool} of {item.server}, at {_place(item.path)}"
        row(console, "found", f"{item.id}: {where}{mock}")
        put(console, "", as_yaml(dict(item.data)), indent=LABEL + 2)
    if it.left_out:
        row(console, "left out", f"there was no room for {it.left_out} more")
    for write in it.proposed[len(found.writes) :]:
        row(console, "proposed", "a call that changes something; nobody has decided on it")
        show_write(write, console)


def show_changes(changes: ResultChanges, console: Console) -> None:
    """Print what is otherwise than in an iteration before."""
    if changes == ResultChanges():
        row(console, "changed", "nothing")
        return
    if changes.agents:
        row(console, "changed", f"what {all_agents(changes.agents)} found")
    rows(console, "new", (f"contradicts: {text}" for text in changes.new_conflicts))
    rows(console, "gone", (f"contradicts: {text}" for text in changes.gone_conflicts))
    rows(console, "new", (f"belongs together: {text}" for text in changes.new_correlations))
    rows(console, "gone", (f"belongs together: {text}" for text in changes.gone_correlations))


def show_comparison(found: IterationComparison, console: Console) -> None:
    """Print what is otherwise in one iteration than in another."""
    row(console, "operation", f"{found.operation_id}: iteration {found.right} beside {found.left}")
    show_changes(found.changes, console)


def show_write(write: ProposedWrite, console: Console) -> None:
    """Print a call that changes something, with all that it would send."""
    row(console, "call", call_of(write))
    put(console, "with", as_yaml(dict(write.arguments)))
    put(console, "because", write.why)


def show_outcome(found: WriteOutcome, console: Console) -> None:
    """Print what became of a call that changes something."""
    by = f" by {found.decided_by}" if found.decided_by else ""
    decided = f"; decided{by}, approval {found.approval_id}" if found.approval_id else ""
    row(console, "written", f"{found.became}{decided}", style="bold")
    if found.told:
        put(console, "", found.told)
    show_write(found.write, console)


def _show_call(use: ServedToolUse, console: Console) -> None:
    came = how_many(use.items, "thing") if use.status == "answered" else f"failed: {use.fault or 'no reason'}"
    mock = f"; {_MOCK}" if use.mock else ""
    asked = f"{use.tool} of {use.server} {_compact(use.arguments)}"
    row(console, "", f"call {use.number}: {asked}: {came}; {_seconds(use.seconds)}{mock}", style="dim")


def _show_match(match: Correlation, console: Console) -> None:
    row(
        console,
        "match",
        f"C{match.number}: {match.left} and {match.right}; score {match.score}",
        style="bold",
    )
    for one in match.matches:
        both = f"{_quoted(one.left)} and {_quoted(one.right)}"
        row(console, "", f"{in_words(one.kind)}: {both}; alike {one.score}")


def _show_conflict(conflict: Conflict, console: Console) -> None:
    told = f"K{conflict.number}: {in_words(conflict.kind)} of {conflict.about}"
    row(console, "conflict", told, style="bold")
    put(console, "", conflict.explanation)
    row(console, "", f"one side: {_quoted(conflict.left)}")
    row(console, "", f"other side: {_quoted(conflict.right)}")


def _show_analysis(found: Analysis, console: Console) -> None:
    by = f"written by {found.llm_used}" if found.llm_used else "put together by code"
    dropped = f"; dropped for want of evidence: {found.dropped}" if found.dropped else ""
    told = f"{found.status}; {by}; {_seconds(found.execution_time)}; score {found.correlation_score}{dropped}"
    row(console, "analysis", told, style="bold")
    if found.error:
        put(console, "error", found.error)
    _show_sentences("summary", found.executive_summary, console)
    _show_sentences("recommended", found.recommendations, console)


def _show_sentences(label: str, sentences: tuple[EvidencedSentence, ...], console: Console) -> None:
    for number, one in enumerate(sentences):
        put(console, "" if number else label, f"{one.text} [{', '.join(one.evidence)}]")


def _quoted(evidence: Evidence) -> str:
    return f"“{evidence.words}” ({evidence.item}, {_place(evidence.path)})"


def _place(path: str) -> str:
    return path or "its whole"


def _seconds(seconds: float) -> str:
    return f"{seconds} s"


def _compact(arguments: Mapping[str, Any]) -> str:
    return json.dumps(dict(arguments), ensure_ascii=False)
