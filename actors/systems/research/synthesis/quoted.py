"""Sections where no model can write: their points' own sentences, word for word, in the tree's order.

Called by `writing`, and where a writer fails. Each sentence stands in its source around the span that it
cites, whole, as its reader sees it (`actors.platform.extractive`): it is supported by construction, and
nobody need look again. What can't be quoted by itself, an address or what talks to a model among it, is left
out. Pure.
"""

from actors.platform.extractive.quotable import quotable
from actors.platform.text.language import language_of
from actors.systems.research.synthesis.draft_reply import SectionReply, read_draft
from models.research.synthesis import SectionOffer, SynthesisSection, SynthesisSentence

_REASON = "it stands in its source, word for word"
# Points of one sentence: those behind it in their order say it as well.
_MOST_POINTS = 6
_MOST_OF_RUN = 20


def quoted_section(offer: SectionOffer, *, most: int) -> SynthesisSection:
    """At most `most` sentences that the points' quotes stand in; one that several rest on cites them all."""
    found: dict[str, list[int]] = {}
    for point in offer.points:
        passage = point.passage or point.quote
        language = language_of(passage)
        for sentence in quotable(passage, language):
            item = {"text": sentence.text, "points": [point.id]}
            read = read_draft(
                SectionReply(sentences=[item]), [point.id], language=language, most=_MOST_OF_RUN
            )
            # As it is, or not at all: a repaired quotation is none. It may be a run of sentences.
            if " ".join(one.text for one in read.sentences) != sentence.text:
                continue
            if sentence.text in found:
                found[sentence.text].append(point.id)
            elif len(found) < most:
                found[sentence.text] = [point.id]
    sentences = tuple(
        SynthesisSentence(
            text=text, points=tuple(dict.fromkeys(points))[:_MOST_POINTS], outcome="kept", reason=_REASON
        )
        for text, points in found.items()
    )
    return SynthesisSection(node=offer.node, heading=offer.heading, sentences=sentences, written="quotes")
