"""Formulas and pictures within a sentence: their alternative text, or U+FFFC where there is none.

Called by `settling`, which puts it into the page. A sentence with that sign has a hole, and is not to be
quoted. What a picture shows is no part of the sentence that it stands in; elsewhere it is an illustration.
"""

import re
from typing import Any

from models.text import word_list

HOLE = "\ufffc"
FIGURES = ("img", "svg", "math", "canvas", "picture", "object", "script")
_IS_FORMULA = re.compile(r"tex|math|formula|equation|mwe-", re.IGNORECASE)
_IS_ICON = re.compile(r"icon|emoji|smiley|logo|avatar|pixel|spacer", re.IGNORECASE)
_TWO_WORDS = re.compile(r"[^\W\d_]{3,40}\s+[^\W\d_]{3,40}")
_TEX_SCRIPT = re.compile(r"\Amath/tex", re.IGNORECASE)
_ENDS = ".!?:…。！？"
_LONGEST = 300
# Parts of formulas that say something else in one line.
_TWO_LINES = frozenset(
    word_list("mfrac msqrt mroot mtable munderover munder mover msup msub msubsup annotation annotation-xml")
)


def stands_for(element: Any) -> str | None:
    """What stands for a formula or a picture; None of what is neither, or is there for the looks."""
    tag = element.tag
    if tag == "script" and _TEX_SCRIPT.match(element.get("type") or ""):
        return _alternative(element.text)
    if tag == "math":
        return _formula(element)
    if tag == "script" or element.get("aria-hidden") == "true":
        return None
    one = element.find(".//img") if tag == "picture" else element
    if one is None:
        return None
    alt = one.get("alt", one.get("aria-label"))
    called = f"{one.get('class') or ''} {one.get('src') or ''}"[:500]
    if tag == "svg" and alt is None and one.get("role") != "img" and not _IS_FORMULA.search(called):
        return None
    if alt is None:
        return None if _IS_ICON.search(called) or one.get("width") in ("0", "1") else HOLE
    if not alt.strip():
        return None
    # What describes a picture is no part of the sentence that it stands in.
    said = _IS_FORMULA.search(called) is not None or (len(alt) <= 40 and not _TWO_WORDS.search(alt))
    return _alternative(alt) if said else HOLE


def _alternative(text: str | None) -> str:
    return " ".join((text or "").split())[:_LONGEST] or HOLE


def _formula(element: Any) -> str:
    """Its own text for whoever can't see it, or its signs where they stand in one line."""
    if told := (element.get("alttext") or "").strip():
        return _alternative(told)
    names = set()
    for one in element.iter():
        if isinstance(one.tag, str):
            names.add(name := one.tag.rpartition("}")[2])
            if name == "annotation" and "tex" in (one.get("encoding") or "").lower():
                return _alternative(one.text)
    return _alternative("".join(element.itertext())) if names.isdisjoint(_TWO_LINES) else HOLE


def is_within_sentence(before: str, after: str) -> bool:
    """Whether a sentence is under way at a place of a line, and goes on behind it."""
    said = before.rstrip()
    return bool(said) and said[-1] not in _ENDS and bool(after.strip())
