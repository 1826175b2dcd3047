"""`signoff submit` against a dashboard on loopback: what it uploads, and what it says
when the head goes away."""

import getpass
import io
import json
import os
import shutil
import threading
import zipfile
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from ray.job_submission import JobStatus
from typer.testing import CliRunner

from actors.platform.runtime.submitter import METADATA
from cluster import job
from cluster.cli.signoff import app
from cluster.submit import configurations
from tests.profile import local_profile, write_yaml

ROOT = Path(__file__).resolve().parents[3]
SECRET = "a secret that nobody else may ever see, at all"


class Dashboard(ThreadingHTTPServer):
    """As much of Ray's dashboard as submitting takes. `answers` are what a job's status is asked for."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.packages: list[bytes] = []
        self.jobs: list[dict[str, Any]] = []
        self.answers: list[tuple[int, dict[str, Any]]] = []
        self.hang_up = False
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def files(self) -> dict[str, str]:
        """What was uploaded."""
        with zipfile.ZipFile(io.BytesIO(self.packages[-1])) as archive:
            return {name: archive.read(name).decode() for name in archive.namelist() if name[-1] != "/"}

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of callers who left."""


class Handler(BaseHTTPRequestHandler):
    server: Dashboard

    def do_GET(self) -> None:
        if self.path == "/api/version":
            return self.answer(200, {"version": "4", "ray_version": "2.60.0", "ray_commit": "x"})
        if self.path == "/api/jobs/one":
            answers = self.server.answers
            if self.server.hang_up or not answers:
                return self.connection.close()
            return self.answer(*(answers.pop(0) if len(answers) > 1 else answers[0]))
        return self.answer(404, {})

    def do_PUT(self) -> None:
        self.server.packages.append(self.body())
        self.answer(200, {})

    def do_POST(self) -> None:
        if self.path.endswith("/stop"):
            return self.connection.close()
        self.server.jobs.append(json.loads(self.body()))
        return self.answer(200, {"job_id": "one", "submission_id": "one"})

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers["Content-Length"]))

    def answer(self, status: int, body: dict[str, Any]) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def standing(status: str, **more: Any) -> dict[str, Any]:
    return {"type": "SUBMISSION", "entrypoint": "x", "submission_id": "one", "status": status, **more}


DONE = (200, standing("SUCCEEDED"))


@pytest.fixture
def dashboard() -> Iterator[Dashboard]:
    made = Dashboard()
    made.answers = [DONE]
    yield made
    made.shutdown()
    made.server_close()


@pytest.fixture
def folder(tmp_path: Path, dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to submit from, typed in: code, and configurations with a secret in various places."""
    made = tmp_path / "checkout"
    for name in ("configs/prompts", "pipelines", "deploy", "base", "keys", "[odd] names"):
        (made / name).mkdir(parents=True)
    (made / "pipelines/edit_articles.py").write_text("__main__")
    (made / "configs/prompts/writer.md").write_text("Write.")
    raw = local_profile()
    raw["auth"]["secret"] = SECRET
    raw["ray"]["dashboard_port"] = dashboard.port
    raw["serving"]["api_key"] = {"file": "keys/api"}
    (made / "keys/api").write_text(f"{SECRET}: the key")
    write_yaml(made / "base/common.yaml", raw)
    for name in ("configs/local.yaml", "deploy/site.yaml", "[odd] names/a*.yaml"):
        (made / name).write_text(f"extends: ../base/common.yaml\nauth: {{secret: '{SECRET}'}}\n")
    (made / "keys/linked.yaml").symlink_to("../deploy/site.yaml")
    shutil.copy(ROOT / ".rayignore", made)
    monkeypatch.chdir(made)
    monkeypatch.setattr("cluster.job._AWAY_SECONDS", 0.0)
    monkeypatch.setattr("cluster.job._PAUSE_SECONDS", 0.01)
    return made


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["submit", *arguments])


@pytest.mark.parametrize(
    "arguments",
    [
        ("--config", "deploy/site.yaml", "edit_articles"),
        ("--config=./keys/../deploy/site.yaml", "edit_articles"),
        ("edit_articles", "--config", "deploy/site.yaml"),
        ("edit_articles", "--config=deploy/site.yaml", "--topics", "x"),
        ("--config", "configs/local.yaml", "edit_articles", "--config", "deploy/site.yaml"),
        ("--config", "keys/linked.yaml", "edit_articles"),
        ("--config", "[odd] names/a*.yaml", "edit_articles"),
        ("edit_articles",),
    ],
)
def test_no_configuration_is_uploaded(arguments: tuple[str, ...], folder: Path, dashboard: Dashboard) -> None:
    """Neither the file, nor what it extends, nor the files of its secrets. Others' are not known."""
    given = " ".join(arguments)
    for name in ("keys/linked.yaml", "deploy/site.yaml", "[odd] names/a*.yaml"):
        if name not in given.replace("keys/linked.yaml", "keys/linked.yaml deploy/site.yaml"):
            (folder / name).unlink()
    result = run(*arguments)
    assert result.exit_code == 0, result.stderr
    files = dashboard.files()
    assert {"pipelines/edit_articles.py", "configs/prompts/writer.md"} <= set(files)
    assert [name for name, text in files.items() if SECRET in text] == []


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ([], []),
        (["--config", "a.yaml"], ["a.yaml"]),
        (["x", "--config=b.yaml", "--config", "a.yaml"], ["b.yaml", "a.yaml"]),
        (["x", "--config", "b.yaml", "--config=a.yaml"], ["b.yaml", "a.yaml"]),
        (["--config"], []),
    ],
)
def test_the_pipelines_own_configurations_are_found(arguments: list[str], found: list[str]) -> None:
    assert configurations(arguments) == [Path(name) for name in found]


