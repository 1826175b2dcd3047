"""A site that edits articles, as the tests of the batch use it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import ray

from actors.platform import systems
from actors.platform.runtime import site
from actors.platform.runtime.directory import stop_agents
from actors.platform.runtime.pool import start_runners, stop_runners
from actors.platform.systems import load
from models.content.editorial import ArticleGenerationResult
from models.store.schema.migrate import migrate
from tests.fakes.endpoints import with_keys
from tests.fakes.model.model_server import ModelServer
from tests.fakes.prose import in_prose
from tests.integration.conftest import ROOT
from tests.profile import local_profile, write_yaml

SOURCE = "The mill at Orra was rebuilt in 1911. It now grinds rye for four villages. Visitors come in May."


@dataclass
class Newsroom:
    """A site that is up: its folders, its database, its model, and a way to submit batches."""

    root: Path
    config: Path
    url: str
    server: ModelServer
    topics: Path = field(init=False)

    def use(self, name: str) -> None:
        """A folder of topics of its own, and a model that has forgotten everything."""
        self.topics = self.root / "topics" / name
        self.topics.mkdir(parents=True)
        self.server.reset()

    def topic(self, slug: str, **changes: Any) -> Path:
        """Write a topic file."""
        source = {
            "source_file": f"{slug}.txt",
            "channel_name": self.topics.name,
            "video_id": slug,
            "video_title": slug.title(),
            "publish_date": None,
            "topic_slug": slug,
            "topic_title": slug.title(),
        }
        topic = {"source_text": f"{SOURCE} This is about {slug}.", "source_metadata": source}
        path = self.topics / f"{slug}.json"
        path.write_text(json.dumps({**topic, **changes}))
        return path

    def start(self, *options: str) -> "subprocess.Popen[str]":
        """Start the driver. It asks the site for its configuration."""
        command = [sys.executable, "-m", "pipelines.edit_articles"]
        address = ray.get_runtime_context().gcs_address
        return subprocess.Popen(
            [*command, "--topics", str(self.topics), *options],
            cwd=ROOT,
            env={**os.environ, "RAY_ADDRESS": address},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def edit(self, *options: str) -> tuple[int, str]:
        """Run a batch to its end: exit code and output."""
        driver = self.start(*options)
        told, _ = driver.communicate(timeout=180)
        return driver.returncode, told

    def article(self, slug: str) -> ArticleGenerationResult:
        """The canonical JSON of a topic."""
        path = self.root / f"data/output/articles/{self.topics.name}/{slug}.json"
        return ArticleGenerationResult.model_validate_json(path.read_text())

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Ask the database about this folder's workflows: `{mine}` is a condition on `w`."""
        mine = "w.input->'source_metadata'->>'channel_name' = %s"
        with psycopg.connect(self.url) as connection:
            return connection.execute(query.replace("{mine}", mine).encode(), (self.topics.name,)).fetchall()

    def statuses(self) -> list[str]:
        """The statuses of this folder's workflows."""
        return sorted(row[0] for row in self.rows("SELECT w.status FROM workflows w WHERE {mine}"))

    def wait_until_runners_know_the_batch_is_gone(self) -> None:
        """Its lease is over, and the runner has twice since renewed its own, and looked at its work."""
        live = "SELECT 1 FROM batches b WHERE b.lease_until > now() AND %s <> ''"
        until(self, lambda: not self.rows(live))
        for _ in range(2):
            leases = self.rows("SELECT id, lease_until FROM runners WHERE %s <> ''")
            until(
                self,
                lambda seen=leases: self.rows("SELECT id, lease_until FROM runners WHERE %s <> ''") != seen,
            )  # type: ignore[misc]

    def kinds(self) -> list[str]:
        """The agents asked since `use`, in order."""
        return [call.kind for call in self.server.calls() if call.kind != "embeddings"]


def until(newsroom: Newsroom, condition: Callable[[], bool]) -> None:
    """Wait for a condition on the database."""
    deadline = psycopg.connect(newsroom.url)
    with deadline:
        for _ in range(3000):
            if condition():
                return
            deadline.execute("SELECT pg_sleep(0.02)")
    raise AssertionError(f"in vain: {newsroom.statuses()}")


@contextmanager
def brought_up(postgres: str, root: Path) -> Iterator[Newsroom]:
    """A site in `root` on a database of its own, with a runner, all agents and a scripted model."""
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(b"CREATE DATABASE newsroom")
    url = postgres.replace("/signoff?", "/newsroom?")
    migrate(url)
    with ModelServer() as server:
        raw = in_prose(local_profile())
        editing = raw["article_generation"]
        agents = editing["agents"]
        for settings in (
            *(v for k, v in agents.items() if k != "specialists"),
            *agents["specialists"].values(),
        ):
            settings.update(api_base=server.base_url, retry_delay=0.0, max_retries=1)
        raw["embedding"]["api_base"] = server.base_url
        editing["knowledge_base"]["data_dir"] = str(ROOT / "configs/samples/knowledgebase")
        editing["editor"]["prompts"]["root_dir"] = str(ROOT / "configs/prompts/editorial")
        editing["batch"]["lease_seconds"] = 2
        raw["runners"].update(count=1, lease_seconds=2, poll_seconds=0.2)
        path = root / "config.yaml"
        write_yaml(path, with_keys(raw))
        config = load(path, root=root)
        try:
            start_runners(config, url, roles="actors.platform.systems:roles", kinds=systems.graphs())
            site.publish(config, root=root, database_url=url)
            yield Newsroom(root=root, config=path, url=url, server=server)
        finally:
            stop_runners(timeout_seconds=10)
            stop_agents()
