"""The marks within a line, as Markdown: what is strong, code or quoted, and where the page breaks it.

Called by `page_parts`. Words in `<q>` are in “…”, or in ‘…’ within others.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_RUN = re.compile(r"[^\S\n]+")
_MANY = re.compile(r"\n{3,}")
_OPENS_OR_CLOSES = "“„«»”\"'‘’"
# Pieces of a line that are looked at for a quotation that is still open.
_NEAR = 20
_SINGLE = str.maketrans("“”", "‘’")
_MARKS = {"b": "**", "strong": "**", "i": "*", "em": "*"}


@dataclass(slots=True)
class LinePiece:
    """Some text of a line."""

    text: str
    is_link: bool = False
    is_set: bool = False  # its white space is settled


def inline_marks(element: Any, inner: list[LinePiece], before: Sequence[LinePiece]) -> list[LinePiece]:
    """What an element within a line comes to, of what it holds."""
    tag = element.tag
    if tag == "br":
        return [LinePiece(text="\n", is_set=True)]
    if tag == "a":
        return [_linked(piece) for piece in inner]
    if tag in ("code", "kbd", "samp", "tt"):
        return _wrapped(inner, "`", "`")
    if tag == "q":
        return _quoted(inner, before)
    if mark := _MARKS.get(tag):
        return _wrapped(inner, mark, mark)
    return inner


def _linked(piece: LinePiece) -> LinePiece:
    piece.is_link = True
    return piece


def _wrapped(inner: list[LinePiece], opening: str, closing: str) -> list[LinePiece]:
    """The pieces with marks around their words; none around no words, or around lines."""
    text = "".join(piece.text for piece in inner)
    bare = text.strip()
    if not bare or "\n\n" in bare or opening in bare:
        return inner
    lead, trail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    linked = all(piece.is_link for piece in inner if piece.text.strip())
    return [LinePiece(text=f"{lead}{opening}{bare}{closing}{trail}", is_link=linked)]


def _quoted(inner: list[LinePiece], before: Sequence[LinePiece]) -> list[LinePiece]:
    """The words in quotation marks, those of a quotation within them in single ones."""
    bare = "".join(piece.text for piece in inner).strip()
    if not bare or (bare[0] in _OPENS_OR_CLOSES and bare[-1] in _OPENS_OR_CLOSES):
        return inner
    said = "".join(piece.text for piece in before[-_NEAR:])
    if said.count("“") > said.count("”"):
        return _wrapped(inner, "‘", "’")
    for piece in inner:
        piece.text = piece.text.translate(_SINGLE)
    return _wrapped(inner, "“", "”")


def code_of(element: Any) -> str:
    """The lines of a block of code, as they stand."""
    return "".join(element.itertext()).strip("\n")


def flowing(pieces: Sequence[LinePiece]) -> str:
    """A line of pieces as a browser shows it: a run of white space is one space, but for set line ends."""
    told = "".join(piece.text if piece.is_set else _spaced(piece.text) for piece in pieces)
    lines = (line.strip(" ") for line in _RUN.sub(" ", told).split("\n"))
    return _MANY.sub("\n\n", "\n".join(lines)).strip()


def _spaced(text: str) -> str:
    if not text:
        return ""
    return (" " if text[0].isspace() else "") + " ".join(text.split()) + (" " if text[-1].isspace() else "")
