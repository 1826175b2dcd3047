"""Merging entities: what is one, what is two, why, and in whatever order it comes."""

import random
import time
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.platform.text.names.name_form import normal_name
from actors.systems.knowledge.entities.merging import merges
from actors.systems.knowledge.entities.neighbours import nearest_pairs
from models.knowledge.points import ENTITY_TYPES, EntityMention, EntityMerge, EntityType

# Type, two names, and why they are one; None where they are two.
PAIRS: list[tuple[EntityType, str, str, str | None]] = [
    # Organizations: case, legal forms, articles, punctuation.
    ("organization", "Apple Inc.", "Apple", "same_name"),
    ("organization", "APPLE INC", "Apple, Incorporated", "same_name"),
    ("organization", "Siemens AG", "Siemens", "same_name"),
    ("organization", "Siemens Aktiengesellschaft", "SIEMENS AG", "same_name"),
    ("organization", "Robert Bosch GmbH", "Robert Bosch", "same_name"),
    ("organization", "Comarch S.A.", "Comarch SA", "same_name"),
    ("organization", "Comarch Spółka Akcyjna", "Comarch", "same_name"),
    ("organization", "Polskie Sieci sp. z o.o.", "Polskie Sieci Sp. z o. o.", "same_name"),
    ("organization", "Alfabet spółka z ograniczoną odpowiedzialnością", "ALFABET SP. Z O.O.", "same_name"),
    ("organization", "Ford Motor Company", "Ford Motor Co.", "same_name"),
    ("organization", "The Guardian", "Guardian", "same_name"),
    ("organization", "Der Spiegel", "Spiegel", "same_name"),
    ("organization", "Johnson & Johnson", "Johnson and Johnson", "same_name"),
    ("organization", "Procter & Gamble Co.", "Procter & Gamble", "same_name"),
    ("organization", "Coca-Cola", "Coca Cola", "same_name"),
    ("organization", "McDonald’s", "McDonald's", "same_name"),
    ("organization", "U.S. Steel", "US Steel", "same_name"),
    ("organization", "Aldi GmbH & Co. KG", "Aldi", "same_name"),
    ("organization", "Alpha GmbH", "Alpha AG", None),
    ("organization", "Alpha Ltd", "Alpha plc", None),
    ("organization", "Alpha GmbH", "Alpha GmbH & Co. KG", None),
    ("organization", "WHO", "The Who", None),
    ("organization", "Day Spa", "Day", None),
    ("organization", "JPMorgan Chase", "JP Morgan Chase", "spelling"),
    ("organization", "Goldman Sachs", "Goldmann Sachs", "spelling"),
    ("organization", "Microsoft", "Micorsoft", "spelling"),
    ("organization", "Société Générale", "Societe Generale", "spelling"),
    ("organization", "Bank Gospodarstwa Krajowego Łódź", "Bank Gospodarstwa Krajowego Lodz", "spelling"),
    ("organization", "World Trade Organisation", "World Trade Organization", "spelling"),
    ("organization", "Ministry of Defence", "Ministry of Defense", "spelling"),
    ("organization", "Bank of England", "Bank of Japan", None),
    ("organization", "Bundesbank", "Landesbank", None),
    ("organization", "Johnson Controls", "Johnston Controls", None),
    ("organization", "Microsoft", "Microsoft Azure", None),
    ("organization", "Deutsche Bank", "Deutsche Telekom", None),
    ("organization", "ECB", "EBC", None),
    ("organization", "3M", "4M", None),
    ("organization", "Studio 54", "Studio 45", None),
    ("organization", "1. FC Köln", "2. FC Köln", None),
    # Locations.
    ("location", "Łódź", "łódź", "same_name"),
    ("location", "The Hague", "Hague", "same_name"),
    ("location", "Łódź", "Lodz", "spelling"),
    ("location", "Zürich", "Zurich", "spelling"),
    ("location", "Zürich", "Zuerich", "spelling"),
    ("location", "Düsseldorf", "Duesseldorf", "spelling"),
    ("location", "Düsseldorf", "Düseldorf", "spelling"),
    ("location", "U.S.", "US", "same_name"),
    ("location", "Iran", "Iraq", None),
    ("location", "Austria", "Australia", None),
    ("location", "Austria", "Austrai", None),
    ("location", "Slovakia", "Slovenia", None),
    ("location", "Niger", "Nigeria", None),
    ("location", "Niger", "Nigér", "spelling"),
    ("location", "Liberia", "Siberia", None),
    ("location", "Gambia", "Zambia", None),
    ("location", "Mauritius", "Mauritania", None),
    ("location", "Kingston", "Kingstown", None),
    ("location", "Charleston", "Charlestown", None),
    ("location", "Hampstead", "Hempstead", None),
    ("location", "North Korea", "South Korea", None),
    ("location", "Korea", "South Korea", None),
    ("location", "Warszawa", "Warszawice", None),
    ("location", "US", "us", None),
    # People.
    ("person", "Angela Merkel", "Dr. Angela Merkel", "same_name"),
    ("person", "Kowalski, Jan", "Jan Kowalski", "same_name"),
    ("person", "prof. dr hab. Jan Nowak", "Jan Nowak", "same_name"),
    ("person", "Conan O'Brien", "Conan O’Brien", "same_name"),
    ("person", "Lech Wałęsa", "Lech Walesa", "spelling"),
    ("person", "Gerhard Schröder", "Gerhard Schroeder", "spelling"),
    ("person", "Volodymyr Zelensky", "Volodymyr Zelenskyy", "spelling"),
    ("person", "John Smith", "Jane Smith", None),
    ("person", "John Smith", "J. Smith", None),
    ("person", "John Smith", "Smith", None),
    ("person", "Mr Smith", "Mrs Smith", None),
    ("person", "Jan Kowalski", "Anna Kowalska", None),
    ("person", "Jan Kowalski", "Jana Kowalska", None),
    ("person", "Adam Kowalski", "Ada Kowalska", None),
    ("person", "Peter Hansen", "Peter Hanson", None),
    ("person", "Hans Schmidt", "Hans Schmitt", None),
    ("person", "Paul Weisman", "Paul Wiesman", None),
    ("person", "George W. Bush", "George H. W. Bush", None),
    ("person", "Henry VII", "Henry VIII", None),
    ("person", "John Paul I", "John Paul II", None),
    ("person", "Martin Luther King Jr.", "Martin Luther King Sr.", None),
    # Products, events.
    ("product", "iPhone 15", "IPHONE 15", "same_name"),
    ("product", "iPhone 15", "iPhone 16", None),
    ("product", "iPhone 5s", "iPhone 5c", None),
    ("product", "Windows", "Windows 11", None),
    ("product", "Airbus A380", "Airbus A350", None),
    ("product", "C", "C++", None),
    ("product", "C#", "C++", None),
    ("product", "PowerPoint", "Power Point", "spelling"),
    ("event", "Apollo 11", "Apollo 13", None),
    ("event", "Q1 2024", "Q2 2024", None),
    ("event", "Euro 2020", "Euro 2024", None),
    ("event", "World War I", "World War II", None),
    ("event", "First World War", "Second World War", None),
    ("event", "pierwsza wojna światowa", "druga wojna światowa", None),
    ("event", "Erster Weltkrieg", "Zweiter Weltkrieg", None),
    ("event", "Brexit", "brexit", "same_name"),
    # Concepts.
    ("concept", "Inflation", "inflation", "same_name"),
    ("concept", "labour market", "labor market", "spelling"),
    ("concept", "globalisation", "globalization", "spelling"),
    ("concept", "e-commerce", "ecommerce", "spelling"),
    ("concept", "inflation", "deflation", None),
    ("concept", "absorption", "adsorption", None),
    ("concept", "hypertension", "hypotension", None),
    ("concept", "prescription", "proscription", None),
    ("concept", "causal", "casual", None),
    ("concept", "desert", "dessert", None),
    ("concept", "sąd", "sad", None),
    ("concept", "vitamin B", "vitamin C", None),
    ("concept", "hepatitis B", "hepatitis C", None),
]


