"""The faults: each is drawn by name and moment, does its worst for a while, and takes it back.

Each says whether it struck: where nothing is there to be hit, it has done nothing and is not counted.
`ALONE` are those that measure something and so take place while nothing else does.
"""

import asyncio
import contextlib
import os
import random
import signal
import time
import uuid
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg

from tests.fakes.model_server import Rule
from tests.faults.work import People, Work
from tests.faults.world import LEASE_SECONDS, RUNNERS, World

_LOCKED_STEPS = 60
# Shorter than any statement waits for a lock, and longer than a busy machine takes for a step.
_LOCKED_SECONDS = 8.0


# A reply that is of no use, which is no outage.
_CUT_SHORT: dict[str, Any] = {"finish_reason": "length", "reply": "and so"}


class Found(AssertionError):
    """What a fault finds wrong by itself, while it lasts."""


@dataclass
class Scene:
    """What a fault gets: the world, the people in it, the run's work, and chances of its own."""

    world: World
    people: People
    work: Work
    rng: random.Random

    def runner(self) -> tuple[str, int] | None:
        """A runner that lives, and its process."""
        return self.one_of(RUNNERS)

    def one_of(self, names: Sequence[str]) -> tuple[str, int] | None:
        """One of these, if it lives, and its process."""
        name = self.rng.choice(names)
        pid = self.world.pid(name)
        return (name, pid) if pid is not None else None


async def kill(scene: Scene) -> bool:
    """kill -9, and a supervisor that starts it anew."""
    world = scene.world
    found = scene.one_of((*RUNNERS, *RUNNERS, "dispatcher", "api", "api", *world.drivers))
    if found is None:
        return False
    name, pid = found
    began = time.monotonic()
    _signal(pid, signal.SIGKILL)
    world.note("kill", began, pid=pid)
    await asyncio.sleep(scene.rng.uniform(0, 1))
    while world.pid(name) == pid:  # noqa: ASYNC110  # a large process takes a moment to be gone
        await asyncio.sleep(0.05)
    world.revive(name)
    return True


async def stop(scene: Scene) -> bool:
    """SIGSTOP, and on again past the lease."""
    found = scene.one_of((*RUNNERS, *RUNNERS, "api", *scene.world.drivers))
    if found is None:
        return False
    await _stopped(scene, *found, LEASE_SECONDS * scene.rng.uniform(0.3, 1.8))
    return True


async def stop_in_a_call(scene: Scene) -> bool:
    """A runner is paused while its model is asked, past its lease; the call ends badly when it wakes."""
    world = scene.world
    rule = Rule(contains="step/", hold=True, times=1, **_CUT_SHORT)
    await asyncio.to_thread(world.model.script, rule)
    workflow_id = await scene.people.march(scene.work, scene.rng, asks=True)
    try:
        await world.model.wait_until(
            lambda calls: any(c.held and workflow_id in c.prompt for c in calls), timeout=6
        )
    except TimeoutError:
        await asyncio.to_thread(world.model.reset)
        return False
    query = "SELECT r.name FROM workflows w JOIN runners r ON r.id = w.runner_id WHERE w.id = %s"
    [row] = await world.rows(query, workflow_id) or [{"name": None}]
    pid = world.pid(row["name"]) if row["name"] else None
    if pid is None:
        await asyncio.to_thread(world.model.reset)
        return False
    began = time.monotonic()
    _signal(pid, signal.SIGSTOP)
    # Until another has brought it to its end and written its file.
    over = "SELECT 1 FROM workflows WHERE id = %s AND status = 'succeeded' AND NOT projection_due"
    try:
        async with asyncio.timeout(LEASE_SECONDS * 6):
            while not await world.rows(over, workflow_id):  # noqa: ASYNC110
                await asyncio.sleep(0.1)
    except TimeoutError:
        pass
    finally:
        # Whatever it asks again is refused too, and what it hears of Postgres comes a little later.
        if await world.rows(over, workflow_id):
            await asyncio.to_thread(world.model.script, Rule(contains=workflow_id, **_CUT_SHORT))
        with world.proxy.stalled(row["name"]):
            await asyncio.to_thread(world.model.release)
            _signal(pid, signal.SIGCONT)
            await asyncio.sleep(1)
        world.note("stop", began, pid=pid, after=2)
        await asyncio.to_thread(world.model.reset)
    return True


async def lost_answers(scene: Scene) -> bool:
    """The connections of the next commits are cut, each done and not yet answered."""
    proxy = scene.world.proxy
    lost = proxy.lost
    proxy.lose(scene.rng.randint(1, 4))
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(2):
            while proxy.lost == lost:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
    return proxy.lost > lost


