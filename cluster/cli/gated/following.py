"""Work that goes on at a site, followed until it ends or waits for somebody.

The site may be away for a while, as when it is restarted: then it is asked again.
"""

import time
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text

from cluster.cli.gated.gate import SHORT_DIGEST, WaitingContent
from cluster.cli.gated.kind import TerminalKind
from cluster.cli.gated.work import Work
from cluster.cli.printing import command_line, row
from cluster.plain_text import one_line
from models.errors import ClusterProblem, RequestRefused

# Exit codes: what is followed waits for a person; it has ended without a result.
WAITS, WITHOUT_RESULT = 3, 4
POLL_SECONDS = 1.0
# How long a site may be away that has answered before, and a gate stay out of sight.
_PATIENCE_SECONDS = 60.0
_UNSEEN_SECONDS = 10.0
_PASSING = (429, 502, 503, 504)
_OVER = ("completed", "failed", "stopped", "cancelled")
# Has the person decide at a gate: which one was, by approval and digest; None if none was.
Settle = Callable[[WaitingContent], tuple[str, str] | None]


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
    """Shows what goes on until it has ended, or waits for a person who isn't asked here.

    Without `settle` nobody is asked: what waits is printed, and how to decide on it.
    """

    def __init__(
        self, kind: TerminalKind[Any], work: Work, number: object, console: Console, *, settle: Settle | None
    ) -> None:
        self._kind = kind
        self._work = work
        self._number = number
        self._console = console
        self._settle = settle
        self._progress = ProgressShown(console)
        # How it stood when its news were read, and the last of these.
        self._stood: Any = None
        self._seen = 0
        # Gates that were decided on or told of here; nobody is asked twice about the same.
        self._done: set[tuple[str, str]] = set()
        self._unseen_since: float | None = None
        self._answered_at: float | None = None

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
        if status.status in _OVER:
            self._progress.close()
            return self._kind.ended(self._work, self._number, status, self._console)
        self._progress.show(self._kind.progress(status))
        code, decided = self._at_gate(status.status, status.approval)
        if code is None and not decided:
            time.sleep(POLL_SECONDS)
        return code

    def _look(self) -> Any | None:
        """How it stands, with what is new printed; None while the site is away."""
        try:
            status = self._work.get(self._kind.record, self._kind.status_path(self._number))
            for told in self._kind.news(self._work, self._number, status, self._stood, self._seen):
                self._kind.show_news(told, self._console)
                self._seen = told.id
        except (ClusterProblem, RequestRefused) as error:
            passing = isinstance(error, ClusterProblem) or error.facts.get("status") in _PASSING
            now = time.monotonic()
            if not passing or self._answered_at is None or now - self._answered_at > _PATIENCE_SECONDS:
                raise
            self._progress.show(f"{error}: it is asked again")
            return None
        # Before it answers for the first time, nobody waits for it.
        self._answered_at = time.monotonic()
        self._stood = status
        return status

    def _at_gate(self, status: str, gate: WaitingContent | None) -> tuple[int | None, bool]:
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
        self._done |= {key, decided}
        return None, True

    def _out_of_sight(self, status: str) -> int | None:
        """It has just been decided on, and goes on at once; or it is not shown to this person."""
        if status != "awaiting_approval" or self._settle is not None:
            self._unseen_since = None
            return None
        now = time.monotonic()
        self._unseen_since = self._unseen_since or now
        if now - self._unseen_since < _UNSEEN_SECONDS:
            return None
        row(self._console, "waits", "for somebody else to decide: follow it again once that is done")
        return WAITS

    def _waits(self, gate: WaitingContent) -> None:
        """Print what waits for a decision, how it is read, and by which commands it is decided."""
        told = f"for a decision on {self._kind.about(gate)}, approval {gate.approval_id}"
        if not gate.may_decide:
            row(self._console, "waits", f"{told}, which somebody else must take")
            return
        row(self._console, "waits", told)
        command_line(self._console, "read it", self._work.command("show", self._number))
        for label, answer in self._kind.at_gate(gate).ways.items():
            named = ("decide", self._number, answer, "--digest", gate.digest[:SHORT_DIGEST])
            command_line(self._console, label, self._work.command(*named))
