"""`make docs`: write the reference in docs/configuration.md from the records of `models.config`.

A record's docstring stands above its table; a comment beside or above a field is its meaning there. What
stands before the mark in the file is written by hand and kept. A test compares the file with this.
"""

import ast
import inspect
import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import models.config
from actors.platform.systems import roles
from models.config.fields import Section

FILE = Path(__file__).resolve().parents[1] / "docs/configuration.md"
MARK = "<!-- From here on `make docs` writes: change the docstrings and comments in models/config. -->\n"
_REF = "#/$defs/"
_OF_AGENTS = "agents.NAME"


class SettingRow(NamedTuple):
    """A row: the key, what value it takes, and what it means."""

    key: str
    value: str
    meaning: str


class RecordTable(NamedTuple):
    """A record where it stands: the key path, its docstring, its rows."""

    path: str
    record: str
    text: str
    rows: tuple[SettingRow, ...]


def render(written: str) -> str:
    """The file as it should be, with what `written` says before the mark."""
    parts = [written.partition(MARK)[0], MARK]
    for place in places():
        heading = f"`{place.path}`" if place.path else "All sections"
        parts.append(f"\n### {heading}\n\n{_linked(place.text)}\n")
        if place.path == _OF_AGENTS:
            parts.append(f"\nThe roles are {', '.join(f'`{role}`' for role in roles())}.\n")
        if place.rows:
            parts.append("\n| key | value | meaning |\n| --- | --- | --- |\n")
            parts += [f"| `{row.key}` | {row.value} | {_linked(row.meaning)} |\n" for row in place.rows]
    return "".join(parts)


@cache
def places() -> tuple[RecordTable, ...]:
    """Every record once, in the configuration's order; one that stands in many places comes after all."""
    schema = models.config.Config.model_json_schema()
    uses = Counter(_refs(schema))
    shared = [name for name, count in uses.items() if count > 1]
    names: dict[str, str] = {name: name for name in shared}
    found = list(_walk("", "Config", schema | schema["$defs"], names))
    for name in shared:
        found += _walk(name, name, schema["$defs"], names)
    return tuple(found)


def _refs(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if "$ref" in schema:
            yield schema["$ref"].removeprefix(_REF)
        for part in schema.values():
            yield from _refs(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _refs(part)


def _walk(path: str, record: str, defs: dict[str, Any], names: dict[str, str]) -> Iterator[RecordTable]:
    """A record's place, and then those of the records in it. `names`: what is told elsewhere, and where."""
    of = defs if record == "Config" else defs[record]
    said, below, rows = comments(record), [], []
    for key, field in of.get("properties", {}).items():
        whole = f"{path}.{key}".removeprefix(".")
        for at, name in enumerate(refs := list(dict.fromkeys(_refs({**field, "discriminator": None})))):
            if name not in names:
                names[name] = whole + _many(field) + (f" ({at + 1})" if len(refs) > 1 else "")
                below.append((names[name], name))
        value = _value(field, names)
        if key not in of.get("required", ()):
            default = field.get("default")
            plain = default is not None and not isinstance(default, dict) and default != []
            value += f"; {_shown(default)} when absent" if plain else "; may be absent"
        meaning = said.get(key, "")
        if not (path or meaning):  # of a section: what its docstring begins with
            meaning = defs[next(_refs(field))]["description"].partition("\n\n")[0].replace("\n", " ")
        rows.append(SettingRow(key, value, meaning))
    yield RecordTable(path, record, of["description"], tuple(rows))
    for where, name in below:
        yield from _walk(where, name, defs, names)


def _many(field: dict[str, Any]) -> str:
    """What says that there may be several: `[]` of a list, `.NAME` of a mapping."""
    named = isinstance(field.get("additionalProperties"), dict) or "patternProperties" in field
    return "[]" if "items" in field else ".NAME" if named else ""


def _value(field: dict[str, Any], names: dict[str, str]) -> str:
    """What may stand there, in a few words."""
    match field:
        case {"$ref": str(ref)}:
            where = names[ref.removeprefix(_REF)]
            anchor = re.sub(r"[^a-z0-9_ ]", "", where.lower()).replace(" ", "-")  # as GitHub makes them
            return f"[{where}](#{anchor})"
        case {"anyOf": list(branches)} | {"oneOf": list(branches)}:
            return " or ".join(_value(one, names) for one in branches if one.get("type") != "null")
        case {"const": value}:
            return _shown(value)
        case {"enum": list(values)}:
            return ", ".join(map(_shown, values))
        case {"items": dict(item)}:
            return f"list of: {_value(item, names)}"
        case {"additionalProperties": dict(item)}:
            return f"mapping of names to: {_value(item, names)}"
        case {"patternProperties": dict(by_pattern)}:
            return f"mapping of names to: {_value(next(iter(by_pattern.values())), names)}"
        case {"type": "object"}:
            return "mapping"
        case {"writeOnly": True}:
            return "secret"
        case {"format": "path" | "uri" as kind}:
            return {"path": "path", "uri": "URL"}[kind]
        case {"type": "boolean"}:
            return "true or false"
        case {"type": "integer" | "number" as kind}:
            return {"integer": "whole number", "number": "number"}[kind] + _bounds(field)
    return "text"


def _bounds(field: dict[str, Any]) -> str:
    low, high, above = field.get("minimum"), field.get("maximum"), field.get("exclusiveMinimum")
    words = f" over {above:g}" if above is not None else f" from {low:g}" if low is not None else ""
    return words + (f" to {high:g}" if high is not None else "")


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


def _linked(text: str) -> str:
    """Where a text cites an original design, a link to what is told of it."""
    return re.sub(r"seed (\d{3}) (§[\d.]*\d)", r"[seed \1 \2](origins.md#seed-\1)", text)


@cache
def _records() -> dict[str, type[Section]]:
    found: list[type[Section]] = [Section]
    for record in found:  # grows meanwhile: the records of records
        found += record.__subclasses__()
    return {record.__name__: record for record in found}


@cache
def comments(record: str) -> dict[str, str]:
    """What is said of each field in the source: after it on its last line, else in the lines right above."""
    there = _records()
    said: dict[str, str] = {}
    for each in reversed(there[record].__mro__):  # a field may come from the record that it extends
        if each.__name__ in there:
            said |= _comments(each)
    return said


def _comments(record: type) -> dict[str, str]:
    source = textwrap.dedent(inspect.getsource(record))
    lines, said = source.splitlines(), {}
    for node in ast.parse(source).body[0].body:  # type: ignore[attr-defined]  # a class has a body
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        beside = lines[(node.end_lineno or node.lineno) - 1].partition("  # ")[2]
        above: list[str] = []
        for line in reversed(lines[: node.lineno - 1]):
            if not line.strip().startswith("# "):
                break
            above.insert(0, line.strip().removeprefix("# "))
        said[node.target.id] = beside or " ".join(above)
    return said


def main() -> None:
    """Write the file anew."""
    FILE.write_text(render(FILE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
