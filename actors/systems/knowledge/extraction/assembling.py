"""What a source's chunks say, put together: entities that are named in several are one, and points name them.

Called by the steps of extraction. Entities of one source are told apart by type and name: one is what is
written alike but for its case, and has one form across sources. Which of them are one beyond that, across
sources too, is for `actors.systems.knowledge.entities`, with a reason and a way back. Pure.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from actors.platform.text.names.name_form import name_form
from actors.systems.knowledge.extraction.aligned_text import normal_form
from actors.systems.knowledge.extraction.ground_points import without_repeats
from models.knowledge.known import KeptPoint, SourceEntity, SourceKnowledge
from models.knowledge.points import (
    ENTITY_TYPES,
    CategoryPoint,
    EntityPoint,
    EntityType,
    ExtractedChunk,
    FactPoint,
    InsightPoint,
    KnowledgePoint,
    RelationshipPoint,
)

_Key = tuple[EntityType, str, str]


def source_knowledge(chunks: Sequence[ExtractedChunk]) -> SourceKnowledge:
    """All that the chunks of one source say, in the order of their text."""
    said_once = without_repeats(sorted(chunks, key=lambda chunk: chunk.start))
    points = [point for chunk in said_once for point in chunk.points]
    entities = _Entities()
    for point in points:
        if isinstance(point, EntityPoint):
            entities.add(point)
    kept = [_kept(point, entities) for point in points]
    return SourceKnowledge(
        entities=entities.all(),
        points=tuple(sorted(kept, key=lambda point: (point.span.start, point.span.end))),
        # What was found is in the points: a chunk tells what was dropped.
        chunks=tuple(chunk.model_copy(update={"points": ()}) for chunk in said_once),
    )


class _Entities:
    """The entities of a source, by type and name. Each has a place, which stays.

    A name is of whoever has it as its own before it is of whom it is another name of, wherever that is said.
    """

    def __init__(self) -> None:
        self._places: dict[_Key, int] = {}
        self._aliased: dict[_Key, int] = {}
        self._names: list[Counter[str]] = []
        self._aliases: list[dict[str, None]] = []
        self._types: list[EntityType] = []

    def add(self, point: EntityPoint) -> None:
        """Count a mention."""
        place = self._place(point.entity_type, point.name)
        self._names[place][point.name] += 1
        self._aliases[place].update(dict.fromkeys(point.aliases))
        for alias in point.aliases:
            self._aliased.setdefault(_key(point.entity_type, alias), place)

    def place_of(self, point: EntityPoint) -> int:
        """Where the entity of a mention is."""
        return self._places[_key(point.entity_type, point.name)]

    def named(self, name: str) -> int:
        """Where the entity of that name is; one that is no mention's is of the type `other`."""
        keys = [_key(type_, name) for type_ in ENTITY_TYPES]
        for places in (self._places, self._aliased):
            if known := [places[key] for key in keys if key in places]:
                return min(known)
        place = self._place("other", name)
        self._names[place][name] += 0
        return place

    def all(self) -> tuple[SourceEntity, ...]:
        """Each as its source calls it most often."""
        return tuple(
            SourceEntity(
                name=(name := max(names, key=lambda each: names[each])),
                entity_type=type_,
                aliases=tuple(dict.fromkeys(each for each in (*names, *aliases) if each != name)),
                mentions=names.total(),
            )
            for names, aliases, type_ in zip(self._names, self._aliases, self._types, strict=True)
        )

    def _place(self, type_: EntityType, name: str) -> int:
        key = _key(type_, name)
        if key not in self._places:
            self._places[key] = len(self._names)
            self._names.append(Counter())
            self._aliases.append({})
            self._types.append(type_)
        return self._places[key]


def _key(type_: EntityType, name: str) -> _Key:
    # Its form across sources alone would make `Alfa AG` and `Alfa GmbH` one; its case alone, `WHO` and `Who`.
    return type_, normal_form(name).casefold(), name_form(name, type_).text


def _kept(point: KnowledgePoint, entities: _Entities) -> KeptPoint:
    common: dict[str, Any] = {"kind": point.kind, "score": point.score, "span": point.span}
    match point:
        case EntityPoint():
            return KeptPoint(**common, said=point.name, entity=entities.place_of(point))
        case RelationshipPoint():
            return KeptPoint(
                **common,
                said=point.predicate,
                subject=entities.named(point.subject),
                object=entities.named(point.object),
            )
        case FactPoint() | InsightPoint():
            return KeptPoint(**common, said=point.statement)
        case CategoryPoint():
            return KeptPoint(**common, said=point.label)
