"""The files of a backup: which are taken, which names are unpacked, and what is said when one can't be."""

import hashlib
import io
import os
import resource
import tarfile
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from actors.platform.systems import load
from cluster.postgres.backup import DUMP, MANIFEST, back_up, files_in
from cluster.postgres.restore import _check_members, _drafts, restore
from models.backup import Inventory, Manifest, Member
from models.config import Config
from models.errors import ClusterProblem
from tests.profile import write_yaml


def no_word(_: str) -> None:
    """Say nothing."""


@pytest.fixture
def elsewhere(config_file: Path, tmp_path: Path) -> Config:
    """A site whose database is on a server that nobody runs, and whose folders are in its data folder."""
    raw = yaml.safe_load(config_file.read_text())
    raw["database"]["url"] = "postgresql://127.0.0.1:1/nobody"
    raw["article_generation"]["institutional_memory"]["data_dir"] = str(tmp_path / "data/memory")
    raw["article_generation"]["editor"]["output"]["final_articles_dir"] = str(tmp_path / "data/articles")
    write_yaml(config_file, raw)
    return load(config_file, root=tmp_path)


def write_backup(file: Path, contents: dict[str, bytes], *, kinds: dict[str, bytes] | None = None) -> Path:
    """A backup that holds the contents by name; `kinds` are tar types of those that are no ordinary file."""
    listed = []
    with tarfile.open(file, "w") as tar:
        for name, content in {DUMP: b"", **contents}.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            entry.type = (kinds or {}).get(name, tarfile.REGTYPE)
            tar.addfile(entry, io.BytesIO(content))
            sha256 = hashlib.sha256(content).hexdigest()
            listed.append(Member(name=name, bytes=len(content), sha256=sha256))
        manifest = Manifest(
            format=1,
            made_at=datetime.now(UTC),
            server_version=180004,
            inventory=Inventory(revision="0001", rows={}, sequences={}, newest_event=0),
            members=tuple(listed),
        )
        told = manifest.model_dump_json().encode()
        entry = tarfile.TarInfo(MANIFEST)
        entry.size = len(told)
        tar.addfile(entry, io.BytesIO(told))
    return file


def manifest_of(tar: tarfile.TarFile) -> Manifest:
    file = tar.extractfile(MANIFEST)
    assert file is not None
    return Manifest.model_validate_json(file.read())


class TestNames:
    @pytest.mark.parametrize(
        "name",
        [
            "memory/{outside}",
            "memory//{outside}",
            "memory/./../../x",
            "memory/a/../../../x",
            "articles/./x",
            "articles/x/",
            "articles//x",
            "memory",
            "/memory/x",
            "other/x",
            "memory/a\0b",
        ],
    )
    def test_a_name_that_is_not_its_own_normal_form_is_refused(
        self, name: str, elsewhere: Config, tmp_path: Path
    ) -> None:
        outside = tmp_path / "outside"
        file = write_backup(tmp_path / "file", {name.format(outside=outside): b"x"})
        with pytest.raises(ClusterProblem, match=r"has no place here|is damaged"):
            restore(elsewhere, file, no_word, replace=True)
        assert not outside.exists()

    def test_each_file_comes_where_its_name_says(self, elsewhere: Config, tmp_path: Path) -> None:
        file = write_backup(tmp_path / "file", {"memory/deep/a file": b"a", "articles/ä": b"b"})
        with (
            tarfile.open(file) as tar,
            _drafts(elsewhere, _check_members(tar, manifest_of(tar), file)) as drafts,
        ):
            assert (drafts["memory"] / "deep/a file").read_bytes() == b"a"
            assert (drafts["articles"] / "ä").read_bytes() == b"b"
        assert [path for path in elsewhere.data_dir.iterdir() if path.is_dir()] == []

    @pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE])
    def test_what_is_no_ordinary_file_is_refused(
        self, kind: bytes, elsewhere: Config, tmp_path: Path
    ) -> None:
        file = write_backup(tmp_path / "file", {"memory/x": b""}, kinds={"memory/x": kind})
        with pytest.raises(ClusterProblem, match="memory/x is damaged"):
            restore(elsewhere, file, no_word, replace=True)

    def test_members_are_checked_in_linear_time(self, tmp_path: Path) -> None:
        def seconds(count: int) -> float:
            """The best of five: the others may hold a sweep of all that this process has made so far."""
            file = write_backup(tmp_path / f"{count}", {f"memory/{n}": b"x" for n in range(count)})
            with tarfile.open(file) as tar:
                manifest = manifest_of(tar)
                taken = []
                for _ in range(5):
                    begun = time.process_time()
                    _check_members(tar, manifest, file)
                    taken.append(time.process_time() - begun)
                return min(taken)

        assert seconds(4000) < 8 * seconds(1000) + 0.1