def mention(id_: str, name: str, entity_type: EntityType = "organization", *aliases: str) -> EntityMention:
    return EntityMention(id=id_, name=name, entity_type=entity_type, aliases=aliases)


def reasons(*entities: EntityMention, vectors: Mapping[str, Sequence[float]] | None = None) -> dict[str, str]:
    """What is merged into what, and why."""
    return {f"{merge.winner}<{merge.merged}": merge.reason for merge in merges(entities, vectors)}


@pytest.mark.parametrize(("entity_type", "first", "second", "reason"), PAIRS)
def test_two_names_are_one_or_two(
    entity_type: EntityType, first: str, second: str, reason: str | None
) -> None:
    for one, other in ((first, second), (second, first)):
        found = merges([mention("a", one, entity_type), mention("b", other, entity_type)])
        assert [merge.reason for merge in found] == ([reason] if reason else [])
    # Whatever they mean alike: what is written alike and is not one is two.
    same = {"a": [1.0, 0.0], "b": [1.0, 0.0]}
    found = merges([mention("a", first, entity_type), mention("b", second, entity_type)], same)
    assert [merge.reason for merge in found] == ([reason] if reason else [])


def test_what_is_of_two_types_is_two() -> None:
    assert reasons(*(mention(kind, "Washington", kind) for kind in ENTITY_TYPES)) == {}
    assert reasons(*(mention(kind, "Washington D.C.", kind, "Washington") for kind in ENTITY_TYPES)) == {}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("The  European\nCentral Bank", "european central bank"),
        ("Łódzka Spółka Węglowa S.A.", "łódzka spółka węglowa"),
        ("S.A.", "SA"),
        ("Inc.", "inc"),
        ("The", "the"),
        ("中国人民银行", "中国人民银行"),
        ("\U0001f600", "\U0001f600"),
        ("Straße", "strasse"),
    ],
)
def test_a_name_has_a_normal_form(name: str, expected: str) -> None:
    assert normal_name(name) == expected


