"""The pure parts of the bring-up: checks, the plan, the recorded state, tokens, status and the command."""

import io
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jwt
import pytest
import yaml
from rich.console import Console

from actors.platform.systems import load
from cluster import bundled_model, checks, ray, status
from cluster.bringup import Bringup, settings_of
from cluster.cli.tokens import mint_token
from cluster.folders import ensure_private, ensure_writable, short_folder
from cluster.parts.plan import PartProgress, run_parts
from cluster.state import ClusterState, RayHead, fingerprint, only_one, read_state, state_file, write_state
from cluster.up import down
from cluster.view import ProgressView, table
from models.config import Config
from models.errors import ClusterProblem, ConfigInvalid, SignoffError
from models.people.scopes import ScopeInvalid
from tests.ports import free_port
from tests.profile import write_yaml

ROOT = Path(__file__).resolve().parents[3]
HEAD = RayHead(address="127.0.0.1:1", dashboard_url="http://127.0.0.1:2", temp_dir="/tmp/signoff-ray-none")


def problem(caught: "pytest.ExceptionInfo[ClusterProblem]") -> str:
    """The message, which must be one line with a remedy after a colon."""
    text = str(caught.value)
    assert "\n" not in text
    assert ": " in text
    return text


class TestChecks:
    def test_a_port_in_use_is_named_with_its_key(self) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            with pytest.raises(ClusterProblem) as caught:
                checks.check_port("127.0.0.1", port, "http.port")
        assert f"port {port} on 127.0.0.1 is in use" in problem(caught)
        assert "set http.port to another" in problem(caught)
        checks.check_port("127.0.0.1", port, "http.port")

    def test_disk(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=2 * checks.GB))
        assert checks.check_disk(tmp_path, converting=False) == "2 GB disk free"
        with pytest.raises(ClusterProblem) as caught:
            checks.check_disk(tmp_path, converting=True)
        assert "only 2.0 GB of disk free" in problem(caught)

    def test_memory(self, config: Config) -> None:
        needed = checks.memory_needed(config)
        assert checks.check_memory(needed, needed) == "6 GB memory available"
        with pytest.raises(ClusterProblem) as caught:
            checks.check_memory(needed - 1, needed)
        assert "serving.models" in problem(caught)
        assert checks.available_memory() > 0

    def test_a_model_folder_that_is_not_there(self, config_file: Path, tmp_path: Path) -> None:
        raw = yaml.safe_load(config_file.read_text())
        raw["serving"]["models"][0]["source"] = str(tmp_path / "nothing")
        write_yaml(config_file, raw)
        with pytest.raises(ClusterProblem) as caught:
            checks.check_model_folders(load(config_file, root=ROOT))
        assert str(tmp_path / "nothing") in problem(caught)
        assert "serving.models.0.source" in problem(caught)

    def test_a_model_folder_that_some_node_does_not_see(self, config: Config) -> None:
        checks.check_node_folders(config, lambda folder, gpu: [])
        with pytest.raises(ClusterProblem) as caught:
            checks.check_node_folders(config, lambda folder, gpu: ["10.0.0.2", "10.0.0.3"])
        assert "is not on 10.0.0.2, 10.0.0.3" in problem(caught)

    def test_a_database_out_of_reach(self) -> None:
        with pytest.raises(ClusterProblem) as caught:
            checks.check_database(f"postgresql://signoff@127.0.0.1:{free_port()}/signoff")
        assert problem(caught).startswith("can't reach the database: ")
        assert "database.url" in problem(caught)

    def test_a_cluster_elsewhere_needs_a_database_elsewhere(self, config: Config) -> None:
        checks.check_shared(config)
        elsewhere = config.model_copy(update={"ray": config.ray.model_copy(update={"address": "h:6379"})})
        with pytest.raises(ClusterProblem, match=r"set database\.url"):
            checks.check_shared(elsewhere)

    def test_too_few_cpus(self, config: Config) -> None:
        assert checks.check_resources(config, {"CPU": 2}) == "2 CPUs, 0 GPUs"
        with pytest.raises(ClusterProblem) as caught:
            checks.check_resources(config, {"CPU": 1})
        assert "ask for 2 CPUs, the cluster has 1" in problem(caught)

    def test_a_data_folder_that_cannot_be_written(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(ClusterProblem) as caught:
            ensure_writable(tmp_path / "file" / "data")
        assert problem(caught).startswith(f"can't write the data folder {tmp_path / 'file' / 'data'}: ")


class TestFolders:
    def test_short_folders_are_short_and_one_for_each_data_folder(self) -> None:
        long = Path("/" + "x" * 200)
        assert len(str(short_folder("ray", long))) < 40
        assert short_folder("ray", long) == short_folder("ray", long)
        assert short_folder("ray", long) != short_folder("ray", long / "y")

    def test_private_folders_are_closed_to_others(self, tmp_path: Path) -> None:
        ensure_private(tmp_path / "p", os.geteuid())
        assert (tmp_path / "p").stat().st_mode & 0o777 == 0o700

    def test_a_link_in_place_of_a_private_folder_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "p").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(ClusterProblem):
            ensure_private(tmp_path / "p", os.geteuid())


