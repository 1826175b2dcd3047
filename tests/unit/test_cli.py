"""The `signoff` command: what it prints, what it refuses, and with which exit code."""

import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import jwt
import pytest
from typer.testing import CliRunner

from cluster import submit
from cluster.cli import _config_among, app
from cluster.state import RayHead
from models.config import Config

ROOT = Path(__file__).resolve().parents[2]
HEAD = RayHead(address="127.0.0.1:1", dashboard_url="http://127.0.0.1:2", temp_dir="/tmp/signoff-ray-none")


class TestCommand:
    def run(self, *arguments: str | Path) -> Any:
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    def test_help_is_quick(self) -> None:
        heavy = ["ray", "pydantic", "fastapi", "vllm", "torch"]
        script = f"import sys, cluster.cli; print([m for m in {heavy} if m in sys.modules])"
        out = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
        assert out.stdout.strip() == "[]", out.stderr

    @pytest.mark.parametrize("command", ["up", "down", "status"])
    def test_a_missing_configuration_is_one_line(self, command: str, tmp_path: Path) -> None:
        result = self.run(command, "--config", tmp_path / "no.yaml")
        assert result.exit_code == 1
        assert result.stderr == f"signoff: {tmp_path / 'no.yaml'}: can't be read: No such file or directory\n"
        assert result.stdout == ""

    def test_token(self, config_file: Path, config: Config) -> None:
        result = self.run("token", "--user", "ada", "--scopes", "macro:analyst", "--config", config_file)
        assert result.exit_code == 0
        claims = jwt.decode(
            result.stdout.strip(),
            config.auth.secret.get_secret_value(),
            algorithms=["HS256"],
            audience="signoff",
        )
        assert claims["scopes"] == ["macro:analyst"]

    def test_a_malformed_scope(self, config_file: Path) -> None:
        result = self.run("token", "--user", "ada", "--scopes", "macro:boss", "--config", config_file)
        assert result.exit_code == 1
        assert result.stderr.startswith("signoff: the scope 'macro:boss' has the role 'boss'")
        assert result.stderr.count("\n") == 1

    def test_status_as_json(self, config_file: Path) -> None:
        result = self.run("status", "--json", "--config", config_file)
        assert result.exit_code == 1
        assert json.loads(result.stdout)["database"] is None

    def test_a_taken_port_stops_up_before_anything_is_started(
        self, config_file: Path, config: Config
    ) -> None:
        pytest.importorskip("vllm")
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", config.http.port))
            taken.listen()
            result = self.run("up", "--config", config_file)
        assert result.exit_code == 1
        assert f"port {config.http.port} on 127.0.0.1 is in use" in result.stderr
        assert not (config.data_dir / "postgres").exists()

    def test_down_when_nothing_is_up(self, config_file: Path) -> None:
        for _ in range(2):
            result = self.run("down", "--config", config_file)
            assert (result.exit_code, result.stderr) == (0, "")

    def test_submit_of_no_pipeline(self, config_file: Path) -> None:
        result = self.run("submit", "--config", config_file, "no_such")
        assert result.exit_code == 1
        assert "no pipeline 'no_such'" in result.stderr

    def test_submit_passes_all_after_the_name_untouched(
        self, config_file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seen: list[Any] = []

        def fake(config: Config, name: str, arguments: list[str]) -> int:
            seen.append((name, arguments))
            return 7

        monkeypatch.setattr(submit, "submit", fake)
        given = ["--topics", "a b", "--force", "--help", "--config", str(config_file), "--", "-x"]
        result = self.run("submit", "edit_articles", *given)
        assert result.exit_code == 7
        assert seen == [("edit_articles", given)]

    @pytest.mark.parametrize(
        ("arguments", "found"),
        [
            ([], None),
            (["--config", "a.yaml"], Path("a.yaml")),
            (["x", "--config=b.yaml"], Path("b.yaml")),
            (["--config"], None),
        ],
    )
    def test_the_pipelines_own_configuration_is_found(self, arguments: list[str], found: Path | None) -> None:
        assert _config_among(arguments) == found
