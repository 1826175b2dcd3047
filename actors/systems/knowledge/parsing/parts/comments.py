"""Comments of readers on a page that is not a discussion: taken out of its tree, and counted as left out.

Called by `main_text`. A part is one by what it is called, in any language, if it stands behind the text and
holds no title: a page, or an article, may be called a comment as well.
"""

from typing import Any

from lxml.etree import iterwalk

from actors.systems.knowledge.parsing.parts.page_parts import PageBlock, names_of_part, parts_of
from actors.systems.knowledge.parsing.parts.part_names import is_called
from models.text import word_list

_AROUND = frozenset(word_list("head script style noscript template nav header footer aside"))
_MAY_HOLD = frozenset(word_list("div section article ul ol li aside form details table"))
# Characters of text that stand before them; where nothing is the page's title, one of more parts may be it.
_LEAST, _LEAST_UNTITLED = 40, 300


def take_comments(tree: Any) -> list[PageBlock]:
    """The comments of a page, as parts of it; the tree has them no more."""
    titled = {above for title in tree.iter("h1") for above in title.iterancestors()}
    found: list[Any] = []
    said, least = 0, _LEAST if titled else _LEAST_UNTITLED
    walk = iterwalk(tree, events=("start", "end"))
    for event, element in walk:
        if event == "end":
            said += len((element.tail or "").strip())
        elif element.tag in _AROUND and element.tag != "aside":
            walk.skip_subtree()
        elif said >= least and element not in titled and _are_comments(element):
            found.append(element)
            walk.skip_subtree()
        elif element.tag not in _AROUND:
            said += len((element.text or "").strip())
    parts = [parts_of(element) for element in found]
    for element in found:
        element.drop_tree()
    return parts


def _are_comments(element: Any) -> bool:
    return element.tag in _MAY_HOLD and is_called(names_of_part(element), "comments")
