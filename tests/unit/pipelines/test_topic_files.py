"""Finding topic files: whatever a file is called, it is read or refused, and never the end of the batch."""

import errno
import io
import os
from pathlib import Path
from typing import Any

import pyarrow.fs
import pytest

from models.errors import PathNotVisible
from pipelines.rows import _content, _row, read_files
from pipelines.topic_files import find_topic_files
from pipelines.topics import TopicRow, unreadable_topic


def named(folder: Path, name: bytes) -> None:
    """Make a file of this name."""
    path = os.fsencode(folder) + b"/" + name
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "xb") as file:
        file.write(b"{}")


def test_topic_files_are_found_by_path_below_any_root_and_by_uri(tmp_path: Path) -> None:
    (tmp_path / "in/deep").mkdir(parents=True)
    for name in ("in/b.json", "in/deep/a.json", "in/.hidden.json", "in/notes.txt", "in/z.JSON"):
        (tmp_path / name).write_text("{}")
    wanted = [str(tmp_path / "in/b.json"), str(tmp_path / "in/deep/a.json"), str(tmp_path / "in/z.JSON")]
    other = tmp_path / "elsewhere"
    for topics, roots in (
        ("in", [other, tmp_path]),
        (str(tmp_path / "in"), [other]),
        ("file://" + str(tmp_path / "in"), []),
    ):
        filesystem, paths, refused = find_topic_files(topics, roots=roots)
        assert isinstance(filesystem, pyarrow.fs.LocalFileSystem)
        assert (paths, refused) == (wanted, [])
    assert find_topic_files("in/b.json", roots=[tmp_path])[1] == wanted[:1]


@pytest.mark.parametrize(
    ("topics", "reason"),
    [
        ("nowhere", "nothing is there"),
        ("empty", "no .json file"),
        ("file:///nowhere/at/all", "can't be read"),
    ],
)
def test_a_path_without_topics_is_an_error(tmp_path: Path, topics: str, reason: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(PathNotVisible, match=reason):
        find_topic_files(topics, roots=[tmp_path])


def test_a_file_whose_name_is_not_utf_8_is_refused_and_stops_no_other(tmp_path: Path) -> None:
    for name in (b"good.json", b"b\xff.json", b"b\xfe.json", b"sub\xff/a.json", b"c\xff.txt"):
        named(tmp_path, name)
    _, paths, refused = find_topic_files(str(tmp_path), roots=[tmp_path])
    assert paths == [str(tmp_path / "good.json")]
    shown = [f"{tmp_path}/b\ufffd.json", f"{tmp_path}/b\ufffd.json", f"{tmp_path}/sub\ufffd/a.json"]
    assert [row.error for row in refused] == [
        f"{path}: its name, or a folder's on its path, is not UTF-8: rename it" for path in shown
    ]
    assert len({row.path for row in refused}) == 3, "a batch knows its rows by their paths"
    assert all(row.name.startswith(("b\ufffd.json (", "a.json (")) for row in refused)
    for row in refused:
        row.model_dump_json().encode()


@pytest.mark.parametrize("name", ["a\nb.json", "a\tb.json", "a%20b.json", "ż ó.json", "*[a].json"])
async def test_a_file_of_any_other_name_is_read(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("{}")
    filesystem, [path], refused = find_topic_files(str(tmp_path), roots=[tmp_path])
    assert (path, refused) == (str(tmp_path / name), [])
    assert _content(filesystem, path) == b"{}"


class Away:
    """A storage that fails some times, and then reads."""

    def __init__(self, kind: str, *errors: OSError) -> None:
        self.type_name = kind
        self._errors = list(errors)

    def open_input_stream(self, path: str) -> io.BytesIO:
        """What is there, or the next fault."""
        if self._errors:
            raise self._errors.pop(0)
        return io.BytesIO(b"{}")


SLOW = OSError("AWS Error SLOW_DOWN during GetObject")
STALE = OSError(errno.ESTALE, "Stale file handle")
SECTOR = OSError(errno.EIO, "Input/output error")


@pytest.mark.parametrize(
    ("storage", "comes"),
    [
        (Away("s3", *[SLOW] * 5), "{}"),
        (Away("s3", *[SLOW] * 6), "the batch ends"),
        (Away("local", *[STALE] * 5), "{}"),
        (Away("local", *[STALE] * 6), "the batch ends"),
        (Away("local", SECTOR), "{}"),
        (Away("local", *[SECTOR] * 2), "can't be read"),
        (Away("s3", FileNotFoundError()), "can't be read"),
        (Away("local", PermissionError()), "can't be read"),
    ],
)
def test_a_storage_that_is_away_is_no_fault_of_the_file(
    storage: Any, comes: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipelines.rows.time.sleep", lambda seconds: None)

    def check(path: str, content: bytes) -> TopicRow:
        return TopicRow(path=path, topic=None, error=content.decode(), channel=None, slug=None)

    try:
        row = _row({"path": "p"}, filesystem=storage, check=check, unreadable=unreadable_topic)
        told = TopicRow.model_validate_json(row["row"]).error or ""
    except OSError:
        told = "the batch ends"
    assert comes in told


async def test_rows_that_are_refused_need_no_reading() -> None:
    row = TopicRow(path="p", topic=None, error="rename it", channel=None, slug=None)
    rows = read_files(
        [],
        filesystem=pyarrow.fs.LocalFileSystem(),
        check=lambda path, content: row,
        unreadable=lambda path, error: row,
        parse=TopicRow.model_validate_json,
        refused=[row],
        noun="topic",
    )
    assert rows.heads() == [row.head()]
    assert [each async for each in rows.stream()] == [row]


def test_links_are_followed_to_each_folder_once(tmp_path: Path) -> None:
    for name in (b"in/sub/a.json", b"elsewhere/b.json"):
        named(tmp_path, name)
    for link, to in (("again", "sub"), ("out", "../elsewhere"), ("self", "self"), ("gone.json", "x")):
        (tmp_path / "in" / link).symlink_to(to)
    for link in ("up", "round"):
        (tmp_path / "in/sub" / link).symlink_to("..")
    os.mkfifo(tmp_path / "in/pipe.json")
    _, paths, _ = find_topic_files("in", roots=[tmp_path])
    assert paths == [str(tmp_path / "in/out/b.json"), str(tmp_path / "in/sub/a.json")]


class Elsewhere:
    """A filesystem that is not local, as pyarrow opens it: it gives up at a name that is not UTF-8."""

    type_name = "s3"

    @classmethod
    def from_uri(cls, uri: str) -> tuple["Elsewhere", str]:
        """It, and the folder."""
        return cls(), uri.removeprefix("s3://")

    def get_file_info(self, _: object) -> list[object]:
        """Never."""
        b"bucket/b\xff.json".decode()
        return []


def test_another_filesystem_that_gives_up_names_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pyarrow.fs, "FileSystem", Elsewhere)
    with pytest.raises(PathNotVisible, match=r"the name of bucket/b\ufffd[.]json is not UTF-8: rename it"):
        find_topic_files("s3://bucket", roots=[])
