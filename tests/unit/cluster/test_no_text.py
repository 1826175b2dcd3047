"""Arguments that are no text (bytes that are no UTF-8) are refused in a line, or shown written out."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from cluster.cli.commands import site
from cluster.cli.signoff import app

NO_TEXT = "\udcff"


@pytest.mark.parametrize(
    "arguments",
    [
        ["approvals", "--topic", NO_TEXT],
        ["approvals", "--kind", NO_TEXT],
        ["approve", NO_TEXT, "--yes"],
        ["chat", NO_TEXT],
        ["chat", "hello", "--conversation", NO_TEXT],
        ["workflows", NO_TEXT],
        ["workflows", "retry", NO_TEXT],
        ["workflows", "cancel", "x", "--reason", NO_TEXT],
        ["workflows", "--status", NO_TEXT],
        ["workflows", "--before", NO_TEXT],
        ["workflows", "--url", f"http://{NO_TEXT}:1"],
        ["workflows", "--url", f"http://127.0.0.1:1/{NO_TEXT}"],
        ["workflows", "--token-file", NO_TEXT],
        ["token", "--user", NO_TEXT, "--scopes", "global:reader"],
        ["token", "--user", "ann", "--scopes", NO_TEXT],
    ],
)
def test_an_argument_that_is_no_text_is_refused_in_one_line(arguments: list[str], config_file: Path) -> None:
    result = CliRunner().invoke(app, [*arguments, "--config", str(config_file)])
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit), result.exception
    assert result.stderr.startswith("signoff: ")
    assert result.stderr.count("\n") == 1


def test_a_file_of_such_a_name_is_shown_written_out(capsys: pytest.CaptureFixture[str]) -> None:
    site._say(f"/backups/{NO_TEXT}: 3 bytes")
    assert capsys.readouterr().out == "/backups/\\udcff: 3 bytes\n"
