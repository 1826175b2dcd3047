"""What a benchmark runs on: a Postgres and a Ray of its own, on loopback, gone when it ends.

`bench()` starts Postgres in a temporary folder; `Bench` gives out fresh databases and configurations
(configs/local.yaml with changes); `ray_here()` is a Ray whose workers can import this repository.
"""

import logging
import os
import shutil
import signal
import sys
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import yaml

from actors.platform.systems import load
from benchmarks.harness import machine
from cluster.postgres import server
from cluster.ray import SERVE_LOGS
from models.config import Config
from models.config.yaml_layers import read_layers
from models.store.schema.migrate import migrate
from tests.fakes.endpoints import with_keys

ROOT = Path(__file__).resolve().parents[2]
_TEMPLATE = "signoff_template"
_PROMPTS = {
    "article_generation.editor.prompts.root_dir": str(ROOT / "configs/prompts/editorial"),
    "chat.intents_file": str(ROOT / "configs/intents.yaml"),
    "chat.prompts_dir": str(ROOT / "configs/prompts/chat"),
    "drafting.prompts_dir": str(ROOT / "configs/prompts/drafting"),
    "publishing.prompts_dir": str(ROOT / "configs/prompts"),
}
_ENVIRONMENT = {
    "RAY_AUTH_MODE": "disabled",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # lets Ray stay on loopback
    "PYTHONPATH": str(ROOT),
    **SERVE_LOGS,
    "SPT_NOENV": "1",  # as `signoff up` starts Ray: a process title must not overwrite the environment
}


class Bench:
    """A Postgres of our own, a folder for whatever a benchmark writes, and folders of further texts."""

    def __init__(self, *, folder: Path, postgres_url: str, quick: bool, texts: Sequence[Path] = ()) -> None:
        self.folder = folder
        self.texts = tuple(texts)
        self.postgres_url = postgres_url
        self.quick = quick
        self.repetitions = 1 if quick else 5

    def machine(self, *packages: str) -> list[str]:
        """The machine in a few lines, with the versions of the packages that matter."""
        return machine.describe(
            postgres_url=self.postgres_url,
            folder=self.folder,
            packages=packages,
            repetitions=self.repetitions,
        )

    @contextmanager
    def database(self, *, migrated: bool = True) -> Iterator[str]:
        """The URL of a fresh database, dropped afterwards. What was written before is on disk already."""
        name = f"bench_{uuid.uuid4().hex[:12]}"
        template = f" TEMPLATE {_TEMPLATE}" if migrated else ""
        with psycopg.connect(self.postgres_url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}{template}".encode())
            connection.execute("CHECKPOINT")
        try:
            yield _of(self.postgres_url, name)
        finally:
            with psycopg.connect(self.postgres_url, autocommit=True) as connection:
                connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())

    def configure(self, changes: dict[str, Any] | None = None) -> tuple[Path, Config]:
        """configs/local.yaml with `changes` (by dotted key path), as a file in the folder and loaded."""
        raw = read_layers(ROOT / "configs/local.yaml").merged()
        for path, value in {**_PROMPTS, **(changes or {})}.items():
            *parents, last = path.split(".")
            section = raw
            for key in parents:
                section = section.setdefault(key, {})
            section[last] = value
        file = self.folder / f"config-{uuid.uuid4().hex[:8]}.yaml"
        file.write_text(yaml.safe_dump(with_keys(raw)), encoding="utf-8")
        return file, load(file, root=self.folder)


@contextmanager
def bench(*, quick: bool, texts: Sequence[Path] = ()) -> Iterator[Bench]:
    """Postgres in a temporary folder for as long as the block."""
    _leave_in_order()
    os.environ.update(_ENVIRONMENT)
    os.environ.pop("RAY_ADDRESS", None)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # workers would compile all they import, each time
    folder = Path(tempfile.mkdtemp(prefix="signoff-bench-", dir="/tmp"))
    try:
        url = server.start(folder)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {_TEMPLATE}".encode())
        migrate(_of(url, _TEMPLATE))
        yield Bench(folder=folder, postgres_url=url, quick=quick, texts=texts)
    finally:
        server.stop(folder)
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def ray_here() -> Iterator[str]:
    """A Ray of our own for as long as the block: its address."""
    import ray

    ray.init(
        address="local",
        _node_ip_address="127.0.0.1",
        num_cpus=16,
        object_store_memory=200 * 1024 * 1024,
        include_dashboard=False,
        log_to_driver=False,
        logging_level=logging.WARNING,
        namespace="signoff",
    )
    _leave_in_order()  # Ray has put its own handler in, which aborts
    try:
        yield ray.get_runtime_context().gcs_address
    finally:
        ray.shutdown()


def _leave_in_order() -> None:
    """Ended with SIGTERM, as `timeout` does, still stop Postgres, Ray and the runners."""
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))


def _of(url: str, database: str) -> str:
    """The URL of another database on the same server."""
    found = url.replace(f"/{server.DATABASE}?", f"/{database}?")
    assert found != url
    return found
