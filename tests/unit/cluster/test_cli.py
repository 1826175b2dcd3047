"""The `signoff` command: what it prints, what it refuses, and with which exit code."""

import getpass
import json
import re
import shlex
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import jwt
import pytest
import yaml
from typer.testing import CliRunner

from cluster import submit
from cluster import up as bring_up
from cluster.cli.signoff import app
from models.config import Config
from tests.profile import write_yaml

ROOT = Path(__file__).resolve().parents[3]


class TestCommand:
    def run(self, *arguments: str | Path) -> Any:
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    def test_help_is_quick(self) -> None:
        heavy = ["ray", "pydantic", "fastapi", "vllm", "torch"]
        script = f"import sys, cluster.cli.signoff; print([m for m in {heavy} if m in sys.modules])"
        out = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
        assert out.stdout.strip() == "[]", out.stderr

    def test_the_command_that_ends_it_is_told_as_it_can_be_typed(
        self, config_file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        said: dict[str, Any] = {}
        monkeypatch.setattr(bring_up, "up", lambda *_, **given: said.update(given))
        monkeypatch.setattr(sys, "argv", [".venv/bin/signoff"])
        monkeypatch.setenv("PATH", "")
        assert self.run("up", "--config", config_file).exit_code == 0
        assert said["stop"] == f".venv/bin/signoff down --config {config_file}"

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

    def test_what_was_chosen_last_is_minted_again_for_that_person(
        self, config_file: Path, config: Config
    ) -> None:
        def minted(*arguments: object) -> dict[str, Any]:
            result = self.run("token", "--user", "ada", *arguments, "--config", config_file)
            assert result.exit_code == 0, result.stderr
            secret = config.auth.secret.get_secret_value()
            told: dict[str, Any] = jwt.decode(
                result.stdout.strip(), secret, algorithms=["HS256"], audience="signoff"
            )
            return told

        none = self.run("token", "--user", "ada", "--config", config_file)
        assert (none.exit_code, none.stderr.count("\n")) == (1, 1)
        minted("--scopes", "macro:analyst,equity:reader")
        assert minted()["scopes"] == ["macro:analyst", "equity:reader"]
        self.run("token", "--user", "bob", "--scopes", "esg:reader", "--config", config_file)
        assert minted()["scopes"] == ["macro:analyst", "equity:reader"]
        self.run("token", "--user", "ada", "--scopes", "macro:boss", "--config", config_file)
        assert minted()["scopes"] == ["macro:analyst", "equity:reader"]
        assert "amr" not in minted()
        assert minted("--decide")["amr"] == ["user"]
        assert (config.data_dir / "development_scopes.json").stat().st_mode & 0o077 == 0

    def test_a_malformed_scope(self, config_file: Path) -> None:
        result = self.run("token", "--user", "ada", "--scopes", "macro:boss", "--config", config_file)
        assert result.exit_code == 1
        assert result.stderr.startswith("signoff: the scope 'macro:boss' has the role 'boss'")
        assert result.stderr.count("\n") == 1

    def test_status_as_json(self, config_file: Path) -> None:
        result = self.run("status", "--json", "--config", config_file)
        assert result.exit_code == 1
        assert json.loads(result.stdout)["database"] is None

    @pytest.mark.heavy
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

        def fake(config: Config, name: str, arguments: list[str], *, config_file: Path) -> int:
            seen.append((name, arguments))
            return 7

        monkeypatch.setattr(submit, "submit", fake)
        given = ["--topics", "a b", "--force", "--help", "--config", str(config_file), "--", "-x"]
        result = self.run("submit", "edit_articles", *given)
        assert result.exit_code == 7
        assert seen == [("edit_articles", given)]

    def test_submit_needs_no_configuration_whichever_folder_it_is_typed_in(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seen: list[tuple[int, Path, list[str]]] = []

        def fake(config: Config, name: str, arguments: list[str], *, config_file: Path) -> int:
            seen.append((config.ray.dashboard_port, config.data_dir, arguments))
            return 0

        monkeypatch.setattr(submit, "submit", fake)
        given = ["--topics", "x"]
        for folder in (ROOT, tmp_path):
            monkeypatch.chdir(folder)
            result = self.run("submit", "edit_articles", *given)
            assert result.exit_code == 0, result.stderr
        # A configuration that lies in the folder it is typed in comes first.
        (tmp_path / "configs").mkdir()
        site = {"extends": str(ROOT / "configs/local.yaml"), "ray": {"dashboard_port": 8299}}
        write_yaml(tmp_path / "configs/local.yaml", site)
        assert self.run("submit", "edit_articles", *given).exit_code == 0
        assert seen == [
            (8265, ROOT / "data", given),
            (8265, ROOT / "data", given),
            (8299, tmp_path / "data", given),
        ]

    def test_a_job_gets_the_folder_with_its_pipeline_and_else_nothing(
        self, config: Config, tmp_path: Path
    ) -> None:
        command = ["python", "-m", "pipelines.edit_articles", "--topics", "a b"]
        line, environment = submit.entrypoint(config, command, ROOT, [], ours=True)
        assert line == "python -m pipelines.edit_articles --topics 'a b'"
        assert environment["working_dir"] == str(ROOT)
        assert "/.venv" in environment["excludes"]
        here = tmp_path / "my topics"
        line, environment = submit.entrypoint(config, command, here, [], ours=False)
        assert (line, environment) == (f"cd '{here}' && exec python -P -m {shlex.join(command[2:])}", {})
        ray = config.ray.model_copy(update={"address": "head:6379"})
        elsewhere = submit.entrypoint(config.model_copy(update={"ray": ray}), command, here, [], ours=False)
        assert elsewhere == (shlex.join(command), {})


class TestApprovalCommands:
    """What they refuse by themselves; the rest is in tests/integration/cluster/test_approval_commands.py."""

    def run(self, *arguments: str | Path, stdin: str | None = None) -> Any:
        return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)

    @pytest.mark.parametrize(
        "command", [("approvals",), ("approve", "1", "--yes"), ("reject", "1", "--reason", "no", "--yes")]
    )
    def test_nobody_answers(self, command: tuple[str, ...], config_file: Path, config: Config) -> None:
        result = self.run(*command, "--user", "ann", "--config", config_file)
        url = f"http://127.0.0.1:{config.http.port}"
        assert (result.exit_code, result.stdout) == (1, "")
        up = f"signoff up --config {config_file}"
        assert result.stderr == f"signoff: no Signoff answers at {url}: run `{up}`\n"

    @pytest.mark.parametrize("url", ["127.0.0.1:8000", "http://127.0.0.1:port", "ftp://x", "http://", ""])
    def test_an_address_that_is_none(self, url: str, config_file: Path) -> None:
        result = self.run("approvals", "--user", "ann", "--url", url, "--config", config_file)
        assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
        assert result.stderr.startswith(f"signoff: --url {url!r} is no address: ")

    def test_another_server_on_the_port(self, another_server: str, config_file: Path) -> None:
        for command in (("approvals",), ("approve", "1", "--yes")):
            given_ = [*command, "--user", "ann", "--url", another_server, "--config", config_file]
            result = self.run(*given_)
            assert (result.exit_code, result.stdout) == (1, "")
            assert "and not as Signoff does" in result.stderr

    def test_without_a_secret_it_takes_a_token_file(self, config_file: Path, tmp_path: Path) -> None:
        raw = yaml.safe_load(config_file.read_text())
        raw["auth"] |= {"jwks": {"file": "/keys.json"}}
        del raw["auth"]["secret"]
        write_yaml(config_file, raw)
        result = self.run("approvals", "--user", "ann", "--config", config_file)
        assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
        assert "auth.secret is not set, so no token can be made here: give --token-file PATH" in result.stderr

    @pytest.mark.parametrize("content", [b"", b"\n", b"a.b.c d.e.f", b"a.b.c\nd", "a.b.ç".encode(), b"\xff"])
    def test_a_token_file_holds_a_token(self, content: bytes, config_file: Path, tmp_path: Path) -> None:
        (tmp_path / "token").write_bytes(content)
        result = self.run("approvals", "--token-file", tmp_path / "token", "--config", config_file)
        assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
        assert result.stderr.startswith(f"signoff: --token-file {tmp_path / 'token'}: ")
        assert "a.b.c" not in result.stderr

    def test_no_token_file_and_none_on_stdin(self, config_file: Path) -> None:
        missing = self.run("approvals", "--token-file", "/no/such", "--config", config_file)
        assert missing.stderr == "signoff: --token-file /no/such: can't be read: No such file or directory\n"
        empty = self.run("approvals", "--token-file", "-", "--config", config_file, stdin="")
        assert empty.stderr.startswith("signoff: --token-file -: it must hold one token")

    @pytest.mark.parametrize("option", ["--user", "--scopes"])
    def test_a_token_says_who_one_is(self, option: str, config_file: Path) -> None:
        result = self.run("approvals", "--token-file", "x", option, "ann", "--config", config_file)
        assert "--token-file says who you are: leave out --user and --scopes" in result.stderr

    def test_nobody_is_logged_in(self, config_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def nobody() -> str:
            raise KeyError("getpwuid(): uid not found: 1234")

        monkeypatch.setattr(getpass, "getuser", nobody)
        result = self.run("approvals", "--config", config_file)
        assert result.stderr == "signoff: --user: who you are can't be told here: give --user NAME\n"

    def test_a_rejection_takes_a_reason(self, config_file: Path) -> None:
        assert self.run("reject", "1", "--config", config_file).exit_code == 2

    def test_the_token_is_never_an_argument(self) -> None:
        for command in ("approvals", "approve", "reject"):
            told = " ".join(re.sub(r"[│╭╮╰╯─]", " ", self.run(command, "--help").stdout).split())
            assert "never an argument" in told
            assert "--token " not in told


@pytest.fixture
def another_server() -> Iterator[str]:
    """The address of an HTTP server that is no Signoff: it answers 200 with HTML."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = b"<html>hello</html>"
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
