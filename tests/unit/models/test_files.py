"""Files that appear whole or not at all, and what is left of writers that were killed."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet
import pytest

from models import files
from models.files import DraftFile, write_atomically
from pipelines.page_table import PageTable
from pipelines.summary import write_parquet

_KILLED = """
import os, signal, sys
from pathlib import Path
from models.files import DraftFile
DraftFile(Path(sys.argv[1])).file.write(b"half")
os.kill(os.getpid(), signal.SIGKILL)
"""


def kill_a_writer(path: Path) -> None:
    """Leave what a writer leaves that is killed."""
    ended = subprocess.run([sys.executable, "-c", _KILLED, str(path)], check=False)
    assert ended.returncode == -signal.SIGKILL


def test_what_killed_writers_left_is_removed_by_who_writes_there_next(tmp_path: Path) -> None:
    for _ in range(2):
        kill_a_writer(tmp_path / "a.json")
    # The second was the first to write there from its process.
    assert len(list(tmp_path.iterdir())) == 1
    write_atomically(tmp_path / "b.json", "b")
    assert [path.name for path in tmp_path.iterdir()] == ["b.json"]


def test_what_is_being_written_and_what_is_nobody_s_draft_stays(tmp_path: Path) -> None:
    others = {".x.tmp", f"{'a' * 32}.tmp", f".{'g' * 32}.tmp", f".{'a' * 31}.tmp"}
    for name in others:
        (tmp_path / name).write_text("theirs")
    draft = DraftFile(tmp_path / "a")
    draft.file.write(b"a")
    files._sweep.cache_clear()
    write_atomically(tmp_path / "b", "b")
    draft.keep()
    assert {path.name for path in tmp_path.iterdir()} == {*others, "a", "b"}
    assert (tmp_path / "a").read_bytes() == b"a"


def test_a_draft_that_was_swept_before_its_writer_had_locked_it_is_begun_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locks, swept = files._locks, 0

    def slowly(file: BinaryIO) -> bool:
        nonlocal swept
        swept += 1
        if swept <= 2:
            os.unlink(file.name)
        return swept != 1 and locks(file)

    monkeypatch.setattr(files, "_locks", slowly)
    write_atomically(tmp_path / "a", "a")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["a"]
    assert swept == 3


@pytest.mark.parametrize("what", ["summary", "pages"])
def test_tables_are_on_disk_before_they_are_in_their_place(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, done = tmp_path / "folder" / "table.parquet", []
    fsync, replace = os.fsync, os.replace

    def syncs(descriptor: int) -> None:
        done.append("folder" if os.path.isdir(f"/proc/self/fd/{descriptor}") else "file")
        fsync(descriptor)

    def replaces(*names: Path) -> None:
        done.append("in place")
        replace(*names)

    monkeypatch.setattr(os, "fsync", syncs)
    monkeypatch.setattr(os, "replace", replaces)
    if what == "summary":
        write_parquet([], path, pa.schema([("a", pa.int64())]))
    else:
        with PageTable(pyarrow.fs.LocalFileSystem(), str(path)):
            pass
    assert done == ["file", "in place", "folder"]
    assert pyarrow.parquet.read_table(path).num_rows == 0
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_draft_that_may_not_be_opened_keeps_nobody_from_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = tmp_path / f".{'a' * 32}.tmp"
    theirs.mkdir()  # root may open anything but a folder
    write_atomically(tmp_path / "b.json", "b")
    assert (tmp_path / "b.json").read_text() == "b"
    assert theirs.exists()


def test_a_file_system_without_locks_takes_files_and_loses_no_drafts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(files.fcntl, "flock", no_locks)
    draft = tmp_path / f".{'a' * 32}.tmp"
    draft.write_bytes(b"half")
    write_atomically(tmp_path / "b.json", "b")
    assert (tmp_path / "b.json").read_text() == "b"
    assert draft.exists()
