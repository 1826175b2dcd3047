"""Goes over the lines of a tree: where a sentence has a hole, and what is a mark of a footnote in it.

Called by `settling`. An element without words is a hole only if a sentence is under way before it and goes on
behind it, on the same line. The tree is looked at once; what is to be done to it is done afterwards.
"""

import re
from typing import Any

from lxml.etree import iterwalk

from actors.systems.knowledge.parsing.parts.figures_in_text import HOLE, stands_for
from actors.systems.knowledge.parsing.parts.page_parts import BLOCKS, opens
from actors.systems.knowledge.parsing.parts.part_names import is_called
from models.text import word_list

_NO_TEXT = frozenset(
    word_list("""
        script style noscript template head map datalist title rp rt audio video canvas pre mjx-container
    """)
)
_RAISED, _LOWERED = (
    str.maketrans("0123456789+-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻"),
    str.maketrans("0123456789+-", "₀₁₂₃₄₅₆₇₈₉₊₋"),
)
# What programs call notes where they are linked to (`#fn1`, `cite_ref-4`), beside the words of languages.
_NOTE = re.compile(
    r"note-?ref|cite[_-]?(?:note|ref)|sdfoot|_ftn|\bfn(?![a-z])|\bfn-?ref|\brefs?(?![a-z])", re.IGNORECASE
)
_MARK = re.compile(
    r"[\[(]?(?:\d{1,3}(?:\s?[,–-]\s?\d{1,3}){0,5}|[a-z]|[*†‡§¶#]{1,3}|note \d{1,3})[\])]?", re.IGNORECASE
)
# What is said beside a sentence, and shown within it: it is read, and is no part of it.
_ASIDE = re.compile(
    r"(?:\b|_)(?:tool-?tip\w*|pop-?over\w*|ads?|advert\w*|sponsor\w*|promo\w*|sr-only|visually-hidden"
    r"|screen-reader\w*)(?:\b|_)",
    re.IGNORECASE,
)
_ASIDES = frozenset(("span", "small", "ins", "em", "i", "b", "strong"))
_LONGEST = 40
_KEPT = 20
# Behind a word or the end of a sentence a number counts notes; behind a unit it is a power.
_WORD_OR_END = re.compile(r"(?:[^\W\d_]{4}|[.,;:!?”\"»)])\Z")
# Behind a number it is either, but for powers of these.
_NUMBER, _BASE = re.compile(r"\d\Z"), re.compile(r"(?<![\d.,])(?:10|2)\Z")
_ENDS, _CLOSES = ".!?:…。！？", '"”“’»«)]*'


class SentenceHoles:
    """What a tree's sentences have in them that is no word: marks of notes, raised numbers, and holes."""

    def __init__(self, tree: Any) -> None:
        self.marks: list[Any] = []
        self._told: list[tuple[Any, str]] = []
        self._around: list[Any] = []
        self._raised: list[tuple[Any, str]] = []
        self._unused: list[Any] = []
        self._waiting: list[tuple[Any, str | None]] = []
        self._line = ""
        self._read(tree)

    def fill(self) -> None:
        """Put into the tree what was found."""
        for element, text in self._raised:
            element.text = text
            for child in list(element):
                element.remove(child)
        for element, told in self._told:
            holder = _holder(element, told)
            holder.tail = element.tail
            element.getparent().replace(element, holder)
        for element in self._around:
            behind = _holder(element, HOLE)
            behind.tail, element.tail = element.tail, None
            element.addnext(behind)
            element.addprevious(_holder(element, HOLE))
        for element in (*self.marks, *self._unused):
            element.drop_tree()

    def _read(self, tree: Any) -> None:
        walk = iterwalk(tree, events=("start", "end", "comment", "pi"))
        for event, element in walk:
            if event == "start":
                if self._begin(element):
                    self._say(element.text)
                else:
                    walk.skip_subtree()
            else:
                if element.tag in BLOCKS or element.tag == "br":
                    self._break()
                if element is not tree:
                    self._say(element.tail)
        self._break()

    def _begin(self, element: Any) -> bool:
        """Whether to look into an element."""
        tag = element.tag
        if tag in BLOCKS or tag == "br":
            self._break()
            return tag not in _NO_TEXT
        if element.getparent() is None or (tag == "button" and opens(element)):
            return True
        if self._is_mark(element):
            self.marks.append(element)
            return False
        if tag in ("sup", "sub"):
            self._raise(element)
            return True
        told = stands_for(element)
        if told is not None and tag != "object":
            self._wait(element, told)
            return False
        is_aside = tag == "object" or (tag in _ASIDES and _ASIDE.search(element.get("class") or ""))
        if is_aside and self._is_under_way():
            self._waiting.append((element, None))
        return tag not in _NO_TEXT

    def _wait(self, element: Any, told: str) -> None:
        if not self._is_under_way():
            if element.tag == "math":
                self._unused.append(element)
        elif told == HOLE and self._waiting and self._waiting[-1][1] == HOLE:
            self._waiting.append((element, ""))
        else:
            self._waiting.append((element, told))

    def _is_under_way(self) -> bool:
        said = self._line.rstrip().rstrip(_CLOSES)
        return bool(said) and said[-1] not in _ENDS

    def _say(self, text: str | None) -> None:
        if not text:
            return
        if text.strip():
            for element, told in self._waiting:
                if told is None:
                    self._around.append(element)
                else:
                    self._told.append((element, told))
            self._waiting = []
        self._line = (self._line + text[-_KEPT:])[-_KEPT:]

    def _break(self) -> None:
        self._unused.extend(element for element, _ in self._waiting if element.tag == "math")
        self._line, self._waiting = "", []

    def _raise(self, element: Any) -> None:
        text = _short(element)
        if not 0 < len(text) <= 4 or not text.isascii() or not text.lstrip("+-").isdigit():
            return
        if element.tag == "sub":
            self._raised.append((element, text.translate(_LOWERED)))
            return
        is_either = text.isdigit() and _NUMBER.search(self._line) and not _BASE.search(self._line)
        self._raised.append((element, HOLE if is_either else text.translate(_RAISED)))

    def _is_mark(self, element: Any) -> bool:
        """Whether an element leads to a note, or is called one, and is no more than its mark."""
        tag = element.tag
        if tag == "sub":
            return False
        called = f"{element.get('class') or ''} {element.get('role') or ''}"
        is_own = tag in ("a", "sup")
        if not is_own and not (_names_note(called) and self._line.strip()):
            return False
        text = _short(element)
        if not _MARK.fullmatch(text):
            return False
        if not is_own or element.get("role") == "doc-noteref":
            return True
        is_called = _names_note(f"{called} {element.get('id') or ''}")
        if tag == "a":
            page, number, target = (element.get("href") or "").rpartition("#")
            is_raised = element.getparent().tag == "sup"
            leads = _names_note(target) or (not page and (is_raised or not text[0].isalnum()))
            return bool(number) and (is_called or leads)
        if not text[0].isalnum() or is_called:
            return True
        if any("#" in (link.get("href") or "") for link in element.iter("a")):
            return True
        return text.isdigit() and _WORD_OR_END.search(self._line) is not None


def _names_note(names: str) -> bool:
    """Whether classes, roles or ids are those of notes."""
    return _NOTE.search(names) is not None or is_called(names, "notes")


def _short(element: Any) -> str:
    """The text of an element, or nothing where it is long."""
    text = ""
    for piece in element.itertext():
        text += piece
        if len(text) > 2 * _LONGEST:
            return ""
    return text.strip()


def _holder(beside: Any, text: str) -> Any:
    holder = beside.makeelement("span")
    holder.text = text
    return holder