class TestState:
    def test_it_reads_back(self, tmp_path: Path) -> None:
        state = ClusterState(ray=HEAD, http="h:1", deployed={"llm": "abc"})
        write_state(tmp_path, state)
        assert read_state(tmp_path) == state
        assert [path.name for path in tmp_path.iterdir()] == ["cluster.json"]

    @pytest.mark.parametrize("text", ["", "{", "[]", '{"unknown": 1}'])
    def test_one_that_is_not_understood_is_empty(self, tmp_path: Path, text: str) -> None:
        state_file(tmp_path).write_text(text)
        assert read_state(tmp_path) == ClusterState()

    def test_one_of_the_last_release_is_understood(self, tmp_path: Path) -> None:
        state_file(tmp_path).write_text('{"postgres": true, "http": "h:1", "deployed": {"llm": "abc"}}')
        assert read_state(tmp_path) == ClusterState(http="h:1", deployed={"llm": "abc"})

    def test_only_one_at_a_time(self, tmp_path: Path) -> None:
        told = pytest.raises(ClusterProblem, match="another `signoff up`, `down`")
        with only_one(tmp_path), told, only_one(tmp_path):
            pass
        with only_one(tmp_path):
            pass
        (tmp_path / ".cluster.lock").unlink()
        # What another user sees who may not write there; root may.
        (tmp_path / ".cluster.lock").mkdir()
        with pytest.raises(ClusterProblem) as caught, only_one(tmp_path):
            pass
        assert "run this as the user who ran `signoff up`" in problem(caught)

    def test_a_fingerprint_sees_settings_secrets_and_code(self, config: Config, tmp_path: Path) -> None:
        (tmp_path / "a.py").write_text("x = 1")
        before = fingerprint(settings_of(config.auth), [tmp_path])
        assert before == fingerprint(settings_of(config.auth), [tmp_path])
        other = config.auth.model_copy(update={"secret": type(config.auth.secret)("another" * 8)})
        assert before != fingerprint(settings_of(other), [tmp_path])
        (tmp_path / "a.py").write_text("x = 2")
        assert before != fingerprint(settings_of(config.auth), [tmp_path])

    def test_a_bringup_records_what_it_made(self, config: Config) -> None:
        ensure_writable(config.data_dir)
        bringup = Bringup(config)
        assert not bringup.fresh("llm", "a")
        bringup.made("llm", "a")
        assert Bringup(config).fresh("llm", "a")
        assert not Bringup(config).fresh("llm", "b")


class FakePart:
    """Notes what is done to it in a log that all share."""

    def __init__(
        self, name: str, log: list[str], after: tuple[str, ...] = (), up: bool = False, fault: Any = None
    ) -> None:
        self.name, self.after = name, after
        self._log, self._up, self._fault = log, up, fault

    def check(self) -> str | None:
        self._log.append(f"check {self.name}")
        return "was up" if self._up else None

    def repair(self, say: Any) -> str:
        say("working")
        if self._fault is not None:
            raise self._fault
        self._log.append(f"repair {self.name}")
        return "repaired"


def unwatched(progress: Any) -> None:
    """Watch nothing."""


