"""Reading YAML strictly, and naming every fault by file, key path and reason: configurations, intents.

A key written twice is an error and not the last one's victory. Merge keys (`<<`) and anchors work; a
key that overrides a merged one is not written twice.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from models.errors import ConfigInvalid
from models.record import reason_of

# Raised by a validator of a mapping: the reasons as `wrong`, by key, or by the keys to a place further down.
WRONG_KEYS = "wrong_keys"

_INT = "tag:yaml.org,2002:int"
_DEEPEST = 100
_KEYS = frozenset({"tag:yaml.org,2002:str", "tag:yaml.org,2002:merge"})
# `0600` is 384 and `1:30` is 90 to YAML 1.1; `0x1f` and `0b1` say themselves what they are.
# PyYAML quotes what it stumbles over.
_WORDS_OF_FILE = re.compile(r"'.*'|\".*\"", re.DOTALL)
_NOT_DECIMAL = re.compile(r"[-+]?(0[0-9_]|[0-9_]+:)")


class _Loader(yaml.CSafeLoader):
    """libyaml's loader, ten times as fast as PyYAML's own. Being C, it would crash on endless nesting."""

    _depth = 0

    def descend_resolver(self, current_node: Any, current_index: Any) -> None:
        """Called as each node begins."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise yaml.MarkedYAMLError(problem=f"it nests deeper than {_DEEPEST} levels")

    def ascend_resolver(self) -> None:
        """Called as it ends."""
        self._depth -= 1


def read_mapping(path: Path) -> dict[Any, Any]:
    """The mapping that a YAML file holds.

    Raises:
        ConfigInvalid: the file can't be read, isn't YAML, has a key twice, or holds no mapping.
    """
    try:
        loader = _Loader(path.read_text(encoding="utf-8"))
        try:
            node = loader.get_single_node()
            _refuse_traps(path, node)
            raw = loader.construct_document(node) if node is not None else None
        finally:
            loader.dispose()
    except OSError as error:
        raise ConfigInvalid(f"{path}: can't be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        # Not with its words: they show the line, and a secret may stand there.
        raise ConfigInvalid(f"{path}: not valid YAML: {_fault(error)}") from None
    if not isinstance(raw, dict):
        what = (
            "is empty" if raw is None else "holds a list" if isinstance(raw, list) else "holds a plain value"
        )
        raise ConfigInvalid(f"{path}: the file {what}: it must hold a mapping of sections, as `key: value`")
    return raw


def _fault(error: yaml.YAMLError | UnicodeDecodeError) -> str:
    """What is wrong and where, without a word of the file."""
    if isinstance(error, UnicodeDecodeError):
        return f"it is not UTF-8, at byte {error.start}"
    problem = _WORDS_OF_FILE.sub("…", getattr(error, "problem", None) or "it can't be read")
    mark = getattr(error, "problem_mark", None)
    return problem if mark is None else f"{problem}, in line {mark.line + 1}, column {mark.column + 1}"


def _refuse_traps(path: Path, root: yaml.Node | None) -> None:
    """Keys that stand twice, keys that YAML 1.1 reads as no text, numbers that it reads as no decimals.

    Looks at the nodes as they were written: PyYAML mixes merged keys in with a mapping's own.
    """
    seen_nodes: set[int] = set()  # a node that aliases share is looked at once
    waiting: list[tuple[str, Any]] = [("", root)]
    while waiting:
        where, node = waiting.pop()
        if isinstance(node, yaml.ScalarNode) and node.tag == _INT and _NOT_DECIMAL.match(node.value):
            line = node.start_mark.line + 1
            raise ConfigInvalid(
                f"{path}: {where.rstrip('.')}: the number in line {line} is read in base 8 or 60: write it "
                "as a decimal number without leading zeros, or in quotes where a text is meant"
            )
        if not isinstance(node, yaml.CollectionNode) or id(node) in seen_nodes:
            continue
        seen_nodes.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting.extend((f"{where}{at}.", part) for at, part in enumerate(node.value))
            continue
        lines: dict[tuple[str, str], int] = {}
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                line, first = key.start_mark.line + 1, lines.get((key.tag, key.value))
                if key.tag not in _KEYS:
                    raise ConfigInvalid(
                        f"{path}: {where}{key.value}: in line {line} is read as {_tag_noun(key)}, and a key "
                        "is a text: put it in quotes"
                    )
                if first is not None:
                    raise ConfigInvalid(
                        f"{path}: {where}{key.value}: stands twice, in line {first} and in line {line}"
                    )
                lines[key.tag, key.value] = line
                waiting.append((f"{where}{key.value}.", value))


def _tag_noun(node: yaml.ScalarNode) -> str:
    """What YAML takes a value for: `bool`, `int`, `null`."""
    return str(node.tag).rpartition(":")[2]


def faults(file_of: Callable[[Sequence[int | str]], object], raw: Any, error: ValidationError) -> list[str]:
    """One line per fault of `raw`: file, key path as it is in the file, reason.

    `file_of` names the file in which the value under some keys stands.
    """
    lines = []
    for fault in error.errors(include_url=False, include_input=False):
        keys = _keys(raw, fault["loc"], missing=fault["type"] == "missing")
        if fault["type"] == WRONG_KEYS:
            for name, reason in fault["ctx"]["wrong"].items():
                place = [*keys, *(name if isinstance(name, tuple) else (name,))]
                lines.append(f"{file_of(place)}: {_dotted(place)}: {reason}")
            continue
        path, key = file_of(keys), _dotted(keys) or "(top level)"
        reason = reason_of(fault)
        match fault["type"]:
            case "missing":
                reason = "is required"
            case "tuple_type":
                reason = "must be a list"
            case "path_type" | "is_instance_of":
                reason = "must be a path"
            case "extra_forbidden":
                reason = "is not a known key"
            case "union_tag_not_found":
                key, reason = f"{key}.{_discriminator(fault)}", "is required"
            case "union_tag_invalid":
                key = f"{key}.{_discriminator(fault)}"
                path = file_of([*keys, _discriminator(fault)])
                reason = f"must be one of {fault['ctx']['expected_tags']}"
        lines.append(f"{path}: {key}: {reason}")
    return lines


def _dotted(keys: Sequence[int | str]) -> str:
    return ".".join(str(key) for key in keys)


def _discriminator(fault: Any) -> str:
    return str(fault["ctx"]["discriminator"]).strip("'")


def _keys(raw: Any, loc: tuple[int | str, ...], *, missing: bool) -> list[int | str]:
    """The parts of `loc` that are in the file, and the last where it is `missing` there.

    Pydantic puts the tag of a union's branch between them, and at the end where the branch itself is wrong.
    """
    parts: list[int | str] = []
    here: Any = raw
    for at, part in enumerate(loc):
        # A key that is refused ends in `[key]`, which is no place in what stands under it.
        in_file = part in here if isinstance(here, dict) else isinstance(here, list) and isinstance(part, int)
        if in_file:
            here = here[part]
        elif at < len(loc) - 1 or not (missing or part == "[key]"):
            continue
        parts.append(part)
    return parts
