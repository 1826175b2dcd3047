"""Two sites on servers of their own, for backups and restores."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster.postgres import server as embedded
from cluster.postgres.system_user import server_user
from models.config import Config
from models.store.schema.migrate import migrate
from tests.integration.cluster.backup_sites import Configure, site


@pytest.fixture(scope="session")
def servers() -> Iterator[tuple[Path, Path]]:
    """The data of two servers that are stopped, to be copied: to make them takes seconds.

    The first is migrated, and has given out more than 20 billion transaction numbers.
    """
    folder = Path(tempfile.mkdtemp(prefix="signoff-servers-", dir="/tmp"))
    folder.chmod(0o755)
    aged, fresh = folder / "aged", folder / "fresh"
    for made in (aged, fresh):
        embedded.start(made)
        embedded.stop(made)
    cluster_dir = aged / "postgres"
    moved = embedded._run("pg_resetwal", ["--epoch=5", "-D", str(cluster_dir)], server_user(cluster_dir))
    assert moved.returncode == 0, moved.stderr
    migrate(embedded.start(aged))
    embedded.stop(aged)
    yield aged / "postgres", fresh / "postgres"
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def sites(configure: Configure, servers: tuple[Path, Path]) -> Iterator[tuple[Config, Config]]:
    """Two sites on servers of their own."""
    folder = Path(tempfile.mkdtemp(prefix="signoff-two-", dir="/tmp"))
    folder.chmod(0o755)
    one, two = site(configure, folder / "one"), site(configure, folder / "two")
    try:
        for config, server in zip((one, two), servers, strict=True):
            subprocess.run(["cp", "-a", server, config.data_dir], check=True)
            embedded.start(config.data_dir)
        yield one, two
    finally:
        embedded.stop(one.data_dir)
        embedded.stop(two.data_dir)
        shutil.rmtree(folder, ignore_errors=True)
