"""Whatever a schema says, so much is done for each step paid and no more, counted in lines run."""

import sys
from collections.abc import Mapping
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema.exceptions import ValidationError

from actors.platform.mcp.bounded_checking import (
    DIALECTS,
    FAILS,
    NEWEST,
    Steps,
    TooMuchWork,
    first_fault,
    pattern_weight,
)
from actors.platform.mcp.schemas import fault_in, refusal_of

_DRAFT7 = "http://json-schema.org/draft-07/schema"
_MOST = 2_000
# Of Python, for each step: a step is some microseconds.
_LINES_A_STEP = 150
# What there is to do before the first, once, for each part of the schema.
_LINES_A_PART = 120
# A fault is paid once it is in words: the last, of the whole value, may be past what there was.
_LINES_A_WORD = 5


class _Leaf(str):
    """A text that is seen being put into words: each time is a line run."""

    def __repr__(self) -> str:
        return "''"


class _Runaway(BaseException):
    """More lines were run than were paid for."""


class _Lines:
    """Counts the lines that are run, and ends what runs on and on."""

    def __init__(self, most: int) -> None:
        self.run = 0
        self._most = most

    def __enter__(self) -> "_Lines":
        self._before = sys.gettrace()
        sys.settrace(self._entered)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._before)

    def _entered(self, frame: FrameType, event: str, _: Any) -> Any:
        return self._line

    def _line(self, frame: FrameType, event: str, _: Any) -> Any:
        self.run += 1
        if self.run > self._most:
            raise _Runaway
        return self._line


def _checked(value: Any, schema: Any, dialect: str = NEWEST) -> tuple[int, ValidationError | str | None]:
    """The lines run for each step paid, and what came of it."""
    steps = Steps(_MOST)
    before = _LINES_A_PART * (50 + Steps(0).weight(schema)) + _LINES_A_WORD * Steps(0).weight(value)
    with _Lines(before + _MOST * _LINES_A_STEP) as lines:
        try:
            found: ValidationError | str | None = first_fault(value, schema, dialect, steps)
        except (TooMuchWork, *FAILS) as error:
            found = type(error).__name__
    paid = steps.most - max(steps.left, 0)
    return max(0, lines.run - before) // max(paid, 1), found


def _again_and_again(schema: Any, times: int = 14) -> dict[str, Any]:
    """It, 2^times times, in a few lines."""
    defs: dict[str, Any] = {
        f"d{each}": {"allOf": [{"$ref": f"#/$defs/d{each + 1}"}] * 2} for each in range(times)
    }
    return {"allOf": [{"$ref": "#/$defs/d0"}], "$defs": {**defs, f"d{times}": schema}}


_LONG = [_Leaf()] * 3_000
_WIDE = {f"k{each}": _Leaf() for each in range(3_000)}


@pytest.mark.parametrize("inner", [{}, True, False])
@pytest.mark.parametrize(
    ("keyword", "dialect", "value"),
    [
        ("items", NEWEST, _LONG),
        ("contains", NEWEST, _LONG),
        ("propertyNames", NEWEST, _WIDE),
        ("additionalProperties", NEWEST, _WIDE),
        ("items", _DRAFT7, _LONG),
        ("contains", _DRAFT7, _LONG),
        ("propertyNames", _DRAFT7, _WIDE),
        ("not", NEWEST, _LONG),
        ("if", NEWEST, _LONG),
    ],
)
def test_a_keyword_is_paid_by_what_it_walks(keyword: str, dialect: str, value: Any, inner: Any) -> None:
    """Under `anyOf`, with a branch that holds, so that a fault does not end it."""
    schema = _again_and_again({"anyOf": [{keyword: inner}, {}]})
    lines, found = _checked(value, schema, dialect)
    assert lines <= _LINES_A_STEP
    assert found == "TooMuchWork"


