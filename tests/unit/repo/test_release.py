"""The release is called alike wherever its name is told, and its journals are recorded for later ones."""

import json
import re
from pathlib import Path

from setuptools.config.pyprojecttoml import read_configuration

from models.config import Config
from models.release import RELEASE
from serve.api import make_app
from serve.mcp.server import make_server
from tests.record_journals import FOLDER, POINTS

ROOT = Path(__file__).resolve().parents[3]


def test_the_package_and_the_doors_tell_it(config: Config) -> None:
    assert read_configuration(ROOT / "pyproject.toml")["project"]["version"] == RELEASE
    app = make_app(config, "postgresql://x/y")
    assert app.version == RELEASE
    assert app.openapi()["info"]["version"] == RELEASE
    assert make_server(app.version).version == RELEASE


def test_the_images_are_of_this_release() -> None:
    for name in ("kuberay", "ray-cluster"):
        text = (ROOT / f"configs/deploy/{name}.yaml").read_text(encoding="utf-8")
        assert re.findall(r"registry\.example/signoff:(\S+)-gpu", text) == [RELEASE]


def test_every_point_is_recorded_for_this_release() -> None:
    """Later releases go on from there; `python -m tests.record_journals` records them."""
    found = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in (FOLDER / RELEASE).glob("*")}
    assert found.keys() == {point.name for point in POINTS}
    assert {record["release"] for record in found.values()} == {RELEASE}
