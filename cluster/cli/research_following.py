"""A person's researches over HTTP, and one of them followed until it ends or waits for somebody.

`signoff research` uses it. The site may be away for a while, as when it is restarted: then it is asked again.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from rich.console import Console
from rich.live import Live
from rich.text import Text

from cluster.cli.door import Door
from cluster.cli.research_view import command_line, progress_line, row, show_message
from cluster.cli.research_words import came_to, gate_words, in_words, standing
from cluster.cli.typed import typed
from cluster.plain_text import one_line
from models.errors import ClusterProblem, RequestRefused
from models.research.agent_workflows import (
    ResearchStatusResponse,
    StartRequest,
    StartResponse,
    WaitingGate,
)
from models.research.following import AgentMessage, ResearchMessages, ResearchResults
from models.research.gate_decisions import ApproveRequest, ApproveResponse

# Exit codes: what is followed waits for a person; it has ended without a result.
WAITS, WITHOUT_RESULT = 3, 4
POLL_SECONDS = 1.0
# How long a site may be away that has answered before, and a gate stay out of sight.
_PATIENCE_SECONDS = 60.0
_UNSEEN_SECONDS = 10.0
_PASSING = (429, 502, 503, 504)
_R = TypeVar("_R", bound=BaseModel)
_PATH = "/api/v1/agent-workflows"
_SHORT_DIGEST = 12


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


def read(expected: type[_R], told: Any) -> _R:
    """What a site tells; a newer one may say more. Raises ClusterProblem."""
    try:
        return expected.model_validate(told, extra="ignore")
    except ValidationError as error:
        raise ClusterProblem("an answer is not as Signoff writes them: see --url") from error


class ProgressShown:
    """How far something is: one line below all others on a terminal, elsewhere each that is new."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live: Live | None = None
        self._last = ""

    def show(self, line: str) -> None:
        """In place of what was shown before."""
        if not self._console.is_terminal or self._console.is_dumb_terminal:
            if line != self._last:
                row(self._console, "progress", line)
            self._last = line
            return
        if self._live is None:
            self._live = Live(console=self._console, transient=True, auto_refresh=False)
            self._live.start()
        self._live.update(Text(one_line(line), "dim"), refresh=True)

    def close(self) -> None:
        """Nothing of it stays on a terminal."""
        if self._live is not None:
            self._live.stop()
            self._live = None


class Following:
    """Shows a research until it has ended, or waits for a person who isn't asked here.

    `settle` has the person decide at a gate, and tells which one was decided on: None if none was. Without it
    nobody is asked.
    """

    def __init__(
        self,
        researches: Researches,
        research_id: int,
        console: Console,
        settle: Callable[[WaitingGate], WaitingGate | None] | None,
    ) -> None:
        self._researches = researches
        self._id = research_id
        self._console = console
        self._settle = settle
        self._progress = ProgressShown(console)
        self._seen = 0
        # Gates that were decided on or told of here; nobody is asked twice about the same.
        self._done: set[tuple[str, str]] = set()
        self._unseen_since: float | None = None
        self._away_since: float | None = None

    def run(self) -> int:
        """Follow it; the exit code.

        Raises:
            RequestRefused, ClusterProblem: see `Door.ask`; a site that was there is waited for a while.
        """
        try:
            while True:
                code = self._step()
                if code is not None:
                    return code
        finally:
            self._progress.close()

    def _step(self) -> int | None:
        status = self._look()
        if status is None:
            time.sleep(POLL_SECONDS)
            return None
        if status.status in ("completed", "failed", "stopped"):
            self._progress.close()
            return self._ended(status)
        self._progress.show(progress_line(status))
        code, decided = self._at_gate(status, status.approval)
        if code is None and not decided:
            time.sleep(POLL_SECONDS)
        return code

    def _look(self) -> ResearchStatusResponse | None:
        """Where it stands, with what was said until then; None while the site is away."""
        try:
            status = self._researches.status(self._id)
            for message in self._researches.messages(self._id, after=self._seen):
                show_message(message, self._console)
                self._seen = message.id
        except (ClusterProblem, RequestRefused) as error:
            passing = isinstance(error, ClusterProblem) or error.facts.get("status") in _PASSING
            now = time.monotonic()
            if not passing or self._away_since is None or now - self._away_since > _PATIENCE_SECONDS:
                raise
            self._progress.show(f"{error}: it is asked again")
            return None
        # Before it answers for the first time, nobody waits for it.
        self._away_since = time.monotonic()
        return status

    def _at_gate(self, status: ResearchStatusResponse, gate: WaitingGate | None) -> tuple[int | None, bool]:
        """The exit code, where it ends here; whether the person has decided."""
        if gate is None:
            return self._out_of_sight(status), False
        key = (gate.approval_id, gate.digest)
        if self._settle is None or (key not in self._done and not gate.may_decide):
            self._progress.close()
            self._waits(gate)
            self._done.add(key)
            return (WAITS if self._settle is None else None), False
        if key in self._done:
            return None, False
        self._progress.close()
        decided = self._settle(gate)
        if decided is None:
            self._waits(gate)
            return WAITS, False
        self._done |= {key, (decided.approval_id, decided.digest)}
        return None, True

    def _out_of_sight(self, status: ResearchStatusResponse) -> int | None:
        """It has just been decided on, and goes on at once; or it is not shown to this person."""
        if status.status != "awaiting_approval" or self._settle is not None:
            self._unseen_since = None
            return None
        now = time.monotonic()
        self._unseen_since = self._unseen_since or now
        if now - self._unseen_since < _UNSEEN_SECONDS:
            return None
        row(self._console, "waits", "for somebody else to decide: follow it again once that is done")
        return WAITS

    def _waits(self, gate: WaitingGate) -> None:
        told = f"for a decision on {gate_words(gate.kind)}, approval {gate.approval_id}"
        if not gate.may_decide:
            row(self._console, "waits", f"{told}, which somebody else must take")
            return
        row(self._console, "waits", told)
        on_this = ("--digest", gate.digest[:_SHORT_DIGEST])
        command_line(self._console, "read it", self._researches.command("show", self._id))
        command_line(
            self._console, "approve it", self._researches.command("decide", self._id, "approve", *on_this)
        )

    def _ended(self, status: ResearchStatusResponse) -> int:
        if status.status != "completed":
            row(self._console, "ended", in_words(status.status))
            if status.error:
                row(self._console, "error", status.error)
            return 1 if status.status == "failed" else WITHOUT_RESULT
        came = self._researches.results(self._id)
        row(self._console, "ended", standing(status.status, came.result.outcome if came.result else None))
        if came.result is None:
            return WITHOUT_RESULT
        row(self._console, "result", came_to(came.result, came.ended_by))
        command_line(self._console, "read it", self._researches.command("result", self._id))
        return 0 if came.result.outcome == "done" else WITHOUT_RESULT
