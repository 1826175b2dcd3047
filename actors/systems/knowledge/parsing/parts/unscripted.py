"""What a page shows where no script ran (`<noscript>`): read if it is most of the page, else told.

Called by `main_text`. Whether scripts ran is not known; where they did, what they show is more than what
stands in for it. Pictures, pixels and calls to turn scripts on are short.
"""

from collections.abc import Sequence
from typing import Any

from actors.systems.knowledge.parsing.parts.choosing import share_shown
from actors.systems.knowledge.parsing.parts.page_parts import PageBlock, parts_of

_LEAST = 200
_NO_TEXT = ("head", "script", "style", "template", "noscript")
_SHOWN = 0.5


def show_unscripted(tree: Any) -> None:
    """Put what stands in for scripts into a tree, where it holds more than the rest."""
    standing_in = [(element, _size(element)) for element in _stand_ins(tree)]
    beside = _size(tree) if standing_in else 0
    for element, size in standing_in:
        if size > beside:
            element.drop_tag()


def unscripted_parts(tree: Any, page: PageBlock) -> Sequence[PageBlock]:
    """What was not put into the tree and does not stand on the page anyway, as parts."""
    parts = [parts_of(element) for element in _stand_ins(tree)]
    return [part for part in parts if share_shown(page, " ".join(run.text for run in part.runs())) < _SHOWN]


def _stand_ins(tree: Any) -> list[Any]:
    return [one for one in tree.iter("noscript") if one.getparent().tag != "head" and _size(one) >= _LEAST]


def _size(element: Any) -> int:
    """Characters of text in an element, without what is no text and what stands in for scripts."""
    size, stack = 0, [element]
    while stack:
        one = stack.pop()
        size += len((one.text or "").strip())
        for child in one:
            size += len((child.tail or "").strip())
            if isinstance(child.tag, str) and child.tag not in _NO_TEXT:
                stack.append(child)
    return size
