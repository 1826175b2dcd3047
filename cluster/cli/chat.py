"""The chat in a terminal: messages go to `POST /api/chat`, and answers are shown as they come.

`signoff chat` uses it. A connection that breaks in mid-answer is made once more with the same `request_id`,
so that nothing is answered or begun twice. Lines that begin with `/` are commands, and are not sent.
"""

import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any, TypeVar
from urllib.parse import quote

from pydantic import BaseModel, ValidationError

from cluster.cli.chat_view import HELP, SiteMessage, TaskStanding, View, WholeAnswer
from cluster.cli.door import ConnectionBroken, Door, refusal_of
from cluster.plain_text import one_line
from models.errors import ClusterProblem, InputInvalid, SignoffError

# The exit code of what Ctrl-C ended.
INTERRUPTED = 130
_YES = "yes"
_NO_TEXT = "stdin holds what is no text in UTF-8: send text"
_R = TypeVar("_R", bound=BaseModel)


class _Begun(SiteMessage):
    conversation_id: str


class _RoutedEvent(SiteMessage):
    agent_type: str
    topic: str | None


class _Text(SiteMessage):
    text: str


class Chat:
    """One person's conversation with the assistant, from the terminal."""

    def __init__(
        self,
        door: Door,
        view: View,
        *,
        topic: str | None = None,
        conversation_id: str | None = None,
        answers: int | None = None,
        says_yes: bool = False,
    ) -> None:
        """`answers` is the question that the first message answers, of an earlier conversation.

        `says_yes`: what the assistant asks back before it does anything is answered with yes.
        """
        self._door = door
        self._view = view
        self._topic = topic
        self._conversation_id = conversation_id
        self._task_id: str | None = None
        self._says_yes = says_yes
        # The message that asked for a yes last, and is not answered yet.
        self._asked = answers
        # Whether the last message was answered by what it was asked for.
        self.failed = False

    def take(self, line: str) -> bool:
        """Send a message, or carry out a command; False for `/quit`.

        Raises:
            InputInvalid: there is no such command. RequestRefused, ClusterProblem: see `Door`.
        """
        if not line.startswith("/"):
            self.say(line)
            return True
        name, _, rest = line.strip().partition(" ")
        rest = rest.strip()
        match name:
            case "/quit":
                return False
            case "/help":
                self._view.note(HELP)
            case "/new":
                self._conversation_id = self._asked = None
                self._view.note("a new conversation begins")
            case "/topic":
                self._topic = rest or None
                self._view.note(f"topic: {one_line(rest) or 'any'}")
            case "/task":
                self._task("GET", rest)
            case "/cancel":
                self._task("POST", rest)
            case _:
                raise InputInvalid(f"{name}: there is no such command: /help lists them")
        return True

    def say(self, message: str) -> None:
        """Send a message and show its answer, as it comes.

        Raises:
            RequestRefused: what went wrong, in the door's words. ClusterProblem: nobody answers, or not to
            the end, twice.
        """
        self._send(message)
        if self._asked is not None and self._says_yes:
            self._send(_YES)

    def _send(self, message: str) -> None:
        asked = {"message": message, "request_id": uuid.uuid4().hex, "stream": True}
        # What was asked here is named, for another terminal may go on with the same conversation.
        more = {"topic": self._topic, "conversation_id": self._conversation_id, "answers": self._asked}
        body = asked | {name: value for name, value in more.items() if value is not None}
        try:
            self._answer(body)
        except ConnectionBroken:
            self._view.broken()
            try:
                self._answer(body)
            except ConnectionBroken as error:
                raise ClusterProblem(f"{error}, twice: send the message again") from error

    def _answer(self, body: dict[str, Any]) -> None:
        with closing(self._door.events("/api/chat", body)) as events:
            for name, data in events:
                match name:
                    case "conversation":
                        self._conversation_id = _read(_Begun, data).conversation_id
                    case "routed":
                        routed = _read(_RoutedEvent, data)
                        self._view.routed(routed.agent_type, routed.topic)
                    case "text":
                        self._view.text(_read(_Text, data).text)
                    case "done":
                        answer = _read(WholeAnswer, data)
                        self._task_id = answer.task_id or self._task_id
                        self._asked = answer.message_id if answer.status == "asks" else None
                        self.failed = answer.status == "failed"
                        self._view.done(answer, data)
                        return
                    case "error":
                        raise _refused(data)
        raise ConnectionBroken(f"{self._door.url} ended the answer before its end")

    def _task(self, method: str, task_id: str) -> None:
        """Show a task, the last one that was begun here unless it is named; with POST, stop it first."""
        task_id = task_id or self._task_id or ""
        if not task_id:
            raise InputInvalid("which task? write its id: answers that begin one name it")
        path = f"/api/tasks/{quote(task_id, safe='', errors='replace')}" + "/cancel" * (method == "POST")
        told: dict[str, Any] = self._door.ask(
            dict[str, Any], method, path, unsure=f"whether it was stopped, /task {one_line(task_id)} says"
        )
        self._view.task(_read(TaskStanding, told), told)


def converse(chat: Chat, view: View, *, at_prompt: bool, complain: Callable[[SignoffError], None]) -> int:
    """Take line after line from stdin, until it ends or `/quit`; the exit code.

    `at_prompt`: a person types them, and Ctrl-C stops an answer only. Otherwise the exit code is 1 when
    anything went wrong. `complain` tells of it.
    """
    failed = False
    for line in _prompted() if at_prompt else _piped():
        if not line.strip():
            continue
        try:
            if not chat.take(line):
                break
            failed = failed or chat.failed
        except SignoffError as error:
            view.end()
            complain(error)
            failed = True
        except KeyboardInterrupt:
            view.end("stopped")
            if not at_prompt:
                return INTERRUPTED
    return int(failed and not at_prompt)


def _prompted() -> Iterator[str]:
    """Lines that a person types and can edit."""
    import readline  # noqa: F401  # input() edits lines with it

    while True:
        try:
            yield input("> ")
        except KeyboardInterrupt:  # what was typed is dropped
            print()
        except EOFError:
            print()
            return


def _piped() -> Iterator[str]:
    try:
        for line in sys.stdin:
            yield line.rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise InputInvalid(_NO_TEXT) from error


def whole_of_stdin() -> str:
    """One message, of many lines perhaps. Raises InputInvalid."""
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise InputInvalid(_NO_TEXT) from error


def _read(expected: type[_R], data: Any) -> _R:
    try:
        return expected.model_validate(data)
    except ValidationError as error:
        raise ClusterProblem("an answer is not as Signoff writes them: see --url") from error


def _refused(data: Any) -> Exception:
    try:
        return refusal_of(data)
    except ValueError:
        return ClusterProblem("an error is not as Signoff writes them: see --url")
