"""Labels and what stands beside them: how the commands that people type print what they were told.

What pages, people and models wrote is made plain first, is never markup, and stands to the right of a
label, on wrapped lines too: no title can look like part of a command.
"""

import json
from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cluster.plain_text import one_line, plain

LABEL = 12


def put(console: Console, label: str, value: str, *, indent: int = LABEL, style: str = "") -> None:
    """A label, and lines beside it. They are wrapped on a terminal, and whole in a file or a pipe."""
    text = Text(plain(value), style)
    if console.is_terminal:
        lines = text.wrap(console, max(20, console.width - indent), overflow="fold")
    else:
        lines = text.split("\n", allow_blank=True)
    for number, line in enumerate(lines or [Text()]):
        console.print(Text(f"{'' if number else label:<{indent}}") + line, soft_wrap=True)


def row(console: Console, label: str, value: object, *, indent: int = LABEL, style: str = "") -> None:
    """The same of what belongs on one line."""
    put(console, label, one_line(str(value)), indent=indent, style=style)


def rows(console: Console, label: str, values: Iterable[str]) -> None:
    """Several under one label."""
    for number, value in enumerate(values):
        row(console, "" if number else label, value)


def command_line(console: Console, label: str, command: str) -> None:
    """A command to type next, on one line however wide the terminal is: it is copied whole."""
    console.print(Text(f"{label:<{LABEL}}{one_line(command)}"), soft_wrap=True)


def listing(
    console: Console, names: Iterable[str], rows: Iterable[tuple[Iterable[object], str, str | None]]
) -> None:
    """A table; last in each row what was asked for and, below it, why it ended without that."""
    shown = Table(box=None, pad_edge=False)
    for name in (*names, "question"):
        shown.add_column(name, no_wrap=name in ("id", "asked for"), overflow="fold")
    for cells, asked, reason in rows:
        told = Text("\n".join(one_line(part) for part in (asked, reason) if part))
        shown.add_row(*(Text(one_line(str(cell))) for cell in cells), told)
    console.print(shown)


def why(console: Console, reason: str | None, error: str | None) -> None:
    """Why something ended without what was asked for, or what it failed for."""
    if told := reason or error:
        row(console, "why" if reason else "error", told)


def print_json(told: Any) -> None:
    """What a site told, for scripts: all but ASCII is escaped, so nothing in it can steer a terminal."""
    print(json.dumps(told, indent=2))


def in_words(name: str) -> str:
    """A name such as `awaiting_approval`, for people."""
    return name.replace("_", " ")
