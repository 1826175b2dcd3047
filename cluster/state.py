"""What `signoff up` started, remembered in `data_dir/cluster.json`.

`up` and `down` read it to tell our own Ray from others on the machine and to see what has changed
since. The file is written atomically; one that is lost costs a fresh start of Ray, never data.
"""

import fcntl
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from models.errors import ClusterProblem
from models.record import Record


class RayHead(Record):
    """The head that `up` started: `address` is host:port, `temp_dir` marks all its processes."""

    address: str
    dashboard_url: str
    temp_dir: str


class ClusterState(BaseModel):
    """`ray` is absent when the cluster is not ours. `deployed` is part -> fingerprint of its making.

    What another release has recorded beside that is passed over.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    ray: RayHead | None = None
    http: str | None = None
    deployed: dict[str, str] = Field(default_factory=dict)


def state_file(data_dir: Path) -> Path:
    """Where the state of this data folder is."""
    return data_dir / "cluster.json"


def read_state(data_dir: Path) -> ClusterState:
    """The recorded state; an empty one when there is none or it can't be understood."""
    try:
        return ClusterState.model_validate_json(state_file(data_dir).read_bytes())
    except (OSError, ValidationError):
        # A state of another release, or none: what runs is then found anew, part by part.
        return ClusterState()


def write_state(data_dir: Path, state: ClusterState) -> None:
    """Replace the recorded state atomically."""
    target = state_file(data_dir)
    draft = target.with_name(f".cluster.json.{os.getpid()}")
    draft.write_text(state.model_dump_json(indent=2) + "\n", encoding="utf-8")
    os.replace(draft, target)


@contextmanager
def only_one(data_dir: Path) -> Iterator[None]:
    """Keep a second `up`, `down`, `backup` or `restore` on the same data folder out while this one runs.

    Raises:
        ClusterProblem: another one is at work, or this user may not write the folder.
    """
    with _lock_file(data_dir / ".cluster.lock") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ClusterProblem(
                f"another `signoff up`, `down`, `backup` or `restore` is at work on {data_dir}: "
                "wait until it has ended"
            ) from None
        yield


def _lock_file(path: Path) -> TextIO:
    try:
        return open(path, "w", encoding="utf-8")
    except OSError as error:
        raise ClusterProblem(
            f"can't write {path}: {error.strerror}: run this as the user who ran `signoff up`"
        ) from error


def fingerprint(settings: Any, packages: Iterable[Path] = ()) -> str:
    """A digest of settings (JSON-able) and of the Python files in the packages.

    Code counts: after an update, `up` must replace what still runs the old one.

    Raises:
        FileNotFoundError: a package is neither a file nor a folder, so changes of it would not be seen.
    """
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode())
    for package in packages:
        if not package.exists():
            raise FileNotFoundError(package)
        files = [package] if package.is_file() else sorted(package.rglob("*.py"))
        for file in files:
            digest.update(str(file.relative_to(package.parent)).encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
