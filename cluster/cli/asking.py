"""Asking a person at a terminal: what is typed, line after line, and whether it is meant.

Unclear is not yes, and what was typed before a question was put is no answer to it.
"""

import sys
from collections.abc import Callable
from typing import Generic, TypeVar

from rich.console import Console

from cluster.cli.printing import row
from models.errors import InputInvalid

# Puts a question to the person: what he types, None where nothing more comes. With True, what was typed
# before it was put is no answer to it.
Ask = Callable[[str, bool], str | None]
_A = TypeVar("_A")


def asker(*, may_ask: bool) -> Ask | None:
    """Asks on the terminal; None where there is none."""
    if not (may_ask and sys.stdin.isatty() and sys.stdout.isatty()):
        return None
    import readline  # noqa: F401  # input() edits lines with it
    import termios

    def ask(question: str, fresh: bool) -> str | None:
        if fresh:
            termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
        try:
            return input(question)
        except EOFError:
            print()
            return None
        except UnicodeDecodeError:
            return ""

    return ask


def sure(ask: Ask, question: str) -> bool:
    """Only a plain yes is one."""
    answer = ask(f"{question} [y/N]: ", True)
    return answer is not None and answer.strip().lower() in ("y", "yes")


class TypedLines(Generic[_A]):
    """The lines that a person types at a gate, until one decides."""

    def __init__(self, console: Console, ask: Ask) -> None:
        self._console = console
        self._ask = ask
        self._fresh = True

    def until(self, take: Callable[[str, str], _A | None], hint: str) -> _A | None:
        """Give each line's first word and its rest to `take`, until that answers; None: later.

        InputInvalid of `take` is told, and more is asked for.
        """
        row(self._console, "", hint)
        while (line := self._ask("> ", self._fresh)) is not None:
            self._fresh = False
            word, _, rest = line.strip().partition(" ")
            if word == "later" and not rest:
                break
            try:
                if (answer := take(word, rest.strip())) is not None:
                    return answer
            except InputInvalid as error:
                row(self._console, "", error)
        row(self._console, "", "nothing was decided")
        return None


def told_of_form(form: str, word: str, rest: str) -> InputInvalid:
    """Why what begins like a form such as `move ID UNDER` is not it: something is missing, or too much."""
    takes = [part for part in form.split()[1:] if part != "..."]
    if missing := takes[len(rest.split()) :]:
        told = f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing: write {form}"
    else:
        told = f"it takes no more than this: {form}"
    return InputInvalid(f"nothing was decided: {word}: {told}")
