"""A token, and commands that ask at once again: what the tests of gated work at a terminal have in common."""

from pathlib import Path

import pytest

from cluster.cli.gated import following


@pytest.fixture
def token(tmp_path: Path) -> Path:
    """A file with a token; with it, no configuration is needed."""
    (tmp_path / "token").write_text("a.b.c")
    return tmp_path / "token"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that run in this process ask at once again."""
    monkeypatch.setattr(following, "POLL_SECONDS", 0.01)
