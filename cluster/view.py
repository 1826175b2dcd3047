"""How the bring-up is shown: a live table on a terminal, a line per change elsewhere."""

from collections.abc import Callable, Mapping

from rich.console import Console
from rich.live import Live
from rich.table import Table

from cluster.parts.plan import PartProgress

_STYLES = {"up": "green", "failed": "red", "starting": "yellow", "checking": "cyan", "waiting": "dim"}


class ProgressView:
    """Shows progress: a live table on a terminal, a line per change elsewhere."""

    def __init__(self, console: Console) -> None:
        self._live = Live(console=console, refresh_per_second=8) if console.is_terminal else None
        self._console = console
        self._told: dict[str, str] = {}

    def __enter__(self) -> Callable[[Mapping[str, PartProgress]], None]:
        if self._live:
            self._live.start()
        return self._watch

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._live.stop()

    def _watch(self, progress: Mapping[str, PartProgress]) -> None:
        if self._live:
            self._live.update(table(progress))
            return
        for part in progress.values():
            if part.state in ("starting", "up", "failed") and self._told.get(part.name) != part.state:
                self._told[part.name] = part.state
                seconds = f" ({part.seconds:.1f} s)" if part.ended and part.seconds is not None else ""
                detail = f": {part.detail}" if part.state == "up" else ""
                self._console.print(f"{part.name}: {part.state}{detail}{seconds}", highlight=False)


def table(progress: Mapping[str, PartProgress]) -> Table:
    """The parts as a table: name, state, detail, seconds."""
    shown = Table(box=None, pad_edge=False)
    for column in ("part", "state", "detail"):
        shown.add_column(column, overflow="ellipsis", no_wrap=True)
    shown.add_column("seconds", justify="right", min_width=7)
    for part in progress.values():
        seconds = "" if part.seconds is None else f"{part.seconds:.1f}"
        shown.add_row(part.name, f"[{_STYLES[part.state]}]{part.state}[/]", part.detail, seconds)
    return shown