@given(st.text(min_size=1, max_size=300), st.sampled_from(ENTITY_TYPES))
def test_no_normal_form_is_empty(name: str, entity_type: EntityType) -> None:
    assert normal_name(name, entity_type)


ECB = mention("1", "European Central Bank", "organization", "ECB")


def test_an_acronym_is_a_name_where_one_text_says_so() -> None:
    assert reasons(ECB, mention("2", "ECB")) == {"1<2": "alias"}
    assert reasons(mention("1", "European Central Bank"), mention("2", "ECB")) == {}
    assert reasons(mention("1", "European Central Bank"), mention("2", "ECB", "organization", ECB.name)) == {
        "1<2": "alias"
    }


def test_an_acronym_of_two_is_none() -> None:
    cricket = mention("3", "England and Wales Cricket Board", "organization", "ECB")
    assert reasons(ECB, mention("2", "ECB"), cricket) == {}


@pytest.mark.parametrize(
    ("entity_type", "name", "alias", "stands"),
    [
        ("organization", "Deutsche Bank", "Bank", False),
        ("organization", "Deutsche Bank", "the Company", False),
        ("organization", "Goldman Sachs", "Goldman", True),
        ("organization", "International Business Machines", "IBM", True),
        ("organization", "Bank of England", "Bank of Japan", False),
        ("organization", "Polski Koncern Naftowy", "Polski Związek Łowiecki", False),
        ("organization", "Bank of England", "Old Lady of Threadneedle Street", True),
        ("person", "John Smith", "Smith", False),
        ("person", "John Smith", "Jane Smith", False),
        ("person", "Karol Wojtyła", "Jan Paweł II", True),
        ("location", "South Korea", "Korea", False),
        ("location", "Iran", "Iraq", False),
        ("location", "Austria", "Australia", False),
        ("location", "Germany", "Deutschland", True),
        ("event", "Apollo 11", "Apollo 13", False),
        ("event", "Apollo 11", "Apollo", False),
        ("product", "Windows 11", "Windows", False),
        ("organization", "Alfa", "12", False),
    ],
)
def test_another_name_stands_where_it_is_nobody_else_s(
    entity_type: EntityType, name: str, alias: str, stands: bool
) -> None:
    found = reasons(mention("1", name, entity_type, alias), mention("2", alias, entity_type))
    assert list(found.values()) == (["alias"] if stands else [])


