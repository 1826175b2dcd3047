"""A batch's driver: rows that were read go in, a summary of each comes out, whatever work is done on them.

A pipeline (`edit_articles`, …) says what a row's workflow is and what came of it; the driver begins them,
so many at once, tells their progress, and comes to an exit code. The runners do the work, and only while
the driver lives; submitting again finishes what is missing and redoes nothing.
"""

import asyncio
import functools
import logging
import math
import signal
import sys
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

import ray
import ray.data
from rich.console import Console

from actors.platform import logs
from actors.platform.runtime import site
from models.config import Config
from models.error_lines import error_line
from models.errors import SignoffError
from models.runtime.workflows import Workflow
from models.store.database import Database
from models.store.runtime import documents
from pipelines.batch import Batch, live_batch
from pipelines.pipeline import BatchOptions, Pipeline, Settled, Write
from pipelines.progress import say, show
from pipelines.rows import Row, Rows
from pipelines.summary import Summary, as_table, write_parquet

R = TypeVar("R", bound=Row)
S = TypeVar("S", bound=Summary)


def command(name: str, work: Callable[[], int]) -> int:
    """Do the work of `python -m pipelines.NAME`: its exit code, or 1 with a line that says what is wrong."""
    try:
        return work()
    except SignoffError as error:
        say(f"{name}: {error}", trouble=True)
    except Exception as error:  # noqa: BLE001  # whatever it was, people read one line of it
        say(f"{name}: {error_line(error)}", trouble=True)
    return 1


def join_site() -> site.Site:
    """Join the cluster that the job was submitted to; the site that was brought up there.

    Raises:
        ClusterProblem: nothing was.
    """
    ray.init(log_to_driver=False, logging_level=logging.WARNING)
    # Ray Data's own progress, per block and operator, says nothing about rows.
    ray.data.DataContext.get_current().enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.WARNING)
    found = site.find()
    # Of a site that another release has brought up, `load_for` says so.
    logs.begin(found.settings.get("monitoring", {}).get("logs", "auto"), process="batch")
    return found


def patient_database(config: Config, url: str) -> Database:
    """As the runners': however long Postgres is away, what is under way waits for it."""
    return Database(url=url, pool_size=config.database.pool_size, patience_seconds=math.inf)


async def drive(
    pipeline: Pipeline[R, S],
    rows: Rows[R],
    *,
    database: Database,
    options: BatchOptions,
    lease_seconds: float,
    folder: Path,
    write: Write = write_parquet,
) -> int:
    """Run all rows, at most `at_once` together, and report; the exit code.

    Args:
        folder: where the summary goes, as `BATCH.parquet`.
        write: writes it.
    """
    noun = pipeline.layout.noun
    heads = rows.heads()
    async with live_batch(
        database=database,
        requested_by=options.submitter,
        noun=noun,
        lease_seconds=lease_seconds,
        force=options.force,
        progress=functools.partial(show, steps=pipeline.steps),
    ) as batch:
        say(f"batch {batch.id}: {len(heads)} {noun}s")
        carrying = _Carrying(pipeline, batch=batch, database=database, at_once=options.at_once)
        stopped = await until_stopped(carrying.carry(rows))
    summaries = carrying.summaries(heads)
    fine = await _report(pipeline, summaries, folder / f"{batch.id}.parquet", write)
    if stopped:
        say(f"stopped: {noun}s under way stop after their present step; submit again to continue")
        return 1
    fine = await pipeline.afterwards() and fine
    return 0 if fine and all(pipeline.passes(summary) for summary in summaries) else 1


class _Carrying(Generic[R, S]):
    """Carries each row of a batch to its end, and keeps what came of it."""

    def __init__(self, pipeline: Pipeline[R, S], *, batch: Batch, database: Database, at_once: int) -> None:
        self._pipeline = pipeline
        self._noun = pipeline.layout.noun
        self._batch = batch
        self._database = database
        self._room = asyncio.Semaphore(at_once)
        self._ended: dict[str, S] = {}

    async def carry(self, rows: Rows[R]) -> None:
        """All rows, to their ends."""
        async with asyncio.TaskGroup() as group:
            async for row in rows.stream():
                await self._room.acquire()
                group.create_task(self._one(row))

    def summaries(self, heads: Sequence[R]) -> list[S]:
        """Of all rows, by name; those that did not begin were stopped."""
        for head in heads:
            if head.path not in self._ended:
                self._ended[head.path] = self._stopped(head, "began")
        return sorted(self._ended.values(), key=lambda summary: summary.name)

    async def _one(self, row: R) -> None:
        try:
            self._ended[row.path] = await self._to_its_end(row)
        except asyncio.CancelledError:
            self._ended[row.path] = self._stopped(row, "ended")
            raise
        except Exception as error:  # noqa: BLE001  # one row's trouble ends no other
            # What its workflow has done is kept.
            why = f"the batch can't finish it: {error_line(error)}"
            say(f"{row.name}: {why}")
            self._ended[row.path] = self._pipeline.unfinished(row, "error", why)
        finally:
            self._room.release()

    async def _to_its_end(self, row: R) -> S:
        """Worked on, finished before, or refused with its reason."""
        if (reason := self._pipeline.refusal(row)) is not None:
            summary = await self._pipeline.refuse(row, reason)
            say(f"{row.name}: refused: {summary.error}")
            return summary
        workflow, how = await self._batch.start(self._pipeline.request(row))
        say(f"{row.name}: {how}")
        skipped = how == "finished before"
        if not skipped:
            workflow = await self._batch.wait(workflow, name=row.name)
        return await self._pipeline.summarise(row, await self._settled(workflow, skipped=skipped))

    async def _settled(self, workflow: Workflow, *, skipped: bool) -> Settled:
        kept = await self._database.steadily(lambda: documents.get_all(self._database, workflow.id))
        tokens = await self._database.steadily(lambda: documents.tokens(self._database, [workflow.id]))
        return Settled(workflow=workflow, skipped=skipped, documents=kept, tokens=tokens.get(workflow.id, 0))

    def _stopped(self, row: R, before_it: Literal["began", "ended"]) -> S:
        why = f"the batch was stopped before this {self._noun} {before_it}"
        return self._pipeline.unfinished(row, "stopped", why)


async def _report(pipeline: Pipeline[R, S], summaries: Sequence[S], path: Path, write: Write) -> bool:
    """Print what the rows came to, and write it to a file. Whether that could be written."""
    width = None if sys.stdout.isatty() else 160
    Console(width=width).print(as_table(summaries, pipeline.layout))
    for summary in summaries:
        for line in pipeline.lines(summary):
            say(line)
    try:
        await asyncio.to_thread(write, summaries, path, pipeline.layout.schema)
    except OSError as error:
        say(f"summary: {path} can't be written: {error_line(error)}")
        return False
    say(f"summary: {path}")
    return True


async def until_stopped(work: Coroutine[Any, Any, object]) -> bool:
    """Await `work`; SIGTERM (which `ray job stop` sends) and SIGINT cancel it. Whether that happened."""
    task = asyncio.ensure_future(work)
    stopped = False

    def stop() -> None:
        nonlocal stopped
        stopped = True
        task.cancel()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    try:
        await task
    except asyncio.CancelledError:
        if not stopped:
            raise
    finally:
        # What comes after may wait for Postgres, and can be ended as any process.
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)
    return stopped