@pytest.mark.parametrize(
    ("schema", "dialect", "value"),
    [
        ({"prefixItems": [True] * 3_000}, NEWEST, _LONG),
        ({"prefixItems": [{}] * 500}, NEWEST, _LONG),
        ({"items": [True] * 3_000}, _DRAFT7, _LONG),
        ({"items": [], "additionalItems": {}}, _DRAFT7, _LONG),
        ({"patternProperties": {"^k": True}}, NEWEST, _WIDE),
        ({"uniqueItems": True}, NEWEST, [[each] for each in range(3_000)]),
        ({"enum": [[*_LONG, 1]]}, NEWEST, [*_LONG, 2]),
        ({"const": {"a": [*_LONG, 1]}}, NEWEST, {"a": [*_LONG, 2]}),
        ({"required": [f"k{each}" for each in range(3_000)]}, NEWEST, _WIDE),
        ({"dependentRequired": {"k1": [f"k{each}" for each in range(3_000)]}}, NEWEST, _WIDE),
        ({"dependencies": {"k1": [f"k{each}" for each in range(3_000)]}}, _DRAFT7, _WIDE),
        ({"dependentSchemas": {"k1": {"propertyNames": True}}}, NEWEST, _WIDE),
        ({"anyOf": [False] * 50 + [True]}, NEWEST, _LONG),
        ({"oneOf": [False] * 50 + [True]}, NEWEST, _LONG),
        ({"type": "string"}, NEWEST, _LONG),
        ({f"x-{each}": each for each in range(3_000)}, NEWEST, _LONG),
    ],
)
def test_so_it_is_for_what_is_listed(schema: Any, dialect: str, value: Any) -> None:
    lines, found = _checked(value, _again_and_again({"anyOf": [schema, {}]}), dialect)
    assert lines <= _LINES_A_STEP
    assert found == "TooMuchWork"


def test_an_anchor_is_looked_up_and_not_for() -> None:
    many: dict[str, Any] = {f"x{each}": {"$anchor": f"x{each}"} for each in range(300)}
    schema = {"allOf": [{"$ref": f"#x{each}"} for each in range(200)], "$defs": many}
    steps = Steps(_MOST)
    with _Lines(150_000) as lines:
        assert first_fault({}, schema, NEWEST, steps) is None
    assert lines.run < 150_000


_leaves = st.sampled_from(
    [True, False, {}, {"type": "string"}, {"maxLength": 0}, {"const": [1]}, {"$ref": "#"}]
)


def _applied(each: Any) -> Any:
    several = st.lists(each, min_size=1, max_size=3)
    keyword = st.one_of(
        st.tuples(
            st.sampled_from(
                ["items", "contains", "propertyNames", "additionalProperties", "not", "if", "then", "else"]
            ),
            each,
        ),
        st.tuples(st.sampled_from(["allOf", "anyOf", "oneOf", "prefixItems"]), several),
        st.tuples(st.just("prefixItems"), _leaves.map(lambda found: [found] * 300)),
        st.tuples(
            st.sampled_from(["properties", "patternProperties", "dependentSchemas"]),
            st.dictionaries(st.sampled_from(["a", "k1"]), each, max_size=2),
        ),
        st.tuples(st.sampled_from(["uniqueItems"]), st.booleans()),
        st.tuples(st.sampled_from(["enum"]), st.lists(st.just(_LONG[:200]), max_size=3)),
    )
    return st.lists(keyword, min_size=1, max_size=4).map(dict)


_schemas = st.recursive(_leaves, _applied, max_leaves=20)
_values = st.recursive(
    st.sampled_from([_Leaf(), 1, None]),
    lambda each: st.one_of(
        st.tuples(each, st.sampled_from([0, 1, 3, 200])).map(lambda found: [found[0]] * found[1]),
        st.dictionaries(st.sampled_from(["a", "b", "k1"]), each, max_size=3),
        each.map(lambda found: {f"k{number}": found for number in range(100)}),
    ),
    max_leaves=5,
).filter(lambda value: Steps(0).weight(value) <= 5_000)


@given(_schemas, _values, st.sampled_from([0, 5, 12]), st.sampled_from([NEWEST, _DRAFT7]))
def test_no_schema_does_more_than_is_paid(schema: Any, value: Any, times: int, dialect: str) -> None:
    lines, _ = _checked(value, _again_and_again(schema, times), dialect)
    assert lines <= _LINES_A_STEP


_plain = st.recursive(
    st.sampled_from([True, False, {}, {"type": "string"}, {"maxLength": 1}, {"const": 1}]),
    _applied,
    max_leaves=8,
)


