"""One Postgres and one Ray for the whole run; a fresh database for each test that asks for one."""

import os
import shutil
import tempfile
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from actors.platform import systems
from actors.platform.systems import load
from cluster.postgres import server as embedded
from cluster.ray import SERVE_LOGS
from models.config import Config
from models.store.database import Database
from models.store.schema.migrate import migrate
from tests.fakes.endpoints import with_keys
from tests.fakes.prose import in_prose
from tests.integration.editorial.desk import Desk
from tests.integration.workflows import running
from tests.profile import local_profile, write_yaml

ROOT = Path(__file__).resolve().parents[2]
# The second lets Ray stay on loopback: it would otherwise connect by the machine's own address.
RAY_ENVIRONMENT = {"RAY_AUTH_MODE": "disabled", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", **SERVE_LOGS}


@pytest.fixture(scope="session")
def postgres_folder() -> Iterator[Path]:
    """The data folder of a Postgres of our own, which runs as long as the tests.

    It waits for no disk: here processes die, and never the machine.
    """
    folder = Path(tempfile.mkdtemp(prefix="signoff-pg-", dir="/tmp"))
    try:
        with psycopg.connect(embedded.start(folder), autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("ALTER SYSTEM SET full_page_writes = off")
            connection.execute("SELECT pg_reload_conf()")
        yield folder
    finally:
        embedded.stop(folder)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres(postgres_folder: Path) -> str:
    """Its URL."""
    return embedded.start(postgres_folder)


@pytest.fixture(scope="session")
def migrated(postgres: str) -> str:
    """The name of a migrated database that others are copied from: a copy takes a tenth of the time."""
    name = "test_template"
    migrate(_create(postgres, name))
    return name


@pytest.fixture
def database_url(postgres: str, migrated: str) -> Iterator[str]:
    """The URL of a fresh, migrated database. What a test has told in it is as the catalogue says."""
    url = fresh_database(postgres, migrated)
    yield url
    records = {event.type: event for event in systems.events()}
    for type_, data in _told(url):
        if type_ in records:
            records[type_].model_validate(data)


def _told(url: str) -> list[tuple[str, dict[str, Any]]]:
    try:
        with psycopg.connect(url) as connection:
            found = "SELECT type, data FROM events UNION ALL SELECT type, data FROM incoming_events"
            return connection.execute(found).fetchall()
    except (psycopg.OperationalError, psycopg.errors.UndefinedTable):
        # The test was about a Postgres that went, or another release's tables.
        return []


def fresh_database(postgres: str, migrated: str) -> str:
    """The URL of a migrated database that nobody else has."""
    return _create(postgres, f"test_{uuid.uuid4().hex[:12]}", f"TEMPLATE {migrated}")


def _create(postgres: str, name: str, template: str = "") -> str:
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} {template}".encode())
    url = postgres.replace("/signoff?", f"/{name}?")
    assert url != postgres
    return url


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """A pool on the fresh database."""
    async with Database(url=database_url, pool_size=8) as database:
        yield database


@pytest.fixture
def configure(tmp_path: Path) -> Callable[..., Config]:
    """Make a configuration: configs/local.yaml with changes, its data in the test's own folder.

    Changes are dotted key paths, as in `configure({"runners.count": 1})`.
    """

    return lambda changes=None: configuration(tmp_path, changes)


def configuration(folder: Path, changes: dict[str, Any] | None = None) -> Config:
    """configs/local.yaml with changes, its file and its data in a folder."""
    raw = in_prose(local_profile())
    prompts = {"article_generation.editor.prompts.root_dir": str(ROOT / "configs/prompts/editorial")}
    # A command reads the file in another folder, and keeps things in the data folder, too.
    for path, value in {"data_dir": str(folder / "data"), **prompts, **(changes or {})}.items():
        *parents, last = path.split(".")
        section = raw
        for key in parents:
            section = section.setdefault(key, {})
        section[last] = value
    file = folder / "config.yaml"
    write_yaml(file, with_keys(raw))
    return load(file, root=folder)


@pytest.fixture(scope="session")
def ray_cluster() -> Iterator[None]:
    """One Ray for the whole run. Its workers can import the tests."""
    os.environ.update(RAY_ENVIRONMENT)
    import ray

    ray.init(
        address="local",
        _node_ip_address="127.0.0.1",
        num_cpus=16,
        object_store_memory=200 * 1024 * 1024,
        include_dashboard=False,
        log_to_driver=False,
        namespace="signoff",
        runtime_env={"env_vars": {"PYTHONPATH": str(ROOT)}},
    )
    try:
        yield
    finally:
        ray.shutdown()


@pytest.fixture
async def desk(database: Database, configure: Callable[..., Config]) -> Desk:
    """The tools over a fresh database."""
    return Desk(database, configure())


@pytest.fixture
async def press(desk: Desk) -> AsyncIterator[None]:
    """A runner that publishes."""
    async with running(desk.database, desk.config, kinds=systems.graphs()):
        yield
