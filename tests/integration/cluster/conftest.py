"""Two sites on servers of their own, for backups and restores."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster.postgres import server as embedded
from cluster.postgres.system_user import server_user
from models.config import Config
from models.store.schema.migrate import migrate
from tests.integration.cluster.backup_sites import Configure, site


@pytest.fixture
def sites(configure: Configure) -> Iterator[tuple[Config, Config]]:
    """Two sites on servers of their own; the first has given out more than 20 billion transaction numbers."""
    folder = Path(tempfile.mkdtemp(prefix="signoff-two-", dir="/tmp"))
    folder.chmod(0o755)
    one, two = site(configure, folder / "one"), site(configure, folder / "two")
    try:
        embedded.start(one.data_dir)
        embedded.stop(one.data_dir)
        cluster_dir = one.data_dir / "postgres"
        moved = embedded._run("pg_resetwal", ["--epoch=5", "-D", str(cluster_dir)], server_user(cluster_dir))
        assert moved.returncode == 0, moved.stderr
        migrate(embedded.start(one.data_dir))
        embedded.start(two.data_dir)
        yield one, two
    finally:
        embedded.stop(one.data_dir)
        embedded.stop(two.data_dir)
        shutil.rmtree(folder, ignore_errors=True)
