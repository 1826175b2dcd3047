"""The local profile as plain data, and what `load` makes of it once a test has changed it."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from actors.platform.systems import load
from models.config import Config
from models.errors import ConfigInvalid
from tests.profile import local_profile, write_yaml

LOCAL = Path(__file__).resolve().parents[3] / "configs" / "local.yaml"
# As a text that may lie in any folder.
WHOLE = LOCAL.read_text(encoding="utf-8").replace("extends: ", f"extends: {LOCAL.parent}/", 1)
# With what it extends.
RAW: Any = local_profile()


def at(data: Any, path: str) -> tuple[Any, str]:
    """The mapping that holds the last key of a dotted path, and that key."""
    *before, last = path.split(".")
    for part in before:
        data = data[int(part) if part.isdigit() else part]
    return data, last


def changed(path: str, value: Any) -> Any:
    """local.yaml with one value replaced or added."""
    data = deepcopy(RAW)
    holder, key = at(data, path)
    holder[key] = value
    return data


def refusal(folder: Path, data: Any) -> str:
    """What `load` says about `data`, without the file's name, which must be on every line."""
    file = write_yaml(folder / "config.yaml", data)
    with pytest.raises(ConfigInvalid) as refused:
        load(file, root=folder)
    lines = str(refused.value).splitlines()
    assert lines[0].startswith(f"{file}: ")
    return str(refused.value).replace(f"{file}: ", "")


def accepted(folder: Path, data: Any) -> Config:
    file = write_yaml(folder / "config.yaml", data)
    return load(file, root=folder)
