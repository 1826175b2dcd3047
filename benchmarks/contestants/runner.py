"""Runners in processes of their own: what `signoff up` starts, less the Ray actor, so nobody restarts them.

    python -m benchmarks.contestants.runner --config FILE --url URL --name NAME

claims and runs the workflows of `benchmarks.contestants.kinds` until its standard input closes. Their steps
call no agent. `plain_runners` starts some and waits until they have their leases.
"""

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated

import psycopg
import typer
import uvloop

from actors.platform.runtime.directory import Directory
from actors.platform.runtime.runner import Runner
from actors.platform.systems import load
from benchmarks.contestants.kinds import KINDS
from benchmarks.harness.bench import ROOT
from models.config import Config
from models.store.database import Database

_START_SECONDS = 60


@contextmanager
def plain_runners(count: int, *, config: Path, url: str) -> Iterator[dict[str, int]]:
    """So many runners for as long as the block: process id by runner id."""
    with ExitStack() as stack, psycopg.connect(url, autocommit=True) as connection:
        for number in range(count):
            stack.enter_context(_process(config, url, f"runner:{number}"))
        deadline = time.monotonic() + _START_SECONDS
        while len(found := connection.execute("SELECT id, pid FROM runners").fetchall()) < count:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{count} runners did not start within {_START_SECONDS} s")
            time.sleep(0.05)
        yield dict(found)


@contextmanager
def _process(config: Path, url: str, name: str) -> Iterator[None]:
    command = [sys.executable, "-m", "benchmarks.contestants.runner", "--config", str(config), "--url", url]
    process = subprocess.Popen([*command, "--name", name], cwd=ROOT, stdin=subprocess.PIPE)
    try:
        yield
    finally:
        assert process.stdin is not None
        process.stdin.close()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def main(
    config: Annotated[Path, typer.Option()],
    url: Annotated[str, typer.Option()],
    name: Annotated[str, typer.Option()],
) -> None:
    """Run a runner until standard input closes."""
    # Ray runs its async actors on uvloop.
    uvloop.run(_run(load(config, root=config.parent), url, name))


async def _run(config: Config, url: str, name: str) -> None:
    async with Database(url=url, pool_size=config.database.pool_size) as database:
        directory = Directory(config=config, roles="actors.platform.systems:roles")
        runner = Runner(name=name, config=config, database=database, directory=directory, kinds=KINDS)
        running = asyncio.create_task(runner.run())
        closed = asyncio.create_task(asyncio.to_thread(sys.stdin.read))
        await asyncio.wait({running, closed}, return_when=asyncio.FIRST_COMPLETED)
        runner.stop()
        await running


if __name__ == "__main__":
    typer.run(main)
