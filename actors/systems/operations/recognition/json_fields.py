"""The values of an item, each with its place, its names and what is read of it.

Called by `reading.item`. A text is read without what can't be seen in it (a zero-width space within
`INV-2041`), but quoted as it stands. Much of an item is read, and never all of one that is huge: so the time
is linear in what was found, whoever wrote it.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

# Of one item. Long texts share what there is for them; a value by which a thing is named is short.
_MOST_VALUES = 1_000
_MOST_TEXT = 16_000
_MOST_SHORT = 16_000
_SHORT = 200
_DEEPEST = 40
_MOST_BITS = 100
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f"
    "\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e01ef]"
)
_ENTITY = re.compile(r"&(?:nbsp|amp|#160|#38);")
_SAID = {"&amp;": "&", "&#38;": "&"}
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BETWEEN = re.compile(r"[^\w]+|_+")


@dataclass(frozen=True, slots=True)
class JsonField:
    """A value: its place (RFC 6901), the words of its names from the outermost in, and what is read of it.

    `value` is set where it is a number or a truth value; `text` is then how JSON writes it.
    """

    path: str
    names: tuple[tuple[str, ...], ...]
    text: str
    value: int | float | None = None
    _raw: str = ""
    _places: tuple[int, ...] = ()

    @property
    def parent(self) -> str:
        """The place of the object that it is in."""
        return self.path.rpartition("/")[0]

    @property
    def part(self) -> str:
        """The place of the thing of a list that it is in: a note, a line; empty of the item as a whole."""
        parts = self.path.split("/")
        while parts and not parts[-1].isdecimal():
            parts.pop()
        return "/".join(parts)

    def words(self, start: int, end: int) -> str | None:
        """What stands there, exactly so; None where that can't be said: halves of characters."""
        if not self._raw:
            return self.text[start:end]
        words = self._raw[self._places[start] : self._places[end]].rstrip()
        # What can't be seen behind the last character is none of its words.
        while words and _UNSEEN.match(words[-1]):
            words = words[:-1]
        return words if _is_sayable(words) else None


def leaves(data: Mapping[str, Any]) -> Iterator[JsonField]:
    """The values of an item, as many as are read.

    Fields come in the order in which Postgres keeps them (`jsonb`): what is read of an item is the
    same whether it was kept in between or not.
    """
    values, short, long = 0, _MOST_SHORT, _MOST_TEXT
    waiting: list[tuple[str, tuple[tuple[str, ...], ...], Any]] = [("", (), data)]
    while waiting and values < _MOST_VALUES:
        path, names, value = waiting.pop()
        if isinstance(value, Mapping):
            if len(names) < _DEEPEST and path.count("/") < _DEEPEST:
                inner = sorted(value.items(), key=_as_kept)[:_MOST_VALUES]
                waiting += [
                    (f"{path}/{_escaped(str(key))}", (*names, name_words(str(key))), each)
                    for key, each in reversed(inner)
                ]
            continue
        if isinstance(value, list | tuple):
            if path.count("/") < _DEEPEST:
                listed = list(enumerate(value[:_MOST_VALUES]))
                waiting += [(f"{path}/{place}", names, each) for place, each in reversed(listed)]
            continue
        values += 1
        if not _is_sayable(path):
            continue
        if isinstance(value, str):
            budget = short if len(value) <= _SHORT else long
            text = value[:budget]
            short, long = (budget - len(text), long) if len(value) <= _SHORT else (short, budget - len(text))
            if text.strip():
                yield _of_text(path, names, text)
        elif isinstance(value, bool | int | float) and _is_written(value):
            yield JsonField(path, names, json.dumps(value), value)


def _as_kept(field: tuple[Any, Any]) -> tuple[int, bytes]:
    name = str(field[0]).encode("utf-8", "surrogatepass")
    return len(name), name


def name_words(name: str) -> tuple[str, ...]:
    """The words of a field's name, in small letters: `paymentStatus` and `Payment-Status` are the same."""
    # Fields that a CRM's owner has added end so.
    apart = _BETWEEN.sub(" ", _CAMEL.sub(" ", name[:_SHORT].removesuffix("__c")))
    return tuple(apart.casefold().split())


def _of_text(path: str, names: tuple[tuple[str, ...], ...], raw: str) -> JsonField:
    if not (_UNSEEN.search(raw) or _ENTITY.search(raw)):
        return JsonField(path, names, raw)
    read: list[str] = []
    places: list[int] = []
    at = 0
    while at < len(raw):
        if (entity := _ENTITY.match(raw, at)) is not None:
            read.append(_SAID.get(entity[0], " "))
            places.append(at)
            at = entity.end()
            continue
        if not _UNSEEN.match(raw, at):
            read.append(raw[at])
            places.append(at)
        at += 1
    return JsonField(path, names, "".join(read), None, raw, (*places, len(raw)))


def _is_written(value: float) -> bool:
    """Whether JSON has a short way to write a number."""
    if isinstance(value, int):
        return value.bit_length() <= _MOST_BITS
    return math.isfinite(value)


def _is_sayable(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