@given(_plain, _values, st.sampled_from([NEWEST, _DRAFT7]))
def test_what_is_paid_for_comes_to_what_jsonschema_says(schema: Any, value: Any, dialect: str) -> None:
    kind, _ = DIALECTS[dialect]
    found = first_fault(value, schema, dialect, Steps(10**9))
    assert (found is None) == kind(schema).is_valid(value)


@given(_schemas, st.sampled_from([0, 8]))
@pytest.mark.heavy
def test_so_is_checking_the_schema_itself(schema: Any, times: int) -> None:
    lines, _ = _checked(_again_and_again(schema, times), DIALECTS[NEWEST][0].META_SCHEMA)
    assert lines <= _LINES_A_STEP


async def test_a_schema_that_names_its_dialect_is_checked_by_ours_again_where_it_refers_to_itself() -> None:
    schema = {
        "$schema": NEWEST,
        "type": "object",
        "properties": {"in": {"$ref": "#"}, "a": {"pattern": "^(a+)+$"}},
    }
    found = await fault_in({"in": {"a": "a" * 5_000 + "!"}}, schema)
    assert (found or "").startswith("in.a: 'aaa")


@pytest.mark.parametrize(
    ("pattern", "weight"),
    [
        ("abc", 4),
        ("a{10}", 11),
        ("(ab){3,20}c", 44),
        ("((a{10}){10}){10}", 1001),
        (r"\d{4}", 16 * 4 + 1),
        (r"[\w.]{2,}", 33),
        (r"\({3}", 4),
        ("[({]{3}", 4),
        (r"\p{L}{120}", 16 * 120),
        (r"\x{100}{9}", 10),
        ("(a(){900}){300}", 300 * 901 * 2),
        ("[" + "aeiouy" * 40 + "]{40}", 15 * 40),
    ],
)
def test_a_pattern_weighs_what_it_repeats(pattern: str, weight: int) -> None:
    assert pattern_weight(pattern) >= weight
    assert pattern_weight(pattern) <= 2 * weight


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"pattern": "[[](]{1000}"}}},
        {"properties": {"a": {"pattern": "(?x)a # (\n{1000}"}}},
        {"properties": {"a": {"pattern": "(.{100}){300}"}}},
        {"properties": {f"a{each}": {"pattern": f".{{{each}}}"} for each in range(300)}},
    ],
)
async def test_patterns_that_are_too_much_to_make_ready_are_refused(schema: Mapping[str, Any]) -> None:
    reason = await refusal_of({"type": "object", **schema}, of_object=True)
    assert (reason or "").startswith("a pattern of it can't be matched in bounded time")


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        ("a" * 100_000, {"pattern": "[ab]*a[ab]{300}[cd]"}),
        ("a", {"pattern": r"\w{100}"}),
        (["a" * 1_000] * 1_000, {"items": {"pattern": "a$"}}),
        ({"b" * 100_000: 1}, {"patternProperties": {"a{20}": {}}}),
        (["a"] * 60_000, {"enum": [1]}),
        ("a", {"$defs": {f"d{each}": {"$anchor": f"a{each}"} for each in range(3_000)}}),
    ],
)
def test_what_would_hold_up_a_process_is_too_much_beside_other_work(value: Any, schema: Any) -> None:
    with pytest.raises(TooMuchWork):
        first_fault(value, schema, NEWEST, Steps.beside())
    first_fault(value, schema, NEWEST, Steps(10**9))


def test_a_text_is_paid_by_its_length_and_its_patterns_weight() -> None:
    steps = Steps(10**9)
    first_fault("x" * 100_000, {"pattern": "1.{2000}!"}, NEWEST, steps)
    assert steps.most - steps.left > 100_000 * 2_000 // 1024


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        (
            {"properties": {"a": {"$schema": "http://json-schema.org/draft-04/schema#"}}},
            r"it holds an $schema",
        ),
        ({"$ref": "#/default", "default": {"pattern": 7}}, "its $ref leads to no schema: #/default"),
        ({"$ref": "#/properties", "properties": {"type": {}}}, "its $ref leads to no schema: #/properties"),
        ({"allOf": [{}] * 30_000}, "checking it takes more than"),
    ],
)
async def test_schemas_past_the_bounds_are_refused(schema: Mapping[str, Any], told: str) -> None:
    reason = await refusal_of({"type": "object", **schema}, of_object=True)
    assert (reason or "").startswith(told), reason
