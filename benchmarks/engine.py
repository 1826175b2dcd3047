"""engine: what a durable step costs. 200 workflows of five empty async steps, at concurrency 1, 4, 16, 64.

Signoff: runners as `signoff up` starts them (the shipped settings, two processes that share the
concurrency; also one alone) on workflows that are queued in one transaction; the clock starts when it
commits and stops when the last workflow has succeeded. Queueing is outside the clock; claiming and
finishing are in it. Peers, each in a process of its own on the same Postgres: LangGraph with its stock
AsyncPostgresSaver (pool of 10, `durability="sync"`), dbos, and for reference LangGraph that saves nothing.

A step's time is its workflow's time / 5: from claim to finish, for the peers from call to return.
Contestants take turns within each repetition, each on a fresh database after a warm-up.
Aim: at least 4 × the stock saver's steps/s and 6 × dbos' at concurrency 16 and above, and 1.1 × the stock
saver's at 1; p50 step no slower than either, everywhere.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from benchmarks.contestants.kinds import STEPS
from benchmarks.contestants.runner import plain_runners
from benchmarks.harness.bench import ROOT, Bench
from benchmarks.harness.cpu import postmaster_pid, process_seconds, server_seconds
from benchmarks.harness.figures import median, ms, percentile, times
from benchmarks.harness.report import Aim, Report, Table
from models.runtime.workflows import WorkflowRequest
from models.store.database import Database
from models.store.runtime import workflows

PACKAGES = ("langgraph", "langgraph-checkpoint-postgres", "dbos", "psycopg", "SQLAlchemy")
TWO, ONE = "Signoff, two runners", "Signoff, one runner"
STOCK, DBOS, PLAIN = "LangGraph, stock saver", "dbos", "LangGraph, nothing saved"
_PEERS = {STOCK: "stock_langgraph", DBOS: "dbos", PLAIN: "plain_langgraph"}
_PATIENCE_SECONDS = 300


@dataclass(frozen=True)
class Sample:
    """One contestant's one run: steps per second of all, and the step time of each workflow in seconds.

    `cpu` and `postgres_cpu` are processor seconds per step, in the contestant and in Postgres.
    """

    rate: float
    steps: list[float]
    cpu: float
    postgres_cpu: float


Samples = dict[tuple[str, int], list[Sample]]


def measure(bench: Bench) -> Report:
    """Run every contestant at every concurrency, in turns."""
    machine = bench.machine(*PACKAGES)
    count, concurrencies = (40, (1, 16)) if bench.quick else (200, (1, 4, 16, 64))
    samples: Samples = {}
    for repetition in range(bench.repetitions):
        for concurrency in concurrencies:
            contestants = [TWO, *([ONE] if concurrency > 1 else []), *_PEERS]
            turn = repetition % len(contestants)
            for name in [*contestants[turn:], *contestants[:turn]]:
                sample = _run(bench, name, concurrency=concurrency, count=count)
                samples.setdefault((name, concurrency), []).append(sample)
                print(f"{name} at {concurrency}: {sample.rate:.0f} steps/s", flush=True)
    return Report(
        name="engine",
        measured=f"{count} workflows × {STEPS} empty async steps. Step time: a workflow's time / {STEPS}.",
        machine=machine,
        tables=[_table(samples, c) for c in concurrencies],
        aims=[aim for c in concurrencies for aim in _aims(samples, c)],
        notes=[
            "At concurrency 1 Signoff has one runner; above, each of two has half of it.",
            "Signoff's step time holds the claim and all documents, but not the commit that marks the "
            "workflow as succeeded; its steps/s hold everything.",
        ],
    )


def _run(bench: Bench, name: str, *, concurrency: int, count: int) -> Sample:
    warmup = max(16, concurrency)
    if name in _PEERS:
        with bench.database(migrated=False) as url:
            return _peer(_PEERS[name], url, concurrency=concurrency, warmup=warmup, count=count)
    processes = 1 if name == ONE or concurrency == 1 else 2
    each = concurrency // processes
    # What is reserved for a kind comes on top of the concurrency: so many at once, and no more.
    _, shipped = bench.configure()
    reserved = min(each, shipped.runners.reserved_per_kind)
    config, _ = bench.configure({"runners.concurrency": each, "runners.reserved_per_kind": reserved})
    with bench.database() as url, plain_runners(processes, config=config, url=url) as runners:
        return asyncio.run(_signoff(url, pids=list(runners.values()), warmup=warmup, count=count))


def _peer(peer: str, url: str, *, concurrency: int, warmup: int, count: int) -> Sample:
    sizes = {
        "postmaster": postmaster_pid(url),
        "concurrency": concurrency,
        "warmup": warmup,
        "workflows": count,
    }
    options = [part for key, value in sizes.items() for part in (f"--{key}", str(value))]
    command = [sys.executable, "-m", "benchmarks.contestants.engine_peers", peer, "--url", url, *options]
    ended = subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, text=True, timeout=_PATIENCE_SECONDS, check=True
    )
    found = json.loads(ended.stdout.splitlines()[-1])
    steps = count * STEPS
    return Sample(
        rate=steps / found["seconds"],
        steps=[duration / STEPS for duration in found["durations"]],
        cpu=found["cpu"] / steps,
        postgres_cpu=found["postgres_cpu"] / steps,
    )


async def _signoff(url: str, *, pids: list[int], warmup: int, count: int) -> Sample:
    async with Database(url=url, pool_size=2) as database, asyncio.timeout(_PATIENCE_SECONDS):
        postmaster = postmaster_pid(url)
        ids, _ = await _queue(database, warmup)
        await _finished(database, ids)
        cpu = sum(map(process_seconds, pids))
        ids, started = await _queue(database, count)
        server = server_seconds(postmaster)
        ended, steps = await _finished(database, ids)
        cpu, server = sum(map(process_seconds, pids)) - cpu, server_seconds(postmaster) - server
    total = count * STEPS
    return Sample(total / (ended - started).total_seconds(), steps, cpu / total, server / total)


async def _queue(database: Database, count: int) -> tuple[list[str], datetime]:
    """Queue workflows in one transaction, which wakes the runners when it commits; ids, and that moment."""
    request = WorkflowRequest(kind="empty", input={}, input_digest="", requested_by="bench")
    async with database.transaction() as connection:
        ids = [(await workflows.create(connection, request)).id for _ in range(count)]
        cursor = await connection.execute("SELECT clock_timestamp() AS now")
        row = await cursor.fetchone()
        assert row is not None
        return ids, row["now"]


async def _finished(database: Database, ids: list[str]) -> tuple[datetime, list[float]]:
    """Wait for workflows: when the last one ended, and the step time of each in seconds."""
    query = "SELECT count(*) AS n FROM workflows WHERE id = ANY(%s) AND finished_at IS NULL"
    async with database.connection() as connection:
        while (row := await (await connection.execute(query, (ids,))).fetchone()) and row["n"]:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        done = await workflows.get_many(connection, ids)
    spans = []
    for workflow in done:
        if workflow.status != "succeeded" or workflow.result != {"done": STEPS}:
            raise RuntimeError(f"workflow {workflow.id} {workflow.status}: {workflow.error}")
        assert workflow.started_at is not None
        assert workflow.finished_at is not None
        spans.append((workflow.finished_at - workflow.started_at).total_seconds() / STEPS)
    return max(w.finished_at for w in done if w.finished_at), spans


@dataclass(frozen=True)
class _Figures:
    """Medians over a contestant's runs: steps/s; seconds of a step; processor seconds of a step."""

    rate: float
    p50: float
    p95: float
    cpu: float
    postgres_cpu: float


