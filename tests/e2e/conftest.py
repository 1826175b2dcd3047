"""One cluster for the whole run: `signoff up` at the start, `signoff down` at the end."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from models.config.yaml_layers import read_layers
from tests.e2e.cluster import PORTS, ROOT, TOPICS, Cluster


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """`signoff up`, and `signoff down` at the end."""
    # Not pytest's folder: every pytest that starts closes it to the user that Postgres runs as.
    folder = Path(tempfile.mkdtemp(prefix="signoff-e2e-", dir="/tmp"))
    # So that the database lies in it, as in most sites, and not in a home of its own.
    folder.chmod(0o711)
    raw = read_layers(ROOT / "configs/local.yaml").merged()
    _keep_short(raw["article_generation"]["agents"])
    text = yaml.safe_dump(raw)
    for old, new in PORTS.items():
        text = text.replace(old, new)
    text = text.replace("./data", str(folder / "data"))
    # Webhooks go to a receiver of the tests.
    text = text.replace("allow_internal: []", 'allow_internal: ["127.0.0.1/32"]')
    (folder / "config.yaml").write_text(text)
    for name in TOPICS:
        slug = name.split("/")[1]
        found = next(p for p in (ROOT / "configs/samples/topics").iterdir() if slug in p.read_text())
        shutil.copy(found, _folder(folder / "topics") / found.name)
    cluster = Cluster(folder)
    try:
        up = cluster.signoff("up", "--config", str(cluster.config))
        assert up.returncode == 0, up.stdout[-3000:] + up.stderr[-3000:]
        assert cluster.http in up.stdout
        yield cluster
    finally:
        down = cluster.signoff("down", "--config", str(cluster.config))
        assert down.returncode == 0, down.stdout + down.stderr
        left = [p.pid for p in psutil.process_iter(["cmdline"]) if str(folder) in str(p.info["cmdline"])]
        assert [pid for pid in left if pid != os.getpid()] == []
        shutil.rmtree(folder, ignore_errors=True)


def _keep_short(agents: dict[str, Any]) -> None:
    """Have the real model write less: two cores write some tens of tokens a second."""
    agents["concern_mapping_llm"]["schema_limits"]["strings"] = 40
    for settings in agents["specialists"].values():
        settings["schema_limits"]["strings"] = 40


def _folder(path: Path) -> Path:
    path.mkdir(exist_ok=True)
    return path
