"""Operations, as their terminal shows them: `cluster.cli.gated.kind`."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from rich.console import Console

from cluster.cli.gated.following import WITHOUT_RESULT
from cluster.cli.gated.gate import WaitingContent
from cluster.cli.gated.kind import AtGate, TerminalKind
from cluster.cli.gated.work import Work
from cluster.cli.operations.answers import AtOperationGate
from cluster.cli.operations.gate_view import show_content
from cluster.cli.operations.view import progress_line, show_entry, show_status
from cluster.cli.operations.words import GATE_WORDS, standing
from cluster.cli.printing import command_line, row
from models.operations.decisions import AgentDecision, PlanDecision
from models.operations.gates import CONTENT_OF_OPERATION_GATE
from models.operations.history import ExecutionContext, HistoryEntry
from models.operations.operations import OperationStatusResponse
from models.record import Record


class Operations(TerminalKind[OperationStatusResponse]):
    """Agents read systems by a plan, and people sign off."""

    record = OperationStatusResponse
    contents: ClassVar[Mapping[str, type[Record]]] = CONTENT_OF_OPERATION_GATE
    words = GATE_WORDS

    def show_content(self, gate: WaitingContent, console: Console) -> None:
        show_content(self.shown_at(gate), gate, console)

    def show_status(self, status: OperationStatusResponse, console: Console) -> None:
        show_status(status, console)

    def progress(self, status: OperationStatusResponse) -> str:
        return progress_line(status)

    def news(
        self,
        work: Work,
        number: object,
        status: OperationStatusResponse,
        before: OperationStatusResponse | None,
        seen: int,
    ) -> Iterator[HistoryEntry]:
        # Its history is read again where it stands otherwise.
        if before is None or _stands(before) != _stands(status):
            found = work.get(ExecutionContext, f"/{number}/history")
            yield from (entry for entry in found.execution_history if entry.id > seen)

    def show_news(self, told: HistoryEntry, console: Console) -> None:
        show_entry(told, console)

    def ended(self, work: Work, number: object, status: OperationStatusResponse, console: Console) -> int:
        row(console, "ended", standing(status.status, status.outcome))
        if told := status.reason or status.error:
            row(console, "why" if status.reason else "error", told)
        if (status.status, status.outcome) == ("completed", "completed"):
            as_file = ("--format", "pdf", "--output", f"operation-{number}.pdf")
            command_line(console, "read it", work.command("results", number))
            command_line(console, "export it", work.command("export", number, *as_file))
            return 0
        command_line(console, "what was", work.command("history", number))
        return 1 if status.status == "failed" else WITHOUT_RESULT

    def at(self, gate: WaitingContent) -> AtGate:
        return AtOperationGate(gate, self.shown_at(gate))

    def decision_path(self, gate: WaitingContent, number: object, reply: Any) -> str:
        if isinstance(reply, AgentDecision):
            return f"/{number}/agent"
        return f"/{number}/{'plan' if isinstance(reply, PlanDecision) else 'results'}"


OPERATIONS = Operations()


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
