"""What a kind of gated work declares for its terminal: words, records, how they look, and what may be said.

`cluster.cli.gated` reads it; a kind is a module such as `cluster.cli.operations.kind`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel
from rich.console import Console

from cluster.cli.asking import told_of_form
from cluster.cli.gated.gate import WaitingContent, content_of, framed
from cluster.cli.gated.work import Work
from cluster.cli.printing import in_words
from models.errors import InputInvalid
from models.record import Record

ALWAYS: Mapping[str, str] = {
    "show": "what it is about, with your changes",
    "later": "decide nothing now",
    "help": "these words",
}
Reply = BaseModel | dict[str, Any]
_UNDO = {"undo": "take back the last of your changes"}
# What decides by its word alone, for commands that a person is told to type.
_WAYS: Mapping[str, str] = {
    "approve": "approve it",
    "accept": "accept it",
    "retry": "try again",
    "decline": "decline it",
    "skip": "go on",
}


@dataclass(frozen=True)
class Wish:
    """What a person wants, before it is known what that means at the gate.

    `again` is what is to be done again, and `given` are `NAME=VALUE`, all as typed.
    """

    answer: str
    feedback: str | None = None
    again: str | None = None
    given: Sequence[str] = ()


class AtGate:
    """What a person can say at one gate.

    `answers` decide, `changes` change what is approved, and `looks` only show: each form, and what it does.
    `nothing` stands for no changes.
    """

    answers: Mapping[str, str] = {}
    changes: Mapping[str, str] = {}
    looks: Mapping[str, str] = {}
    nothing: Any = None

    @property
    def forms(self) -> Mapping[str, str]:
        """All that can be typed."""
        return {**self.answers, **self.changes, **self.looks, **(_UNDO if self.changes else {}), **ALWAYS}

    @property
    def ways(self) -> Mapping[str, str]:
        """Labels, and the answers that decide by their word alone."""
        return {_WAYS[form]: form for form in self.answers if form in _WAYS}

    def decides(self, word: str) -> bool:
        """Whether what begins with this word decides."""
        return word in words_of(self.answers)

    def changed(self, before: Any, word: str, rest: str) -> Any:
        """The changes with one more, as it was typed. Raises InputInvalid."""
        raise self.unclear(word, rest)

    def show_changed(self, changes: Any, console: Console) -> None:
        """Print what is approved in place of what was shown. Raises InputInvalid."""

    def look(self, rest: str, console: Console) -> None:
        """Print what is asked for by one of `looks`."""

    def wish(self, word: str, rest: str) -> Wish:
        """What was typed; `word` is one that decides. Raises InputInvalid."""
        raise NotImplementedError

    def reply(self, wish: Wish, changes: Any) -> Reply:
        """The decision that is sent, on exactly what the gate shows. Raises InputInvalid."""
        raise NotImplementedError

    def explain(self, reply: Any, console: Console) -> None:
        """Print what is about to be decided, where the answer says more than its name."""

    def question(self, wish: Wish, *, changed: bool) -> str:
        """Whether it is meant."""
        if wish.answer == "reject":
            return "reject this, for that reason?"
        return f"{wish.answer} this{' with these changes' if changed else ''}?"

    def unclear(self, word: str, rest: str) -> InputInvalid:
        """Why what was typed is no answer: it is none here, or something is missing, or is too much."""
        forms = [form for form in self.forms if form.split()[0] == word]
        if not forms:
            return InputInvalid(f"{word!r} is no answer here, and nothing was decided: help lists them")
        if len(forms) > 1:
            return InputInvalid(f"nothing was decided: {word}: write {'; '.join(forms)}")
        return told_of_form(forms[0], word, rest)


_S = TypeVar("_S", bound=BaseModel)


@dataclass(frozen=True)
class TerminalKind(Generic[_S]):
    """What a kind has of its own.

    Args:
        record: tells how one stands. contents: the records that its gates show, by kind of gate.
        words: what is decided on at each. progress: how far one is, on one line.
        news: what has happened since the id that comes last; before that comes how it stood then.
        ended: prints how one ended; the exit code. at: what can be said at a gate.
        decision_path, status_path: where a decision is sent, and where one is read.
    """

    record: type[_S]
    contents: Mapping[str, type[Record]]
    words: Mapping[str, str]
    show_content: Callable[[Record | None, WaitingContent, Console], None]
    show_status: Callable[[_S, Console], None]
    progress: Callable[[_S], str]
    news: Callable[[Work, object, _S, _S | None, int], Iterable[Any]]
    show_news: Callable[[Any, Console], None]
    ended: Callable[[Work, object, _S, Console], int]
    at: Callable[[WaitingContent, Record | None], AtGate]
    decision_path: Callable[[WaitingContent, object, Any], str]
    status_path: Callable[[object], str] = "/{}".format

    def about(self, gate: WaitingContent) -> str:
        """What is decided on at a gate, in words."""
        return self.words.get(gate.kind, in_words(gate.kind))

    def shown_at(self, gate: WaitingContent) -> Record | None:
        """What a gate shows, as a record."""
        return content_of(gate, self.contents)

    def at_gate(self, gate: WaitingContent) -> AtGate:
        """What a person can say at a gate."""
        return self.at(gate, self.shown_at(gate))

    def show_gate(self, gate: WaitingContent, console: Console) -> None:
        """Print what is decided on: all that it says, and its digest."""
        body = self.shown_at(gate)
        framed(gate, self.about(gate), console, lambda: self.show_content(body, gate, console))


def words_of(forms: Iterable[str]) -> list[str]:
    """The first word of each form."""
    return [form.split()[0] for form in forms]
