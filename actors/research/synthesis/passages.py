"""The sentences of a source that the quotes of its points stand in.

A point's quote is often a part of a sentence; what is read by itself is the sentence. Called by the steps,
once for each section. Pure.
"""

from collections.abc import Mapping, Sequence

from actors.quoting.quotable import quotable
from actors.text.language import language_of
from models.knowledge.points import SourceSpan


def passages(text: str, spans: Mapping[int, SourceSpan]) -> dict[int, str]:
    """For each point, by its id, the sentence or run of sentences of `text` that holds all of its span.

    Points whose span lies in no sentence that can be quoted by itself have none: a cell of a table, a
    heading, or more than one sentence.
    """
    found: dict[int, str] = {}
    sentences = quotable(text, language_of(text))
    waiting: Sequence[tuple[int, SourceSpan]] = sorted(spans.items(), key=lambda item: item[1].start)
    at = 0
    for point_id, span in waiting:
        while at < len(sentences) and sentences[at].end < span.end:
            at += 1
        if at < len(sentences) and sentences[at].start <= span.start:
            found[point_id] = sentences[at].text
    return found
