"""What unit tests of the command and the bring-up share: a configuration with ports of its own."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.platform.systems import load
from models.config import Config
from tests.ports import free_ports
from tests.profile import local_profile, write_yaml

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def config_file(tmp_path: Path) -> Path:
    """local.yaml with a data folder and ports of its own."""
    raw = local_profile()
    raw["data_dir"] = str(tmp_path / "data")
    ray, dashboard, http = free_ports(3)
    raw["ray"] |= {"port": ray, "dashboard_port": dashboard}
    raw["http"]["port"] = http
    path = tmp_path / "local.yaml"
    write_yaml(path, raw)
    return path


@pytest.fixture
def config(config_file: Path) -> Config:
    return load(config_file, root=ROOT)


@pytest.fixture(autouse=True)
def _logs() -> Iterator[None]:
    """Commands switch logging off for the rest of their process, which here goes on."""
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command sets what Ray reads; other tests must not see it."""
    for name in ("RAY_AUTH_MODE", "RAY_USAGE_STATS_ENABLED", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
