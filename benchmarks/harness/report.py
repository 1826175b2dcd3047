"""What a benchmark found: tables, aims met or missed, notes; shown on the terminal and kept in RESULTS.md.

RESULTS.md has one section per benchmark, with the machine and the date of its own run. Running one
benchmark rewrites its own section and leaves the others as they are.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table as RichTable

RESULTS = Path(__file__).resolve().parents[1] / "RESULTS.md"
# In the order in which they stand in RESULTS.md; `faults` is `make faults`, `routing` is
# `make eval-intents`, the others are `make bench`.
SECTIONS = (
    *("engine", "recovery", "editorial_batch", "agent_start", "search", "gateway", "verbatim"),
    *("main_text", "engine_choice", "scrape", "extract", "index", "support_check"),
    *("research_intents", "linkage", "mcp_conformance", "faults", "routing"),
)
_TITLE = """# Results

Written by `make bench`, `make faults` and `make eval-intents`; figures that missed their aim are here too.
Each section is one benchmark's last full run. Times are medians of five repetitions unless it says otherwise.
"""


@dataclass(frozen=True)
class Table:
    """A table of figures. Cells are texts, already rounded and with their units in `columns`."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Aim:
    """What was aimed at, whether it was met, and what was found."""

    what: str
    met: bool
    found: str

    def __str__(self) -> str:
        return f"{'Met' if self.met else 'Missed'}: {self.what}. Found: {self.found}."


@dataclass(frozen=True)
class Report:
    """One benchmark's run. `machine` is where it ran, a line of Markdown each."""

    name: str
    measured: str
    machine: Sequence[str]
    tables: Sequence[Table]
    aims: Sequence[Aim]
    notes: Sequence[str] = field(default=())

    def show(self, console: Console) -> None:
        """Print it."""
        for table in self.tables:
            shown = RichTable(title=f"{self.name}: {table.title}", title_justify="left")
            for number, column in enumerate(table.columns):
                shown.add_column(column, justify="right" if number else "left")
            for row in table.rows:
                shown.add_row(*row)
            console.print(shown)
        for aim in self.aims:
            console.print(str(aim), style="green" if aim.met else "red", markup=False, highlight=False)
        for note in self.notes:
            console.print(f"- {note}", style="dim", markup=False, highlight=False)

    def as_markdown(self) -> str:
        """Its section of RESULTS.md."""
        blocks = [f"## {self.name}", self.measured, _bullets(self.machine)]
        for table in self.tables:
            rule = ["---", *("---:" for _ in table.columns[1:])]
            lines = [_row(table.columns), _row(rule), *map(_row, table.rows)]
            blocks += [f"**{table.title}**", "\n".join(lines)]
        blocks.append(_bullets([str(aim) for aim in self.aims]))
        if self.notes:
            blocks.append(_bullets(self.notes))
        return "\n\n".join(blocks) + "\n"


def keep(report: Report, *, order: Sequence[str], path: Path = RESULTS) -> None:
    """Put the report's section into RESULTS.md in place of its former one; sections stand in `order`."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    found = re.split(r"^## (\S+)\n", text, flags=re.MULTILINE)
    sections = dict(zip(found[1::2], found[2::2], strict=True))
    sections = {name: f"## {name}\n{body.rstrip()}\n" for name, body in sections.items()}
    sections[report.name] = report.as_markdown()
    known = [sections[name] for name in order if name in sections]
    path.write_text("\n".join([_TITLE, *known]), encoding="utf-8")


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _bullets(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