def test_a_head_that_is_away_for_a_moment_is_asked_again(
    folder: Path, dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cluster.job._AWAY_SECONDS", 60.0)
    failed = standing("FAILED", driver_exit_code=3, message="it ended")
    dashboard.answers = [
        (503, {}),
        (200, standing("RUNNING")),
        (500, {}),
        (200, failed),
        (503, {}),
        (200, failed),
    ]
    result = run("edit_articles")
    assert (result.exit_code, result.stderr) == (3, "")
    assert "job one failed: it ended" in result.stdout


class Talking:
    """A job that has ended, and the pieces in which the head sends its logs."""

    def __init__(self, *pieces: str) -> None:
        self.pieces = pieces

    async def tail_job_logs(self, job_id: str) -> AsyncIterator[str]:
        """As Ray's client does."""
        for piece in self.pieces:
            yield piece

    def get_job_status(self, job_id: str) -> JobStatus:
        """It is over."""
        return JobStatus.SUCCEEDED


async def test_what_a_job_prints_steers_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    client: Any = Talking("a\x1b", "[2Jb\tc\n", "d\u202e\n", "\x1b[33m(raylet)\x1b[0m\x1b[32;1m busy\n")
    await job._print_logs(client, "one")
    assert capsys.readouterr().out == "a\\x1b[2Jb\tc\nd\\u202e\n(raylet) busy\n"


def test_why_a_job_failed_is_one_line_that_steers_no_terminal(folder: Path, dashboard: Dashboard) -> None:
    dashboard.answers = [(200, standing("FAILED", driver_exit_code=3, message="\x1b[2Jgone\rdone"))]
    result = run("edit_articles")
    assert result.exit_code == 3
    assert result.stdout.splitlines()[-1] == r"job one failed: \x1b[2Jgone\rdone"


@pytest.mark.parametrize(("status", "code"), [("FAILED", -9), ("FAILED", 137), ("STOPPED", None)])
def test_a_batch_that_was_killed_says_how_to_go_on(
    folder: Path, dashboard: Dashboard, status: str, code: int | None
) -> None:
    dashboard.answers = [(200, standing(status, driver_exit_code=code, message="exit code -9"))]
    result = run("edit_articles")
    assert result.exit_code != 0
    assert result.stdout.splitlines()[-1].startswith("submit it again to go on: what is done stays done")


def test_a_head_that_dies_is_one_line(folder: Path, dashboard: Dashboard) -> None:
    dashboard.hang_up = True
    result = run("edit_articles")
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert result.stderr.startswith("signoff: the cluster is away (")
    assert result.stderr.endswith("job one may go on: submit again\n")


def test_a_head_that_dies_before_the_exit_code_is_told(
    folder: Path, dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    dashboard.answers = [DONE, (500, {})]
    result = run("edit_articles")
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert "the cluster is away" in result.stderr


def test_a_job_that_can_t_be_stopped_since_the_head_is_away(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(job, "_print_logs", interrupted)
    result = run("edit_articles")
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert "job one may go on" in result.stderr


def test_who_submits_is_told_or_must_be_said(
    folder: Path, dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("edit_articles").exit_code == 0
    assert dashboard.jobs[-1]["metadata"][METADATA] == getpass.getuser()

    def nobody(*_: object) -> str:
        raise KeyError("getpwuid(): uid not found: 1234")

    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", nobody)
    assert os.environ.get("USER") is None
    result = run("edit_articles")
    assert result.stderr == "signoff: --as: who you are can't be told here: give --as NAME\n"
    assert run("edit_articles", "--as", "olga").exit_code == 0
    assert METADATA not in dashboard.jobs[-1]["metadata"]
