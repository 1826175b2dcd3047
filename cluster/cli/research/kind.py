"""Researches, as their terminal shows them: `cluster.cli.gated.kind`."""

from collections.abc import Iterator

from rich.console import Console

from cluster.cli.gated.following import WITHOUT_RESULT
from cluster.cli.gated.kind import TerminalKind
from cluster.cli.gated.work import Work
from cluster.cli.printing import command_line, in_words, row, why
from cluster.cli.research.changes import AtResearchGate
from cluster.cli.research.gate_view import show_content
from cluster.cli.research.view import progress_line, show_message, show_status
from cluster.cli.research.words import GATE_WORDS, came_to, standing
from models.research.agent_workflows import ResearchStatusResponse
from models.research.following import AgentMessage, ResearchMessages, ResearchResults
from models.research.gates import CONTENT_OF_GATE


def _news(
    work: Work, number: object, _: ResearchStatusResponse, __: ResearchStatusResponse | None, seen: int
) -> Iterator[AgentMessage]:
    after: int | None = seen
    while after is not None:
        page = work.get(ResearchMessages, f"/{number}/messages", after=after, limit=100)
        yield from page.messages
        after = page.next_after


def _ended(work: Work, number: object, status: ResearchStatusResponse, console: Console) -> int:
    if status.status != "completed":
        row(console, "ended", in_words(status.status))
        why(console, status.reason, status.error)
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


RESEARCH = TerminalKind(
    record=ResearchStatusResponse,
    contents=CONTENT_OF_GATE,
    words=GATE_WORDS,
    show_content=show_content,
    show_status=show_status,
    progress=progress_line,
    news=_news,
    show_news=show_message,
    ended=_ended,
    at=AtResearchGate,
    decision_path=lambda _, number, __: f"/{number}/approve",
)
