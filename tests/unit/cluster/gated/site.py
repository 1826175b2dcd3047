"""Commands of gated work in this process and at a terminal, and what they print of a record."""

import contextlib
import io
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console
from typer.testing import CliRunner

from cluster.cli.gated.deciding import GateTalk
from cluster.cli.gated.kind import TerminalKind
from cluster.cli.signoff import app
from models.record import Record
from models.runtime.approvals import GateShown, content_digest
from tests.fakes.gated_api import NOW, GatedApi
from tests.integration.chat.sites.chat_terminal import PROMPT, ROOT, Terminal

SURE = "[y/N]: "
WAITS, WITHOUT_RESULT = 3, 4
# What steers a terminal, or isn't seen.
STEERS = set("\x1b\x07\r\x9b\u202e\u2066\u2028\u0085\u200b")
_Api = TypeVar("_Api", bound=GatedApi)


def digest_of(record: Record) -> str:
    """As the site makes it of what a gate shows."""
    return content_digest(record.model_dump(mode="json"))


def run(api: GatedApi, token: Path, *arguments: str, stdin: str | None = None) -> Any:
    return CliRunner().invoke(app, [api.command, *arguments, *called_with(api, token)], input=stdin)


def called_with(api: GatedApi, token: Path) -> list[str]:
    """The options with which `run` calls, as commands that are told hold them."""
    return ["--config", str(token.parent / "none.yaml"), "--url", api.url, "--token-file", str(token)]


class GatedTerminal(Terminal):
    """`signoff operations` or `signoff research` on a terminal of its own."""

    def __init__(self, api: GatedApi, token: Path, *arguments: str, term: str = "dumb") -> None:
        self._ours, theirs = pty.openpty()
        command = [sys.executable, "-m", "cluster.cli.signoff", api.command, *arguments]
        environment = {**os.environ, "TERM": term, "COLUMNS": "80"}
        self._child = subprocess.Popen(
            [*command, *called_with(api, token)],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=ROOT,
            env=environment,
        )
        os.close(theirs)
        self.said = ""
        self._read = 0

    def say(self, line: str, until: str = PROMPT) -> str:
        """Type a line, and wait: what was said by then."""
        self.type(f"{line}\n")
        return self.until(until)


@contextlib.contextmanager
def at_gate(api: _Api, token: Path, **more: Any) -> Iterator[tuple[_Api, GatedTerminal]]:
    """Somebody who follows number 7 at a terminal and is asked there."""
    with api:
        for name, value in more.items():
            setattr(api, name, value)
        with GatedTerminal(api, token, "follow", "7") as terminal:
            terminal.until(PROMPT)
            yield api, terminal


def gate_of(content: dict[str, Any], kind: str, **changes: Any) -> GateShown:
    given = {
        "approval_id": "19",
        "kind": kind,
        "digest": content_digest(content),
        "title": "Decide",
        "content": content,
        "expires_at": NOW,
        "may_decide": True,
    }
    return GateShown.model_validate({**given, **changes})


def shown_on(file: io.StringIO, width: int, *, terminal: bool = False) -> Console:
    plain: dict[str, Any] = {"color_system": None, "markup": False, "emoji": False, "highlight": False}
    return Console(file=file, width=width, force_terminal=terminal, **plain)


def printed(show: Any, shown: Any, *, terminal: bool = False, width: int = 160) -> list[str]:
    """The lines that are printed of something."""
    file = io.StringIO()
    show(shown, shown_on(file, width, terminal=terminal))
    return file.getvalue().split("\n")[:-1]


def said_at(kind: TerminalKind[Any], gate: GateShown, *typed: str) -> tuple[str, Any]:
    """What is told to a person who types some lines at a gate, and then goes; and his answer as sent."""
    lines, file = iter(typed), io.StringIO()
    answer = GateTalk(kind, gate, shown_on(file, 300), lambda *_: next(lines, None)).answer()
    sent = None if answer is None else answer.model_dump(mode="json", exclude_unset=True)
    return " ".join(file.getvalue().split()), sent