class TestPlan:
    def test_parts_come_up_after_what_they_need(self) -> None:
        log: list[str] = []
        parts = [FakePart("c", log, after=("b",)), FakePart("b", log, after=("a",)), FakePart("a", log)]
        progress = run_parts(parts, unwatched)
        assert [line for line in log if "repair" in line] == ["repair a", "repair b", "repair c"]
        assert {part.state for part in progress.values()} == {"up"}

    def test_what_is_up_is_not_repaired(self) -> None:
        log: list[str] = []
        progress = run_parts([FakePart("a", log, up=True)], unwatched)
        assert log == ["check a"]
        assert progress["a"].detail == "was up"

    def test_what_needs_a_failed_part_never_begins(self) -> None:
        log: list[str] = []
        seen: dict[str, str] = {}

        def watch(progress: Any) -> None:
            seen.update({name: part.state for name, part in progress.items()})

        parts = [FakePart("a", log, fault=ClusterProblem("no: do that")), FakePart("b", log, after=("a",))]
        with pytest.raises(ClusterProblem, match="no: do that"):
            run_parts(parts, watch)
        assert log == ["check a"]
        assert seen == {"a": "failed", "b": "waiting"}

    def test_any_other_error_becomes_one_line(self) -> None:
        with pytest.raises(SignoffError, match=r"\AValueError: second line\Z"):
            run_parts([FakePart("a", [], fault=ValueError("first line\nsecond line"))], unwatched)


class TestView:
    def test_a_table(self) -> None:
        console = Console(width=80, record=True, file=io.StringIO())
        console.print(table({"ray": PartProgress("ray", "up", "1 node", begun=1.0, ended=3.5)}))
        assert console.export_text().splitlines()[1].split() == ["ray", "up", "1", "node", "2.5"]

    def test_lines_where_there_is_no_terminal(self, capsys: pytest.CaptureFixture[str]) -> None:
        part = PartProgress("ray", begun=1.0)
        with ProgressView(Console(soft_wrap=True)) as watch:
            for state in ("waiting", "checking", "starting", "starting", "up", "up"):
                part.state, part.ended, part.detail = state, 3.0 if state == "up" else None, "1 node"
                watch({"ray": part})
        assert capsys.readouterr().out.splitlines() == ["ray: starting", "ray: up: 1 node (2.0 s)"]


class TestTokens:
    NOW = datetime(2026, 11, 21, tzinfo=UTC)

    def test_round_trip(self, config: Config) -> None:
        now = datetime.now(UTC)
        token = mint_token(config.auth, user="ada", scopes=["macro:analyst", "global:reader"], now=now)
        secret = config.auth.secret.get_secret_value()
        claims = jwt.decode(token, secret, algorithms=["HS256"], audience="signoff", issuer="signoff")
        assert claims["sub"] == "ada"
        assert claims["scopes"] == ["macro:analyst", "global:reader"]
        assert claims["exp"] - claims["iat"] == config.auth.token_minutes * 60

    def test_a_malformed_scope_is_refused(self, config: Config) -> None:
        with pytest.raises(ScopeInvalid):
            mint_token(config.auth, user="ada", scopes=["macro:boss"], now=self.NOW)

    @pytest.mark.parametrize(("user", "scopes"), [(" ", ["macro:reader"]), ("ada", [])])
    def test_nobody_and_nothing_are_refused(self, config: Config, user: str, scopes: list[str]) -> None:
        with pytest.raises(ConfigInvalid):
            mint_token(config.auth, user=user, scopes=scopes, now=self.NOW)


