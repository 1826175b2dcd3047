"""What a kind of gated work declares for its terminal: words, records, how they look, and what may be said.

`cluster.cli.gated` reads it; a kind is a module such as `cluster.cli.operations.kind`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

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


class Stands(Protocol):
    """How one stands, as its site tells."""

    @property
    def status(self) -> str:
        """In the site's word."""

    @property
    def reason(self) -> str | None:
        """Why it ended without what was asked for."""

    @property
    def error(self) -> str | None:
        """What it failed for."""

    @property
    def approval(self) -> WaitingContent | None:
        """The gate that waits, where this person is shown one."""


class Happened(Protocol):
    """Something that has happened in one; later ones have higher ids."""

    @property
    def id(self) -> int:
        """Its place."""


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


_S = TypeVar("_S", bound=Stands)


class TerminalKind(ABC, Generic[_S]):
    """A kind: `record` tells how one of it stands.

    `contents` are the records that its gates show, and `words` what is decided on at each, by kind of gate.
    """

    record: type[_S]
    contents: ClassVar[Mapping[str, type[Record]]]
    words: Mapping[str, str]

    def about(self, gate: WaitingContent) -> str:
        """What is decided on at a gate, in words."""
        return self.words.get(gate.kind, in_words(gate.kind))

    def shown_at(self, gate: WaitingContent) -> Record | None:
        """What a gate shows, as a record."""
        return content_of(gate, self.contents)

    def show_gate(self, gate: WaitingContent, console: Console) -> None:
        """Print what is decided on: all that it says, and its digest."""
        framed(gate, self.about(gate), console, lambda: self.show_content(gate, console))

    @abstractmethod
    def show_content(self, gate: WaitingContent, console: Console) -> None:
        """Print a gate's content, whole."""

    @abstractmethod
    def show_status(self, status: _S, console: Console) -> None:
        """Print where one stands."""

    @abstractmethod
    def progress(self, status: _S) -> str:
        """How far one is, on one line."""

    @abstractmethod
    def news(
        self, work: Work, number: object, status: _S, before: _S | None, seen: int
    ) -> Iterable[Happened]:
        """What has happened since `seen`; `before` is how it stood then."""

    @abstractmethod
    def show_news(self, told: Any, console: Console) -> None:
        """Print one thing that happened."""

    @abstractmethod
    def ended(self, work: Work, number: object, status: _S, console: Console) -> int:
        """Print how one ended; the exit code."""

    @abstractmethod
    def at(self, gate: WaitingContent) -> AtGate:
        """What a person can say at a gate."""

    @abstractmethod
    def decision_path(self, gate: WaitingContent, number: object, reply: Any) -> str:
        """Where a decision is sent."""

    def status_path(self, number: object) -> str:
        """Where one is read."""
        return f"/{number}"


def words_of(forms: Iterable[str]) -> list[str]:
    """The first word of each form."""
    return [form.split()[0] for form in forms]
