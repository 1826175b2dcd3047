"""What the chunks of a source say, put together: who is told apart, and whom a relation names."""

from actors.systems.knowledge.extraction.assembling import source_knowledge
from models.knowledge.known import SourceKnowledge
from models.knowledge.points import (
    EntityPoint,
    EntityType,
    ExtractedChunk,
    KnowledgePoint,
    RelationshipPoint,
    SourceSpan,
)

TEXT = "A sentence about them all."
SPAN = SourceSpan(start=0, end=len(TEXT), quote=TEXT)


def entity(name: str, type_: EntityType, *aliases: str) -> EntityPoint:
    """A mention."""
    return EntityPoint(score=1, span=SPAN, name=name, entity_type=type_, aliases=aliases)


def relation(subject: str, object_: str) -> RelationshipPoint:
    """One of two names."""
    return RelationshipPoint(score=1, span=SPAN, subject=subject, predicate="made by", object=object_)


def known(*points: KnowledgePoint) -> SourceKnowledge:
    """What comes of points of one chunk."""
    return source_knowledge([ExtractedChunk(start=0, end=len(TEXT), points=points)])


def joined(knowledge: SourceKnowledge) -> list[tuple[str, str]]:
    """Who is joined to whom: each by name and type."""
    names = [f"{each.name}/{each.entity_type}" for each in knowledge.entities]
    return [
        (names[point.subject], names[point.object])
        for point in knowledge.points
        if point.subject is not None and point.object is not None
    ]


def test_a_name_is_of_whoever_has_it_as_its_own_first() -> None:
    bank, shoes = entity("Union Bank", "organization", "UB"), entity("UB", "product")
    kari = entity("Kari", "person")
    for order in ((bank, shoes, kari), (shoes, kari, bank)):
        assert joined(known(*order, relation("UB", "Kari"))) == [("UB/product", "Kari/person")]
    assert joined(known(bank, kari, relation("UB", "Kari"))) == [("Union Bank/organization", "Kari/person")]
    assert joined(known(relation("UB", "Kari"))) == [("UB/other", "Kari/other")]


def test_a_name_and_an_acronym_that_differ_in_case_are_two() -> None:
    who = known(entity("Who", "organization"), entity("WHO", "organization"), relation("WHO", "Who"))
    assert [(each.name, each.mentions) for each in who.entities] == [("Who", 1), ("WHO", 1)]
    assert joined(who) == [("WHO/organization", "Who/organization")]


def test_a_name_that_differs_in_case_alone_is_one_and_in_its_legal_form_two() -> None:
    one = known(entity("Alfa Works", "organization"), entity("ALFA WORKS", "organization"))
    assert [(each.name, each.aliases, each.mentions) for each in one.entities] == [
        ("Alfa Works", ("ALFA WORKS",), 2)
    ]
    assert len(known(entity("Alfa AG", "organization"), entity("Alfa GmbH", "organization")).entities) == 2
