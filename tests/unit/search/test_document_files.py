"""Which files of the knowledge base are read again: those that changed, or may have."""

import os
import shutil
from pathlib import Path

import pytest

from actors.platform.search import document_files
from actors.platform.search.document_files import DocumentFiles
from models.errors import KnowledgeBaseInvalid

LONG_AGO = 1_700_000_000


def write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were read, in order; files count as settled at once."""
    names: list[str] = []
    read = document_files._read

    def counted(path: Path, data_dir: Path) -> document_files.Document:
        names.append(path.name)
        return read(path, data_dir)

    monkeypatch.setattr(document_files, "_read", counted)
    monkeypatch.setattr(document_files, "_SETTLED_SECONDS", -1.0)
    return names


def test_only_what_changed_is_read_again(tmp_path: Path, reads: list[str]) -> None:
    for name in ("a.txt", "b.md", "deep/c.txt"):
        write(tmp_path / name, name)
    files = DocumentFiles(tmp_path)
    first = files.look()
    assert sorted(reads) == ["a.txt", "b.md", "c.txt"]
    reads.clear()
    assert files.look() == first
    assert reads == []
    write(tmp_path / "b.md", "longer than before")
    write(tmp_path / "d.txt", "new")
    (tmp_path / "a.txt").unlink()
    then = files.look()
    assert sorted(reads) == ["b.md", "d.txt"]
    assert [file.name for file in then] == ["b.md", "d.txt", "deep/c.txt"]
    assert then[0].digest != first[1].digest
    assert [file.digest for file in then] == [document.digest for document in files.read()]


@pytest.mark.parametrize("how", ["same size", "same size and time", "another file in its place"])
def test_a_change_is_seen_however_it_was_made(tmp_path: Path, reads: list[str], how: str) -> None:
    path = tmp_path / "a.txt"
    write(path, "one")
    os.utime(path, (LONG_AGO, LONG_AGO))
    files = DocumentFiles(tmp_path)
    before = files.look()
    if how == "another file in its place":
        write(tmp_path / "draft", "two")
        shutil.move(tmp_path / "draft", path)
    else:
        write(path, "two")
    if how != "same size":
        os.utime(path, (LONG_AGO, LONG_AGO))
    assert files.look() != before
    assert len(reads) == 2


def test_what_was_changed_a_moment_ago_is_read_again(tmp_path: Path, reads: list[str]) -> None:
    document_files._SETTLED_SECONDS = 1000.0  # the fixture puts it back
    write(tmp_path / "a.txt", "one")
    files = DocumentFiles(tmp_path)
    files.look()
    files.look()
    assert reads == ["a.txt", "a.txt"]


def test_a_file_that_can_no_longer_be_read_is_named(tmp_path: Path, reads: list[str]) -> None:
    write(tmp_path / "a.txt", "one")
    files = DocumentFiles(tmp_path)
    files.look()
    (tmp_path / "a.txt").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(KnowledgeBaseInvalid, match=r"a\.txt is not UTF-8"):
        files.look()
