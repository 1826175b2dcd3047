"""The local profile as plain data, and settings written as a file: by libyaml, as most tests do both."""

from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from models.config.yaml_layers import read_layers

ROOT = Path(__file__).resolve().parents[1]


@cache
def _profile() -> dict[str, Any]:
    return read_layers(ROOT / "configs/local.yaml").merged()


def local_profile() -> dict[str, Any]:
    """configs/local.yaml with what it extends: read once, and a copy for each who asks."""
    return deepcopy(_profile())


def write_yaml(path: Path, data: Any) -> Path:
    """Write data, or a text as it is, as a YAML file."""
    text = data if isinstance(data, str) else yaml.dump(data, Dumper=yaml.CSafeDumper, allow_unicode=True)
    path.write_text(text, encoding="utf-8")
    return path
