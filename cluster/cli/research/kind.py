"""Researches, as their terminal shows them: `cluster.cli.gated.kind`."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from rich.console import Console

from cluster.cli.gated.following import WITHOUT_RESULT
from cluster.cli.gated.gate import WaitingContent
from cluster.cli.gated.kind import AtGate, TerminalKind
from cluster.cli.gated.work import Work
from cluster.cli.printing import command_line, in_words, row
from cluster.cli.research.changes import AtResearchGate
from cluster.cli.research.gate_view import show_content
from cluster.cli.research.view import progress_line, show_message, show_status
from cluster.cli.research.words import GATE_WORDS, came_to, standing
from models.record import Record
from models.research.agent_workflows import ResearchStatusResponse
from models.research.following import AgentMessage, ResearchMessages, ResearchResults
from models.research.gates import CONTENT_OF_GATE


class Researches(TerminalKind[ResearchStatusResponse]):
    """Pages are found, people say which are read, and what they say is put together."""

    record = ResearchStatusResponse
    contents: ClassVar[Mapping[str, type[Record]]] = CONTENT_OF_GATE
    words = GATE_WORDS

    def show_content(self, gate: WaitingContent, console: Console) -> None:
        show_content(self.shown_at(gate), gate, console)

    def show_status(self, status: ResearchStatusResponse, console: Console) -> None:
        show_status(status, console)

    def progress(self, status: ResearchStatusResponse) -> str:
        return progress_line(status)

    def news(
        self,
        work: Work,
        number: object,
        status: ResearchStatusResponse,
        before: ResearchStatusResponse | None,
        seen: int,
    ) -> Iterator[AgentMessage]:
        after: int | None = seen
        while after is not None:
            page = work.get(ResearchMessages, f"/{number}/messages", after=after, limit=100)
            yield from page.messages
            after = page.next_after

    def show_news(self, told: AgentMessage, console: Console) -> None:
        show_message(told, console)

    def ended(self, work: Work, number: object, status: ResearchStatusResponse, console: Console) -> int:
        if status.status != "completed":
            row(console, "ended", in_words(status.status))
            if told := status.reason or status.error:
                row(console, "why" if status.reason else "error", told)
            return 1 if status.status == "failed" else WITHOUT_RESULT
        came = work.get(ResearchResults, f"/{number}/results")
        row(console, "ended", standing(status.status, came.result.outcome if came.result else None))
        if came.result is None:
            return WITHOUT_RESULT
        row(console, "result", came_to(came.result, came.ended_by))
        if came.reason:
            row(console, "why", came.reason)
        command_line(console, "read it", work.command("result", number))
        return 0 if came.result.outcome == "done" else WITHOUT_RESULT

    def at(self, gate: WaitingContent) -> AtGate:
        return AtResearchGate(gate.digest, self.shown_at(gate))

    def decision_path(self, gate: WaitingContent, number: object, reply: Any) -> str:
        return f"/{number}/approve"


RESEARCH = Researches()
