"""Everything, as a user has it: `signoff up`, vLLM with the bundled model, a batch, kills, `signoff down`.

One cluster for the whole module. It has ports and folders of its own, so it runs beside another one.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import openai
import psutil
import pytest

from models.editorial import ArticleGenerationResult

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1500)]
ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
PORTS = {"8000": "8917", "8265": "8918", "6379": "8919"}
TOPICS = ("economy/battery-recycling-nordhaven", "science/street-trees-kessel")


@dataclass
class Cluster:
    """A cluster that is up, driven by its commands."""

    folder: Path
    http: str = f"http://127.0.0.1:{PORTS['8000']}"

    @property
    def config(self) -> Path:
        """Its configuration."""
        return self.folder / "config.yaml"

    def signoff(self, *arguments: str, timeout: float = 900) -> "subprocess.CompletedProcess[str]":
        """Run a `signoff` command in the repository's folder."""
        return subprocess.run(
            [BIN / "signoff", *arguments],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def status(self) -> dict[str, Any]:
        """`signoff status --json`."""
        found: dict[str, Any] = json.loads(
            self.signoff("status", "--config", str(self.config), "--json").stdout
        )
        return found

    def edit(self) -> "subprocess.CompletedProcess[str]":
        """The README's `ray job submit`."""
        pipeline = ["python", "-m", "pipelines.edit_articles", "--config", str(self.config)]
        pipeline += ["--topics", str(self.folder / "topics"), "--allow-blocked"]
        address = f"http://127.0.0.1:{PORTS['8265']}"
        return subprocess.run(
            [BIN / "ray", "job", "submit", "--address", address, "--working-dir", ".", "--", *pipeline],
            cwd=ROOT,
            env={**os.environ, "RAY_AUTH_MODE": "token"},
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )

    def article(self, name: str) -> ArticleGenerationResult:
        """A topic's canonical JSON."""
        path = self.folder / f"data/output/articles/{name}.json"
        return ArticleGenerationResult.model_validate_json(path.read_text())


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """`signoff up`, and `signoff down` at the end."""
    # Not pytest's folder: every pytest that starts closes it to the user that Postgres runs as.
    folder = Path(tempfile.mkdtemp(prefix="signoff-e2e-", dir="/tmp"))
    text = (ROOT / "configs/local.yaml").read_text()
    for old, new in PORTS.items():
        text = text.replace(old, new)
    text = text.replace("./data", str(folder / "data"))
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


def _folder(path: Path) -> Path:
    path.mkdir(exist_ok=True)
    return path


def test_every_part_is_up_and_answers(cluster: Cluster) -> None:
    found = cluster.status()
    assert found["problems"] == []
    assert {app["name"] for app in found["apps"]} == {"api", "embeddings", "llm"}
    assert httpx.get(f"{cluster.http}/health", trust_env=False).json() == {"status": "ok"}


def test_the_served_model_keeps_to_a_json_schema(cluster: Cluster) -> None:
    client = openai.OpenAI(base_url=f"{cluster.http}/llm/v1", api_key="local", timeout=180)
    schema = {
        "type": "object",
        "properties": {"verdict": {"enum": ["KEEP", "REMOVE"]}, "why": {"type": "string", "maxLength": 60}},
        "required": ["verdict", "why"],
        "additionalProperties": False,
    }
    reply = client.chat.completions.create(
        model="smollm2-135m-instruct",
        messages=[{"role": "user", "content": "Is the sky green? Judge the claim."}],
        max_tokens=80,
        response_format={
            "type": "json_schema",
            "json_schema": {"name": "v", "schema": schema, "strict": True},
        },
    )
    assert set(json.loads(reply.choices[0].message.content or "")) == {"verdict", "why"}


def test_a_batch_edits_articles_and_a_second_one_redoes_nothing(cluster: Cluster) -> None:
    done = cluster.edit()
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    for name in TOPICS:
        result = cluster.article(name)
        assert result.error is None
        assert result.article is not None
        assert len(result.article.articleBody) >= 200
        report = result.editor_report
        assert report is not None
        assert result.success == (report.final_status == "SUCCESS")
        assert bool(report.blocking_concerns) != result.success
        assert result.article.headline in done.stdout
    again = cluster.edit()
    assert again.returncode == 0
    assert again.stdout.count("finished before") == len(TOPICS)
    workflows = cluster.status()["workflows"]
    assert workflows == {"succeeded": len(TOPICS)}


def test_the_http_api_shows_the_workflows_to_who_may_see_them(cluster: Cluster) -> None:
    token = cluster.signoff(
        "token", "--user", "ann", "--scopes", "global:reader", "--config", str(cluster.config)
    ).stdout.strip()
    url = f"{cluster.http}/api/workflows"
    assert httpx.get(url, trust_env=False).status_code == 401
    listed = httpx.get(url, headers={"Authorization": f"Bearer {token}"}, trust_env=False).json()
    assert {w["status"] for w in listed} == {"succeeded"}


def test_up_repairs_what_was_killed(cluster: Cluster) -> None:
    postmaster = (cluster.folder / "data/postgres/postmaster.pid").read_text().splitlines()[0]
    os.kill(int(postmaster), signal.SIGKILL)
    assert cluster.status()["problems"] != []
    up = cluster.signoff("up", "--config", str(cluster.config))
    assert up.returncode == 0, up.stdout[-3000:] + up.stderr[-3000:]
    again = cluster.edit()
    assert again.returncode == 0, again.stdout[-3000:]
    assert again.stdout.count("finished before") == len(TOPICS)
    assert cluster.status()["problems"] == []