class TestStatus:
    FOUND = status.Status(
        nodes=(status.Node(address="10.0.0.1", alive=True, cpus=16, gpus=2),),
        agents=(
            status.Agent(name="agent:writer:0", alive=True, state="ALIVE", restarts=2, memory_mb=120),
            status.Agent(
                name="browser:0",
                alive=True,
                state="ALIVE",
                restarts=0,
                memory_mb=90,
                browser="Chromium runs as nobody, with its sandbox",
            ),
        ),
        apps=(status.App(name="llm", status="RUNNING", replicas=2),),
        models=("smollm2",),
        database="PostgreSQL 18.4",
        workflows={"done": 3, "queued": 1},
        problems=("it is down: run `signoff up`",),
    )

    def test_for_people(self) -> None:
        console = Console(width=100, record=True, file=io.StringIO())
        status.show(self.FOUND, console)
        text = console.export_text()
        for told in (
            "agent:writer:0  alive  2         120 MB",
            "3 done, 1 queued",
            "models: smollm2",
            "browser:0: Chromium runs as nobody, with its sandbox",
            "run `",
        ):
            assert told in text

    def test_what_lacks_is_a_problem(self, config: Config) -> None:
        def agent(name: str) -> status.Agent:
            return status.Agent(name=name, alive=True, state="ALIVE", restarts=0, memory_mb=None)

        runners = tuple(agent(f"runner:{number}") for number in range(config.runners.count))
        names = ("api", "embeddings", "samples", "llm")
        apps = tuple(status.App(name=name, status="RUNNING", replicas=1) for name in names)
        whole = self.FOUND.model_copy(update={"agents": (*runners, agent("dispatcher:0")), "apps": apps})
        assert status.shortfalls(config, whole) == []
        dead = self.FOUND.nodes[0].model_copy(update={"alive": False})
        count = config.runners.count
        for change, told in [
            ({"agents": whole.agents[1:]}, f"{count - 1} of {count} runners are alive"),
            ({"agents": runners}, "no dispatcher is alive"),
            ({"apps": apps[:3]}, "the application llm is not there"),
            ({"apps": (apps[0].model_copy(update={"status": "UNHEALTHY"}), *apps[1:])}, "api is unhealthy"),
            ({"nodes": (dead,)}, "the node 10.0.0.1 is dead"),
        ]:
            [lack] = status.shortfalls(config, whole.model_copy(update=change))
            assert told in lack
            assert lack.endswith(": run `signoff up`")

    @pytest.mark.parametrize(("reason", "told"), [(1, True), (4, True), (0, False), (2, False), (3, False)])
    def test_a_node_that_was_stopped_or_scaled_away_is_no_problem(self, reason: int, told: bool) -> None:
        assert status._left_as_told({"Alive": False, "DeathReason": reason}) is told

    def test_a_problem_is_shown_as_it_is(self) -> None:
        console = Console(width=100, record=True, file=io.StringIO())
        status.show(self.FOUND.model_copy(update={"problems": ("[/] of [bold]it[/bold]",)}), console)
        assert "[/] of [bold]it[/bold]" in console.export_text()

    def test_nothing_runs(self, config: Config) -> None:
        found = status.collect(config)
        assert found.nodes == ()
        assert len(found.problems) == 2
        assert all("signoff up" in told for told in found.problems)


@pytest.fixture
def marked() -> Iterator["subprocess.Popen[bytes]"]:
    """A process that bears the mark of HEAD."""
    process = subprocess.Popen(["sleep", "60"], env={**os.environ, "SIGNOFF_CLUSTER": HEAD.temp_dir})
    # Until the new program is in place, /proc shows the old one's environment.
    while process.pid not in {found.pid for found in ray.processes(HEAD)}:
        time.sleep(0.01)
    yield process
    process.kill()
    process.wait()


class TestRayProcesses:
    def test_only_marked_ones_are_stopped(self, marked: "subprocess.Popen[bytes]") -> None:
        other = subprocess.Popen(["sleep", "60"], env={**os.environ, "SIGNOFF_CLUSTER": "/tmp/another"})
        try:
            ray.stop(HEAD)
            assert marked.poll() is not None
            assert other.poll() is None
        finally:
            other.kill()
            other.wait()
        ray.stop(HEAD)

    def test_a_head_without_processes_is_not_alive(self) -> None:
        assert not ray.alive(HEAD)

    def test_the_environment_of_a_head(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("RAY_ADDRESS", "10.9.9.9:6379")
        monkeypatch.setenv("no_proxy", "intranet")
        found = ray._head_environment(tmp_path)
        assert "RAY_ADDRESS" not in found
        assert found["PATH"].split(os.pathsep)[0] == str(Path(sys.executable).parent)
        assert found["RAY_AUTH_MODE"] == "token"
        assert found["no_proxy"] == "intranet,127.0.0.1,localhost"


class TestBundledModel:
    def test_half_a_folder_is_not_converted(self, tmp_path: Path) -> None:
        pytest.importorskip("gguf")
        assert not bundled_model.is_converted(tmp_path)
        (tmp_path / "signoff.json").write_text('{"source": "another.gguf", "bytes": 1}')
        assert not bundled_model.is_converted(tmp_path)

    def test_a_missing_package_names_the_extra(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        with pytest.raises(ClusterProblem, match="extra `cpu`"):
            bundled_model.gguf_file()


def test_down_leaves_a_folder_that_was_never_used_alone(config: Config) -> None:
    down(config, Console(file=io.StringIO()))
    assert not config.data_dir.exists()
