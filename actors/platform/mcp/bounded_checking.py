"""Checking values by schemas that outsiders wrote, within a number of steps. Pure, run off the event loop.

Whatever is walked is paid for, by its length: each visit of a schema, each list that a keyword looks through,
each text that a pattern is looked for in, and each fault that is put into words, which `anyOf` and `not` have
made of the whole value only to forget it. No keyword is free, so none can be nested into hours. What is done
at one go, as a pattern is looked for, holds up its whole process: so beside other work it is little.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

import referencing
from jsonschema.exceptions import ValidationError
from jsonschema.validators import Draft7Validator, Draft202012Validator, extend
from pydantic_core import SchemaError as PatternError
from pydantic_core import SchemaValidator, core_schema
from pydantic_core import ValidationError as NoMatch
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT7, DRAFT202012

# A thousand mails with twenty fields are a hundred thousand; so many take a second or two.
MOST_STEPS = 500_000
# In a process that does other work as well.
_STEPS_BESIDE = 20_000
# A character looked at in one state of a pattern is one, of sixty nanoseconds at worst: all are a tenth of a
# second.
_AT_ONE_GO = 1_000_000
# In steps: a fault is two kilobytes, and `anyOf` keeps all of its own.
_FAULT = 4
# So much is a state of a pattern that is made ready, a part of a schema that is read for what it may refer
# to, and a part of a value that is put into words or compared.
_STATE_MADE = 1_000
_PART_READ = 100
_PART_TOLD = 20
NEWEST = "https://json-schema.org/draft/2020-12/schema"
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
# What checking comes to where a schema refers to itself without end, leads nowhere, or reckons too high.
FAILS = (RecursionError, Unresolvable, ArithmeticError, ValueError, TypeError)
# They look through the value, whatever their own is.
_LOOK_THROUGH = frozenset({"items", "prefixItems", "additionalItems", "contains", "propertyNames"})
# They look through all of what they are given, however deep it is.
_WHOLE = frozenset({"enum", "const", "required", "type", "dependentRequired", "dependencies"})
# They have faults put into words that nobody is told.
_FORGET = frozenset({"anyOf", "oneOf", "not", "if", "contains"})
# A pattern's parts: an escape, a class, a repetition with its most, or a sign. Classes within classes are not
# read, nor comments, in which Rust's engine would see other signs than we do.
_PARTS = re.compile(
    r"\\[pPxuU]\{[^{}]*\}|\\.|\[(?!\^?\])(?:\\.|[^\[\]\\])*\]|\{(?P<least>\d*)(?:,(?P<most>\d*))?\}|.",
    re.DOTALL,
)
# Each is hundreds of states: what letters and digits there are.
_LARGE = re.compile(r"\\[wWdDpP]")
_LARGE_WEIGHT = 16
# A long class is a state for each few of its signs, and a group is two: where it begins and where it ends.
_CLASS_SIGNS = 16
_GROUP_WEIGHT = 2
_COMMENTED = re.compile(r"\(\?[A-Za-z]*x")

# A keyword's check, as jsonschema calls it: with the validator, its value, the instance and the schema.
_Check = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]


class TooMuchWork(Exception):
    """Checking a value takes more steps than it may."""


class Steps:
    """What is left of the steps, and how much there is in a value, reckoned once for each part of it.

    Args:
        most: steps.
        at_one_go: what may be done without giving way; None where it can be ended from outside.
    """

    def __init__(self, most: int, *, at_one_go: int | None = None) -> None:
        self.most = self.left = most
        self._at_one_go = at_one_go
        self._matchers: dict[str, SchemaValidator] = {}
        self._weights: dict[int, int] = {}

    @classmethod
    def beside(cls) -> "Steps":
        """For a process that does other work as well."""
        return cls(_STEPS_BESIDE, at_one_go=_AT_ONE_GO)

    def spend(self, steps: int) -> None:
        """Pay for what is done.

        Raises:
            TooMuchWork: nothing is left.
        """
        self.left -= steps
        if self.left < 0:
            raise TooMuchWork

    def hold_up(self, work: int) -> None:
        """Pay for what is done at one go.

        Raises:
            TooMuchWork: it would hold up the process for too long.
        """
        if self._at_one_go is not None:
            self._at_one_go -= work
            if self._at_one_go < 0:
                raise TooMuchWork

    def matcher(self, pattern: str) -> SchemaValidator:
        """A pattern made ready. Kept by whoever checks: in a store for all, many could push each other out.

        Raises:
            ValueError: it is none, or can't be matched in linear time.
            TooMuchWork: it would hold up the process for too long.
        """
        found = self._matchers.get(pattern)
        if found is None:
            self.hold_up(_STATE_MADE * pattern_weight(pattern))
            found = self._matchers[pattern] = _matcher(pattern)
        return found

    def weight(self, value: Any) -> int:
        """How many parts a JSON value has; a long text counts as several."""
        if isinstance(value, str):
            return 1 + len(value) // 64
        if not isinstance(value, list | dict):
            return 1
        known = self._weights.get(id(value))
        if known is None:
            parts = [*value, *value.values()] if isinstance(value, dict) else value
            known = self._weights[id(value)] = 1 + sum(map(self.weight, parts))
        return known


_steps: ContextVar[Steps] = ContextVar("schema_steps")


def first_fault(value: Any, schema: Any, dialect: str, steps: Steps) -> ValidationError | None:
    """What of a value breaks a schema, first.

    Args:
        schema: one that `schemas` does not refuse; or a dialect's own, by which schemas are checked.

    Raises:
        TooMuchWork: the steps were spent before.
        One of FAILS: it can't be checked.
    """
    _steps.set(steps)
    steps.hold_up(_PART_TOLD * steps.weight(value) + _PART_READ * steps.weight(schema))
    kind, specification = DIALECTS[dialect]
    if schema is kind.META_SCHEMA:
        checker = _BOUNDED[dialect](schema, registry=referencing.Registry())
    else:
        resource = specification.create_resource(schema)
        base = resource.id() or ""
        # Crawled once: an anchor would have it crawled anew at each visit.
        resolver = referencing.Registry().with_resource(base, resource).crawl().resolver(base)
        checker = _BOUNDED[dialect](schema, _resolver=resolver)
    return next(checker.iter_errors(value), None)


@lru_cache(maxsize=1024)
def pattern_weight(pattern: str) -> int:
    """About how many states it has, with all that is to be repeated written out.

    Raises:
        ValueError: it can't be reckoned.
    """
    if _COMMENTED.search(pattern):
        raise ValueError("it has comments")
    groups, last = [0], 0
    for part in _PARTS.finditer(pattern):
        sign = part[0]
        if sign == "[":
            raise ValueError("a class of it can't be read")
        if sign == "(":
            groups.append(0)
            continue
        if sign == ")":
            last = _GROUP_WEIGHT + (groups.pop() if len(groups) > 1 else groups[0])
            groups[-1] += last
        elif part["least"] is not None:
            last *= max(1, int(part["most"] or part["least"] or 1))
            groups[-1] += last
        else:
            last = _LARGE_WEIGHT if _LARGE.search(sign) else 1 + len(sign) // _CLASS_SIGNS
            groups[-1] += last
    return 1 + sum(groups)


def _matcher(pattern: str) -> SchemaValidator:
    """Rust's engine looks for a pattern in linear time, and refuses what it could not find so."""
    try:
        return SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))
    except PatternError as error:
        raise ValueError("it is none") from error


