"""What a research rests on: points with the exact words of their sources, as they were then."""

from models.knowledge.points import PointKind, SourceSpan, Words
from models.record import Record
from models.research.synthesis import CitablePoint
from models.research.trees import TreePoint
from models.text import shortened

_LONGEST_QUOTE = 300


class ResearchPoint(Record):
    """A point that a research has found, or found known; `point_id` is the project's, by which it is cited.

    `text_sha256` is of the text that the span is in; `sha256` of the bytes that were fetched. `url` is where
    it was asked for, `final_url` where it was read. `source_id` is None once the source was deleted.
    """

    point_id: int
    kind: PointKind
    said: Words
    subject: str | None = None
    object: str | None = None
    score: float
    start: int
    end: int
    quote: Words
    source_id: int | None
    title: str | None
    url: str
    final_url: str | None
    text_sha256: str
    sha256: str | None

    @property
    def span(self) -> SourceSpan:
        """Where it stands in its source's text."""
        return SourceSpan(start=self.start, end=self.end, quote=self.quote)

    @property
    def statement(self) -> str:
        """What it says in words: of a relationship, with whom it joins."""
        if self.kind == "relationship":
            return f"{self.subject} {self.said} {self.object}"
        return self.said

    @property
    def shown(self) -> str:
        """As a person is shown it: a name or a label with the words that it rests on."""
        if self.kind in ("entity", "category") and self.quote != self.said:
            return f"{self.said}: “{shortened(self.quote, _LONGEST_QUOTE)}”"
        return self.statement

    def in_tree(self) -> TreePoint:
        """As trees are made of it."""
        return TreePoint(
            id=self.point_id,
            text=self.statement,
            kind=self.kind,
            score=self.score,
            entity=_key(self.said) if self.kind == "entity" else None,
            subject=_key(self.subject),
            object=_key(self.object),
        )

    def citable(self, passage: str | None = None) -> CitablePoint | None:
        """As a sentence may cite it; it stands in `passage`. None where there is no source of it any more."""
        if self.source_id is None:
            return None
        return CitablePoint(
            id=self.point_id,
            statement=self.statement,
            quote=self.quote,
            passage=passage,
            source_id=self.source_id,
            title=self.title,
        )


def _key(name: str | None) -> str | None:
    return None if name is None else " ".join(name.casefold().split())
