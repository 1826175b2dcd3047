"""JSON schemas that outsiders wrote: their digest, which are refused, and what breaks one.

A schema is text from outside that is worked with, so its work is bounded: a `$ref` leads nowhere but into its
own document (nothing is ever fetched), `pattern` is matched in linear time by Rust's engine (so without
look-around and back-references), and validating takes `_MOST_STEPS` keywords at most, off the event loop.
"""

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

import jsonschema
import referencing
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.validators import Draft7Validator, Draft202012Validator, extend
from pydantic_core import SchemaError as PatternError
from pydantic_core import SchemaValidator, core_schema
from pydantic_core import ValidationError as NoMatch
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT7, DRAFT202012

from models.error_lines import error_line

_MOST_BYTES = 100_000
_MOST_DEPTH = 50
# A thousand mails with twenty fields are fifty thousand; a hundred thousand take about a second.
_MOST_STEPS = 250_000
_MOST_PATTERN = 1_000
_DIALECTS = {
    "https://json-schema.org/draft/2020-12/schema": (Draft202012Validator, DRAFT202012),
    "http://json-schema.org/draft-07/schema": (Draft7Validator, DRAFT7),
}
_NEWEST = "https://json-schema.org/draft/2020-12/schema"
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
# They look through a schema by themselves, past the count of steps.
_UNCOUNTED = ("unevaluatedProperties", "unevaluatedItems")
# What checking comes to where a schema refers to itself without end, leads nowhere, or reckons too high.
_FAILS = (RecursionError, Unresolvable, ArithmeticError, ValueError, TypeError)
_left: ContextVar[list[int]] = ContextVar("schema_steps_left")

# A keyword's check, as jsonschema calls it: with the validator, its value, the instance and the schema.
_Check = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]


class TooMuchWork(Exception):
    """Validating a value takes more steps than it may."""


def canonical(value: Any) -> str:
    """A JSON value as one text, in which the order of keys and blanks say nothing.

    Raises:
        ValueError: it holds a number that JSON has not (NaN, Infinity).
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest_of(value: Any) -> str:
    """The SHA-256 (hex) of a JSON value."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


async def refusal_of(schema: Mapping[str, Any], *, of_object: bool) -> str | None:
    """Why a schema can't be used here; None where it can. `of_object`: it must ask for an object."""
    if of_object and schema.get("type") != "object":
        return "its type is not object"
    if reason := _refused_at_sight(schema):
        return reason
    text = canonical(schema)
    if len(text) > _MOST_BYTES:
        return f"it is over {_MOST_BYTES:,} bytes"
    return await asyncio.to_thread(_refused, text)


async def fault_in(value: Any, schema: Mapping[str, Any]) -> str | None:
    """What in a value breaks a schema that is not refused, by its path; None where nothing does."""
    return await asyncio.to_thread(_fault_in, value, schema)


def _refused_at_sight(schema: Mapping[str, Any]) -> str | None:
    nodes: list[tuple[Any, int]] = [(schema, 1)]
    while nodes:
        node, depth = nodes.pop()
        if depth > _MOST_DEPTH:
            return f"it is nested more than {_MOST_DEPTH} deep"
        if isinstance(node, list):
            nodes += [(each, depth + 1) for each in node]
        elif isinstance(node, Mapping):
            if reason := _refused_node(node, depth):
                return reason
            nodes += [(each, depth + 1) for each in node.values()]
        elif isinstance(node, float) and node - node != 0:
            return "it holds a number that JSON has not"
    return None


def _refused_node(node: Mapping[str, Any], depth: int) -> str | None:
    for name in _REFERENCES:
        target = node.get(name)
        if isinstance(target, str) and not target.startswith("#"):
            return error_line(f"its {name} leads elsewhere, which is never fetched: {target}")
    if depth > 1 and isinstance(node.get("$id"), str):
        return "it holds an $id below its top"
    for name in _UNCOUNTED:
        if isinstance(node.get(name), Mapping | bool):
            return f"it uses {name}, which is not supported"
    patterns = node.get("patternProperties")
    told = [node.get("pattern"), *(patterns if isinstance(patterns, Mapping) else ())]
    return next(
        (reason for each in told if isinstance(each, str) and (reason := _refused_pattern(each))), None
    )


def _refused_pattern(pattern: str) -> str | None:
    if len(pattern) > _MOST_PATTERN:
        return f"a pattern of it is over {_MOST_PATTERN:,} characters"
    try:
        _matcher(pattern)
    except PatternError:
        return error_line(f"a pattern of it can't be matched in bounded time: {pattern}")
    return None


