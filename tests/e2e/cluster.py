"""A cluster that is up, with ports and folders of its own, driven by its commands as a user drives it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import yaml

from models.content.editorial import ArticleGenerationResult
from tests.profile import local_profile

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
PORTS = {"8000": "8917", "8265": "8918", "6379": "8919"}
TOPICS = ("economy/battery-recycling-nordhaven", "science/street-trees-kessel")


@contextmanager
def cluster_of(
    topics: Iterable[Path], *, changed: Callable[[dict[str, Any]], None] = lambda raw: None
) -> Iterator["Cluster"]:
    """`signoff up` with configs/local.yaml as it is `changed`, and `signoff down` at the end."""
    # Not pytest's folder: every pytest that starts closes it to the user that Postgres runs as.
    folder = Path(tempfile.mkdtemp(prefix="signoff-e2e-", dir="/tmp"))
    # So that the database lies in it, as in most sites, and not in a home of its own.
    folder.chmod(0o711)
    raw = local_profile()
    changed(raw)
    text = yaml.safe_dump(raw)
    for old, new in PORTS.items():
        text = text.replace(old, new)
    text = text.replace("./data", str(folder / "data"))
    (folder / "config.yaml").write_text(text)
    (folder / "topics").mkdir()
    for path in topics:
        shutil.copy(path, folder / "topics" / path.name)
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


@dataclass
class Cluster:
    """A cluster that is up, driven by its commands."""

    folder: Path
    http: str = f"http://127.0.0.1:{PORTS['8000']}"

    @property
    def config(self) -> Path:
        """Its configuration."""
        return self.folder / "config.yaml"

    @property
    def serving_key(self) -> str:
        """What opens its models."""
        return (self.folder / "data/serving_key").read_text().strip()

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

    def edit(self, *more: str, topics: Path | None = None) -> "subprocess.CompletedProcess[str]":
        """The README's `ray job submit`, of its own topics or others; `more` are further arguments."""
        arguments = ["--topics", str(topics or self.folder / "topics"), "--allow-blocked", *more]
        with self.job("edit_articles", *arguments) as job:
            said, errors = job.communicate(timeout=900)
        return subprocess.CompletedProcess(job.args, job.returncode, said, errors)

    def job(self, pipeline: str, *arguments: str) -> "subprocess.Popen[str]":
        """A pipeline under `ray job submit`, which has begun."""
        address = f"http://127.0.0.1:{PORTS['8265']}"
        command = [str(BIN / "ray"), "job", "submit", "--address", address, "--working-dir", ".", "--"]
        command += ["python", "-m", f"pipelines.{pipeline}", "--config", str(self.config), *arguments]
        return subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "RAY_AUTH_MODE": "token"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def driver(self, pipeline: str) -> psutil.Process:
        """The process of a pipeline that runs, once there is one."""
        deadline = time.monotonic() + 60
        named = {"-m", f"pipelines.{pipeline}", str(self.config)}
        while True:
            for process in psutil.process_iter():
                if named <= set(_cmdline(process)) and process.name().startswith("python"):
                    return process
            assert time.monotonic() < deadline, f"no process of {pipeline}"
            time.sleep(0.1)  # of other processes only /proc tells

    def article(self, name: str) -> ArticleGenerationResult:
        """A topic's canonical JSON."""
        path = self.folder / f"data/output/articles/{name}.json"
        return ArticleGenerationResult.model_validate_json(path.read_text())

    def token(self, user: str, *scopes: str) -> str:
        """A development token, as the command prints it."""
        made = self.signoff(
            "token", "--user", user, "--scopes", ",".join(scopes), "--config", str(self.config)
        )
        assert made.returncode == 0, made.stderr
        return made.stdout.strip()

    def kill(self, title: str) -> None:
        """`kill -9` the Ray worker processes of this cluster whose title holds `title`, and see them gone."""
        deadline = time.monotonic() + 60
        while not (found := self._workers(title)):
            assert time.monotonic() < deadline, f"no process {title}"
            time.sleep(0.1)  # Ray is replacing one that was killed before
        for process in found:
            process.kill()
        psutil.wait_procs(found, timeout=20)

    def engine(self, title: str) -> psutil.Process:
        """The one process of a model's engine, once there is one."""
        deadline = time.monotonic() + 300
        while len(found := [p for p in self._workers(title) if " ".join(_cmdline(p)).strip() == title]) != 1:
            assert time.monotonic() < deadline, f"no process {title}"
            time.sleep(0.5)  # of other processes only /proc tells
        return found[0]

    def _workers(self, title: str) -> list[psutil.Process]:
        """This cluster's: others may run on this machine."""
        gcs = f"--gcs-address=127.0.0.1:{PORTS['6379']}"
        found = []
        for process in psutil.process_iter(["name", "cmdline"]):
            if process.info["name"] == "raylet" and any(
                gcs in part for part in process.info["cmdline"] or ()
            ):
                found += process.children(recursive=True)
        return [worker for worker in found if title in " ".join(_cmdline(worker))]

    def kill_postgres(self) -> None:
        """`kill -9` the database's first process; the others follow."""
        postmaster = (self.folder / "data/postgres/postmaster.pid").read_text().splitlines()[0]
        os.kill(int(postmaster), signal.SIGKILL)


def _cmdline(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []
