"""The points of an answer: each item's quote and names are looked for in the chunk; what isn't there goes.

Called by the extractor; `without_repeats` by whoever puts a source's chunks together. Names are written as
the source writes them, whatever the model made of them.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from rapidfuzz import fuzz

from actors.platform.text.numbers.number_spans import numbers
from actors.systems.knowledge.extraction.aligned_text import normal_form
from actors.systems.knowledge.extraction.reply import CheckedReply
from actors.systems.knowledge.extraction.spans import ChunkText
from models.knowledge.points import (
    CategoryPoint,
    DropReason,
    EntityPoint,
    ExtractedChunk,
    FactPoint,
    InsightPoint,
    KnowledgePoint,
    RelationshipPoint,
    SourceSpan,
)
from models.text import one_line

# Names that are written in capitals, and no longer, need to be explained to be another name.
_LONGEST_ACRONYM = 6
# How alike two statements of one sentence are that say the same: rapidfuzz's ratio of their words, 0 to 100.
_ALIKE = 90.0
_WORD = re.compile(r"\w+")


class AnsweredPoints:
    """What an answer's items come to, and how many of them were dropped for which reason."""

    def __init__(
        self, text: str, source: ChunkText, sentences: Sequence[tuple[int, int]], threshold: float
    ) -> None:
        self._text, self._source, self._sentences = text, source, sentences
        self._threshold = threshold
        self._seen: dict[tuple[int, int], str] = {}
        self.dropped: Counter[DropReason] = Counter()

    def of(self, reply: CheckedReply) -> tuple[KnowledgePoint, ...]:
        """The points, in the order of the answer."""
        if reply.invalid:
            self.dropped["invalid"] += reply.invalid
        found: dict[tuple[str | int, ...], KnowledgePoint] = {}
        for point in self._all(reply):
            key: tuple[str | int, ...] = (*_said(point), point.span.start, point.span.end)
            if key in found:
                self.dropped["duplicate"] += 1
            else:
                found[key] = point
        return tuple(found.values())

    def _all(self, reply: CheckedReply) -> Iterator[KnowledgePoint]:
        for entity in reply.entities:
            if self._counts(entity.score) and (span := self._name(entity.name, entity.sentence)):
                yield EntityPoint(
                    score=entity.score,
                    span=span,
                    name=self._shown(span),
                    entity_type=entity.type,
                    aliases=self._aliases(entity.name, entity.aliases, entity.sentence),
                )
        for item in reply.relationships:
            if not self._counts(item.score) or not (span := self._quote(item.quote, item.sentence)):
                continue
            subject, object_ = (self._found(name, item.sentence) for name in (item.subject, item.object))
            if subject is None or object_ is None:
                self.dropped["name_not_found"] += 1
                continue
            yield RelationshipPoint(
                score=item.score,
                span=span,
                subject=self._shown(subject),
                predicate=one_line(item.predicate),
                object=self._shown(object_),
            )
        for fact in reply.facts:
            if self._counts(fact.score) and (span := self._quote(fact.quote, fact.sentence)):
                yield FactPoint(score=fact.score, span=span, statement=one_line(fact.statement))
        for category in reply.categories:
            if self._counts(category.score):
                start, end = self._sentences[category.sentence - 1]
                span = SourceSpan(start=start, end=end, quote=self._text[start:end])
                yield CategoryPoint(score=category.score, span=span, label=one_line(category.label))
        for insight in reply.insights:
            if self._counts(insight.score) and (span := self._quote(insight.quote, insight.sentence)):
                yield InsightPoint(score=insight.score, span=span, statement=one_line(insight.statement))

    def _counts(self, score: float) -> bool:
        if score < self._threshold:
            self.dropped["below_threshold"] += 1
        return score >= self._threshold

    def _quote(self, quote: str, sentence: int) -> SourceSpan | None:
        span = self._found(quote, sentence)
        if span is None:
            self.dropped["quote_not_found"] += 1
        return span

    def _name(self, name: str, sentence: int) -> SourceSpan | None:
        span = self._found(name, sentence)
        if span is None:
            self.dropped["name_not_found"] += 1
        return span

    def _aliases(self, name: str, aliases: Sequence[str], sentence: int) -> tuple[str, ...]:
        kept: dict[str, None] = {}
        for alias in aliases:
            if normal_form(alias) == normal_form(name):
                continue
            span = self._found(alias, sentence)
            if span is None or (_may_be_acronym(name, alias) and not self._source.explains(name, alias)):
                self.dropped["alias_not_found"] += 1
            else:
                kept[self._shown(span)] = None
        return tuple(kept)

    def _found(self, quote: str, sentence: int) -> SourceSpan | None:
        span = self._source.find(quote, self._sentences[sentence - 1])
        return span if span and self._shown(span) else None

    def _shown(self, span: SourceSpan) -> str:
        place = span.start, span.end
        if place not in self._seen:
            self._seen[place] = one_line(self._source.shown(*place))
        return self._seen[place]


def without_repeats(chunks: Sequence[ExtractedChunk]) -> tuple[ExtractedChunk, ...]:
    """The chunks of one source, in order: what two neighbours say of the sentence they share is said once."""
    if not chunks:
        return ()
    kept = [chunks[0]]
    for before, chunk in pairwise(chunks):
        shared = [point for point in before.points if point.span.end > chunk.start]
        points = tuple(point for point in chunk.points if not any(_repeats(point, told) for told in shared))
        dropped = Counter(chunk.dropped)
        dropped["duplicate"] += len(chunk.points) - len(points)
        kept.append(chunk.model_copy(update={"points": points, "dropped": dict(+dropped)}))
    return tuple(kept)


def _repeats(point: KnowledgePoint, told: KnowledgePoint) -> bool:
    if point.kind != told.kind or point.span.start >= told.span.end or told.span.start >= point.span.end:
        return False
    if isinstance(point, FactPoint | InsightPoint) and isinstance(told, FactPoint | InsightPoint):
        return _alike(point.statement, told.statement)
    return _said(point) == _said(told)


def _alike(statement: str, told: str) -> bool:
    """Whether two statements say the same: one may have a few words more, and not each of them."""
    one, other = (normal_form(each).casefold() for each in (statement, told))
    if one == other:
        return True
    words = [_WORD.findall(each) for each in (one, other)]
    within = set(words[0]) <= set(words[1]) or set(words[1]) <= set(words[0])
    return within and fuzz.ratio(*words) >= _ALIKE and _figures(one) == _figures(other)


def _figures(form: str) -> list[str]:
    return sorted(form[first:last] for first, last in numbers(form))


def _said(point: KnowledgePoint) -> tuple[str, ...]:
    """What makes a point another one, but for its place."""
    match point:
        case EntityPoint():
            return point.kind, point.name, point.entity_type
        case RelationshipPoint():
            return point.kind, point.subject, point.predicate.casefold(), point.object
        case CategoryPoint():
            return point.kind, point.label.casefold()
        case FactPoint() | InsightPoint():
            return point.kind, normal_form(point.statement).casefold()


def _may_be_acronym(*names: str) -> bool:
    """Whether one of them is short, in one word, and has two capitals."""
    return any(
        len(name) <= _LONGEST_ACRONYM and " " not in name and sum(map(str.isupper, name)) > 1
        for name in names
    )