def _figures(samples: Samples, name: str, concurrency: int) -> _Figures:
    runs = samples[name, concurrency]
    return _Figures(
        rate=median(run.rate for run in runs),
        p50=median(percentile(run.steps, 50) for run in runs),
        p95=median(percentile(run.steps, 95) for run in runs),
        cpu=median(run.cpu for run in runs),
        postgres_cpu=median(run.postgres_cpu for run in runs),
    )


def _table(samples: Samples, concurrency: int) -> Table:
    ours = _figures(samples, TWO, concurrency)
    rows = []
    for name in (TWO, ONE, *_PEERS):
        if (name, concurrency) in samples:
            found = _figures(samples, name, concurrency)
            ratio = "" if name == TWO else times(ours.rate / found.rate)
            seconds = (found.p50, found.p95, found.cpu, found.postgres_cpu)
            rows.append((name, f"{found.rate:.0f}", ratio, *map(ms, seconds)))
    columns = (
        *("contestant", "steps/s", "Signoff (two) is", "p50 step, ms", "p95 step, ms"),
        *("CPU a step, ms", "in Postgres, ms"),
    )
    return Table(title=f"concurrency {concurrency}", columns=columns, rows=rows)


def _aims(samples: Samples, concurrency: int) -> Iterator[Aim]:
    ours = _figures(samples, TWO, concurrency)
    for name, wanted in {STOCK: 4.0, DBOS: 6.0}.items():
        theirs = _figures(samples, name, concurrency)
        ratio = ours.rate / theirs.rate
        if concurrency == 1 and name == STOCK:
            yield Aim(f"at concurrency 1 at least 1.1 × the steps/s of {name}", ratio >= 1.1, times(ratio))
        if concurrency >= 16:
            what = f"at concurrency {concurrency} at least {wanted:g} × the steps/s of {name}"
            yield Aim(what, ratio >= wanted, times(ratio))
        what = f"at concurrency {concurrency} a p50 step no slower than {name}"
        yield Aim(what, ours.p50 <= theirs.p50, f"{ms(ours.p50)} ms against {ms(theirs.p50)} ms")
