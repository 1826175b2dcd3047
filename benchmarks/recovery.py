"""recovery: how long a killed runner's workflows stand still. 50 under way on two runners, one is killed.

Both with the shipped settings of configs/local.yaml (`lease_seconds`, `poll_seconds`), in two ways: as
the Ray actors of `signoff up`, of which Ray starts a dead one anew; and as plain processes that nobody
starts anew, as when a node is gone. The workflows march through steps of half a second, so the kill
(`kill -9` of the runner that holds more, at a random moment) hits them inside steps and between them.
For each workflow the dead runner held: the time from the kill until a step of it begins in another
process. No peer.

A step counts as committed when the journal holds it once the dead runner's connections are gone and
before its lease is over; none of those may begin again. A step in flight may, once.
Aim: p99 ≤ 5 s over all workflows of all repetitions; no committed step redone.
"""

import asyncio
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from benchmarks.contestants.kinds import KINDS, Entry, Journal
from benchmarks.contestants.runner import plain_runners
from benchmarks.harness.bench import Bench, ray_here
from benchmarks.harness.figures import percentile
from benchmarks.harness.report import Aim, Report, Table
from models.config import Config
from models.runtime.workflows import WorkflowRequest
from models.store.database import Database
from models.store.runtime import claims, workflows

_AIM_SECONDS = 5.0
_STEP_SECONDS = 0.5
_PATIENCE_SECONDS = 180
_LAST_COMMITS_SECONDS = 0.05
_SEED = 20261121


_RESTARTED, _GONE = "Ray restarts it", "nobody restarts it"
# Starts two runners, and stops what is left of them: process id by runner id.
Start = Callable[[Config, Path, str], AbstractContextManager[dict[str, int]]]


@dataclass(frozen=True)
class _Fall:
    """What came of one kill. `still` is how long each workflow of the dead runner stood still, in seconds."""

    how: str
    still: list[float]
    by_survivor: int
    committed: int
    redone: int
    in_flight: int
    twice_or_more: int


def measure(bench: Bench) -> Report:
    """Kill a runner, again and again, each time on a fresh database."""
    machine = bench.machine("ray", "langgraph")
    count = 10 if bench.quick else 50
    moments = random.Random(_SEED)
    path, config = bench.configure()
    falls = []
    with ray_here():
        for _ in range(bench.repetitions):
            for how, start in ((_RESTARTED, _ray_runners), (_GONE, _two_processes)):
                moment = moments.random() * _STEP_SECONDS
                falls.append(_fall(bench, how, start, path, config, count=count, moment=moment))
                print(f"{how}: stood still for at most {max(falls[-1].still):.2f} s", flush=True)
    still = [seconds for fall in falls for seconds in fall.still]
    redone = sum(fall.redone for fall in falls)
    p99 = percentile(still, 99)
    settings = config.runners
    return Report(
        name="recovery",
        measured=f"{count} workflows under way, two runners, one killed with SIGKILL; lease_seconds "
        f"{settings.lease_seconds:g}, poll_seconds {settings.poll_seconds:g}.",
        machine=machine,
        tables=[_times(falls), _steps(falls)],
        aims=[
            Aim(f"p99 of standing still ≤ {_AIM_SECONDS:g} s", p99 <= _AIM_SECONDS, f"{p99:.2f} s"),
            Aim("no committed step redone", redone == 0, f"{redone} redone"),
        ],
        notes=[
            "Both runners are on one machine, where the other sees at its next poll that a process is dead. "
            "On another node the lease runs out first: three to four quarters of lease_seconds are left.",
        ],
    )


@contextmanager
def _ray_runners(config: Config, path: Path, url: str) -> Iterator[dict[str, int]]:
    from actors.platform.runtime.pool import start_runners, stop_runners

    try:
        yield dict(start_runners(config, url, roles="actors.platform.systems:roles", kinds=KINDS))
    finally:
        stop_runners(timeout_seconds=10)


def _two_processes(config: Config, path: Path, url: str) -> AbstractContextManager[dict[str, int]]:
    return plain_runners(config.runners.count, config=path, url=url)


def _fall(
    bench: Bench, how: str, start: Start, path: Path, config: Config, *, count: int, moment: float
) -> _Fall:
    journal = Journal(bench.folder / f"journal-{time.monotonic_ns()}")
    with bench.database() as url, start(config, path, url) as runners:
        killed, dead, committed = asyncio.run(
            _kill(config, url, journal, runners, count=count, moment=moment)
        )
    [survivor] = [pid for pid in runners.values() if pid != dead]
    return _judge(how, journal.read(), committed, killed=killed, dead=dead, survivor=survivor)


