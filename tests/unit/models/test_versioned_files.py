"""Files of a version: who comes late with another one puts nothing over it, and nothing is left of his."""

import signal
import subprocess
import sys
from itertools import permutations
from pathlib import Path

import pytest

from models import files
from models.versioned_files import VersionedFiles

_KILLED = """
import os, signal, sys
from pathlib import Path
from models.versioned_files import VersionedFiles
drafts = VersionedFiles({Path(sys.argv[1]): "half"}, version=sys.argv[2])
os.kill(os.getpid(), signal.SIGKILL)
"""


def all_under(folder: Path) -> dict[str, str]:
    """The texts of all files, by their names; an empty folder that is left is an error."""
    assert all(path.is_file() or any(path.iterdir()) for path in folder.rglob("*"))
    return {path.name: path.read_text() for path in folder.rglob("*") if path.is_file()}


def written(paths: dict[Path, str], version: str) -> None:
    """Write them, and nobody else does."""
    drafts = VersionedFiles(paths, version=version)
    assert drafts.keep()
    drafts.drop()


def test_they_are_there_whole_and_nothing_beside_them(tmp_path: Path) -> None:
    paths = {tmp_path / "a/b/c.json": "one é", tmp_path / "d": "two"}
    drafts = VersionedFiles(paths, version="1")
    assert not any(path.exists() for path in paths)
    assert drafts.keep()
    drafts.drop()
    assert all_under(tmp_path) == {"c.json": "one é", "d": "two"}


@pytest.mark.parametrize("drafted", permutations(["old", "new"]))
def test_who_has_drafted_before_another_version_was_written_writes_nothing(
    tmp_path: Path, drafted: tuple[str, ...]
) -> None:
    path = tmp_path / "a"
    drafts = {version: VersionedFiles({path: version}, version=version) for version in drafted}
    assert drafts["new"].keep()
    drafts["new"].drop()
    assert not drafts["old"].keep()
    drafts["old"].drop()
    assert all_under(tmp_path) == {"a": "new"}


def test_of_several_files_none_is_put_over_what_is_newer(tmp_path: Path) -> None:
    """The newer has one of its own, and one less."""
    old = VersionedFiles({tmp_path / name: "old" for name in "abc"}, version="old")
    written({tmp_path / "b": "new", tmp_path / "d": "new"}, "new")
    assert not old.keep()
    old.drop()
    assert all_under(tmp_path) == {"a": "old", "b": "new", "d": "new"}


def test_two_who_write_the_same_version_do_not_hinder_each_other(tmp_path: Path) -> None:
    two = [VersionedFiles({tmp_path / "a": "same"}, version="1") for _ in range(2)]
    for drafts in two:
        assert drafts.keep()
        drafts.drop()
    assert all_under(tmp_path) == {"a": "same"}


@pytest.mark.parametrize("version", ["1", "2"])
def test_what_a_killed_writer_drafted_is_taken_away_by_the_next(tmp_path: Path, version: str) -> None:
    path = tmp_path / "a"
    ended = subprocess.run([sys.executable, "-c", _KILLED, str(path), "1"], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert list(all_under(tmp_path).values()) == [""], "it was killed before it had written"
    files._sweep.cache_clear()
    written({path: "whole"}, version)
    assert all_under(tmp_path) == {"a": "whole"}


def test_where_one_can_t_be_drafted_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(OSError, match="file") as failed:
        VersionedFiles({tmp_path / "a": "1", tmp_path / "file/b": "2"}, version="1")
    assert str(failed.value.filename).startswith(str(tmp_path / "file"))
    assert all_under(tmp_path) == {"file": "x"}


def test_a_folder_that_goes_away_while_it_is_drafted_there_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep, gone = files._sweep, 0

    def swept(folder: Path) -> None:
        nonlocal gone
        gone += 1
        if gone <= 2:
            folder.rmdir()
        return sweep(folder)

    monkeypatch.setattr(files, "_sweep", swept)
    written({tmp_path / "a": "1"}, "1")
    assert all_under(tmp_path) == {"a": "1"}
