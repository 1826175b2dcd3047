"""Strings that make a slow pattern slow: a prefix, a unit many times over, and a suffix that spoils it.

Made from the pattern's own parse: what each part of it matches is a unit, and what stands before it a prefix.
`slowness` measures; `patterns_in` and `calls_in` find the patterns of our packages.
"""

import ast
import importlib
import itertools
import pkgutil
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from re import _constants as sre  # type: ignore[attr-defined]  # the parse has no public name
from re import _parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

_CATEGORIES = {
    sre.CATEGORY_DIGIT: "7",
    sre.CATEGORY_NOT_DIGIT: "a",
    sre.CATEGORY_SPACE: " ",
    sre.CATEGORY_NOT_SPACE: "a",
    sre.CATEGORY_WORD: "a",
    sre.CATEGORY_NOT_WORD: ",",
}
_PROBES = "aZ0 \n\t,.;:!?-_/#&<>()[]{}\"'`*\\|@$%^=+~é\x00\u200b"
_REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)
# Few repeats first: what doubles with each of them must be found before it never ends.
_STAGES = (6, 12, 16, 20, 24, 28, 32)
_SHORT, _LONG = 4_000, 16_000
# How often what looks slow is tried again before it is called so.
_TRIES = 4
_MOST_UNITS = 10


def modules_of(packages: Iterable[str]) -> Iterator[ModuleType]:
    """Every module of some packages, imported; migrations are Alembic's to import."""
    for name in packages:
        package = importlib.import_module(name)
        yield package
        for found in pkgutil.walk_packages(package.__path__, f"{name}."):
            if ".migrations" not in found.name:
                yield importlib.import_module(found.name)


def patterns_in(module: ModuleType) -> dict[str, re.Pattern[Any]]:
    """The patterns that a module holds by name, also within tuples, lists and mappings."""
    found: dict[str, re.Pattern[Any]] = {}

    def look(name: str, value: object, depth: int) -> None:
        if isinstance(value, re.Pattern):
            found[name] = value
        elif depth and isinstance(value, tuple | list | frozenset | set):
            for place, item in enumerate(value):
                look(f"{name}[{place}]", item, depth - 1)
        elif depth and isinstance(value, dict):
            for key, item in value.items():
                look(f"{name}[{key!r}]", item, depth - 1)
        elif depth and hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
            for field in value.__dataclass_fields__:
                look(f"{name}.{field}", getattr(value, field, None), depth - 1)

    for name, value in vars(module).items():
        look(f"{module.__name__}.{name}", value, 3)
    return found


def calls_in(module: ModuleType) -> tuple[dict[str, re.Pattern[Any]], set[str]]:
    """The patterns that functions of a module write down, and the functions that make them as they run."""
    found, made = dict[str, re.Pattern[Any]](), set[str]()
    path = Path(module.__file__ or "")
    if path.suffix != ".py":
        return found, made

    def look(node: ast.AST, function: str) -> None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            function = node.name
        call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func
        if call and isinstance(call.value, ast.Name) and call.value.id == "re" and call.attr != "escape":
            place = f"{module.__name__}.{function}"
            if not function and not isinstance(node, ast.Module):
                return  # the module holds it by a name
            try:
                code = compile(ast.Expression(node.args[0]), str(path), "eval")  # type: ignore[attr-defined]
                pattern = eval(code, dict(vars(module)))
                found[f"{place}:{node.lineno}"] = re.compile(pattern)  # type: ignore[attr-defined]
            except NameError:
                made.add(place)
        for child in ast.iter_child_nodes(node):
            look(child, function)

    look(ast.parse(path.read_text(encoding="utf-8")), "")
    return found, made


def _of_set(items: Any) -> str:
    """A character that a set has."""
    negated = items[0][0] is sre.NEGATE
    accepted = re.compile("".join(["[", "^" * negated, *map(_spelt, items[negated:]), "]"]))
    for probe in (*(_CATEGORIES.get(v, "") for _, v in items if isinstance(v, int)), *_PROBES):
        if probe and accepted.match(probe):
            return str(probe)
    kind, value = items[negated]
    return chr(value if kind is sre.LITERAL else value[0])


def _spelt(item: Any) -> str:
    kind, value = item
    if kind is sre.LITERAL:
        return re.escape(chr(value))
    if kind is sre.RANGE:
        return f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
    letters = {
        sre.CATEGORY_DIGIT: r"\d",
        sre.CATEGORY_NOT_DIGIT: r"\D",
        sre.CATEGORY_SPACE: r"\s",
        sre.CATEGORY_NOT_SPACE: r"\S",
        sre.CATEGORY_WORD: r"\w",
        sre.CATEGORY_NOT_WORD: r"\W",
    }
    return letters[value]


