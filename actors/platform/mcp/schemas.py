"""JSON schemas that outsiders wrote: their digest, which are refused, and what breaks one.

A schema is text from outside that is worked with, so its work is bounded: a `$ref` leads nowhere but into its
own document (nothing is ever fetched), `pattern` is matched in linear time by Rust's engine (so without
look-around and back-references), and checking takes so many steps at most (`bounded_checking`), off the event
loop: checking a value, and checking the schema itself. What is more than a little work is done in a process
apart, which is ended after its seconds (`checking_apart`): what was not checked is refused.
"""

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import referencing
from jsonschema.exceptions import ValidationError
from referencing.exceptions import Unresolvable

from actors.platform.mcp.bounded_checking import (
    DIALECTS,
    FAILS,
    MOST_STEPS,
    NEWEST,
    REFERENCES,
    Steps,
    TooMuchWork,
    first_fault,
    pattern_weight,
)
from actors.platform.mcp.checking_apart import Checked, apart
from models.error_lines import error_line

_MOST_BYTES = 100_000
_MOST_DEPTH = 50
_MOST_PATTERN = 1_000
_MOST_KEPT = 256
# What its patterns may weigh together: so much is made ready to be matched in half a second.
_MOST_PATTERNS_WEIGHT = 20_000
# They look through a schema by themselves, past the count of steps.
_UNCOUNTED = ("unevaluatedProperties", "unevaluatedItems")


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
    if reason := await asyncio.to_thread(_refused_at_sight, schema):
        return reason
    text = await asyncio.to_thread(canonical, schema)
    if len(text) > _MOST_BYTES:
        return f"it is over {_MOST_BYTES:,} bytes"
    # It is the same one at each call.
    if text not in _refusals:
        found = await _checked(_refused, text)
        if found.passes:
            return found.fault
        while len(_refusals) >= _MOST_KEPT:
            del _refusals[next(iter(_refusals))]
        _refusals[text] = found.fault
    return _refusals[text]


async def fault_in(value: Any, schema: Mapping[str, Any]) -> str | None:
    """What in a value breaks a schema that is not refused, by its path; None where nothing does."""
    return (await _checked(_fault_in, value, schema)).fault


_refusals: dict[str, str | None] = {}


async def _checked(work: Callable[..., str | None], *arguments: Any) -> Checked:
    try:
        return Checked(await asyncio.to_thread(work, Steps.beside(), *arguments))
    except TooMuchWork:
        return await apart(within_steps, work, *arguments)


def within_steps(work: Callable[..., str | None], *arguments: Any) -> str | None:
    """What a check comes to in a process that does nothing else, and can be ended."""
    try:
        return work(Steps(MOST_STEPS), *arguments)
    except TooMuchWork:
        return f"checking it takes more than {MOST_STEPS:,} steps"


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
    for name in REFERENCES:
        target = node.get(name)
        if isinstance(target, str) and not target.startswith("#"):
            return error_line(f"its {name} leads elsewhere, which is never fetched: {target}")
    for name in ("$id", "$schema"):
        if depth > 1 and isinstance(node.get(name), str):
            return f"it holds an {name} below its top"
    for name in _UNCOUNTED:
        if isinstance(node.get(name), Mapping | bool):
            return f"it uses {name}, which is not supported"
    return None


def _refused(steps: Steps, text: str) -> str | None:
    """What is wrong with a schema, by its canonical text."""
    schema = json.loads(text)
    said = schema.get("$schema", NEWEST)
    if not isinstance(said, str) or said.rstrip("#") not in DIALECTS:
        return error_line(f"its $schema is not supported: {said}")
    dialect = said.rstrip("#")
    if reason := _refused_patterns(schema, steps) or _wrong(schema, dialect, steps):
        return reason
    resource = DIALECTS[dialect][1].create_resource(schema)
    base = resource.id() or ""
    # Crawled once, and not anew for each anchor.
    resolver = referencing.Registry().with_resource(base, resource).crawl().resolver(base)
    looked_at = {id(schema)}
    for target in sorted(set(_targets(schema))):
        try:
            found = resolver.lookup(target).contents
        except Unresolvable:
            return error_line(f"its $ref leads nowhere: {target}")
        # A default or an example may be led to as well, and was not looked at as a schema yet.
        if id(found) not in looked_at and (reason := _wrong(found, dialect, steps)):
            return error_line(f"its $ref leads to no schema: {target}: {reason}")
        looked_at.add(id(found))
    return None


def _wrong(schema: Any, dialect: str, steps: Steps) -> str | None:
    """What a dialect's own schema says against a schema."""
    try:
        error = first_fault(schema, DIALECTS[dialect][0].META_SCHEMA, dialect, steps)
    except FAILS as failure:
        return error_line(f"it can't be checked: {error_line(failure)}")
    return None if error is None else error_line(f"it is no JSON schema: {_said(error)}")


def _refused_patterns(schema: Any, steps: Steps) -> str | None:
    weight = 0
    for pattern in sorted(set(_patterns(schema))):
        if len(pattern) > _MOST_PATTERN:
            return f"a pattern of it is over {_MOST_PATTERN:,} characters"
        try:
            weight += pattern_weight(pattern)
            bounded = weight <= _MOST_PATTERNS_WEIGHT and steps.matcher(pattern) is not None
        except ValueError:
            bounded = False
        if not bounded:
            return error_line(f"a pattern of it can't be matched in bounded time: {pattern}")
    return None


def _nodes(schema: Any) -> Iterator[Mapping[str, Any]]:
    nodes = [schema]
    while nodes:
        node = nodes.pop()
        if isinstance(node, dict):
            yield node
            nodes += node.values()
        elif isinstance(node, list):
            nodes += node


def _targets(schema: Any) -> Iterator[str]:
    for node in _nodes(schema):
        yield from (node[name] for name in REFERENCES if isinstance(node.get(name), str))


def _patterns(schema: Any) -> Iterator[str]:
    for node in _nodes(schema):
        named = node.get("patternProperties")
        told = [node.get("pattern"), *(named if isinstance(named, dict) else ())]
        yield from (each for each in told if isinstance(each, str))


def _fault_in(steps: Steps, value: Any, schema: Mapping[str, Any]) -> str | None:
    try:
        error = first_fault(value, schema, str(schema.get("$schema", NEWEST)).rstrip("#"), steps)
    except FAILS as failure:
        return error_line(f"it can't be checked: {error_line(failure)}")
    return None if error is None else _said(error)


def _said(error: ValidationError) -> str:
    path = ".".join(str(part) for part in error.absolute_path)
    return error_line(f"{path}: {error.message}" if path else error.message)
