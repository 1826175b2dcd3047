"""Schemas that outsiders wrote: which are refused, what breaks one, and that none can hold up the process."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.platform.mcp.schemas import canonical, digest_of, fault_in, refusal_of

_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False, allow_infinity=False),
    lambda each: st.lists(each, max_size=4) | st.dictionaries(st.text(), each, max_size=4),
    max_leaves=12,
)


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _reversed(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _reversed(value[name]) for name in reversed(value)}
    return [_reversed(each) for each in value] if isinstance(value, list) else value


@given(_json)
def test_the_order_of_keys_does_not_matter_to_a_digest(value: Any) -> None:
    assert digest_of(value) == digest_of(_reversed(value))


@given(_json, _json)
def test_other_values_have_other_digests(one: Any, other: Any) -> None:
    assert (digest_of(one) == digest_of(other)) == (canonical(one) == canonical(other))


def test_a_digest_stays_what_it_is() -> None:
    """Approvals hold it: whoever changes how it is made makes them all void."""
    assert digest_of({"b": [1, True, None], "a": "é"}) == (
        "fd794d605169756a311c518616825d158b8601f9ff8ff687f57bf810dcf7017f"
    )


@pytest.mark.parametrize(
    "schema",
    [
        _object(),
        _object(to={"type": "string", "pattern": r"^[^@\s]+@[^@\s]+$", "maxLength": 80}),
        {**_object(to={"$ref": "#/$defs/to"}), "$defs": {"to": {"type": "string"}}},
        {**_object(child={"$ref": "#"}), "additionalProperties": False},
        {**_object(), "patternProperties": {"^x-": {"type": "string"}}},
        {"$schema": "http://json-schema.org/draft-07/schema#", **_object(a={"type": "integer"})},
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": "https://a.example/b",
            **_object(),
        },
        _object(**{"$ref": {"type": "string"}, "pattern": {"type": "string"}, "$id": {"type": "string"}}),
    ],
)
async def test_a_usual_schema_is_taken(schema: dict[str, Any]) -> None:
    assert await refusal_of(schema, of_object=True) is None


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": "string"}, "its type is not object"),
        ({"type": ["object", "null"]}, "its type is not object"),
        (
            _object(a={"$ref": "http://127.0.0.1:9/x.json"}),
            r"its \$ref leads elsewhere, which is never fetched",
        ),
        (_object(a={"$ref": "other.json#/a"}), r"its \$ref leads elsewhere"),
        (_object(a={"$ref": "file:///etc/passwd"}), r"its \$ref leads elsewhere"),
        (_object(a={"$dynamicRef": "https://a.example/"}), r"its \$dynamicRef leads elsewhere"),
        (_object(a={"$ref": "#/$defs/none"}), r"its \$ref leads nowhere: #/\$defs/none"),
        (_object(a={"$id": "https://a.example/", "type": "string"}), r"it holds an \$id below its top"),
        (_object(a={"type": "text"}), "it is no JSON schema: properties.a.type"),
        (_object(a={"minimum": "1"}), "it is no JSON schema"),
        ({**_object(), "unevaluatedProperties": False}, "it uses unevaluatedProperties"),
        (
            {**_object(), "$schema": "https://json-schema.org/draft/2019-09/schema"},
            r"its \$schema is not supported",
        ),
        ({**_object(), "$schema": 7}, r"its \$schema is not supported"),
        (_object(a={"pattern": "(?=x)y"}), "can't be matched in bounded time"),
        (_object(a={"pattern": r"(x)\1"}), "can't be matched in bounded time"),
        (_object(a={"pattern": "("}), "can't be matched in bounded time"),
        (_object(a={"pattern": "(((a{1,1000}){1,1000}){1,1000})"}), "can't be matched in bounded time"),
        (_object(a={"pattern": "a" * 1001}), "a pattern of it is over 1,000 characters"),
        ({**_object(), "patternProperties": {"(?!x)": {}}}, "can't be matched in bounded time"),
        (_object(a={"description": "x" * 100_000}), "it is over 100,000 bytes"),
        (_object(a={"default": float("nan")}), "it holds a number that JSON has not"),
    ],
)
async def test_other_schemas_are_refused_and_it_is_said_why(schema: dict[str, Any], told: str) -> None:
    reason = await refusal_of(schema, of_object=True)
    assert reason is not None
    assert pytest.raises(AssertionError, match=told).matches(AssertionError(reason)), reason
    assert len(reason) <= 300


async def test_a_schema_that_is_nested_absurdly_is_refused() -> None:
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"not": deep}
    assert (
        await refusal_of({"type": "object", "not": deep}, of_object=True) == "it is nested more than 50 deep"
    )


async def test_an_output_schema_may_ask_for_anything() -> None:
    assert await refusal_of({"type": "array"}, of_object=False) is None


@pytest.mark.parametrize(
    ("value", "schema", "fault"),
    [
        ({"to": "ann"}, _object(to={"type": "string"}), None),
        ({"to": 7}, _object(to={"type": "string"}), "to: 7 is not of type 'string'"),
        ({}, {**_object(), "required": ["to"]}, "'to' is a required property"),
        (
            {"m": {"to": ["a", 7]}},
            _object(m=_object(to={"items": {"type": "string"}})),
            "m.to.1: 7 is not of type",
        ),
        ({"x": 1}, {**_object(), "additionalProperties": False}, "'x' is not one of its properties"),
        ({"x": 1}, {**_object(), "additionalProperties": {"type": "string"}}, "x: 1 is not of type"),
        (
            {"x-a": 1},
            {**_object(), "patternProperties": {"^x-": {"type": "string"}}},
            "x-a: 1 is not of type",
        ),
        (
            {"x-a": "1"},
            {**_object(), "patternProperties": {"^x-": {}}, "additionalProperties": False},
            None,
        ),
        ({"a": "b"}, _object(a={"pattern": "^a"}), "a: 'b' does not match '^a'"),
        ({"a": "xab"}, _object(a={"pattern": "ab"}), None),
        ({"a": [1, 2, 1]}, _object(a={"uniqueItems": True}), "a: 1 is in it twice"),
        ({"a": [1, True, "1"]}, _object(a={"uniqueItems": True}), None),
        ({"a": {"a": {"a": 1}}}, _object(a={"$ref": "#"}), "a.a.a: 1 is not of type 'object'"),
        (
            {"a": 1},
            {
                "$schema": "http://json-schema.org/draft-07/schema#",
                **_object(a={"$ref": "#/definitions/a"}),
                "definitions": {"a": {"type": "string"}},
            },
            "a: 1 is not of type 'string'",
        ),
    ],
)
async def test_what_breaks_a_schema_is_told_by_its_path(value: Any, schema: Any, fault: str | None) -> None:
    assert await refusal_of(schema, of_object=True) is None
    found = await fault_in(value, schema)
    assert found == fault if fault is None else (found or "").startswith(fault)


async def test_a_fault_is_told_in_a_line() -> None:
    found = await fault_in({"a": "x\n" * 500_000}, _object(a={"maxLength": 3}))
    assert found is not None
    assert len(found) <= 300
    assert "\n" not in found


def _bomb(depth: int) -> dict[str, Any]:
    """A few lines that are 2^depth to check."""
    defs: dict[str, Any] = {
        f"d{each}": {"allOf": [{"$ref": f"#/$defs/d{each + 1}"}] * 2} for each in range(depth)
    }
    return {"type": "object", "$ref": "#/$defs/d0", "$defs": {**defs, f"d{depth}": {"type": "object"}}}


_ITSELF = {"type": "object", "$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}
_MANY = [{"a": each} for each in range(200_000)]


@pytest.mark.parametrize(
    ("value", "schema", "fault"),
    [
        ({"a": "a" * 100_000 + "!"}, _object(a={"pattern": "^(a+)+$"}), "a: 'aaa"),
        ({"a": "a" * 100_000}, _object(a={"pattern": "(a|aa|a.*)*b"}), "a: 'aaa"),
        ({"a" * 50_000: 1}, {**_object(), "patternProperties": {"^(a+)+!$": False}}, None),
        (
            {"a" * 50_000: 1},
            {**_object(), "patternProperties": {"^(a+)+!$": {}}, "additionalProperties": False},
            "'a",
        ),
        ({}, _bomb(40), "checking it takes more than"),
        ({}, _ITSELF, "it can't be checked: RecursionError"),
        ({"a": _MANY}, _object(a={"uniqueItems": True}), None),
        ({"a": _MANY}, _object(a={"items": {"enum": list(range(10_000))}}), "a.0: {'a': 0} is not one of"),
        (
            {"a": list(range(9_000)) * 20},
            _object(a={"items": {"enum": list(range(10_000))}}),
            "checking it takes",
        ),
        ({"a": 10**400}, _object(a={"multipleOf": 0.5}), "it can't be checked: OverflowError"),
    ],
)
async def test_no_schema_holds_up_the_process(value: Any, schema: Any, fault: str | None) -> None:
    assert await refusal_of(schema, of_object=True) is None
    found = await fault_in(value, schema)
    assert found == fault if fault is None else (found or "").startswith(fault), found


async def test_a_large_honest_answer_is_checked_whole() -> None:
    fields = {f"field{each}": {"type": "string", "maxLength": 80} for each in range(20)}
    mail = {**_object(**fields), "required": list(fields), "additionalProperties": False}
    mails = {"mails": [dict.fromkeys(fields, "x")] * 2_000}
    assert await fault_in(mails, _object(mails={"type": "array", "items": mail})) is None
