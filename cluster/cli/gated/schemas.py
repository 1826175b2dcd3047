"""What a JSON Schema says of JSON: titles for what is shown, and types for what is given.

Nothing is left out, for a decision binds to all of a content: what the schema does not name is shown by its
own name, and what it hides elsewhere is shown last.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from cluster.cli.printing import in_words
from models.errors import InputInvalid
from models.near_names import suggestion

Schema = Mapping[str, Any]
_INTEGER = re.compile(r"-?[0-9]+")
_DECIMAL = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_SUCH = {"integer": "a whole number", "number": "a number", "boolean": "true or false"}


def titled(value: Any, schema: Schema, root: Schema | None = None) -> Any:
    """The value, its fields under their titles: a table's columns, what comes first, the rest, the hidden."""
    root = schema if root is None else root
    found = _resolved(schema, value, root)
    if isinstance(value, list):
        items = {**found.get("items", {}), "x-columns": found.get("x-columns", ())}
        return [titled(one, items, root) for one in value]
    if not isinstance(value, dict):
        return value
    fields = found.get("properties", {})
    rest = found.get("additionalProperties")
    rest = rest if isinstance(rest, Mapping) else {}
    shown: dict[str, Any] = {}
    for name in sorted(value, key=lambda name: _place(name, found)):
        title = fields.get(name, {}).get("title") or (in_words(name) if name in fields else name)
        while title in shown:
            title = f"{title} ({name})"
        shown[title] = titled(value[name], fields.get(name, rest), root)
    return shown


def _place(name: str, schema: Schema) -> tuple[int, int]:
    fields, columns = list(schema.get("properties", {})), list(schema.get("x-columns", ()))
    how = schema.get("properties", {}).get(name, {}).get("x-show")
    if name in columns:
        return -1, columns.index(name)
    if name not in fields:
        return 3, 0
    return {"first": 0, "hidden": 2}.get(how, 1), fields.index(name)


def _resolved(schema: Schema, value: Any, root: Schema) -> Schema:
    """What a schema says of this value, behind references and among alternatives; hints beside them stay."""
    if isinstance(reference := schema.get("$ref"), str):
        target = root.get("$defs", {}).get(reference.rpartition("/")[2], {})
        return {**_resolved(target, value, root), **_hints(schema)}
    ways = schema.get("anyOf") or schema.get("oneOf")
    if not ways:
        return schema
    among = [_resolved(way, value, root) for way in ways]
    fits = [way for way in among if _fits(way, value)] or among

    def known(way: Schema) -> int:
        return len(set(way.get("properties", {})).intersection(value)) if isinstance(value, dict) else 0

    return {**sorted(fits, key=known)[-1], **_hints(schema)}


def _hints(schema: Schema) -> dict[str, Any]:
    return {name: value for name, value in schema.items() if name.startswith("x-")}


def _fits(schema: Schema, value: Any) -> bool:
    kinds = {dict: "object", list: "array", str: "string", bool: "boolean", type(None): "null"}
    return schema.get("type") == kinds.get(type(value), schema.get("type"))


def fields_of(schema: Schema) -> Mapping[str, Schema]:
    """What can be given, by name."""
    fields = schema.get("properties")
    return fields if isinstance(fields, Mapping) else {}


def values_given(pairs: Sequence[str], schema: Schema) -> dict[str, Any]:
    """`NAME=VALUE` of each, in the types that the schema asks for. Raises InputInvalid."""
    known = fields_of(schema)
    found: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not name or not equals:
            raise InputInvalid(f"{pair!r} gives nothing: write NAME=VALUE, such as amount=4300")
        if known and name not in known:
            raise InputInvalid(f"{name!r} is not asked for: {suggestion(name, tuple(known))}")
        if name in found:
            raise InputInvalid(f"{name} is given twice: give it once")
        found[name] = _value(name, value, known.get(name, {}), schema)
    return found


def _value(name: str, value: str, field: Any, root: Schema) -> Any:
    match _type(field, root):
        case "integer" if _INTEGER.fullmatch(value):
            return int(value)
        case "number" if _DECIMAL.fullmatch(value):
            return json.loads(value) if _INTEGER.fullmatch(value) is None else int(value)
        case "boolean" if value in ("true", "false"):
            return value == "true"
        case "array" if not value.startswith("["):
            return [part.strip() for part in value.split(",")]
        case "array" | "object":
            try:
                return json.loads(value)
            except ValueError as error:
                raise InputInvalid(f"{name}: {value!r} is not JSON, and nothing was sent") from error
        case "integer" | "number" | "boolean" as kind:
            raise InputInvalid(f"{name}: {value!r} is not {_SUCH[kind]}, and nothing was decided")
    return value


def _type(field: Any, root: Schema) -> str | None:
    """The type that a field has, but for null; of several the first. The schema may be an outsider's."""
    at, seen = [field], set()
    while at:
        way = at.pop(0)
        if not isinstance(way, Mapping):
            continue
        told = way.get("type")
        for kind in told if isinstance(told, list) else [told]:
            if isinstance(kind, str) and kind != "null":
                return kind
        reference, ways = way.get("$ref"), way.get("anyOf")
        if isinstance(reference, str) and reference not in seen:
            seen.add(reference)
            at.append((root.get("$defs") or {}).get(reference.rpartition("/")[2]))
        at += ways if isinstance(ways, list) else []
    return None
