"""The driver with a pipeline that is not editorial: what it begins, tells, leaves and comes to."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from models.config import Config
from models.store.database import Database
from pipelines.driver import drive
from pipelines.pipeline import BatchOptions
from pipelines.summary import Summary, write_parquet
from tests.fakes.barrier import Barrier
from tests.fakes.rows import ListedRows
from tests.integration.pipelines.mill import Mill, Sack
from tests.integration.workflows import running


@pytest.fixture
def barrier() -> Iterator[Barrier]:
    """Where the steps arrive."""
    with Barrier() as barrier:
        yield barrier


@pytest.fixture(autouse=True)
async def runner(database: Database, configure: Callable[..., Config]) -> AsyncIterator[None]:
    """One that runs the steps."""
    async with running(database, configure()):
        yield
        # It has heard of the batch's end: a runner that is stopped in that very moment may miss it.
        for _ in range(2):
            await renewed(database)


async def renewed(database: Database) -> None:
    """Wait until the runner has renewed its lease."""

    async def lease() -> Any:
        async with database.connection() as connection:
            row = await (await connection.execute("SELECT lease_until FROM runners")).fetchone()
            return row and row["lease_until"]

    before = await lease()
    async with asyncio.timeout(20):
        while True:
            if await lease() != before:
                return
            await asyncio.sleep(0.02)


def sacks(**grain: str | None) -> list[Sack]:
    """By name, what is in them."""
    return [Sack(path=f"loft/{name}", grain=what) for name, what in grain.items()]


async def grind(
    mill: Mill,
    rows: Sequence[Sack],
    database: Database,
    folder: Path,
    *,
    at_once: int = 4,
    force: bool = False,
    write: Any = write_parquet,
) -> int:
    """Drive a batch to its end: the exit code."""
    async with asyncio.timeout(60):
        return await drive(
            mill,
            ListedRows(rows),
            database=database,
            options=BatchOptions(submitter="ann", force=force, at_once=at_once),
            lease_seconds=60,
            folder=folder,
            write=write,
        )


def written(folder: Path) -> list[dict[str, Any]]:
    """The rows of the one summary in the folder, which is taken away."""
    [file] = folder.iterdir()
    rows: list[dict[str, Any]] = pyarrow.parquet.read_table(file).to_pylist()
    file.unlink()
    return rows


async def test_each_row_becomes_a_workflow_and_a_second_run_redoes_nothing(
    database: Database, barrier: Barrier, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mill, folder = Mill(barrier), tmp_path / "summaries"
    rows = sacks(b="rye", a="oats", c=None)
    assert await grind(mill, rows, database, folder) == 1
    told = capsys.readouterr().out.splitlines()
    assert told[0].endswith(": 3 sacks")
    assert {"a: new", "a: weighed", "b: weighed", "b: two"} <= set(told)
    assert "c: refused: loft/c: there is nothing in it" in told
    assert told[-4:-1] == ["a: ground", "b: ground", "c: error"]
    assert any("3 sacks: 2 ground, 1 error" in line for line in told)
    outcomes = [(row["name"], row["status"], row["skipped"], row["steps"]) for row in written(folder)]
    assert outcomes == [
        ("a", "ground", False, 4),
        ("b", "ground", False, 4),
        ("c", "error", False, 0),
    ]
    async with database.connection() as connection:
        cursor = await connection.execute("SELECT kind, key, requested_by FROM workflows ORDER BY key")
        begun = [tuple(row.values()) for row in await cursor.fetchall()]
    assert begun == [("steps", "mill:a", "ann"), ("steps", "mill:b", "ann")]

    arrived = len(barrier.arrivals)
    assert await grind(mill, rows[:2], database, folder) == 0
    assert [row["skipped"] for row in written(folder)] == [True, True]
    assert {"a: finished before", "b: finished before"} <= set(capsys.readouterr().out.splitlines())
    assert len(barrier.arrivals) == arrived == 8
    assert await grind(mill, rows[:1], database, folder, force=True) == 0
    assert len(barrier.arrivals) == 12
    assert mill.ends == 3


@pytest.mark.parametrize("at_once", [1, 2])
async def test_no_more_are_under_way_than_there_is_room_for(
    database: Database, barrier: Barrier, tmp_path: Path, at_once: int
) -> None:
    mill = Mill(barrier)
    rows = sacks(a="rye", b="oats", c="wheat", d="spelt")
    assert await grind(mill, rows, database, tmp_path / "summaries", at_once=at_once) == 0
    assert mill.most_at_once == at_once


async def test_one_row_s_trouble_ends_no_other(
    database: Database, barrier: Barrier, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "summaries"
    code = await grind(Mill(barrier), sacks(a="chaff", b="rye"), database, folder, at_once=1)
    assert code == 1
    told = "the batch can't finish it: ValueError: chaff can't be ground"
    assert [row["error"] for row in written(folder)] == [told, None]
    assert f"a: {told}" in capsys.readouterr().out


async def test_a_stopped_batch_says_so_and_is_continued(
    database: Database, barrier: Barrier, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mill, folder, rows = Mill(barrier), tmp_path / "summaries", sacks(a="rye", b="oats")
    barrier.hold("two")
    driving = asyncio.create_task(grind(mill, rows, database, folder, at_once=1))
    await asyncio.to_thread(barrier.until, lambda: any(a.step == "two" for a in barrier.arrivals))
    os.kill(os.getpid(), signal.SIGTERM)
    assert await driving == 1
    told = capsys.readouterr().out.splitlines()
    assert told[-1] == "stopped: sacks under way stop after their present step; submit again to continue"
    assert [(row["status"], row["error"]) for row in written(folder)] == [
        ("stopped", "the batch was stopped before this sack ended"),
        ("stopped", "the batch was stopped before this sack began"),
    ]
    assert mill.ends == 0, "nothing is done afterwards"

    barrier.release()
    assert await grind(mill, rows, database, folder) == 0
    assert {"a: continued", "b: new"} <= set(capsys.readouterr().out.splitlines())
    steps = [arrival.step for arrival in barrier.arrivals]
    assert steps.count("one") == 2, "what was kept is not done again"


async def test_a_summary_that_can_t_be_written_is_told_by_the_exit_code_and_hinders_nothing(
    database: Database, barrier: Barrier, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(rows: Sequence[Summary], path: Path, schema: pa.Schema) -> None:
        raise OSError("no space left")

    mill = Mill(barrier)
    assert await grind(mill, sacks(a="rye"), database, tmp_path, write=full) == 1
    assert "can't be written: OSError: no space left" in capsys.readouterr().out
    assert mill.ends == 1


async def test_what_is_done_afterwards_counts_for_the_exit_code(
    database: Database, barrier: Barrier, tmp_path: Path
) -> None:
    mill = Mill(barrier, ends_well=False)
    assert await grind(mill, sacks(a="rye"), database, tmp_path) == 1
