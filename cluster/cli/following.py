"""Something that goes on at a site, followed until it ends or waits for somebody.

`signoff research` and `signoff operations` use it. The site may be away for a while, as when it is
restarted: then it is asked again.
"""

import time
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from rich.console import Console
from rich.live import Live
from rich.text import Text

from cluster.cli.printing import command_line, row
from cluster.cli.settling import SHORT_DIGEST, WaitingContent
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
G = TypeVar("G", bound=WaitingContent)
_G_co = TypeVar("_G_co", bound=WaitingContent, covariant=True)


class Followed(Protocol[_G_co]):
    """What is followed. `look` asks the site how it stands, and the others tell of what it saw."""

    def look(self) -> str:
        """Its status now; what is new is printed."""

    def gate(self) -> _G_co | None:
        """The gate that waits, where this person is shown one."""

    def progress(self) -> str:
        """How far it is, on one line."""

    def ended(self) -> int:
        """Print how it ended; the exit code."""


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


class Following(Generic[G]):
    """Shows what goes on until it has ended, or waits for a person who isn't asked here.

    `settle` has the person decide at a gate, and tells which one was decided on, by approval and digest:
    None if none was. Without it nobody is asked. `waits` prints what waits, and how to decide on it.
    """

    def __init__(
        self,
        followed: Followed[G],
        console: Console,
        *,
        settle: Callable[[G], tuple[str, str] | None] | None,
        waits: Callable[[G], None],
    ) -> None:
        self._followed = followed
        self._console = console
        self._settle = settle
        self._waits = waits
        self._progress = ProgressShown(console)
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
        if status in _OVER:
            self._progress.close()
            return self._followed.ended()
        self._progress.show(self._followed.progress())
        code, decided = self._at_gate(status, self._followed.gate())
        if code is None and not decided:
            time.sleep(POLL_SECONDS)
        return code

    def _look(self) -> str | None:
        """How it stands; None while the site is away."""
        try:
            status = self._followed.look()
        except (ClusterProblem, RequestRefused) as error:
            passing = isinstance(error, ClusterProblem) or error.facts.get("status") in _PASSING
            now = time.monotonic()
            if not passing or self._answered_at is None or now - self._answered_at > _PATIENCE_SECONDS:
                raise
            self._progress.show(f"{error}: it is asked again")
            return None
        # Before it answers for the first time, nobody waits for it.
        self._answered_at = time.monotonic()
        return status

    def _at_gate(self, status: str, gate: G | None) -> tuple[int | None, bool]:
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


def tell_waits(
    console: Console, gate: WaitingContent, about: str, command: Callable[..., str], ways: dict[str, str]
) -> None:
    """Print what waits for a decision, how it is read, and by which commands it is decided.

    Args:
        command: makes a command of `show` or `decide ANSWER` that can be typed as it is.
        ways: labels, and the answers to which they lead.
    """
    told = f"for a decision on {about}, approval {gate.approval_id}"
    if not gate.may_decide:
        row(console, "waits", f"{told}, which somebody else must take")
        return
    row(console, "waits", told)
    command_line(console, "read it", command("show"))
    for label, answer in ways.items():
        command_line(console, label, command("decide", answer, "--digest", gate.digest[:SHORT_DIGEST]))
