"""Run the parts of the bring-up: each as soon as those it needs are up, several at a time.

A part knows two things: how to see that all is well (`check`) and how to make it so (`repair`). That
is all there is to `signoff up`: running it again checks everything and repairs only what is missing.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from cluster.plain_text import last_line
from models.errors import ClusterProblem, SignoffError

Say = Callable[[str], None]


class ClusterPart(Protocol):
    """One part of the cluster. Those in `after` must be up before it is looked at."""

    @property
    def name(self) -> str:
        """What it is called in the table."""
        ...

    @property
    def after(self) -> tuple[str, ...]:
        """The parts it needs."""
        ...

    def check(self) -> str | None:
        """A short detail when the part is up and answers; None when it must be repaired."""
        ...

    def repair(self, say: Say) -> str:
        """Bring the part up, wait until it answers, and return the detail. `say` reports progress."""
        ...


@dataclass
class PartProgress:
    """Where one part stands. `state` is waiting, checking, starting, up or failed."""

    name: str
    state: str = "waiting"
    detail: str = ""
    begun: float | None = None
    ended: float | None = None

    @property
    def seconds(self) -> float | None:
        """How long the part has taken so far, or took."""
        return None if self.begun is None else (self.ended or time.monotonic()) - self.begun


def run_parts(
    parts: Iterable[ClusterPart], watch: Callable[[Mapping[str, PartProgress]], None]
) -> dict[str, PartProgress]:
    """Bring all parts up. `watch` is called some times a second, and once at the end.

    Raises:
        SignoffError: the first part that failed says why. Parts not begun by then don't begin.
    """
    parts = list(parts)
    progress = {part.name: PartProgress(part.name) for part in parts}
    finished = {part.name: threading.Event() for part in parts}
    failures: list[BaseException] = []
    for part in parts:
        needs = [finished[name] for name in part.after if name in finished]
        arguments = (part, needs, progress[part.name], finished[part.name], failures)
        # A daemon: when a part fails or the user interrupts, nobody waits for the others.
        threading.Thread(target=_run_part, args=arguments, name=part.name, daemon=True).start()
    while not failures and not all(event.is_set() for event in finished.values()):
        watch(progress)
        time.sleep(0.1)
    watch(progress)
    if failures:
        error = failures[0]
        raise (
            error
            if isinstance(error, SignoffError)
            else ClusterProblem(f"{type(error).__name__}: {last_line(error)}")
        ) from error
    return progress


def _run_part(
    part: ClusterPart,
    needs: list[threading.Event],
    progress: PartProgress,
    finished: threading.Event,
    failures: list[BaseException],
) -> None:
    for need in needs:
        need.wait()
    progress.begun = time.monotonic()
    progress.state = "checking"

    def say(detail: str) -> None:
        progress.detail = detail

    try:
        detail = part.check()
        if detail is None:
            progress.state = "starting"
            detail = part.repair(say)
        progress.detail, progress.state = detail, "up"
        progress.ended = time.monotonic()
        # Set only on success: what needs a failed part never begins.
        finished.set()
    except BaseException as error:  # noqa: BLE001  it is raised again by `run_parts`, in the main thread
        progress.detail, progress.state = str(error), "failed"
        progress.ended = time.monotonic()
        failures.append(error)
