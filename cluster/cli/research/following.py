"""A person's researches over HTTP, and one of them as it is followed.

`signoff research` uses it.
"""

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel
from rich.console import Console

from cluster.cli.door import Door
from cluster.cli.following import WITHOUT_RESULT, tell_waits
from cluster.cli.printing import command_line, in_words, row
from cluster.cli.records import read
from cluster.cli.research.view import progress_line, show_message
from cluster.cli.research.words import came_to, gate_words, standing
from cluster.cli.typed import typed
from models.research.agent_workflows import (
    ResearchStatusResponse,
    StartRequest,
    StartResponse,
    WaitingGate,
)
from models.research.following import AgentMessage, ResearchMessages, ResearchResults
from models.research.gate_decisions import ApproveRequest, ApproveResponse

_R = TypeVar("_R", bound=BaseModel)
_PATH = "/api/v1/agent-workflows"


class Researches:
    """The researches that one person may see. `options` are those with which the person called."""

    def __init__(self, door: Door, options: Sequence[str] = ()) -> None:
        self._door = door
        self._options = tuple(options)
        self.url = door.url

    def command(self, *words: object) -> str:
        """A command of `signoff research` to type next, with the options with which the person called."""
        return typed(["research", *words], self._options)

    def told(self, path: str, **params: Any) -> dict[str, Any]:
        """What the site answers to GET, as it is."""
        given = {name: value for name, value in params.items() if value is not None}
        return self._door.ask(dict[str, Any], "GET", f"{_PATH}{path}", params=given)

    def start(self, request: StartRequest) -> StartResponse:
        """Begin one. The same `request_id` never begins a second one."""
        return self._post(
            StartResponse,
            "/start",
            request,
            unsure=f"run it again with --request-id {request.request_id}: it is the same research then",
        )

    def status(self, research_id: int) -> ResearchStatusResponse:
        """How far one is, and the gate that waits."""
        return read(ResearchStatusResponse, self.told(f"/{research_id}"))

    def messages(self, research_id: int, *, after: int) -> Iterator[AgentMessage]:
        """What its agents have said since the message of that id, the oldest first."""
        following: int | None = after
        while following is not None:
            page = read(ResearchMessages, self.told(f"/{research_id}/messages", after=following, limit=100))
            yield from page.messages
            following = page.next_after

    def results(self, research_id: int) -> ResearchResults:
        """What one has come to so far."""
        return read(ResearchResults, self.told(f"/{research_id}/results"))

    def decide(self, research_id: int, answer: ApproveRequest) -> ApproveResponse:
        """Send an answer. RequestRefused: nothing has changed."""
        unsure = f"whether it was decided, `{self.command('show', research_id)}` says"
        return self._post(ApproveResponse, f"/{research_id}/approve", answer, unsure=unsure)

    def stop(self, research_id: int, reason: str | None) -> str:
        """Stop one for good; its status then."""
        body = {} if reason is None else {"reason": reason}
        unsure = f"whether it was stopped, `{self.command('show', research_id)}` says"
        path = f"{_PATH}/{research_id}/stop"
        told = self._door.ask(dict[str, Any], "POST", path, json=body, unsure=unsure)
        return str(told.get("status", "stopped"))

    def _post(self, expected: type[_R], path: str, body: BaseModel, *, unsure: str) -> _R:
        sent = body.model_dump(mode="json", exclude_unset=True)
        told = self._door.ask(dict[str, Any], "POST", f"{_PATH}{path}", json=sent, unsure=unsure)
        return read(expected, told)


class FollowedResearch:
    """One research, as it is followed: `cluster.cli.following.Followed`."""

    def __init__(self, researches: Researches, research_id: int, console: Console) -> None:
        self._researches = researches
        self._id = research_id
        self._console = console
        self._seen = 0
        self._status: ResearchStatusResponse | None = None

    def look(self) -> str:
        """Its status now, with what its agents have said until then."""
        self._status = self._researches.status(self._id)
        for message in self._researches.messages(self._id, after=self._seen):
            show_message(message, self._console)
            self._seen = message.id
        return self._status.status

    def gate(self) -> WaitingGate | None:
        """The gate that waits."""
        return self._seen_status.approval

    def progress(self) -> str:
        """How far it is."""
        return progress_line(self._seen_status)

    def ended(self) -> int:
        """Print how it ended; the exit code."""
        status = self._seen_status
        if status.status != "completed":
            row(self._console, "ended", in_words(status.status))
            if told := status.reason or status.error:
                row(self._console, "why" if status.reason else "error", told)
            return 1 if status.status == "failed" else WITHOUT_RESULT
        came = self._researches.results(self._id)
        row(self._console, "ended", standing(status.status, came.result.outcome if came.result else None))
        if came.result is None:
            return WITHOUT_RESULT
        row(self._console, "result", came_to(came.result, came.ended_by))
        if came.reason:
            row(self._console, "why", came.reason)
        command_line(self._console, "read it", self._researches.command("result", self._id))
        return 0 if came.result.outcome == "done" else WITHOUT_RESULT

    def waits(self, gate: WaitingGate) -> None:
        """Print that somebody is to decide, and how."""
        tell_waits(
            self._console,
            gate,
            gate_words(gate.kind),
            lambda verb, *words: self._researches.command(verb, self._id, *words),
            {"approve it": "approve"},
        )

    @property
    def _seen_status(self) -> ResearchStatusResponse:
        assert self._status is not None, "it is looked at first"
        return self._status
