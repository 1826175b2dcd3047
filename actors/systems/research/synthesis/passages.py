"""The sentences of a source that the quotes of its points stand in.

A point's quote is often a part of a sentence; what is read by itself is the sentence. What isn't the source's
own words (another's, or set right) can't be cited at all. Called by the steps, once for each section. Pure.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from actors.platform.extractive.quotable import OwnWords
from actors.platform.text.language import language_of
from models.knowledge.points import SourceSpan


class QuotePlaces(NamedTuple):
    """Points by their ids: the passage of each, and those that are not their source's own words."""

    passages: dict[int, str]
    withheld: frozenset[int]


def standing(text: str, spans: Mapping[int, SourceSpan]) -> QuotePlaces:
    """For each point, by its id, the sentence or run of sentences of `text` that holds all of its span.

    Points whose span lies in no sentence that can be quoted by itself have none: a cell of a table, a
    heading, or more than one sentence.
    """
    found: dict[int, str] = {}
    own = OwnWords(text, language_of(text))
    waiting: Sequence[tuple[int, SourceSpan]] = sorted(spans.items(), key=lambda item: item[1].start)
    at = 0
    for point_id, span in waiting:
        while at < len(own.quotable) and own.quotable[at].end < span.end:
            at += 1
        if at < len(own.quotable) and own.quotable[at].start <= span.start:
            found[point_id] = own.quotable[at].text
    withheld = frozenset(
        ident for ident, span in spans.items() if ident not in found and own.are_withheld(span.start)
    )
    return QuotePlaces(found, withheld)
