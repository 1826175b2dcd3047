"""Operations, as their terminal shows them: `cluster.cli.gated.kind`."""

from collections.abc import Iterator
from typing import Any

from rich.console import Console

from cluster.cli.gated.following import WITHOUT_RESULT
from cluster.cli.gated.gate import WaitingContent
from cluster.cli.gated.kind import TerminalKind
from cluster.cli.gated.work import Work
from cluster.cli.operations.answers import AtOperationGate
from cluster.cli.operations.gate_view import show_content
from cluster.cli.operations.view import progress_line, show_entry, show_status
from cluster.cli.operations.words import GATE_WORDS, standing
from cluster.cli.printing import command_line, row, why
from models.operations.decisions import AgentDecision, PlanDecision
from models.operations.gates import CONTENT_OF_OPERATION_GATE
from models.operations.history import ExecutionContext, HistoryEntry
from models.operations.operations import OperationStatusResponse


def _news(
    work: Work,
    number: object,
    status: OperationStatusResponse,
    before: OperationStatusResponse | None,
    seen: int,
) -> Iterator[HistoryEntry]:
    """Its history is read again where it stands otherwise."""
    if before is None or _stands(before) != _stands(status):
        found = work.get(ExecutionContext, f"/{number}/history")
        yield from (entry for entry in found.execution_history if entry.id > seen)


def _stands(status: OperationStatusResponse) -> tuple[object, ...]:
    done, gate = status.progress, status.approval
    return (
        status.status,
        status.iteration,
        done.current_stage,
        done.completed_agents,
        status.updated_at,
        None if gate is None else gate.digest,
    )


def _ended(work: Work, number: object, status: OperationStatusResponse, console: Console) -> int:
    row(console, "ended", standing(status.status, status.outcome))
    why(console, status.reason, status.error)
    if (status.status, status.outcome) == ("completed", "completed"):
        as_file = ("--format", "pdf", "--output", f"operation-{number}.pdf")
        command_line(console, "read it", work.command("results", number))
        command_line(console, "export it", work.command("export", number, *as_file))
        return 0
    command_line(console, "what was", work.command("history", number))
    return 1 if status.status == "failed" else WITHOUT_RESULT


def _decision_path(gate: WaitingContent, number: object, reply: Any) -> str:
    if isinstance(reply, AgentDecision):
        return f"/{number}/agent"
    return f"/{number}/{'plan' if isinstance(reply, PlanDecision) else 'results'}"


OPERATIONS = TerminalKind(
    record=OperationStatusResponse,
    contents=CONTENT_OF_OPERATION_GATE,
    words=GATE_WORDS,
    show_content=show_content,
    show_status=show_status,
    progress=progress_line,
    news=_news,
    show_news=show_entry,
    ended=_ended,
    at=AtOperationGate,
    decision_path=_decision_path,
)
