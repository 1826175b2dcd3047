"""The scopes that somebody last chose for their development tokens, kept in the data folder.

`signoff token`, `approvals`, `approve`, `reject` and `chat` ask: `--scopes` chooses, and is remembered for
that person; without it a command takes what was chosen last, or its own default.
"""

import json
import os
import tempfile
from pathlib import Path

from models.errors import ClusterProblem
from models.people.scopes import parse_scope

_FILE = "development_scopes.json"


def chosen_scopes(data_dir: Path, user: str, given: str | None, *, default: str | None) -> list[str]:
    """The scopes of a person's next token: `given`, separated by commas, else the last, else `default`.

    Raises:
        ScopeInvalid: `given` holds what is no scope; nothing is remembered.
        ClusterProblem: they can't be remembered, or what is remembered can't be read.
    """
    file = data_dir / _FILE
    known = _read(file)
    if given is None:
        return known.get(user) or _listed(default or "")
    scopes = [str(parse_scope(scope)) for scope in _listed(given)]
    if scopes and known.get(user) != scopes:
        _write(file, {**known, user: scopes})
    return scopes


def _listed(scopes: str) -> list[str]:
    return [scope for scope in scopes.split(",") if scope]


def _read(file: Path) -> dict[str, list[str]]:
    try:
        known: dict[str, list[str]] = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ClusterProblem(f"{file} can't be read: {error}: remove it, and choose again") from error
    return known


def _write(file: Path, known: dict[str, list[str]]) -> None:
    """Whole or not at all; for its owner alone."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{_FILE}-")
        with os.fdopen(handle, "w", encoding="utf-8") as made:
            json.dump(known, made, indent=2, sort_keys=True)
        Path(name).replace(file)
    except OSError as error:
        raise ClusterProblem(f"--scopes can't be remembered in {file}: {error.strerror or error}") from error
