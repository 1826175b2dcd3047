"""What a source is known to say, as it is kept: its entities, and its points, which name them.

`actors.systems.knowledge.extraction.assembling` makes it of the chunks that a model has read; the store keeps
it.
"""

from collections.abc import Mapping

from models.knowledge.points import (
    EntityType,
    ExtractedChunk,
    MergeReason,
    PointKind,
    Score,
    SourceSpan,
    Words,
)
from models.record import Record


class SourceEntity(Record):
    """An entity as one source has it. `mentions` is how many points name it as an entity."""

    name: Words
    entity_type: EntityType
    aliases: tuple[str, ...] = ()
    mentions: int = 0


class KeptPoint(Record):
    """A point as it is kept. `said` is a statement, a label, a name, or what joins two entities.

    `entity`, `subject` and `object` are places in the source's entities.
    """

    kind: PointKind
    score: Score
    span: SourceSpan
    said: Words
    entity: int | None = None
    subject: int | None = None
    object: int | None = None


class SourceKnowledge(Record):
    """All that was found in a source, and what was dropped in each of its chunks."""

    entities: tuple[SourceEntity, ...]
    points: tuple[KeptPoint, ...]
    chunks: tuple[ExtractedChunk, ...]

    @property
    def dropped(self) -> Mapping[str, int]:
        """How much was dropped, by the reason, in all chunks."""
        counts: dict[str, int] = {}
        for chunk in self.chunks:
            for reason, count in chunk.dropped.items():
                counts[reason] = counts.get(reason, 0) + count
        return counts


class PointShown(Record):
    """A point of a source, as people and models read it. `text[start:end] == quote` of the source's text.

    `subject` and `object` are names as the source writes them. `saved_by` is who saved it, where it was not
    extracted.
    """

    id: int
    source_id: int
    kind: PointKind
    said: str
    score: float
    start: int
    end: int
    quote: str
    subject: str | None = None
    object: str | None = None
    saved_by: str | None = None


class PassageShown(Record):
    """A passage of a source that was found. `text` is the source's text from `start` to `end`."""

    id: int
    source_id: int
    url: str
    title: str | None
    start: int
    end: int
    text: str


class KnowledgeResult(Record):
    """A passage: `text` is the source's text from `start` to `end`, in characters.

    `similarity_score` is a cosine; absent where only words found it. `points` are what is known from it, each
    with the quote that it rests on, and where that stands in the source.
    """

    source_id: int
    url: str
    title: str | None
    start: int
    end: int
    text: str
    similarity_score: float | None
    points: tuple[PointShown, ...]


class MergeShown(Record):
    """That an entity of one source is that of another: with the reason, and how to undo it by its id."""

    id: int
    entity_id: int
    name: str
    source_id: int
    like: str
    reason: MergeReason
    score: float | None


class EntityShown(Record):
    """An entity of a project: what its sources call it, and why they are one.

    `id` is that of the entity that gives it its name; `sources` are the sources that name it.
    """

    id: int
    name: str
    entity_type: EntityType
    aliases: tuple[str, ...]
    mentions: int
    sources: tuple[int, ...]
    merges: tuple[MergeShown, ...]


class RelationShown(Record):
    """What joins two entities, with every point of every source that says so."""

    subject_id: int
    subject: str
    predicate: str
    object_id: int
    object: str
    points: tuple[PointShown, ...]