@lru_cache(maxsize=256)
def _refused(text: str) -> str | None:
    """What is wrong with a schema, by its canonical text: it is the same one at each call."""
    schema = json.loads(text)
    said = schema.get("$schema", _NEWEST)
    if not isinstance(said, str) or said.rstrip("#") not in _DIALECTS:
        return error_line(f"its $schema is not supported: {said}")
    validator, specification = _DIALECTS[said.rstrip("#")]
    try:
        validator.check_schema(schema, format_checker=jsonschema.FormatChecker(formats=()))
    except SchemaError as error:
        return error_line(f"it is no JSON schema: {_said(error)}")
    except _FAILS as error:
        return error_line(f"it can't be checked: {error_line(error)}")
    resource = specification.create_resource(schema)
    base = resource.id() or ""
    registry: referencing.Registry[Any] = referencing.Registry().with_resource(base, resource)
    for target in _targets(schema):
        try:
            registry.resolver(base).lookup(target)
        except Unresolvable:
            return error_line(f"its $ref leads nowhere: {target}")
    return None


def _targets(schema: Any) -> Iterator[str]:
    nodes = [schema]
    while nodes:
        node = nodes.pop()
        if isinstance(node, dict):
            yield from (node[name] for name in _REFERENCES if isinstance(node.get(name), str))
            nodes += node.values()
        elif isinstance(node, list):
            nodes += node


def _fault_in(value: Any, schema: Mapping[str, Any]) -> str | None:
    kind = _BOUNDED[str(schema.get("$schema", _NEWEST)).rstrip("#")]
    _left.set([_MOST_STEPS])
    try:
        error = next(kind(schema, registry=referencing.Registry()).iter_errors(value), None)
    except TooMuchWork:
        return f"checking it takes more than {_MOST_STEPS:,} steps"
    except _FAILS as failure:
        return error_line(f"it can't be checked: {error_line(failure)}")
    return None if error is None else _said(error)


def _said(error: ValidationError | SchemaError) -> str:
    path = ".".join(str(part) for part in error.absolute_path)
    return error_line(f"{path}: {error.message}" if path else error.message)


@lru_cache(maxsize=256)
def _matcher(pattern: str) -> SchemaValidator:
    """Rust's engine looks for a pattern in linear time, and refuses what it could not find so."""
    return SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))


def _matches(pattern: str, text: str) -> bool:
    try:
        _matcher(pattern).validate_python(text)
    except NoMatch:
        return False
    return True


def _pattern(validator: Any, pattern: str, instance: Any, _: Any) -> Iterator[ValidationError]:
    if validator.is_type(instance, "string") and not _matches(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(
    validator: Any, patterns: Mapping[str, Any], instance: Any, _: Any
) -> Iterator[ValidationError]:
    if not validator.is_type(instance, "object"):
        return
    for pattern, schema in patterns.items():
        for name, value in instance.items():
            _spend(1)
            if _matches(pattern, name):
                yield from validator.descend(value, schema, path=name, schema_path=pattern)


def _additional_properties(
    validator: Any, allowed: Any, instance: Any, schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    if not validator.is_type(instance, "object"):
        return
    named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for name, value in instance.items():
        _spend(1 + len(patterns))
        if name in named or any(_matches(pattern, name) for pattern in patterns):
            continue
        if isinstance(allowed, Mapping):
            yield from validator.descend(value, allowed, path=name)
        elif not allowed:
            yield ValidationError(f"{name!r} is not one of its properties")


def _unique_items(validator: Any, unique: Any, instance: Any, _: Any) -> Iterator[ValidationError]:
    if not unique or not validator.is_type(instance, "array"):
        return
    seen: set[str] = set()
    for each in instance:
        _spend(1)
        text = json.dumps(each, sort_keys=True)
        if text in seen:
            yield ValidationError(f"{each!r} is in it twice")
            return
        seen.add(text)


def _spend(steps: int) -> None:
    left = _left.get()
    left[0] -= steps
    if left[0] < 0:
        raise TooMuchWork


def _counted(keyword: str, check: _Check) -> _Check:
    """The check, and the steps that it takes: more where it looks through a long list, or for a reference."""
    steps = 4 if keyword in _REFERENCES else 1

    def counted(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        _spend(steps + len(value) // 8 if isinstance(value, list | dict) else steps)
        yield from check(validator, value, instance, schema) or ()

    return counted


_OURS: dict[str, _Check] = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "uniqueItems": _unique_items,
}
_BOUNDED = {
    dialect: extend(
        validator,
        {name: _counted(name, _OURS.get(name, check)) for name, check in validator.VALIDATORS.items()},
    )
    for dialect, (validator, _) in _DIALECTS.items()
}