async def cut(scene: Scene) -> bool:
    """All connections of a process, or of all, are cut."""
    return scene.world.proxy.cut(scene.rng.choice((*RUNNERS, ""))) > 0


async def partition(scene: Scene) -> bool:
    """A runner and Postgres hear nothing of each other, past the lease; then all of it arrives."""
    found = scene.runner()
    if found is None:
        return False
    name, pid = found
    began = time.monotonic()
    with scene.world.proxy.stalled(name):
        await asyncio.sleep(LEASE_SECONDS * scene.rng.uniform(0.5, 1.8))
    scene.world.note("partition", began, pid=pid, after=2)
    return True


async def slow_link(scene: Scene) -> bool:
    """Every answer of Postgres comes later."""
    with scene.world.proxy.delayed(scene.rng.uniform(0.03, 0.25)):
        await asyncio.sleep(scene.rng.uniform(1, 2))
    return True


async def away(scene: Scene) -> bool:
    """Postgres takes no connection for a while."""
    began = time.monotonic()
    with scene.world.proxy.refusing():
        await asyncio.sleep(scene.rng.uniform(0.2, 3))
    scene.world.note("away", began, after=LEASE_SECONDS)
    return True


async def restart(scene: Scene) -> bool:
    """Postgres is stopped, or killed, and started again."""
    began = time.monotonic()
    act = scene.world.stop_postgres if scene.rng.random() < 0.5 else scene.world.kill_postgres
    await asyncio.to_thread(act)
    await asyncio.to_thread(scene.world.start_postgres)
    scene.world.note("restart", began, after=LEASE_SECONDS)
    return True


async def fail_over(scene: Scene) -> bool:
    """Postgres goes on as a copy of itself in another place."""
    began = time.monotonic()
    await asyncio.to_thread(scene.world.fail_over)
    scene.world.note("fail over", began, after=LEASE_SECONDS)
    return True


async def locked_rows(scene: Scene) -> bool:
    """Somebody locks rows of workflows: only those wait."""
    world = scene.world
    ids = [
        await scene.people.march(scene.work, scene.rng, steps=_LOCKED_STEPS, step_seconds=0.1)
        for _ in range(12)
    ]
    under_way = "SELECT id FROM workflows WHERE id = ANY(%s) AND status = 'running'"
    async with asyncio.timeout(30):
        while len(await world.rows(under_way, ids)) < 12:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    locked, others = ids[:4], ids[4:]
    async with await psycopg.AsyncConnection.connect(world.direct_url) as connection:
        await connection.execute("SELECT 1 FROM workflows WHERE id = ANY(%s) FOR UPDATE", (locked,))
        await asyncio.sleep(0.5)  # what had been sent before the lock is in now
        before = await _documents(world, others)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LOCKED_SECONDS):
                while await _where_it_was(world, others, before):  # noqa: ASYNC110
                    await asyncio.sleep(0.1)
        still = await _where_it_was(world, others, before)
    if still:
        raise Found(f"{len(locked)} locked rows held up {len(still)} of {len(others)} other workflows")
    return True


async def model_down(scene: Scene) -> bool:
    """The model answers every call with 503."""
    return await _model(scene, Rule(status=503))


async def model_slow(scene: Scene) -> bool:
    """The model takes seconds for a call."""
    return await _model(scene, Rule(delay=scene.rng.uniform(0.5, 3)))


async def model_lies(scene: Scene) -> bool:
    """The model's server sends what is no answer."""
    rules = (Rule(raw="<html>", times=2), Rule(status=500, times=2), Rule(drop=True, times=2))
    return await _model(scene, scene.rng.choice(rules))


async def disk_full(scene: Scene) -> bool:
    """The output's file system has no room."""
    world = scene.world
    if not os.path.ismount(world.output):
        return False
    path = world.output / f"ballast-{uuid.uuid4().hex}"

    def fill() -> None:
        with open(path, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"\0" * 65536)
            except OSError:
                pass

    await asyncio.to_thread(fill)
    try:
        await asyncio.sleep(scene.rng.uniform(0.5, 2))
    finally:
        path.unlink()
    return True


