"""Names that tell one from another: signs, numbers, roles, scripts, forms. Each was once wrong."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.systems.knowledge.entities.merging import merges
from models.knowledge.points import EntityMention, EntityType

# Type, and two names of two sources that are two.
TWO: list[tuple[EntityType, str, str]] = [
    # Roman numerals of any size.
    ("event", "Super Bowl XLVII", "Super Bowl XLVIII"),
    ("event", "Super Bowl XLII", "Super Bowl XLIII"),
    ("event", "Super Bowl xlvii", "Super Bowl xlviii"),
    ("product", "Windows XL", "Windows XLI"),
    # What each source calls somebody else.
    ("organization", "the Company", "The Company"),
    ("organization", "The Company", "The Limited"),
    ("organization", "The Company", "The Corporation"),
    ("organization", "the Board", "The Board"),
    ("organization", "Board of Directors", "Board of Directors"),
    ("organization", "Zarząd Spółki", "zarząd spółki"),
    ("organization", "Die Gesellschaft", "die Gesellschaft"),
    ("organization", "the Seller", "the Seller"),
    ("organization", "We", "we"),
    ("other", "the Agreement", "The Agreement"),
    ("person", "CEO", "CEO"),
    ("person", "the Chairman", "The Chairman"),
    ("person", "prezes zarządu", "Prezes Zarządu"),
    ("person", "Chief Executive Officer", "chief executive officer"),
    # A person's name of one word.
    ("person", "Smith", "Smith"),
    ("person", "Mr Smith", "Mr. Smith"),
    ("person", "Wałęsa", "Walesa"),
    ("person", "田中", "田中"),
    ("person", "スミス", "スミス"),
    # Signs.
    ("concept", "BBB", "BBB-"),
    ("concept", "BBB+", "BBB-"),
    ("concept", "A", "A-"),
    ("concept", "A-", "A−/B"),
    ("concept", "HIV", "HIV-"),
    ("concept", "-5 °C", "5 °C"),
    ("concept", "p", "¬p"),
    ("concept", "<5 mg", ">5 mg"),
    ("other", "$100 million", "€100 million"),
    ("other", "$100 million", "100 million"),
    ("concept", "5 %", "5 €"),
    ("concept", "5 %", "5 ‰"),
    ("product", "A*", "A"),
    ("product", ".NET", "NET"),
    # What stands between digits.
    ("product", "3.5 mm", "3-5 mm"),
    ("product", "Lens 3.5", "Lens 3-5"),
    ("product", "Lens 3.5", "Lens 35"),
    ("concept", "1:10", "1-10"),
    ("event", "Article 1(2)", "Article 12"),
    ("event", "Article 1(2)", "Article 1.2"),
    ("concept", "10²", "102"),
    ("concept", "10⁻²", "10²"),
    ("concept", "3½", "31/2"),
    # Marks over and under letters are letters where scripts need them: `heart`, `bride`.
    ("concept", "दिल", "दुल"),
    ("concept", "กิน", "กัน"),
    # People of nearly one name.
    ("person", "Per Hanson", "Per Hansson"),
    ("person", "Philip Green", "Phillip Green"),
    ("person", "Lars Johanson", "Lars Johansson"),
    ("person", "Ed Sheeran", "E. D. Sheeran"),
    # Swapped letters that make another word.
    ("organization", "Casual AI", "Causal AI"),
    ("organization", "Silver Capital", "Sliver Capital"),
    ("organization", "Complaint Systems", "Compliant Systems"),
    ("organization", "Weidenfelder", "Wiedenfelder"),
    ("organization", "亚洲中日友好协会", "亚洲日中友好协会"),
    ("organization", "北京人民友好协会", "北京人人民友好协会"),
    # Legal forms.
    ("organization", "Harris & Co.", "Harris Inc"),
    ("organization", "Bain & Company", "Bain Ltd"),
    ("organization", "华为技术有限公司", "华为技术股份有限公司"),
    # Acronyms that are words.
    ("organization", "WHO", "Who"),
    ("concept", "AIDS", "aids"),
    ("organization", "LOT", "lot"),
    ("concept", "CO", "Co"),
]

# Type, two names, and why they are one.
ONE: list[tuple[EntityType, str, str, str]] = [
    ("person", "J.K. Rowling", "J. K. Rowling", "same_name"),
    ("person", "J.K. Rowling", "JK Rowling", "same_name"),
    ("person", "George R.R. Martin", "George R. R. Martin", "same_name"),
    ("person", "JAN KOWALSKI", "Jan Kowalski", "same_name"),
    ("person", "毛泽东", "毛泽东", "same_name"),
    ("product", "F-16", "F16", "same_name"),
    ("product", "F-16", "f16", "same_name"),
    ("product", "GPT-4", "GPT4", "same_name"),
    ("product", "iPhone 12", "iPhone12", "same_name"),
    ("product", "BMW X3", "BMW X 3", "same_name"),
    ("product", "Airbus A-320", "Airbus A320", "same_name"),
    ("product", "iPhone™ 12", "iPhone 12", "same_name"),
    ("event", "COVID-19", "Covid19", "same_name"),
    ("event", "COVID–19", "COVID-19", "same_name"),
    ("organization", "NATO", "Nato", "same_name"),
    ("organization", "NASA", "Nasa", "same_name"),
    ("organization", "IKEA", "Ikea", "same_name"),
    ("organization", "Orlen S. A.", "Orlen SA", "same_name"),
    ("organization", "Orlen S.A", "Orlen SA", "same_name"),
    ("organization", "J. P. Morgan", "J.P. Morgan", "same_name"),
    ("organization", "Danone SAS", "Danone", "same_name"),
    ("organization", "SAS", "SAS", "same_name"),
    ("organization", "华为技术有限公司", "华为技术", "same_name"),
    ("organization", "トヨタ自動車株式会社", "トヨタ自動車", "same_name"),
    ("organization", "株式会社日立製作所", "日立製作所㈱", "same_name"),
    ("organization", "Ford Motor Co.", "Ford Motor Co. Ltd.", "same_name"),
    ("organization", "Board of Trade", "The Board of Trade", "same_name"),
    ("product", "1,5 l", "1.5 l", "same_name"),
    ("concept", "5%", "5 %", "same_name"),
    ("concept", "10²", "10^2", "same_name"),
    ("concept", "H₂O", "H2O", "same_name"),
    ("concept", "-5 °C", "−5°C", "same_name"),
    ("concept", "President", "president", "same_name"),
    ("location", "US", "U.S.", "same_name"),
]

# Type, a name, what its source calls it for short; another source calls somebody the same.
FOR_SHORT: list[tuple[EntityType, str, str, str]] = [
    ("organization", "Acme Steel", "the Seller", "the Seller"),
    ("organization", "Foo Fund", "the Issuer", "Issuer"),
    ("organization", "Foo Fund", "we", "We"),
    ("organization", "Foo Fund", "die Gesellschaft", "Gesellschaft"),
    ("person", "John Smith", "the Chairman", "the Chairman"),
    ("person", "John Smith", "CEO", "CEO"),
    ("person", "John Smith", "he", "He"),
    ("person", "Jan Nowak", "prezes", "Prezes"),
    ("person", "Anna Nowak", "Pozwana", "pozwana"),
    ("person", "Hans Müller", "der Kläger", "Kläger"),
    ("person", "Robert Brown", "Bob", "Bob"),
]


def found(entity_type: EntityType, *names: tuple[str, ...]) -> list[str]:
    """Why entities are one, each of a name and aliases."""
    entities = [
        EntityMention(id=str(place), name=name, entity_type=entity_type, aliases=tuple(aliases))
        for place, (name, *aliases) in enumerate(names)
    ]
    return [merge.reason for merge in merges(entities)]


@pytest.mark.parametrize(("entity_type", "first", "second"), TWO)
def test_two_are_two(entity_type: EntityType, first: str, second: str) -> None:
    assert found(entity_type, (first,), (second,)) == found(entity_type, (second,), (first,)) == []


@pytest.mark.parametrize(("entity_type", "first", "second", "reason"), ONE)
def test_one_is_one(entity_type: EntityType, first: str, second: str, reason: str) -> None:
    assert found(entity_type, (first,), (second,)) == found(entity_type, (second,), (first,)) == [reason]


@pytest.mark.parametrize(("entity_type", "name", "alias", "other"), FOR_SHORT)
def test_what_a_source_calls_somebody_for_short_is_somebody_else_in_another(
    entity_type: EntityType, name: str, alias: str, other: str
) -> None:
    assert found(entity_type, (name, alias), (other,)) == []
    assert found(entity_type, (other, name), (name,)) in ([], ["alias"])


def test_who_has_no_name_is_nobody_whatever_a_source_calls_it_else() -> None:
    assert found("organization", ("the Company", "Acme Steel"), ("Acme Steel",)) == []


def test_a_person_of_one_name_is_the_one_that_its_own_source_names_in_full() -> None:
    assert found("person", ("Pelé", "Edson Arantes do Nascimento"), ("Edson Arantes do Nascimento",)) == [
        "alias"
    ]


EVERY = sorted(
    {(kind, name) for kind, *names in TWO for name in names}
    | {(kind, name) for kind, *names, _ in ONE for name in names}
    | {(kind, name) for kind, *names in FOR_SHORT for name in names}
)


@given(
    st.lists(st.tuples(st.sampled_from(EVERY), st.sampled_from([(), *EVERY])), min_size=2, max_size=25),
    st.randoms(use_true_random=False),
)
def test_the_same_entities_have_the_same_merges_in_any_order(
    rows: list[tuple[tuple[EntityType, str], tuple[EntityType, str] | tuple[()]]], chance: random.Random
) -> None:
    entities = [
        EntityMention(id=str(place), name=name, entity_type=kind, aliases=alias[1:])
        for place, ((kind, name), alias) in enumerate(rows)
    ]
    shuffled = list(entities)
    chance.shuffle(shuffled)
    assert merges(shuffled) == merges(entities)


def by_meaning(*names: str, vectors: Sequence[Sequence[float]]) -> list[str]:
    entities = [EntityMention(id=name, name=name, entity_type="location") for name in names]
    merged = merges(entities, dict(zip(names, vectors, strict=True)))
    assert all(merge.reason == "meaning" for merge in merged)
    return [f"{merge.winner}={merge.merged}" for merge in merged]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("腾讯", "百度"),
        ("招商银行", "浦发银行"),
        ("通货膨胀", "通货紧缩"),
        ("甲行", "乙行"),
        ("ኢትዮጵያ", "ኬንያ"),
        ("เชียงใหม่", "ภูเก็ต"),
        ("சென்னை", "கோயம்புத்தூர்"),
        ("🔥", "💧"),
        ("Germany", "Rzeczpospolita"),
    ],
)
def test_names_that_a_model_cannot_tell_apart_are_not_of_one_meaning(first: str, second: str) -> None:
    assert by_meaning(first, second, vectors=[[1.0, 0.0], [1.0, 0.0]]) == []
    assert by_meaning(first, second, vectors=[[1.0, 0.0], [1.0, 0.005]]) == []


def test_names_in_scripts_that_models_spell_out_have_no_meaning_to_compare() -> None:
    near = [[1.0, 0.0], [1.0, 0.1]]
    assert by_meaning("湖南", "河北", vectors=near) == []
    assert by_meaning("ירושלים", "תל אביב", vectors=near) == []
    assert by_meaning("🔥", "河北", vectors=near) == []
    assert by_meaning("Germany", "Niemcy", vectors=near) == ["Germany=Niemcy"]
    assert by_meaning("Германия", "Niemcy", vectors=near) == ["Германия=Niemcy"]
    assert len(by_meaning("Deutschland", "德意志联邦共和国", vectors=near)) == 1


def test_a_name_that_a_model_takes_for_another_is_not_near_a_third() -> None:
    assert by_meaning("Germany", "Kenia", "Niemcy", vectors=[[1.0, 0.0], [1.0, 0.0], [1.0, 0.1]]) == []
