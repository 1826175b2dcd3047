"""What search engines are asked: the queries of a plan, or else what a person asked, less how he asked it.

Called by discovery. The words by which people ask for research are data (`research.asking_file`); a question
that has no others is asked as it is.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from actors.platform.text.normal_form import words
from models.config.strict_yaml import faults, read_mapping
from models.errors import ConfigInvalid
from models.record import Record
from models.text import one_line

MOST_QUERIES = 8
LONGEST_QUERY = 256
# A question is looked at so far: whoever writes more has pasted a text.
_LOOKED_AT = 2_000
_MOST_TAKEN = 10


class AskingWords(Record):
    """How people ask for research in one language; see `configs/research/asking.yaml`."""

    openings: tuple[str, ...]
    links: tuple[str, ...]
    endings: tuple[str, ...]


class Asking(Record):
    """The same in all languages, in normal form, each as its words; the longest first."""

    openings: tuple[tuple[str, ...], ...]
    links: tuple[tuple[str, ...], ...]
    endings: tuple[tuple[str, ...], ...]


def read_asking(path: Path) -> Asking:
    """The words in a YAML file.

    Raises:
        ConfigInvalid: one line per fault, with the file, the key path and the reason.
    """
    raw = read_mapping(path)
    try:
        said = TypeAdapter(dict[Literal["en", "pl", "de"], AskingWords]).validate_python(raw)
    except ValidationError as error:
        raise ConfigInvalid("\n".join(faults(lambda _: path, raw, error))) from error
    parts = {}
    for name in ("openings", "links", "endings"):
        forms = {tuple(words(phrase).split()) for each in said.values() for phrase in getattr(each, name)}
        parts[name] = tuple(sorted(forms - {()}, key=lambda form: (-len(form), form)))
    return Asking(**parts)


def search_queries(question: str, plan: Sequence[str], asking: Asking) -> tuple[str, ...]:
    """One to eight queries, none of them twice, each of 256 characters at most.

    Args:
        plan: the queries of a plan; where there are none, the question is asked.
    """
    queries: dict[str, str] = {}
    for said in plan:
        query = _short(said[:_LOOKED_AT])
        if normal := words(query):
            queries.setdefault(normal, query)
    if not queries:
        return (_short(_subject(question[:_LOOKED_AT], asking)),)
    return tuple(queries.values())[:MOST_QUERIES]


def _subject(question: str, asking: Asking) -> str:
    """A question without the words around its subject."""
    written = one_line(question).split()
    # A word as it is written may be several (`e-mail`), or none (`–`).
    forms = [words(word).split() for word in written]
    first, last = 0, len(written)
    for _ in range(_MOST_TAKEN):
        after = _past(forms[:last], first, asking.openings)
        if after == first:
            break
        first = _past(forms[:last], after, asking.links)
    for _ in range(_MOST_TAKEN):
        backwards = [form[::-1] for form in forms[first:last][::-1]]
        taken = _past(backwards, 0, tuple(phrase[::-1] for phrase in asking.endings))
        if not taken:
            break
        last -= taken
    subject = " ".join(written[first:last]).strip(" ,:;–—-")
    return subject if words(subject) else " ".join(written)


def _past(forms: Sequence[Sequence[str]], start: int, phrases: Sequence[tuple[str, ...]]) -> int:
    """Where the longest of the phrases ends that begins at `start`; `start` where none does."""
    for phrase in phrases:
        at, left = start, phrase
        while left and at < len(forms) and tuple(forms[at]) == left[: len(forms[at])]:
            left = left[len(forms[at]) :]
            at += 1
        if not left:
            return at
    return start


def _short(text: str) -> str:
    """One line of so many characters at most, whole words where it can."""
    line = one_line(text)
    if len(line) <= LONGEST_QUERY:
        return line
    head, space, _ = line[: LONGEST_QUERY + 1].rpartition(" ")
    return head if space else line[:LONGEST_QUERY]
