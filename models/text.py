"""Text as it can be kept, shown and cut: each of these once, pure, and in time linear in the text.

What can be seen, `models.visible` says. Apart on purpose: `cluster.plain_text` writes out what can't be,
because whoever decides at a terminal must know of it; `models.error_lines` says errors.
"""

import re
import unicodedata
from typing import Any

from models.visible import first_hidden, shows_something, steers, unseen, without_hidden

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~]?)|\x9b[0-?]*[@-~]"
)
_LINE_ENDS = re.compile(r"[\t\n\r]")
_SPACES = ("Cc", "Zl", "Zp")
SHORT = 300


def word_list(text: str) -> list[str]:
    """The words that a module lists in one text, for people to read: between blanks."""
    return text.split()


def how_many(count: int, one: str, many: str | None = None) -> str:
    """A number and what it counts: `1 page`, `2 pages`. `many` is the plural where an s does not make it."""
    return f"{count} {one if count == 1 else many or f'{one}s'}"


def unstorable(text: str) -> str | None:
    """Why Postgres and UTF-8 can't keep a text, with what to do; None where they can. JSON can spell both."""
    if "\0" in text:
        return "holds a NUL character: leave it out"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "holds half of a surrogate pair: send whole characters"
    return None


def storable(text: str) -> str:
    """The text as Postgres, JSON and UTF-8 can keep it: without NUL, and `?` for halves of characters."""
    return without_halves(text.replace("\0", ""))


def without_halves(text: str) -> str:
    """`?` for each half of a surrogate pair: JSON can bring them in, UTF-8 can't carry them."""
    return text.encode(errors="replace").decode()


def unseen_in(text: str, *, lines: bool) -> str | None:
    """Why a text is not what people would see of it, with what to do; None where it is.

    The one rule for what people and programs write to be shown to others: no control characters, no marks
    that turn the direction of writing, nothing without a shape, no heap of marks on one letter; and where
    there is something, something to be seen. Only of `lines` may be several.
    """
    found = first_hidden(text)
    if found is None and not lines and (end := _LINE_ENDS.search(text)):
        found = end[0]
    if found is not None:
        return f"holds U+{ord(found):04X}, which steers what is shown or can't be seen: leave it out"
    if text.strip() and not shows_something(text):
        return "shows nothing: write something that can be seen"
    return None


def seen(text: str) -> str:
    """A text without what can't be seen; control characters become spaces, line ends and tabs stay."""
    return without_hidden(text, lambda character: " " if steers(character) else "")


def seen_within(value: Any) -> Any:
    """The same of each text in a JSON value, names of members too."""
    if isinstance(value, str):
        return seen(value)
    if isinstance(value, dict):
        return {seen(name): seen_within(held) for name, held in value.items()}
    return [seen_within(held) for held in value] if isinstance(value, list) else value


def one_line(text: str) -> str:
    """What is seen of a text, on one line, with one space between words."""
    return " ".join(seen(text).split())


def shortened(text: str, most: int = SHORT) -> str:
    """One line of at most `most` characters, cut between words where that loses little."""
    line = one_line(text)
    return line if len(line) <= most else _ended(line[: most - 1])


def cut(text: str, most: int) -> str:
    """At most `most` characters of a text, wherever that ends: for errors and quotations."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def cut_to_bytes(text: str, size: int) -> str:
    """At most `size` bytes of a text (and three at least), between words where that loses little."""
    start = start_of(text, size)
    return start if len(start) == len(text) else _ended(start_of(text, size - 3))


def start_of(text: str, size: int) -> str:
    """As many whole characters from its start as `size` bytes of UTF-8 hold; `?` for halves."""
    return text.encode(errors="replace")[: max(size, 0)].decode(errors="ignore")


def flat(text: str) -> str:
    """A whole text on one line: escape sequences out, a space for each control character."""
    return "".join(
        " " if unicodedata.category(char) in _SPACES else char for char in without_escapes(text)
    ).strip()


def without_escapes(text: str) -> str:
    """A text without the escape sequences that steer a terminal."""
    return _ESCAPES.sub("", text)


def printable(text: str) -> str:
    """For terminals and logs: spaces for control characters, and nothing that can't be seen, nor joiners."""
    if text.isascii() and text.isprintable():
        return text
    kept = (" " if unicodedata.category(char) in _SPACES else char for char in text)
    return "".join(char for char in kept if not unseen(char))


def _ended(start: str) -> str:
    """The beginning of a text that goes on."""
    words = start.rpartition(" ")[0]
    return (words if len(words) > len(start) // 2 else start).rstrip() + "…"
