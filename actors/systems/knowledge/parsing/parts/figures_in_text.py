"""What stands for an element within a sentence that shows no words: its alternative text, U+FFFC, or nothing.

Called by `holes`, which knows the sentence. A sentence with that sign has a hole, and is not to be quoted.
What shows no words, and is not known to be nothing, is a hole: a field, a drawing, a blackened word. What a
picture shows is no part of the sentence that it stands in; elsewhere it is an illustration.
"""

import re
from typing import Any

from models.text import word_list

HOLE = "\ufffc"
# Fields and frames: what they show is in no text of the page.
_FRAMES = frozenset(
    word_list("iframe object embed canvas audio video map select textarea input button progress meter")
)
# Nobody sees them, whatever they hold.
_NOTHING = frozenset(
    word_list("br wbr a style link meta template noscript title base param source track rp rt datalist area")
)
_FIGURES = frozenset(("img", "svg", "math", "picture", "script", "mjx-container"))
_IS_FORMULA = re.compile(r"tex|math|formula|equation|mwe-", re.IGNORECASE)
_TWO_WORDS = re.compile(r"[^\W\d_]{3,40}\s+[^\W\d_]{3,40}")
_TEX_SCRIPT = re.compile(r"\Amath/tex", re.IGNORECASE)
_WRITES = "document.write"
_LONGEST = 300
# Attributes that show nothing; and what shows a blank as something else.
_UNSEEN_NAMES = frozenset(("id", "name", "lang", "dir"))
_SPACE = re.compile(r"apple-converted-space|space", re.IGNORECASE)
_PAINTS = re.compile(r"background|border|width|content", re.IGNORECASE)
# Parts of formulas that say something else in one line.
_TWO_LINES = frozenset(
    word_list("mfrac msqrt mroot mtable munderover munder mover msup msub msubsup annotation annotation-xml")
)


def stands_for(element: Any) -> str | None:
    """What stands for an element without words; None where that is nothing, or where it has words."""
    tag = element.tag
    if tag in _FIGURES:
        return _figure(element)
    if tag in _FRAMES:
        return None if element.get("type") == "hidden" else HOLE
    if tag in _NOTHING or any(text.strip() or len(text) > _LONGEST for text in element.itertext()):
        return None
    return HOLE if _shows(element, "".join(element.itertext())) else None


def _shows(element: Any, blank: str) -> bool:
    """Whether an element that holds nothing but blanks is seen, for all that is known."""
    if "-" in element.tag or element.tag == "output":
        return True
    called, style = element.get("class") or "", element.get("style") or ""
    if not blank:
        return any(name not in _UNSEEN_NAMES for name in element.attrib)
    return bool(called and not _SPACE.search(called)) or _PAINTS.search(style) is not None


def _figure(element: Any) -> str | None:
    tag = element.tag
    if tag == "script":
        if _TEX_SCRIPT.match(element.get("type") or ""):
            return _alternative(element.text)
        return HOLE if _WRITES in (element.text or "") else None
    if tag == "mjx-container":
        formula = element.find(".//math")
        return HOLE if formula is None else _formula(formula)
    if tag == "math":
        return _formula(element)
    one = element.find(".//img") if tag == "picture" else element
    if one is None:
        return None
    alt = one.get("alt", one.get("aria-label"))
    called = f"{one.get('class') or ''} {one.get('src') or ''}"[:500]
    if alt is None:
        return None if one.get("width") in ("0", "1") else HOLE
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
