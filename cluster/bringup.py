"""What the parts of one `signoff up` share: the configuration, the recorded state, the database's URL.

Also what each part is made of: settings and code, as a digest. A part whose digest differs from the
recorded one runs an old configuration or old code, and is started anew.
"""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import BaseModel, SecretStr

from cluster import ray
from cluster.folders import ROOT
from cluster.state import ClusterState, RayHead, read_state, write_state
from models.config import Config

CODE = (ROOT / "models", ROOT / "actors")


class Bringup:
    """What the parts of one `up` share. Parts run in threads, so changes of state take a lock."""

    def __init__(self, config: Config, *, file: Path | None = None) -> None:
        self.config = config
        # Where it was read from.
        self.file = file
        self.database_url = ""
        self.notes: list[str] = []
        # Ray's head was started by this `up`: nothing older runs on it.
        self.head_is_new = False
        self._lock = threading.Lock()
        self._state = read_state(config.data_dir)

    @property
    def state(self) -> ClusterState:
        """What is recorded now."""
        return self._state

    def record(self, change: Callable[[ClusterState], dict[str, Any]]) -> None:
        """Change the recorded state; on disk before this returns."""
        with self._lock:
            self._state = self._state.model_copy(update=change(self._state))
            write_state(self.config.data_dir, self._state)

    def fresh(self, name: str, made_of: str) -> bool:
        """Whether what runs under this name was made of the same settings and code."""
        return self._state.deployed.get(name) == made_of

    def made(self, name: str, made_of: str) -> None:
        """Remember what `name` was made of."""
        self.record(lambda state: {"deployed": {**state.deployed, name: made_of}})


def settings_of(*parts: Any) -> list[Any]:
    """Sections of the configuration, or what an agent is made with, as JSON; of other objects the attributes.

    Secrets and all: for a digest, never to be written.
    """
    return [_opened(part) for part in parts]


def _opened(value: Any) -> Any:
    match value:
        case SecretStr():
            return value.get_secret_value()
        case BaseModel():
            return {name: _opened(getattr(value, name)) for name in type(value).model_fields}
        case dict():
            return {str(key): _opened(item) for key, item in value.items()}
        case list() | tuple():
            return [_opened(item) for item in value]
        case None | str() | int() | float() | Path():
            return str(value)
    return [type(value).__qualname__, _opened(vars(value))]


def local_head(config: Config) -> RayHead:
    """The head as this configuration would have it, whether it runs or not."""
    return RayHead(
        address=f"{ray.LOOPBACK}:{config.ray.port}",
        dashboard_url=f"http://{ray.LOOPBACK}:{config.ray.dashboard_port}",
        temp_dir=str(ray.session_folder(config)),
    )