async def _kill(
    config: Config, url: str, journal: Journal, runners: dict[str, int], *, count: int, moment: float
) -> tuple[float, int, dict[str, int]]:
    """Let workflows begin, kill a runner, let them end: when, its process id, what it had committed."""
    # Enough steps that nobody has finished when the dead runner's workflows move again.
    steps = int(config.runners.lease_seconds / _STEP_SECONDS) * 2
    async with Database(url=url, pool_size=2) as database, asyncio.timeout(_PATIENCE_SECONDS):
        ids = [await _begin(database, journal, steps=steps) for _ in range(count)]
        while len({entry.workflow for entry in journal.read() if entry.step > 1}) < count:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        await asyncio.sleep(moment)  # this is the random moment, not a wait for a state
        victim, held = await _holds_more(database, list(runners))
        os.kill(runners[victim], signal.SIGKILL)
        killed = time.monotonic()
        # Statements under way at the kill still commit; soon the other runner sees that this one is dead.
        await asyncio.sleep(_LAST_COMMITS_SECONDS)
        committed = _committed(url, held)
        await _ended(database, ids, steps=steps)
    return killed, runners[victim], committed


async def _begin(database: Database, journal: Journal, *, steps: int) -> str:
    """Queue one workflow by itself, so that both runners get some."""
    work = {"journal": str(journal.path), "steps": steps, "step_seconds": _STEP_SECONDS}
    async with database.transaction() as connection:
        request = WorkflowRequest(kind="march", input=work, input_digest="", requested_by="bench")
        return (await workflows.create(connection, request)).id


async def _holds_more(database: Database, runner_ids: list[str]) -> tuple[str, list[str]]:
    """The runner with more workflows, and these."""
    async with database.connection() as connection:
        held = {
            runner: [each.workflow_id for each in await claims.held_by(connection, runner)]
            for runner in runner_ids
        }
    return max(held.items(), key=lambda item: len(item[1]))


def _committed(url: str, workflow_ids: list[str]) -> dict[str, int]:
    """How many steps of each workflow are kept."""
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            """SELECT w.id, count(d.key) FROM workflows w LEFT JOIN documents d ON d.workflow_id = w.id
               WHERE w.id = ANY(%s) GROUP BY w.id""",
            (workflow_ids,),
        ).fetchall()
    return dict(rows)


async def _ended(database: Database, ids: list[str], *, steps: int) -> None:
    """Wait until all have ended, and see that all have done every step."""
    ended = ("succeeded", "failed", "cancelled")
    while True:
        async with database.connection() as connection:
            found = await workflows.get_many(connection, ids)
        if all(workflow.status in ended for workflow in found):
            break
        await asyncio.sleep(0.1)
    if wrong := [w for w in found if w.status != "succeeded" or w.result != {"done": steps}]:
        raise RuntimeError(f"workflow {wrong[0].id} {wrong[0].status}: {wrong[0].error}")


def _judge(
    how: str, entries: list[Entry], committed: dict[str, int], *, killed: float, dead: int, survivor: int
) -> _Fall:
    after = [e for e in entries if e.workflow in committed and e.at > killed and e.pid != dead]
    first: dict[str, Entry] = {}
    for entry in after:
        first.setdefault(entry.workflow, entry)
    if missing := committed.keys() - first.keys():
        raise RuntimeError(f"{len(missing)} workflows ended without moving again, which can't be")
    begun = Counter((entry.workflow, entry.step) for entry in entries)
    return _Fall(
        how=how,
        still=[entry.at - killed for entry in first.values()],
        by_survivor=sum(entry.pid == survivor for entry in first.values()),
        committed=sum(committed.values()),
        redone=sum(entry.step <= committed[entry.workflow] for entry in after),
        in_flight=sum(times == 2 for times in begun.values()),
        twice_or_more=sum(times > 2 for times in begun.values()),
    )


def _times(falls: list[_Fall]) -> Table:
    rows = []
    for how, chosen in (
        (_RESTARTED, [fall for fall in falls if fall.how == _RESTARTED]),
        (_GONE, [fall for fall in falls if fall.how == _GONE]),
        ("both", falls),
    ):
        still = [seconds for fall in chosen for seconds in fall.still]
        survivor = sum(fall.by_survivor for fall in chosen)
        rows.append((how, str(len(chosen)), str(len(still)), *_spread(still), str(survivor)))
    columns = ("", "kills", "workflows", "p50, s", "p99, s", "max, s", "taken up by the other runner")
    return Table(title="standing still after the kill", columns=columns, rows=rows)


def _spread(values: list[float]) -> tuple[str, str, str]:
    p50, p99, most = percentile(values, 50), percentile(values, 99), percentile(values, 100)
    return f"{p50:.2f}", f"{p99:.2f}", f"{most:.2f}"


def _steps(falls: list[_Fall]) -> Table:
    rows = [
        ("committed when the runner died", str(sum(fall.committed for fall in falls))),
        ("of these, redone", str(sum(fall.redone for fall in falls))),
        ("in flight and begun a second time", str(sum(fall.in_flight for fall in falls))),
        ("begun more than twice", str(sum(fall.twice_or_more for fall in falls))),
    ]
    return Table(title="steps", columns=("steps of the dead runner's workflows", "number"), rows=rows)