def _sample(items: Any, pumps: list[tuple[str, str]], before: str) -> str:
    """A text that the items match; `pumps` gets what stands before each repeat, and what it repeats."""
    told = ""
    for kind, value in items:
        here = before + told
        if kind is sre.LITERAL:
            told += chr(value)
        elif kind is sre.NOT_LITERAL:
            told += next(p for p in _PROBES if p != chr(value))
        elif kind is sre.ANY:
            told += "a"
        elif kind is sre.IN:
            told += _of_set(value)
        elif kind is sre.BRANCH:
            told += [_sample(branch, pumps, here) for branch in value[1]][0]  # noqa: RUF015  # each is looked into
        elif kind is sre.SUBPATTERN:
            told += _sample(value[3], pumps, here)
        elif kind is sre.ATOMIC_GROUP:
            told += _sample(value, pumps, here)
        elif kind in _REPEATS:
            low, high, inner = value
            unit = _sample(inner, pumps, here)
            if high > 8:
                pumps.append((here, unit))
                # One that the repeat may take whole, or leave to what comes next.
                pumps.append((here, unit + " "))
            told += unit * min(max(low, 1), 8)
        elif kind in (sre.ASSERT, sre.ASSERT_NOT):
            _sample(value[1], pumps, here)
    return told


def pumped(pattern: re.Pattern[Any]) -> Iterator[tuple[str, str, str]]:
    """Prefixes, units and suffixes."""
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    pumps: list[tuple[str, str]] = []
    whole = _sample(_parser.parse(source, pattern.flags & ~re.UNICODE), pumps, "")
    letters = dict.fromkeys(c for _, unit in pumps for c in unit)
    units = dict.fromkeys([whole, *(unit for _, unit in pumps), *letters, " ", "\n", "a", ", ", "0"])
    units.update(dict.fromkeys("".join(pair) for pair in itertools.permutations(list(letters)[:4], 2)))
    starts = dict.fromkeys(["", *(before for before, _ in pumps)])
    tried = [(before, unit, end) for before, unit in pumps for end in ("\x00", "")]
    some = [unit for unit in units if unit][:_MOST_UNITS]
    tried += [(start, unit, "\x00") for start in list(starts)[:4] for unit in some]
    # Beginnings over and over, none of which is ever brought to its end.
    tried += [("", start + unit, "\x00") for start, unit in pumps[:8]]
    tried += [("", start, "\x00") for start in starts if start]
    yield from dict.fromkeys(tried)


def only_matched(module: ModuleType) -> set[str]:
    """The names of a module's patterns that are only ever tried at one place of a text, not searched for."""
    path = Path(module.__file__ or "")
    if path.suffix != ".py":
        return set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    matched, otherwise = set[str](), set[str]()
    tried = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in ("match", "fullmatch")
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            (matched if id(node) in tried else otherwise).add(node.id)
    return {f"{module.__name__}.{name}" for name in matched - otherwise}


def _seconds(pattern: re.Pattern[Any], text: Any, *, searched: bool) -> float:
    begun = time.process_time()
    if searched:
        for _ in pattern.finditer(text):
            pass
    else:
        pattern.match(text)
    return time.process_time() - begun


def slowness(pattern: re.Pattern[Any], *, searched: bool = True) -> str | None:
    """What makes the pattern slow, told with its times; None where nothing does."""

    def seconds(text: Any) -> float:
        return _seconds(pattern, text, searched=searched)

    def text(prefix: str, unit: str, suffix: str, times: int) -> Any:
        made = prefix + unit * times + suffix
        return made if isinstance(pattern.pattern, str) else made.encode("latin-1", "replace")

    for prefix, unit, suffix in pumped(pattern):
        told = f"{prefix!r} + {unit!r} * n + {suffix!r}"
        for times in _STAGES:
            if (took := seconds(text(prefix, unit, suffix, times))) > 0.05:
                return f"{told}: {took:.2f} s for n = {times}"
        times = _SHORT // len(unit) + 1
        short = min(seconds(text(prefix, unit, suffix, times)) for _ in range(2))
        if short > 1:
            return f"{told}: {short:.2f} s for n = {times}"
        times = _LONG // len(unit) + 1
        long = seconds(text(prefix, unit, suffix, times))
        # Four times as long: a linear one takes four times as much, a quadratic one sixteen times, each time
        # that it is tried; on a busy machine a try may be disturbed.
        tries = 0
        while long > 1 or long > 8 * short + 0.02:
            if (tries := tries + 1) > _TRIES:
                return f"{told}: {short:.3f} s, and {long:.3f} s for four times the length"
            short = max(short, seconds(text(prefix, unit, suffix, _SHORT // len(unit) + 1)))
            long = min(long, seconds(text(prefix, unit, suffix, times)))
    return None
