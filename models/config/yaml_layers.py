"""A YAML file and those that it extends, as one mapping. Only `models.config` uses it.

`extends: base.yaml` names another file, relative to the one it stands in. Mappings are merged key by key;
anything else, a list too, replaces what the extended file says, and `null` takes it away. A secret in a file
is one value: `{file: PATH}` replaces `{file: PATH, make: true}`, or a mistyped path would be made.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from models.config.strict_yaml import read_mapping
from models.errors import ConfigInvalid

EXTENDS = "extends"


@dataclass(frozen=True)
class Layers:
    """The files, from the one that was asked for to the last that is extended, and what each holds."""

    files: tuple[tuple[Path, dict[Any, Any]], ...]

    def merged(self) -> dict[Any, Any]:
        """What they say together; a copy, in which no two keys share a section."""
        merged: dict[Any, Any] = {}
        for _, said in reversed(self.files):
            merged = _merge(merged, said)
        return merged

    def file_of(self, keys: Sequence[int | str]) -> Path:
        """The file in which the value under these keys stands; of a value in none, the one asked for."""
        return next((path for path, said in self.files if _holds(said, keys)), self.files[0][0])


def read_layers(path: Path) -> Layers:
    """Read a file and all that it extends.

    Raises:
        ConfigInvalid: one of them can't be read, `extends` names no file, or a file extends itself.
    """
    files: list[tuple[Path, dict[Any, Any]]] = []
    upper, seen = path, [path.resolve()]
    while True:
        said = read_mapping(upper)
        name = said.pop(EXTENDS, None)
        files.append((upper, said))
        if name is None:
            return Layers(tuple(files))
        lower = _extended(upper, name)
        if lower.resolve() in seen:
            raise ConfigInvalid(f"{upper}: {EXTENDS}: {name} extends this file in turn: break the circle")
        seen.append(lower.resolve())
        upper = lower


def _extended(path: Path, name: Any) -> Path:
    if not isinstance(name, str) or not name.strip():
        raise ConfigInvalid(
            f"{path}: {EXTENDS}: must be the name of one file, beside this one or by its path"
        )
    found = path.parent / name
    if not found.is_file():
        raise ConfigInvalid(f"{path}: {EXTENDS}: there is no file {found}: name it relative to this one")
    return found


def _merge(lower: Any, upper: Any) -> Any:
    if isinstance(upper, list):
        return [_merge(None, item) for item in upper]
    if not isinstance(upper, dict):
        return upper
    if set(upper) == {"file"} and isinstance(lower, dict) and lower.keys() <= {"file", "make"}:
        return dict(upper)
    merged = dict(lower) if isinstance(lower, dict) else {}
    for key, value in upper.items():
        if value is None and merged.get(key) is not None:
            del merged[key]
        else:
            merged[key] = _merge(merged.get(key), value)
    return merged


def _holds(said: Any, keys: Sequence[int | str]) -> bool:
    for key in keys:
        in_list = isinstance(said, list) and isinstance(key, int) and key < len(said)
        if not in_list and not (isinstance(said, dict) and key in said):
            return False
        said = said[key]
    return True
