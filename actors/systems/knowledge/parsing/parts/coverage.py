"""How much of what a page shows stands in its text, and the beginnings of what does not.

Asked by `main_text` once the text is settled, so that nothing is left out in silence: whoever decides on a
page or reads it is told. Menus and the like are counted, but not listed.
"""

from collections.abc import Sequence
from itertools import chain

from actors.systems.knowledge.parsing.parts.choosing import held_in
from actors.systems.knowledge.parsing.parts.page_parts import PageBlock
from models.knowledge.pages import PageCoverage
from models.text import shortened

_MOST_LISTED, _LONGEST = 20, 160
# Shorter ones are labels and buttons.
_LEAST_LISTED = 20


def coverage_of(page: PageBlock, text: str, taken: Sequence[PageBlock] = ()) -> PageCoverage:
    """What of a page's runs a text holds; `taken` are parts that were taken out of the page before."""
    seen = kept = around = others = 0
    listed: list[str] = []
    out = ((run, False) for part in taken for run in part.runs())
    for run, is_held in chain(held_in(page, text), out):
        size = len(run.text)
        seen += size
        if is_held:
            kept += size
        elif run.around:
            around += size
        elif size >= _LEAST_LISTED:
            if len(listed) < _MOST_LISTED:
                listed.append(shortened(run.text, _LONGEST))
            else:
                others += 1
    return PageCoverage(seen=seen, kept=kept, around=around, left_out=tuple(listed), others=others)