def _matches(pattern: str, text: str) -> bool:
    steps = _steps.get()
    work = len(text) * pattern_weight(pattern)
    steps.spend(1 + len(text) // 64 + work // 1024)
    steps.hold_up(work)
    matcher = steps.matcher(pattern)
    try:
        matcher.validate_python(text)
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
            if _matches(pattern, name):
                yield from validator.descend(value, schema, path=name, schema_path=pattern)


def _additional_properties(
    validator: Any, allowed: Any, instance: Any, schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    if not validator.is_type(instance, "object"):
        return
    named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for name, value in instance.items():
        _steps.get().spend(1)
        if name in named or any(_matches(pattern, name) for pattern in patterns):
            continue
        if isinstance(allowed, Mapping):
            yield from validator.descend(value, allowed, path=name)
        elif not allowed:
            yield ValidationError(f"{name!r} is not one of its properties")


def _unique_items(validator: Any, unique: Any, instance: Any, _: Any) -> Iterator[ValidationError]:
    if not unique or not validator.is_type(instance, "array"):
        return
    _steps.get().spend(_steps.get().weight(instance) // 2)
    seen: set[str] = set()
    for each in instance:
        text = json.dumps(each, sort_keys=True)
        if text in seen:
            yield ValidationError(f"{each!r} is in it twice")
            return
        seen.add(text)


def _counted(keyword: str, check: _Check) -> _Check:
    """The check, and the steps that it takes by itself, without the schemas that it visits."""

    def counted(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        steps = _steps.get()
        cost = 1
        if keyword in REFERENCES:
            cost += 3 + len(value) // 16
        elif keyword in _WHOLE:
            cost += steps.weight(value) // 8
        elif isinstance(value, list | dict):
            cost += len(value) // 8
        if keyword in _LOOK_THROUGH and isinstance(instance, list | dict):
            cost += len(instance) // 4
        if keyword in _FORGET and (
            never := value.count(False) if isinstance(value, list) else value is False
        ):
            cost += never * (1 + steps.weight(instance) // 4)
        steps.spend(cost)
        for fault in check(validator, value, instance, schema) or ():
            steps.spend(_FAULT + len(fault.message) // 256)
            yield fault

    return counted


def _visited(validator: Any, **changes: Any) -> Any:
    """The validator for another schema: one of ours, whatever `$schema` that one names."""
    schema = changes.get("schema", validator.schema)
    _steps.get().spend(1 + len(schema) // 8 if isinstance(schema, dict) else 1)
    return type(validator)(schema, _resolver=changes.get("_resolver", validator._resolver))


def _bounded(validator: Any) -> Any:
    checks = {name: _counted(name, _OURS.get(name, check)) for name, check in validator.VALIDATORS.items()}
    bounded = extend(validator, checks)
    # jsonschema has no other place that each visit of a schema goes through.
    bounded.evolve = _visited
    return bounded


_OURS: dict[str, _Check] = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "uniqueItems": _unique_items,
}
DIALECTS: dict[str, tuple[Any, Any]] = {
    NEWEST: (Draft202012Validator, DRAFT202012),
    "http://json-schema.org/draft-07/schema": (Draft7Validator, DRAFT7),
}
_BOUNDED = {dialect: _bounded(validator) for dialect, (validator, _) in DIALECTS.items()}
