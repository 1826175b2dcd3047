"""A page's tree made ready to be read: no words that are struck or unseen, no marks of footnotes, no holes.

Called by `main_text`, before anything else looks at the tree. Struck words are what the page takes back, and
a mark in a sentence is no word of it. 10⁶ is not 106, and Markdown has no sign for raised numbers.
"""

import re
from typing import Any

from lxml.etree import strip_tags

from actors.systems.knowledge.parsing.parts.holes import SentenceHoles
from actors.systems.knowledge.parsing.parts.unseen import Unseen

_STRUCK = ("del", "s", "strike")
_STRUCK_STYLE = re.compile(r"text-decoration[a-z-]{0,10}\s{0,5}:[^;]{0,40}line-through", re.IGNORECASE)
# What is raised or lowered by its looks, in place of `sup` and `sub`.
_ALIGN = r"vertical-align\s{0,5}:\s{0,5}"
_SHIFTED = {
    "sup": (re.compile(rf"{_ALIGN}(?:super|text-top)", re.IGNORECASE), {"sup", "superscript"}),
    "sub": (re.compile(rf"{_ALIGN}sub", re.IGNORECASE), {"sub", "subscript"}),
}
# The parser puts into these what follows them.
_SWALLOWS = ("wbr", "source", "track", "keygen", "bgsound")


def settle(tree: Any) -> None:
    """Make a tree ready, in place."""
    for element in list(tree.iter("embed")):
        element.addprevious(element.makeelement("embed"))
        element.tag = _SWALLOWS[0]
    strip_tags(tree, *_SWALLOWS)
    Unseen(tree).take_out()
    for element in tree.xpath(".//*[@style or starts-with(@class, 'katex-html')]"):
        if element.getparent() is not None and _is_twice_or_struck(element):
            element.drop_tree()
    for element in list(tree.iter(*_STRUCK)):
        if element.getparent() is not None:
            element.drop_tree()
    # A place that links lead to shows nothing; counted as a link, it would cost its paragraph.
    for element in list(tree.iter("a")):
        if not len(element) and not element.text and element.getparent() is not None:
            element.drop_tree()
    for element in list(tree.iter("span", "small", "font")):
        called = (element.get("class") or "").lower().split()
        for tag, (style, names) in _SHIFTED.items():
            if style.search(element.get("style") or "") or not names.isdisjoint(called):
                element.tag = tag
    SentenceHoles(tree).fill()
    # What is shown in place of an object is text of the page.
    strip_tags(tree, "sup", "sub", "object")


def _is_twice_or_struck(element: Any) -> bool:
    """Whether it shows a formula that stands beside it for machines, or what is taken back."""
    is_twice = (element.get("class") or "").startswith("katex-html")
    return is_twice or _STRUCK_STYLE.search(element.get("style") or "") is not None
