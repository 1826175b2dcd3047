"""One runner in a process of its own, for the engine benchmark: what `signoff up` starts, less the Ray actor.

It claims and runs empty workflows until its standard input closes. Empty steps call no agent.
"""

import asyncio
import sys
from pathlib import Path
from typing import Annotated

import typer

from actors.runtime.directory import Directory
from actors.runtime.runner import Runner
from benchmarks.kinds import EMPTY_KINDS
from models.config import Config, load
from models.store.database import Database


def main(
    config: Annotated[Path, typer.Option()],
    url: Annotated[str, typer.Option()],
    name: Annotated[str, typer.Option()],
) -> None:
    """Run a runner until standard input closes."""
    asyncio.run(_run(load(config, root=config.parent), url, name))


async def _run(config: Config, url: str, name: str) -> None:
    async with Database(url=url, pool_size=config.database.pool_size) as database:
        directory = Directory(config=config, roles="actors.roles:ROLES")
        runner = Runner(name=name, config=config, database=database, directory=directory, kinds=EMPTY_KINDS)
        running = asyncio.create_task(runner.run())
        closed = asyncio.create_task(asyncio.to_thread(sys.stdin.read))
        await asyncio.wait({running, closed}, return_when=asyncio.FIRST_COMPLETED)
        runner.stop()
        await running


if __name__ == "__main__":
    typer.run(main)
