"""The day of a page: on which it says that it was published. A wrong day is worse than none.

Asked by `main_text`. What the page tells machines, its address and what it shows with its headline must
agree: the day is the one that all of them can mean. Where they contradict, or mean more than one, there is
none.
"""

from collections.abc import Iterable, Sequence
from datetime import date
from itertools import chain
from typing import Any

from actors.platform.text.numbers.written_days import DayReader, WrittenDay
from actors.platform.text.text_language import language_of_text
from actors.systems.knowledge.parsing.days.shown_days import shown_days
from actors.systems.knowledge.parsing.days.told_days import (
    changed_by,
    told_by_address,
    told_by_meta,
    told_by_nodes,
)
from actors.systems.knowledge.parsing.json_ld import Node

# Of its text, what tells the language.
_LOOKED_AT = 3_000


def day_of(tree: Any, nodes: Sequence[Node], url: str) -> str | None:
    """The day as ISO 8601; None where the page says none, or not clearly.

    Args:
        tree: an lxml tree of the page.
        nodes: of its JSON-LD.
        url: where it was read.
    """
    reader = DayReader(_languages(tree))
    told = [told_by_nodes(tree, nodes, url, reader), told_by_meta(tree, reader), told_by_address(url, reader)]
    shown = shown_days(tree, reader)
    # What is shown without a word may be the day of a change, if the page tells machines of one.
    changes = _all(changed_by(tree, nodes, reader)) - frozenset(chain.from_iterable(map(_all, told)))
    in_head = [one for one in shown.in_head if not one.days <= changes]
    sources = [one for one in (*told, in_head) if one] or [one for one in [shown.behind] if one]
    days = _common(_days(one) for one in sources) or _common(_all(one) for one in sources)
    return days.pop().isoformat() if len(days) == 1 else None


def _languages(tree: Any) -> list[str]:
    """What the page says its language is, and what its text is in: templates often say another."""
    said = (tree.get("lang") or "")[:2].lower()
    text = ""
    for paragraph in tree.iter("p"):
        text = f"{text} {''.join(paragraph.itertext())}"
        if len(text) >= _LOOKED_AT:
            break
    return [one for one in (said, language_of_text(text[:_LOOKED_AT])) if one]


def _common(sources: Iterable[frozenset[date]]) -> set[date]:
    """The days that are in all of them."""
    some = list(sources)
    return set(some[0].intersection(*some[1:])) if some else set()


def _days(found: Sequence[WrittenDay]) -> frozenset[date]:
    return frozenset(chain.from_iterable(one.days for one in found))


def _all(found: Sequence[WrittenDay]) -> frozenset[date]:
    return frozenset(chain.from_iterable(one.days | one.near for one in found))