def test_a_disk_that_is_full_is_named_with_what_to_do(elsewhere: Config, tmp_path: Path) -> None:
    """A limit on the size of files does to a write what a full disk does: the error names no file."""
    file = write_backup(tmp_path / "file", {"memory/large": b"x" * 100_000})
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
    try:
        with pytest.raises(ClusterProblem, match=r"/large: File too large: \w+") as told:
            restore(elsewhere, file, no_word, replace=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert str(file) not in str(told.value)


class TestFolders:
    def test_files_are_found_in_order_without_links_and_what_begins_with_a_dot(self, tmp_path: Path) -> None:
        for name in ("b/c", "b/.d", ".e/f", "a"):
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            path.write_text("x")
        (tmp_path / "link").symlink_to("a")
        (tmp_path / "linked").symlink_to("b")
        assert files_in(tmp_path) == [tmp_path / "a", tmp_path / "b/c"]
        assert files_in(tmp_path / "no") == []

    def test_a_folder_that_may_not_be_listed_is_said_not_passed_over(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        closed = tmp_path / "closed"
        closed.mkdir()
        scan: Callable[..., Any] = os.scandir

        def refused(path: Any = ".") -> Any:
            if os.fspath(path) == str(closed):
                raise PermissionError(13, "Permission denied", str(closed))
            return scan(path)

        monkeypatch.setattr(os, "scandir", refused)
        for folder in (tmp_path, closed):
            with pytest.raises(ClusterProblem, match=r"/closed: Permission denied: run as a user"):
                files_in(folder)

    @pytest.mark.parametrize("mode", [0o000, 0o111, 0o444])
    def test_nor_is_one_that_may_not_be_entered(self, mode: int) -> None:
        with tempfile.TemporaryDirectory(prefix="signoff-closed-", dir="/tmp") as place:
            closed = Path(place) / "closed"
            closed.mkdir()
            (closed / "file").write_text("x")
            closed.chmod(mode)
            Path(place).chmod(0o755)
            user = os.geteuid()
            if user == 0:
                os.seteuid(65534)
            try:
                with pytest.raises(ClusterProblem, match="Permission denied: run as a user"):
                    files_in(Path(place))
            finally:
                os.seteuid(user)
                closed.chmod(0o700)

    def test_a_folder_that_goes_while_it_is_read_is_none(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "gone").mkdir()
        (tmp_path / "here").write_text("x")
        scan: Callable[..., Any] = os.scandir

        def removed(path: Any = ".") -> Any:
            if os.fspath(path) == str(tmp_path / "gone"):
                (tmp_path / "gone").rmdir()
            return scan(path)

        monkeypatch.setattr(os, "scandir", removed)
        assert files_in(tmp_path) == [tmp_path / "here"]


class TestTarget:
    @pytest.mark.parametrize("target", [".", "..", "/", "folder", "pipe"])
    def test_what_can_t_be_a_backup_is_refused_at_once(
        self, target: str, elsewhere: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "folder").mkdir()
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(ClusterProblem, match="is no file: "):
            back_up(elsewhere, Path(target), no_word)
