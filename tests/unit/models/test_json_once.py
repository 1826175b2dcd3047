"""What readers would take in different ways is refused: names said twice, and numbers that can't be kept."""

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models import json_once
from models.json_once import NamedTwice, NumberNotKept, ambiguity, read_once

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)


@given(values)
def test_what_says_each_thing_once_is_read_as_it_is(value: object) -> None:
    text = json.dumps(value)
    assert (read_once(text), ambiguity(text)) == (value, None)


@given(st.text(max_size=5), values, values, st.lists(st.sampled_from("[{"), max_size=5))
def test_what_says_a_thing_twice_is_refused_at_any_depth(
    name: str, first: object, second: object, around: list[str]
) -> None:
    escaped = '"' + "".join(f"\\u{ord(char):04x}" for char in name if ord(char) < 0x10000) + '"'
    plain = json.dumps("".join(char for char in name if ord(char) < 0x10000), ensure_ascii=False)
    text = f"{{{plain}: {json.dumps(first)}, {escaped}: {json.dumps(second)}}}"
    for opened in around:
        text = f"[1, {text}]" if opened == "[" else f'{{"in": {text}}}'
    with pytest.raises(NamedTwice):
        read_once(text.encode())
    assert "is there twice in one object: send it once" in (ambiguity(text) or "")


def test_the_same_name_in_two_objects_is_no_repetition() -> None:
    assert ambiguity('[{"a": 1, "b": {"a": 1}}, {"a": 2, "A": 3}]') is None


@pytest.mark.parametrize("text", ["", "{", "yes", '{"a": 1, "a": 2', "[1,]", b"\xff{}"])
def test_what_is_no_json_is_left_to_whoever_refuses_it(text: str | bytes) -> None:
    assert ambiguity(text) is None


def test_what_is_too_deep_to_be_looked_at_is_said_to_be() -> None:
    assert ambiguity("[" * 100_000 + '{"a": 1, "a": 2}' + "]" * 100_000) == "is nested too deeply"


def test_a_long_name_is_not_told_whole() -> None:
    name = json.dumps("x" * 10_000)
    assert len(ambiguity(f"{{{name}: 1, {name}: 2}}") or "") < 200


@pytest.mark.parametrize(
    "number",
    [
        "1e400",
        "-1e999",
        "NaN",
        "Infinity",
        "-Infinity",
        "1e-400",
        "9007199254740993.0",
        "1e-99999999999999999999",
    ],
)
def test_a_number_that_can_not_be_kept_is_refused(number: str) -> None:
    with pytest.raises(NumberNotKept):
        read_once(f'{{"a": [1, {number}]}}')
    assert f"the number {number} can't be kept" in (ambiguity(f"[{number}]") or "")


@pytest.mark.parametrize(
    "number",
    ["0.1", "1.0", "-0.0", "0e5", "1e22", "0.1000000000000000055511151231257827", "9007199254740993"],
)
def test_a_number_that_is_kept_is_read(number: str) -> None:
    assert ambiguity(f'{{"a": {number}}}') is None


@pytest.mark.parametrize("text", ["9" * 5000, f'{{"a": [1, -{"9" * 5000}]}}'])
def test_a_number_of_more_digits_than_are_read_is_refused_as_one(text: str) -> None:
    with pytest.raises(NumberNotKept):
        read_once(text)
    assert "thousands of digits can't be kept" in (ambiguity(text) or "")


def test_a_short_number_is_not_looked_at_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """There may be hundreds of thousands, and whoever else asks waits meanwhile."""
    monkeypatch.setattr(json_once, "Decimal", None)
    assert read_once("[1234567.0, 0.0, -12345678901.0, 100000000000.5]")[0] == 1234567


@given(st.from_regex(r"-?(0|[1-9][0-9]{0,6})\.[0-9]{1,6}", fullmatch=True))
def test_a_short_number_is_what_a_double_says(number: str) -> None:
    assert Decimal(repr(read_once(number))) == Decimal(number)
