"""A page's tree made ready to be read: no struck words, no marks of footnotes, no holes in its sentences.

Called by `main_text`, before anything else looks at the tree. Struck words are what the page takes back, and
a mark in a sentence is no word of it. 10⁶ is not 106, and Markdown has no sign for raised numbers.
"""

import re
from collections.abc import Iterator
from typing import Any

from lxml.etree import strip_tags

from actors.knowledge.reading.parts.figures_in_text import FIGURES, is_within_sentence, stands_for

_STRUCK = ("del", "s", "strike")
_STRUCK_STYLE = re.compile(r"text-decoration[a-z-]{0,10}\s{0,5}:[^;]{0,40}line-through", re.IGNORECASE)
_NOT_SHOWN = re.compile(r"display\s{0,5}:\s{0,5}none", re.IGNORECASE)
_RAISED, _LOWERED = (
    str.maketrans("0123456789+-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻"),
    str.maketrans("0123456789+-", "₀₁₂₃₄₅₆₇₈₉₊₋"),
)
# What notes are called where they are linked to: `#fn1`, `cite_ref-4`, `footnote`.
_NOTE = re.compile(r"foot-?note|\bfn|cite|\bref|endnote|noteref|sdfoot|_ftn", re.IGNORECASE)
_MARK = re.compile(
    r"[\[(]?(?:\d{1,3}(?:\s?[,–-]\s?\d{1,3}){0,5}|[a-z]|[*†‡§¶#]{1,3}|note \d{1,3})[\])]?", re.IGNORECASE
)
_LONGEST = 40
# Behind a word or the end of a sentence a number counts notes; behind a unit or a number it is a power.
_WORD_OR_END = re.compile(r"(?:[^\W\d_]{4}|[.,;:!?”\"»)])\Z")


def settle(tree: Any) -> None:
    """Make a tree ready, in place."""
    for element in tree.xpath(".//*[@style or starts-with(@class, 'katex-html')]"):
        if element.getparent() is not None and _is_twice_or_struck(element):
            element.drop_tree()
    for element in list(tree.iter("a", "sup", "sub", *_STRUCK, *FIGURES)):
        if element.getparent() is None:
            continue
        if element.tag in FIGURES:
            _tell(element)
        elif element.tag in _STRUCK or _is_mark(element):
            element.drop_tree()
        elif element.tag != "a":
            _raise(element)
    strip_tags(tree, "sup", "sub")


def _is_twice_or_struck(element: Any) -> bool:
    """Whether it shows a formula that stands beside it for machines, or what is taken back."""
    if (element.get("class") or "").startswith("katex-html"):
        return True
    style = element.get("style") or ""
    return _STRUCK_STYLE.search(style) is not None or (
        _NOT_SHOWN.search(style) is not None and element.find(".//math") is not None
    )


def _tell(figure: Any) -> None:
    """Put what stands for a figure into its sentence."""
    told = stands_for(figure)
    above = figure.getparent()
    if told is None or not is_within_sentence(_before(figure), figure.tail or "".join(_behind(figure))):
        if figure.tag == "math":
            figure.drop_tree()
        return
    holder = above.makeelement("span")
    holder.text, holder.tail = told, figure.tail
    above.replace(figure, holder)


def _behind(element: Any) -> Iterator[str]:
    """The text right behind an element that nothing follows, within two elements around it."""
    above = element.getparent()
    for _ in range(2):
        following = element.getnext()
        if following is not None:
            yield from following.itertext()
            return
        element = above
        if element is None:
            return
        yield element.tail or ""
        above = element.getparent()


def _is_mark(element: Any) -> bool:
    """Whether an element leads to a note and is no more than its mark."""
    if element.tag == "sub":
        return False
    text = "".join(element.itertext()).strip()
    if not 0 < len(text) <= _LONGEST or not _MARK.fullmatch(text):
        return False
    if element.get("role") == "doc-noteref":
        return True
    if element.tag == "a":
        target = element.get("href") or ""
        is_called = _is_called(element) or _NOTE.search(target) is not None
        is_raised = element.getparent().tag == "sup"
        return target.startswith("#") and (is_called or is_raised or not text[0].isalnum())
    if not text[0].isalnum() or _is_called(element):
        return True
    if any((link.get("href") or "").startswith("#") for link in element.iter("a")):
        return True
    return text.isdigit() and _WORD_OR_END.search(_before(element)[-4:]) is not None


def _is_called(element: Any) -> bool:
    return _NOTE.search(f"{element.get('class') or ''} {element.get('id') or ''}") is not None


def _before(element: Any) -> str:
    """The text right before an element, of the same line; within two elements around it."""
    for _ in range(3):
        before = element.getprevious()
        if before is not None:
            own = "" if before.tag == "br" or not isinstance(before.tag, str) else "".join(before.itertext())
            return own + (before.tail or "")
        element = element.getparent()
        if element is None or (element.text or "").strip() or element.tag in ("p", "li", "td", "div"):
            return "" if element is None else element.text or ""
    return ""


def _raise(element: Any) -> None:
    text = "".join(element.itertext()).strip()
    if 0 < len(text) <= 4 and text.isascii() and text.lstrip("+-").isdigit():
        element.text = text.translate(_RAISED if element.tag == "sup" else _LOWERED)
        for child in list(element):
            element.remove(child)
