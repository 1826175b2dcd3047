"""A synthesis: sections of sentences, each of which cites points of knowledge, and what came of its checks.

`actors.systems.research.synthesis` makes it. From a sentence the way leads by its points' ids to their spans,
to the source's text, its URL, and the approval to read it. A sentence holds no URL: who shows it knows its
sources.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Literal

from pydantic import Field, model_validator

from models.content.quoting import Written
from models.knowledge.points import Words
from models.record import Record
from models.research.limits import LeftUndone

# `rewritten` stands, too: in its second form. `unverified` stands, and says so; `dropped` is not shown.
SentenceOutcome = Literal["kept", "rewritten", "dropped", "unverified"]
# Why something that a model wrote is no sentence, or is one without something that was in it.
DraftFault = Literal[
    "invalid",  # it is not of the form that was asked for
    "no_points",  # it cites nothing that was offered
    "unknown_point",  # a point that was not offered; only the citation goes
    "address",  # it holds a URL or another address
    "markup",  # it holds what is no prose, and isn't taken out
    "instruction",  # it tells a model what to do
    "too_long",
    "duplicate",  # it says again, word for word, what another one says
    "too_many",  # there were more than were asked for
]
_ADDRESSES = ("://", "www.")


class CitablePoint(Record):
    """A point that a sentence may cite. `quote` is its exact span; `title` its source's.

    `passage` is the sentence of the source that the quote stands in, where there is one to be quoted.
    """

    id: int
    statement: Words
    quote: Words
    passage: Words | None = None
    source_id: int
    title: str | None = None


class SectionOffer(Record):
    """A node of the knowledge tree, and the points that a section about it may cite, in their order."""

    node: str
    heading: Words
    points: tuple[CitablePoint, ...]


class DraftSentence(Record):
    """A sentence as a model drafted it: it cites points that were offered; nobody has looked at it."""

    text: Words
    points: Annotated[tuple[int, ...], Field(min_length=1)]


class SupportQuestion(Record):
    """What a second look is asked: whether these quotes, exact spans of sources, support the sentence.

    `titles` are the sources'. They may tell whom a quote means, and support nothing else.
    """

    sentence: Words
    quotes: Annotated[tuple[Words, ...], Field(min_length=1)]
    titles: tuple[str, ...] = ()


class SupportVerdict(Record):
    """What a second look answers. Unclear is not yes."""

    verdict: Literal["supports", "does_not_support"]
    reason: str


class SynthesisSentence(Record):
    """A sentence, the ids of the points that it cites, and what came of it, with the reason for people."""

    text: Words
    points: Annotated[tuple[int, ...], Field(min_length=1)]
    outcome: SentenceOutcome
    reason: str

    @model_validator(mode="after")
    def _has_no_address(self) -> "SynthesisSentence":
        if any(mark in self.text.lower() for mark in _ADDRESSES):
            raise ValueError("a sentence cites points: leave the address out")
        return self


class SynthesisCounts(Record):
    """How many sentences came to what."""

    kept: int = 0
    rewritten: int = 0
    dropped: int = 0
    unverified: int = 0

    @property
    def all(self) -> int:
        """How many there are."""
        return self.kept + self.rewritten + self.dropped + self.unverified


class SynthesisSection(Record):
    """What is written about a node of the tree, under its name.

    `refused` counts what a model wrote that is no sentence at all. `written` says how it was written, and
    `fallback` why that is in quotes though there is a writer. One that was `left` was not written at all.
    """

    node: str
    heading: Words
    sentences: tuple[SynthesisSentence, ...]
    written: Written
    refused: Mapping[DraftFault, int] = {}
    fallback: str | None = None
    left: LeftUndone | None = None

    @property
    def shown(self) -> tuple[SynthesisSentence, ...]:
        """The sentences that stand, in their order."""
        return tuple(one for one in self.sentences if one.outcome != "dropped")


class Synthesis(Record):
    """All sections in the tree's order; `counts` are of all their sentences."""

    sections: tuple[SynthesisSection, ...]
    counts: SynthesisCounts

    @model_validator(mode="after")
    def _counts_all(self) -> "Synthesis":
        if self.counts != counts_of(self.sections):
            raise ValueError("counts: these are not the counts of the sections' sentences: leave none out")
        return self

    @classmethod
    def of(cls, sections: Iterable[SynthesisSection]) -> "Synthesis":
        """The synthesis of some sections, counted."""
        all_of_them = tuple(sections)
        return cls(sections=all_of_them, counts=counts_of(all_of_them))


def counts_of(sections: Iterable[SynthesisSection]) -> SynthesisCounts:
    """How many of the sections' sentences came to what."""
    outcomes = [sentence.outcome for section in sections for sentence in section.sentences]
    return SynthesisCounts(
        kept=outcomes.count("kept"),
        rewritten=outcomes.count("rewritten"),
        dropped=outcomes.count("dropped"),
        unverified=outcomes.count("unverified"),
    )