async def clock_step(scene: Scene) -> bool:
    """The leases' clock is stepped: all that it says moves by some seconds, as with a server's clock.

    Times in the database are moved, not the clock: what compares them sees the same.
    """
    seconds = scene.rng.uniform(-8, 8)
    began = time.monotonic()
    for query in (
        "UPDATE runners SET lease_until = lease_until + make_interval(secs => %s)",
        "UPDATE lease_clock SET renewed_at = renewed_at + make_interval(secs => %s)",
    ):
        await scene.world.rows(f"{query} RETURNING 1", seconds)
    scene.world.note("clock step", began, after=LEASE_SECONDS)
    return True


async def namesake(scene: Scene) -> bool:
    """A runner comes up under the name of one that lives, as after a copied configuration, and goes."""
    world = scene.world
    like = scene.rng.choice(RUNNERS)
    name = f"{like}#{scene.rng.randrange(10**6)}"
    world.add(name, like)
    pid = world.start(name)
    try:
        await asyncio.sleep(scene.rng.uniform(0.5, 2))
    finally:
        began = time.monotonic()
        _signal(pid, scene.rng.choice((signal.SIGTERM, signal.SIGKILL)))
        world.note("kill", began, pid=pid)
        world.drop(name)
    return True


async def decisions(scene: Scene) -> bool:
    """Several people decide the same at once."""
    return await scene.people.decide(scene.work, scene.rng, at_once=scene.rng.randint(2, 6))


async def decided_early(scene: Scene) -> bool:
    """What is decided while its gate is being reached."""
    marches = [scene.people.asked_march(scene.work, random.Random(scene.rng.random())) for _ in range(8)]
    await asyncio.gather(*marches)
    return True


async def cancel(scene: Scene) -> bool:
    """Somebody stops a workflow."""
    return await scene.people.cancel(scene.work, scene.rng)


async def upgrade(scene: Scene) -> bool:
    """A runner is replaced by one of the other release."""
    world = scene.world
    found = scene.runner()
    if found is None:
        return False
    name, pid = found
    began = time.monotonic()
    _signal(pid, signal.SIGTERM)
    async with asyncio.timeout(20):
        while world.pid(name) == pid:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    world.note("upgrade", began, pid=pid)
    if world.pid(name) is None:
        world.start(name, release=3 - world.release(name))
    return True


FAULTS: dict[str, Callable[[Scene], Coroutine[Any, Any, bool]]] = {
    fault.__name__: fault
    for fault in (
        kill,
        stop,
        stop_in_a_call,
        lost_answers,
        cut,
        partition,
        slow_link,
        away,
        restart,
        fail_over,
        locked_rows,
        model_down,
        model_slow,
        model_lies,
        disk_full,
        clock_step,
        namesake,
        decisions,
        decided_early,
        cancel,
        upgrade,
    )
}
ALONE = {"locked_rows", "stop_in_a_call"}
# What is cheap and hits most is drawn more often; what costs seconds of everybody's, less.
WEIGHTS = {
    "kill": 6,
    "lost_answers": 8,
    "cut": 4,
    "decisions": 6,
    "slow_link": 3,
    "fail_over": 0.3,
    "restart": 1,
}


def draw(rng: random.Random, count: int, only: list[str]) -> list[tuple[str, float, int]]:
    """So many faults: name, the pause before it, and a seed of its own."""
    names = only or list(FAULTS)
    weights = [WEIGHTS.get(name, 2) for name in names]
    drawn = rng.choices(names, weights, k=count)
    return [(name, rng.uniform(0.05, 0.8), rng.randrange(2**32)) for name in drawn]


async def _stopped(scene: Scene, name: str, pid: int, seconds: float) -> None:
    began = time.monotonic()
    _signal(pid, signal.SIGSTOP)
    try:
        await asyncio.sleep(seconds)
    finally:
        _signal(pid, signal.SIGCONT)
        scene.world.note("stop", began, pid=pid, after=2)


async def _model(scene: Scene, rule: Rule) -> bool:
    began = time.monotonic()
    await asyncio.to_thread(scene.world.model.script, rule)
    try:
        await asyncio.sleep(scene.rng.uniform(0.5, 2))
    finally:
        await asyncio.to_thread(scene.world.model.reset)
        scene.world.note("model", began)
    return True


async def _where_it_was(world: World, ids: list[str], before: dict[str, Any]) -> list[str]:
    now = await _documents(world, ids)
    return [i for i in ids if now.get(i, 0) == before.get(i, 0) < _LOCKED_STEPS]


async def _documents(world: World, ids: list[str]) -> dict[str, Any]:
    query = "SELECT workflow_id, count(*) AS n FROM documents WHERE workflow_id = ANY(%s) GROUP BY 1"
    return {row["workflow_id"]: row["n"] for row in await world.rows(query, ids)}


def _signal(pid: int, which: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, which)
