r"""The engine benchmark's peers, each measured in a process of its own.

    python -m benchmarks.contestants.engine_peers PEER --url URL --postmaster PID --concurrency N \
        --warmup N --workflows N

Runs the workflows through a semaphore of that size after a warm-up of the same kind, and prints
`{"seconds": …, "durations": […], "cpu": …, "postgres_cpu": …}`: wall time of all, each workflow's own from
its begin to its end, and the processor seconds used here and in Postgres (of which PID is the postmaster).
"""

import asyncio
import json
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any

import typer

from benchmarks.contestants.kinds import STEPS, build_plain
from benchmarks.harness.cpu import server_seconds

# Runs one workflow to its end.
RunOne = Callable[[], Awaitable[int]]


@asynccontextmanager
async def plain_langgraph(url: str) -> AsyncIterator[RunOne]:
    """The graph without a checkpointer: nothing is durable."""
    graph = build_plain().compile()

    async def run() -> int:
        return int((await graph.ainvoke({"done": 0}))["done"])

    yield run


@asynccontextmanager
async def stock_langgraph(url: str) -> AsyncIterator[RunOne]:
    """The graph with LangGraph's own Postgres saver on a pool of 10, set up as its documentation says."""
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
    from psycopg import AsyncConnection
    from psycopg.rows import DictRow, dict_row
    from psycopg_pool import AsyncConnectionPool

    settings = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    pool: AsyncConnectionPool[AsyncConnection[DictRow]] = AsyncConnectionPool(
        url, min_size=10, max_size=10, kwargs=settings, open=False
    )
    async with pool:
        saver = AsyncPostgresSaver(pool)
        await saver.setup()
        graph = build_plain().compile(checkpointer=saver)

        async def run() -> int:
            where: Any = {"configurable": {"thread_id": uuid.uuid4().hex}}
            return int((await graph.ainvoke({"done": 0}, where, durability="sync"))["done"])

        yield run


@asynccontextmanager
async def dbos(url: str) -> AsyncIterator[RunOne]:
    """A dbos workflow of five async steps, with dbos' own defaults; its system database is `url`."""
    from dbos import DBOS, DBOSConfig

    config: DBOSConfig = {
        "name": "engine",
        "system_database_url": url.replace("postgresql://", "postgresql+psycopg://"),
        "log_level": "ERROR",
    }
    DBOS(config=config)

    @DBOS.step()
    async def step(number: int) -> int:
        return number

    @DBOS.workflow()
    async def five_steps() -> int:
        done = 0
        for number in range(1, STEPS + 1):
            done = await step(number)
        return done

    DBOS.launch()
    try:
        yield five_steps
    finally:
        DBOS.destroy()


PEERS = {"stock_langgraph": stock_langgraph, "dbos": dbos, "plain_langgraph": plain_langgraph}


async def _measure(
    peer: str, *, url: str, postmaster: int, concurrency: int, warmup: int, workflows: int
) -> dict[str, Any]:
    durations: list[float] = []
    async with PEERS[peer](url) as run:
        room = asyncio.Semaphore(concurrency)

        async def one() -> None:
            async with room:
                began = time.perf_counter()
                done = await run()
                durations.append(time.perf_counter() - began)
            if done != STEPS:
                raise RuntimeError(f"{peer}: a workflow ended after {done} steps of {STEPS}")

        await asyncio.gather(*(one() for _ in range(warmup)))
        durations.clear()
        started, cpu, server = time.perf_counter(), time.process_time(), server_seconds(postmaster)
        await asyncio.gather(*(one() for _ in range(workflows)))
        return {
            "seconds": time.perf_counter() - started,
            "durations": durations,
            "cpu": time.process_time() - cpu,
            "postgres_cpu": server_seconds(postmaster) - server,
        }


def main(
    peer: Annotated[str, typer.Argument()],
    url: Annotated[str, typer.Option()],
    postmaster: Annotated[int, typer.Option()],
    concurrency: Annotated[int, typer.Option()],
    warmup: Annotated[int, typer.Option()],
    workflows: Annotated[int, typer.Option()],
) -> None:
    """Measure one peer once."""
    measured = _measure(
        peer, url=url, postmaster=postmaster, concurrency=concurrency, warmup=warmup, workflows=workflows
    )
    print(json.dumps(asyncio.run(measured)))


if __name__ == "__main__":
    typer.run(main)
