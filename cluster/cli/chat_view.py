"""How `signoff chat` looks: answers on stdout as they come, all that is said about them dim on stderr.

So the output of a command can be piped on. Whatever the site tells is made plain first.
"""

import json
import shlex
import sys
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict
from rich.console import Console
from rich.text import Text

from cluster.plain_text import one_line, plain

HELP = """\
/new            begin a new conversation
/topic TOPIC    what the next messages are about; without TOPIC: anything
/task [ID]      how far a task is; without ID: the last one
/cancel [ID]    stop a task
/help           this
/quit           leave, as Ctrl-D does; Ctrl-C stops an answer"""

_ENDS = {
    "limited": "the budget for one message ran out: this is what there was by then",
    "interrupted": "the answer was interrupted: this is what there was by then",
    "failed": "the answer failed: this is what there was by then",
}


class SiteMessage(BaseModel):
    """What the site tells, as far as it is needed here: a newer Signoff may say more."""

    model_config = ConfigDict(frozen=True)


class WaitingState(SiteMessage):
    """What waits for a human, of a task."""

    current_article_id: int | None = None
    approval_pending: bool = False
    approval_request_id: int | None = None


class WholeAnswer(SiteMessage):
    """A whole answer."""

    response: str
    agent_type: str
    tools_used: tuple[str, ...]
    workflow_state: WaitingState | None
    task_id: str | None
    status: str
    conversation_id: str
    # Absent from a replica of the release before.
    message_id: int | None = None
    topic: str | None
    took_as: str | None = None


class TaskStanding(SiteMessage):
    """Where a task stands."""

    task_id: str
    kind: str
    status: str
    reason: str | None = None
    error: str | None
    result: dict[str, Any] | None
    workflow_state: WaitingState


class View(Protocol):
    """Where a conversation is shown."""

    def routed(self, agent_type: str, topic: str | None) -> None:
        """Who answers, and about what."""

    def text(self, piece: str) -> None:
        """A piece of an answer."""

    def broken(self) -> None:
        """The connection broke; the answer comes again, from its beginning."""

    def done(self, answer: WholeAnswer, told: dict[str, Any]) -> None:
        """The answer is whole; `told` is all that the site says of it."""

    def task(self, task: TaskStanding, told: dict[str, Any]) -> None:
        """Where a task stands."""

    def note(self, lines: str) -> None:
        """What the command itself has to say."""

    def end(self, why: str | None = None) -> None:
        """An answer is over before it is whole; what comes next begins on a line of its own."""


class TerminalView:
    """For people. `in_loop`: there is a prompt to type commands at."""

    def __init__(self, *, in_loop: bool) -> None:
        self._in_loop = in_loop
        # Whatever is printed there is text, whoever wrote it.
        self._about = Console(stderr=True, markup=False, emoji=False, highlight=False, soft_wrap=True)
        # Of the answer that is being shown: its text so far; what an answer before it, that broke off, had.
        self._told = ""
        self._before: str | None = None

    def routed(self, agent_type: str, topic: str | None) -> None:
        """A sign of life: the text may take a while."""
        if self._before is None:
            self._dim(f"{agent_type}, {topic}" if topic else agent_type)

    def text(self, piece: str) -> None:
        """At once. Of an answer that comes again, what is shown already is not shown twice."""
        self._told += piece
        if self._before is None:
            self._write(piece)
        elif self._told.startswith(self._before):
            self._write(self._told[len(self._before) :])
            self._before = None
        elif not self._before.startswith(self._told):
            self._another()

    def broken(self) -> None:
        """What is shown stays. When it breaks again, the longer one was."""
        self._before, self._told = max(self._before or "", self._told, key=len), ""

    def done(self, answer: WholeAnswer, told: dict[str, Any]) -> None:
        """End the text, and say how it came about."""
        if self._before not in (None, self._told):
            self._another()
        self.end()
        if answer.took_as:
            self._dim(answer.took_as)
        if answer.status in _ENDS:
            self._dim(_ENDS[answer.status])
        if answer.tools_used:
            self._dim(f"with {', '.join(answer.tools_used)}")
        if answer.task_id is not None:
            self._dim(
                f"task {answer.task_id} goes on; how far it is: {self._command('/task', answer.task_id)}"
            )
        self._waiting(answer.workflow_state)
        if not self._in_loop:
            asks = answer.status == "asks" and answer.message_id is not None
            yes = f" --answers {answer.message_id} yes" if asks else ""
            self._dim(f"to go on: signoff chat --conversation {shlex.quote(answer.conversation_id)}{yes}")

    def task(self, task: TaskStanding, told: dict[str, Any]) -> None:
        """A few lines."""
        self._write(f"{one_line(f'{task.task_id}  {task.kind}  {task.status}')}\n")
        if task.error:
            self._write(f"error    {one_line(task.error)}\n")
        if task.reason:
            self._write(f"why      {one_line(task.reason)}\n")
        if task.workflow_state.current_article_id is not None:
            self._write(f"article  {task.workflow_state.current_article_id}\n")
        for name, value in (task.result or {}).items():
            if name != "article_id" and value not in (None, "", []):
                self._write(f"{one_line(name):8} {_shown(value)}\n")
        self._waiting(task.workflow_state)

    def note(self, lines: str) -> None:
        """Dim."""
        for line in lines.splitlines():
            self._dim(line)

    def end(self, why: str | None = None) -> None:
        """End the line, and say why."""
        if (shown := self._told or self._before) and not shown.endswith("\n"):
            self._write("\n")
        self._told, self._before = "", None
        if why is not None:
            self._dim(why)

    def _waiting(self, state: WaitingState | None) -> None:
        if state is not None and state.approval_pending:
            approval = (
                "" if state.approval_request_id is None else f" as approval {state.approval_request_id}"
            )
            self._dim(f"it waits for another person to sign off{approval}: see signoff approvals")

    def _command(self, name: str, value: str) -> str:
        line = f"{name} {value}"
        return line if self._in_loop else f"signoff chat {shlex.quote(line)}"

    def _another(self) -> None:
        self._before = None
        self._write("\n")
        self._dim("it is another answer now:")
        self._write(self._told)

    def _write(self, text: str) -> None:
        # Not by way of a console, which Ctrl-C could make say it twice.
        encoding = sys.stdout.encoding or "utf-8"
        sys.stdout.write(plain(text).encode(encoding, "backslashreplace").decode(encoding))
        sys.stdout.flush()

    def _dim(self, line: str) -> None:
        self._about.print(Text(one_line(line), style="dim"))


class JsonView:
    """For scripts: a line of JSON for each answer and each task, as the site tells them."""

    def routed(self, agent_type: str, topic: str | None) -> None:
        """It is in the answer."""

    def text(self, piece: str) -> None:
        """It is in the answer."""

    def broken(self) -> None:
        """Only a whole answer is told."""

    def done(self, answer: WholeAnswer, told: dict[str, Any]) -> None:
        """One line."""
        self._line(told)

    def task(self, task: TaskStanding, told: dict[str, Any]) -> None:
        """One line."""
        self._line(told)

    def note(self, lines: str) -> None:
        """Nothing that a script needs."""

    def end(self, why: str | None = None) -> None:
        """Nothing was told of it."""

    def _line(self, told: dict[str, Any]) -> None:
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()


def _shown(value: object) -> str:
    return one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