def test_what_means_the_same_is_one_if_it_is_written_differently() -> None:
    near = {"1": [1.0, 0.1], "2": [1.0, 0.0], "3": [0.0, 1.0]}
    names = [
        mention("1", "Weltgesundheitsorganisation"),
        mention("2", "Światowa Agencja Zdrowia"),
        mention("3", "Tesla"),
    ]
    (merge,) = merges(names, near)
    assert (merge.winner, merge.merged, merge.reason) == ("2", "1", "meaning")
    assert merge.score == pytest.approx(0.995, abs=1e-4)
    people = [entity.model_copy(update={"entity_type": "person"}) for entity in names]
    assert merges(people, near) == []
    assert merges(names, {"1": [1.0, 0.6], "2": [1.0, 0.0]}) == []
    nearer = merges(names, {"1": [1.0, 0.1], "2": [1.0, 0.0], "3": [1.0, -0.09]})
    assert [(merge.winner, merge.merged) for merge in nearer] == [("2", "3")]
    assert merges(names, {"1": [0.0, 0.0], "2": [0.0, 0.0], "3": [float("nan"), 0.0]}) == []


def test_a_name_between_two_that_can_t_be_one_joins_neither() -> None:
    assert reasons(mention("1", "Alpha GmbH"), mention("2", "Alpha AG"), mention("3", "Alpha")) == {}
    john = mention("1", "John Smith", "person", "Smithy Joe")
    jane = mention("2", "Jane Smith", "person")
    assert reasons(john, jane, mention("3", "Smithy Joe", "person", "Jane Smith")) == {}
    chain = [
        mention("3", "Smithy Joe", "person", "Old Bones"),
        mention("4", "Old Bones", "person", "Jane Smith"),
    ]
    assert len(reasons(john, jane, *chain)) == 2
    system = mention("5", "Redmond System", "product", "Windows", "Windows 11")
    assert reasons(system, mention("6", "Windows", "product"), mention("7", "Windows 11", "product")) == {}
    two = [mention("1", "Jan Müller", "person"), mention("2", "Jan Muller", "person")]
    assert reasons(*two) == {"1<2": "spelling"}


def test_each_merge_says_what_it_rests_on() -> None:
    names = [
        mention("1", "European Central Bank", "organization", "ECB"),
        mention("2", "The European Central Bank"),
        mention("3", "ECB"),
        mention("4", "Eurpoean Central Bank"),
    ]
    assert merges(names) == [
        EntityMerge(winner="2", merged="1", like="2", reason="same_name"),
        EntityMerge(winner="2", merged="3", like="2", reason="alias"),
        EntityMerge(winner="2", merged="4", like="2", reason="spelling", score=95.24),
    ]
    often = names[2].model_copy(update={"mentions": 9})
    assert {merge.winner for merge in merges([*names[:2], often])} == {"3"}


def test_two_of_one_id_are_refused() -> None:
    with pytest.raises(ValueError, match="one id"):
        merges([mention("1", "a"), mention("1", "b")])


NAMES = sorted({name for _, first, second, _ in PAIRS for name in (first, second)})
ENTITIES = st.lists(
    st.builds(
        lambda name, kind, alias, count: (name, kind, alias, count),
        st.sampled_from(NAMES),
        st.sampled_from(ENTITY_TYPES[:3]),
        st.sampled_from([(), ("ECB",), ("Alpha",), ("Apple",), ("Lodz", "US")]),
        st.integers(1, 2),
    ),
    min_size=2,
    max_size=25,
)


