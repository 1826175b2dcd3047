"""Labels and what stands beside them: how the commands that people type print what they were told.

What pages, people and models wrote is made plain first, is never markup, and stands to the right of a
label, on wrapped lines too: no title can look like part of a command.
"""

import json
from collections.abc import Iterable
from typing import Any

from rich.console import Console
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


def named_with_reason(name: str, reason: str | None) -> Text:
    """A cell of a table: what was asked for and, below it, why it ended without that."""
    return Text("\n".join(one_line(part) for part in (name, reason) if part))


def print_json(told: Any) -> None:
    """What a site told, for scripts: all but ASCII is escaped, so nothing in it can steer a terminal."""
    print(json.dumps(told, indent=2))


def in_words(name: str) -> str:
    """A name such as `awaiting_approval`, for people."""
    return name.replace("_", " ")
