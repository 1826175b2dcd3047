"""A backup or a restore that is told to end leaves nothing behind, and one that was killed nothing for long;
a restore that can't clear away what was there before says that all is restored.
"""

import asyncio
import fcntl
import os
import pickle
import shutil
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from cluster.postgres import server as embedded
from cluster.postgres.backup import back_up
from cluster.postgres.restore import restore
from models.config import Config
from models.errors import ClusterProblem
from models.store.upkeep import inventory
from tests.integration.cluster.backup_sites import Sites, as_it_was, connect, fill, no_word, second

COMMAND = """
import os, pickle, signal, sys
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup it is ignored, and heard by nobody
os.umask(0o077)
from pathlib import Path
from cluster.cli.commands import site
config = pickle.loads(Path(sys.argv[1]).read_bytes())
site.site_config = lambda path: config
if sys.argv[2] == "backup":
    site.backup(Path(sys.argv[3]))
else:
    site.restore(Path(sys.argv[3]), replace=True)
"""


@asynccontextmanager
async def at_work(config: Config, verb: str, file: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """The command in a process of its own."""
    pickled = file.with_name("config")
    pickled.write_bytes(pickle.dumps(config))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", COMMAND, str(pickled), verb, str(file)
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def waits(config: Config, program: str, *, there: bool = True) -> None:
    """Until a session of the program waits for a lock, or none is there any more."""
    async with await connect(config) as connection:
        while True:
            query = "SELECT wait_event_type FROM pg_stat_activity WHERE application_name = %s"
            found = [
                row["wait_event_type"]
                for row in await (await connection.execute(query, [program])).fetchall()
            ]
            if found == ["Lock"] if there else not found:
                return
            await asyncio.sleep(0.05)


def hidden(folder: Path) -> list[str]:
    """What begins with a dot there and is no lock."""
    names = [path.name for path in folder.iterdir() if path.name.startswith(".")]
    return sorted(name for name in names if not name.endswith(".lock"))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
async def test_a_backup_that_is_told_to_end_leaves_neither_files_nor_a_dump_at_work(
    number: signal.Signals,
    sites: Sites,
    tmp_path: Path,
) -> None:
    one, _ = sites
    await fill(one)
    async with await connect(one) as holder, at_work(one, "backup", tmp_path / "file") as process:
        await holder.execute("BEGIN")
        await holder.execute("LOCK TABLE events IN ACCESS EXCLUSIVE MODE")
        await waits(one, "pg_dump")
        process.send_signal(number)
        assert await asyncio.wait_for(process.wait(), 60) == 128 + number
        assert hidden(tmp_path) == []
        await waits(one, "pg_dump", there=False)
    assert not (tmp_path / "file").exists()


async def test_a_restore_that_is_told_to_end_is_undone(
    sites: Sites,
    tmp_path: Path,
) -> None:
    one, two = sites
    await fill(one)
    await second(two)
    back_up(one, tmp_path / "file", no_word)
    async with await connect(two) as holder, at_work(two, "restore", tmp_path / "file") as process:
        await holder.execute("BEGIN")
        # Keeps tables from being made, and nothing else that a restore does.
        await holder.execute("LOCK TABLE pg_class IN SHARE MODE")
        await waits(two, "pg_restore")
        process.terminate()
        process.terminate()
        assert await asyncio.wait_for(process.wait(), 60) == 128 + signal.SIGTERM
        await waits(two, "pg_restore", there=False)
    await as_it_was(two)
    assert hidden(two.data_dir) == []


async def test_what_a_killed_one_left_is_cleared_by_the_next(
    sites: Sites,
    tmp_path: Path,
) -> None:
    one, two = sites
    await fill(one)
    other = tmp_path / ".file.4711.json"
    for name in (".file.4711", ".file.4711.dump", other.name):
        (tmp_path / name).write_text("half")
    with (tmp_path / ".file.4712").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        back_up(one, tmp_path / "file", no_word)
        assert hidden(tmp_path) == [".file.4711.json", ".file.4712"]
    (two.data_dir / ".memory.4711/deep").mkdir(parents=True)
    (two.data_dir / ".articles.4711").mkdir()
    (two.data_dir / ".restore-x").mkdir()
    (two.data_dir / ".restore-x/database.dump").write_text("half")
    restore(two, tmp_path / "file", no_word, replace=True)
    assert hidden(two.data_dir) == []


async def test_a_restore_that_can_t_clear_away_what_was_there_says_that_it_is_done(
    sites: Sites,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, two = sites
    await fill(one)
    await second(two)
    back_up(one, tmp_path / "file", no_word)
    monkeypatch.setattr(inventory, "_LOCK_TIMEOUT", "200ms", raising=False)
    remove: Any = shutil.rmtree

    def refused(path: Path | str, **options: Any) -> None:
        if Path(path).name == ".articles.before":
            raise PermissionError(13, "Permission denied", str(path))
        remove(path, **options)

    monkeypatch.setattr(shutil, "rmtree", refused)
    url = embedded.url(two.data_dir)
    assert url is not None
    with (
        psycopg.connect(url, application_name="a forgotten shell") as holder,
        psycopg.connect(url, autocommit=True) as reader,
    ):
        holder.execute("LOCK TABLE events IN ACCESS SHARE MODE")
        with pytest.raises(ClusterProblem, match=r"^restored, but what was there before could") as told:
            restore(two, tmp_path / "file", no_word, replace=True)
        [schema] = inventory.left_aside(reader)
    assert f"lock timeout): remove it with `DROP SCHEMA {schema} CASCADE` in psql" in str(told.value)
    assert f"{two.data_dir}/.articles.before (" in str(told.value)
    assert "refused" not in str(told.value)
    async with await connect(two) as connection:
        row = await (
            await connection.execute("SELECT count(*) AS n FROM events WHERE type = 'told'")
        ).fetchone()
        assert row == {"n": 5}
    assert (two.data_dir / "articles/deep/a file.json").is_file()
    assert os.listdir(two.data_dir / ".articles.before") == ["own.json"]
