"""Records linked without examples: misspelt ones are found, and neither sides nor order matter."""

import random

from hypothesis import given
from hypothesis import strategies as st

from actors.platform.linkage.records import deduplicate_records, link_records
from tests.examples import examples

_NAMES = [
    "adams",
    "baker",
    "clark",
    "davis",
    "evans",
    "foster",
    "green",
    "harris",
    "irving",
    "jones",
    "king",
    "lewis",
    "morgan",
    "nelson",
    "owens",
]
_CITIES = ["berlin", "hamburg", "krakow", "london", "warsaw", "leeds", "munich", "gdansk", "york", "bonn"]


def _people(count: int, seed: int = 1) -> list[dict[str, str]]:
    chance = random.Random(seed)
    return [
        {
            "name": f"{chance.choice(_NAMES)}{chance.choice('abcdef')} {chance.choice(_NAMES)}",
            "city": chance.choice(_CITIES),
            "number": str(chance.randrange(10_000, 99_999)),
        }
        for _ in range(count)
    ]


def _misspelt(record: dict[str, str], chance: random.Random) -> dict[str, str]:
    field = chance.choice(list(record))
    value = record[field]
    at = chance.randrange(len(value))
    return {**record, field: value[:at] + value[at + 1 :]}


def test_misspelt_records_are_found() -> None:
    left = _people(200)
    chance = random.Random(2)
    right = [_misspelt(record, chance) for record in left[:100]] + _people(100, seed=3)
    found = {(pair.left, pair.right) for pair in link_records(left, right)}
    true = {(place, place) for place in range(100)}
    assert len(found & true) >= 97
    assert len(found - true) <= 3


def test_columns_of_other_names_are_laid_beside_each_other() -> None:
    left = _people(60)
    right = [{"who": record["name"], "town": record["city"], "key": record["number"]} for record in left]
    assert {(pair.left, pair.right) for pair in link_records(left, right)} >= {(n, n) for n in range(60)}


def test_duplicates_of_one_table() -> None:
    chance = random.Random(4)
    people = _people(100)
    twins = [_misspelt(record, chance) for record in people[:40]]
    found = {(pair.left, pair.right) for pair in deduplicate_records([*people, *twins])}
    true = {(place, 100 + place) for place in range(40)}
    assert len(found & true) >= 38
    assert len(found - true) <= 2


def test_tables_of_nothing() -> None:
    assert link_records([], []) == []
    assert link_records([{"a": "x"}], []) == []
    assert link_records([{"a": ""}], [{"b": "y"}]) == []
    assert deduplicate_records([{"a": "x"}]) == []


@examples(20)
@given(st.lists(st.dictionaries(st.sampled_from("abc"), st.text(max_size=12)), max_size=8), st.integers(0, 9))
def test_the_sides_do_not_matter(rows: list[dict[str, str]], seed: int) -> None:
    right = _people(3, seed) + rows
    one = {(pair.left, pair.right) for pair in link_records(rows, right)}
    other = {(pair.right, pair.left) for pair in link_records(right, rows)}
    assert one == other
    assert all(pair.left < pair.right for pair in deduplicate_records(rows))
    assert all(0.5 < pair.score <= 1 for pair in link_records(rows, right))
