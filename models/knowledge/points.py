"""What is known from sources: points, each with the span of its source that it rests on. Seed 002, FR4.

An extractor makes them from a model's answer; they are kept with their source, and go when it goes. A source
is a text that a project holds, such as a page's Markdown. Offsets are Python's code points into that text.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, get_args

from pydantic import Field, model_validator

from models.record import Record

PointKind = Literal["entity", "relationship", "fact", "category", "insight"]
EntityType = Literal["person", "organization", "location", "concept", "product", "event", "other"]
ENTITY_TYPES: tuple[EntityType, ...] = get_args(EntityType)
# Why something that a model answered is no point.
DropReason = Literal[
    "invalid",  # it is not of the form that was asked for
    "below_threshold",  # the model itself finds it of too little relevance
    "quote_not_found",  # its quote is not in the chunk, word for word
    "name_not_found",  # a name is not in the chunk
    # Another name is not in the chunk, or an acronym is not explained there; only the alias goes.
    "alias_not_found",
    "duplicate",  # it says again what another one says
    # Of a whole chunk, which then has no points.
    "invalid_reply",  # no reply was usable
    "refused",  # the endpoint refused the request, and answers others
    "timed_out",  # the model took too long over it, and answers others
]
# Why two entities are one: the same name but for its case, legal form and article; a name that a source gives
# it as another one; a misspelling; a name of the same meaning.
MergeReason = Literal["same_name", "alias", "spelling", "meaning"]
Score = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Words = Annotated[str, Field(min_length=1)]


class SourceSpan(Record):
    """A slice of a source: `text[start:end] == quote`."""

    start: Annotated[int, Field(ge=0)]
    end: int
    quote: Words

    @model_validator(mode="after")
    def _as_long_as_its_quote(self) -> "SourceSpan":
        if self.end - self.start != len(self.quote):
            raise ValueError(f"{self.start} to {self.end} is not as long as the quote ({len(self.quote)})")
        return self


class EntityPoint(Record):
    """Somebody or something that a source names; the span is where. Names are as the source writes them."""

    kind: Literal["entity"] = "entity"
    score: Score
    span: SourceSpan
    name: Words
    entity_type: EntityType
    aliases: tuple[str, ...] = ()


class RelationshipPoint(Record):
    """What joins two that a source names; the span is where it says so."""

    kind: Literal["relationship"] = "relationship"
    score: Score
    span: SourceSpan
    subject: Words
    predicate: Words
    object: Words


class FactPoint(Record):
    """A statement, in the model's words; the span is what it rests on."""

    kind: Literal["fact"] = "fact"
    score: Score
    span: SourceSpan
    statement: Words


class CategoryPoint(Record):
    """What a source is about; the span is the sentence that shows it."""

    kind: Literal["category"] = "category"
    score: Score
    span: SourceSpan
    label: Words


class InsightPoint(Record):
    """What follows from a source, in the model's words; the span is what it rests on."""

    kind: Literal["insight"] = "insight"
    score: Score
    span: SourceSpan
    statement: Words


KnowledgePoint = Annotated[
    EntityPoint | RelationshipPoint | FactPoint | CategoryPoint | InsightPoint, Field(discriminator="kind")
]


class ExtractedChunk(Record):
    """What was found in `text[start:end]` of a source, and how much was dropped for which reason."""

    start: int
    end: int
    points: tuple[KnowledgePoint, ...]
    dropped: Mapping[DropReason, int] = {}


class EntityMention(Record):
    """An entity as one source has it, to be compared with others. `mentions` is how often it is named."""

    id: str
    name: Words
    entity_type: EntityType
    aliases: tuple[str, ...] = ()
    mentions: int = 1


class EntityMerge(Record):
    """That one entity is another one, and why.

    `like` is the entity that `merged` was found to be the same as; other merges of the same winner join that
    to the winner. When one of a winner's entities goes, the rest are to be compared anew. `score` is
    rapidfuzz's ratio (0 to 100) for `spelling`, the cosine for `meaning`, None for what is exact.
    """

    winner: str
    merged: str
    like: str
    reason: MergeReason
    score: float | None = None
