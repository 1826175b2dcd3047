"""A backup of a site at work, and a restore that ends half way:
after an error it is undone, after a kill it is told."""

import asyncio
import re
import signal
import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest

from cluster.bringup import Bringup
from cluster.parts.schema import Schema
from cluster.postgres import server as embedded
from cluster.postgres import tools
from cluster.postgres.backup import back_up
from cluster.postgres.restore import restore
from cluster.state import only_one
from models.errors import ClusterProblem
from tests.integration.cluster.backup_sites import Sites, as_it_was, fill, no_word, second

KILLED = """
import os, pickle, signal, sys
from pathlib import Path
from cluster.postgres.restore import restore
def say(line):
    if line.startswith("rows"):
        os.kill(os.getpid(), signal.SIGKILL)
restore(pickle.loads(Path(sys.argv[1]).read_bytes()), Path(sys.argv[2]), say, replace=True)
"""


@pytest.mark.parametrize("word", ["memory", "articles", "transaction ids"])
async def test_an_error_half_way_leaves_database_and_folders_as_they_were(
    word: str,
    sites: Sites,
    tmp_path: Path,
) -> None:
    one, two = sites
    await fill(one)
    await second(two)
    back_up(one, tmp_path / "file", no_word)

    def say(line: str) -> None:
        if line.startswith(word):
            raise BrokenPipeError(32, "Broken pipe", "stdout")

    with pytest.raises(ClusterProblem, match="stdout"):
        restore(two, tmp_path / "file", say, replace=True)
    await as_it_was(two)
    restore(two, tmp_path / "file", no_word, replace=True)
    assert (two.data_dir / "articles/deep/a file.json").is_file()


async def test_a_restore_that_was_killed_is_told_and_brought_back(
    sites: Sites,
    tmp_path: Path,
) -> None:
    import pickle

    one, two = sites
    await fill(one)
    await second(two)
    back_up(one, tmp_path / "file", no_word)
    (tmp_path / "config").write_bytes(pickle.dumps(two))
    arguments = [sys.executable, "-c", KILLED, str(tmp_path / "config"), str(tmp_path / "file")]
    assert await (await asyncio.create_subprocess_exec(*arguments)).wait() == -signal.SIGKILL
    url = embedded.url(two.data_dir)
    assert url is not None
    bringup = Bringup(two)
    bringup.database_url = url
    with pytest.raises(ClusterProblem, match="broken off") as told:
        Schema(bringup).repair(no_word)
    with pytest.raises(ClusterProblem, match="broken off"):
        restore(two, tmp_path / "file", no_word, replace=True)
    back, forget = re.findall("`([^`]*)`", str(told.value))
    assert forget.startswith("DROP SCHEMA before_restore_")
    for command in back.split("; "):
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(command.encode())
    await as_it_was(two)
    restore(two, tmp_path / "file", no_word, replace=True)


async def test_what_can_t_be_replaced_is_refused_before_anything_is_touched(
    sites: Sites,
    tmp_path: Path,
) -> None:
    one, two = sites
    await fill(one)
    await second(two)
    back_up(one, tmp_path / "file", no_word)
    articles = two.data_dir / "articles"
    articles.rename(two.data_dir / "elsewhere")
    articles.symlink_to("elsewhere")
    with pytest.raises(ClusterProblem, match=r"articles\) is a link or a mount point"):
        restore(two, tmp_path / "file", no_word, replace=True)
    articles.unlink()
    (two.data_dir / "elsewhere").rename(articles)
    (two.data_dir / ".memory.before").mkdir()
    with pytest.raises(ClusterProblem, match="broken off: move it back, or remove it"):
        restore(two, tmp_path / "file", no_word, replace=True)
    (two.data_dir / ".memory.before").rmdir()
    url = embedded.url(two.data_dir)
    assert url is not None
    with (
        psycopg.connect(url, application_name="signoff api"),
        pytest.raises(ClusterProblem, match="signoff api"),
    ):
        restore(two, tmp_path / "file", no_word, replace=True)
    for work in (
        lambda: restore(two, tmp_path / "file", no_word, replace=True),
        lambda: back_up(two, tmp_path / "x", no_word),
    ):
        with only_one(two.data_dir), pytest.raises(ClusterProblem, match="another `signoff"):
            work()
    await as_it_was(two)


async def test_a_backup_of_a_site_at_work(
    sites: Sites,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Files come and go, and numbers are given, while it is made."""
    one, two = sites
    await fill(one)
    memory = one.data_dir / "memory"
    (memory / ".lock").write_text("")
    (memory / ".0123.tmp").write_text("half")
    (memory / "gone.json").write_text("soon gone")
    run = tools.Tools.run

    def dumped(tools: Any, program: str, url: str, arguments: list[str]) -> None:
        run(tools, program, url, arguments)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("SELECT nextval('approval_numbers')")

    def say(line: str) -> None:
        if line.startswith("database"):
            (memory / "gone.json").unlink()

    monkeypatch.setattr(tools.Tools, "run", dumped)
    manifest = back_up(one, tmp_path / "file", say)
    monkeypatch.undo()
    assert [member.name for member in manifest.members if "memory" in member.name] == [
        "memory/deep/a file.json"
    ]
    restore(two, tmp_path / "file", no_word, replace=False)


async def test_a_file_that_goes_between_the_list_and_the_reading_is_left_out(
    sites: Sites,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, _ = sites
    await fill(one)
    memory = one.data_dir / "memory"
    (memory / "gone.json").write_text("soon gone")
    monkeypatch.setattr("cluster.postgres.backup.files_in", lambda folder: [folder / "gone.json"])
    (memory / "gone.json").unlink()
    assert [member.name for member in back_up(one, tmp_path / "file", no_word).members] == ["database.dump"]
    (memory / "gone.json").mkdir()
    with pytest.raises(
        ClusterProblem, match=r"gone\.json: Is a directory: run as a user who can read"
    ) as told:
        back_up(one, tmp_path / "file", no_word)
    assert "choose another FILE" not in str(told.value)