@given(ENTITIES, st.randoms(use_true_random=False), st.booleans())
def test_the_same_entities_have_the_same_merges_in_any_order(
    rows: list[tuple[str, EntityType, tuple[str, ...], int]], chance: random.Random, embedded: bool
) -> None:
    entities = [
        EntityMention(id=f"e{place}", name=name, entity_type=kind, aliases=aliases, mentions=count)
        for place, (name, kind, aliases, count) in enumerate(rows)
    ]
    vectors = (
        {e.id: [float(len(e.name) % 3), float(len(e.name) % 2), 1.0] for e in entities} if embedded else None
    )
    found = merges(entities, vectors)
    shuffled = list(entities)
    chance.shuffle(shuffled)
    assert merges(shuffled, vectors) == found
    kinds = {entity.id: entity.entity_type for entity in entities}
    merged = {merge.merged for merge in found}
    assert len(merged) == len(found)
    for merge in found:
        assert merge.winner not in merged
        assert kinds[merge.winner] == kinds[merge.merged] == kinds[merge.like]
        # What it is like leads to the same winner.
        assert merge.like == merge.winner or any(
            other.merged == merge.like and other.winner == merge.winner for other in found
        )


@pytest.mark.heavy
def test_near_vectors_are_found_among_many() -> None:
    chance = numpy.random.default_rng(1)
    vectors = chance.standard_normal((6_000, 64)) + 1.5
    vectors[3_000:3_200] = vectors[:200] + 0.3 * chance.standard_normal((200, 64))
    units = vectors / numpy.linalg.norm(vectors, axis=1)[:, None]
    planted = {(place, 3_000 + place) for place in range(200) if units[place] @ units[3_000 + place] >= 0.95}
    assert len(planted) > 150
    found = nearest_pairs(vectors.tolist(), 0.95, below=1.0)
    assert len(planted - set(found)) <= 1
    assert all(units[one] @ units[other] >= 0.9499 for one, other in found)


@pytest.mark.heavy
def test_many_entities_are_merged_in_time() -> None:
    chance = random.Random(3)
    words = ["".join(chance.choices("abcdefghiklmnoprstuwz", k=8)) for _ in range(4_000)]
    entities = [mention(str(n), f"{chance.choice(words)} {chance.choice(words)}") for n in range(20_000)]
    entities += [mention(f"x{n}", f"Bank {n}") for n in range(2_000)]
    entities += [mention(f"y{n}", "United States") for n in range(3_000)]
    begun = time.process_time()
    merges(entities)
    assert time.process_time() - begun < 20


@pytest.mark.heavy
def test_many_of_one_name_are_merged_in_time_even_where_some_are_apart() -> None:
    entities = [mention(f"{n:05}", "United States", "location") for n in range(16_000)]
    begun = time.process_time()
    assert len(merges(entities)) == 15_999
    star = [("00000", entity.id) for entity in entities[1:]]
    pairs = [(entities[n].id, entities[n + 1].id) for n in range(1, 15_998, 2)]
    assert len(merges(entities, apart=star)) == 15_998
    assert len(merges(entities, apart=pairs)) == 15_998
    # Comparing each with all before it took 12 s for one of these.
    assert time.process_time() - begun < 10


def test_names_that_lead_from_one_to_the_next_are_merged_in_time() -> None:
    chance = random.Random(1)
    words = ["".join(chance.choices("abcdefghijklmnoprstuwz", k=10)) for _ in range(4_001)]
    entities = [mention(str(n), words[n], "organization", words[n + 1]) for n in range(4_000)]
    begun = time.process_time()
    found = merges(entities)
    # It took 17 s.
    assert time.process_time() - begun < 6
    assert merges(entities[::-1]) == found
    # What would be one by way of very many is not: nobody has so many names.
    winners = Counter(merge.winner for merge in found)
    assert 10 < max(winners.values()) < 64


def test_many_vectors_in_one_place_take_no_longer() -> None:
    vectors = numpy.random.default_rng(1).standard_normal((3_000, 16))
    vectors[:1_500] = vectors[0]
    vectors[1_500:2_500] = vectors[1_500] + 0.02 * vectors[1_500:2_500]
    begun = time.process_time()
    found = nearest_pairs(vectors.tolist(), 0.9, below=0.9999)
    assert time.process_time() - begun < 10
    assert all(one >= 1_500 for one, _ in found)
    assert len({place for pair in found for place in pair}) == 2 * len(found)
