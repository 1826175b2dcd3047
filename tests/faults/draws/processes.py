"""Faults of processes: killed, paused, doubled and replaced."""

import asyncio
import signal
import time
from typing import Any

from tests.fakes.model.model_script import Rule
from tests.faults.draws.scene import Scene, send
from tests.faults.site.configuring import LEASE_SECONDS
from tests.faults.site.world import RUNNERS

# A reply that is of no use, which is no outage.
_CUT_SHORT: dict[str, Any] = {"finish_reason": "length", "reply": "and so"}


async def kill(scene: Scene) -> bool:
    """kill -9, and a supervisor that starts it anew."""
    world = scene.world
    found = scene.one_of((*RUNNERS, *RUNNERS, "dispatcher", "api", "api", *world.drivers))
    if found is None:
        return False
    name, pid = found
    began = time.time()
    send(pid, signal.SIGKILL)
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
    await stopped(scene, found[1], LEASE_SECONDS * scene.rng.uniform(0.3, 1.8))
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
    began = time.time()
    send(pid, signal.SIGSTOP)
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
            send(pid, signal.SIGCONT)
            await asyncio.sleep(1)
        world.note("stop", began, pid=pid, after=2)
        await asyncio.to_thread(world.model.reset)
    return True


async def namesake(scene: Scene) -> bool:
    """A runner comes up under the name of one that lives, as after a copied configuration, and goes."""
    world = scene.world
    like = scene.rng.choice(RUNNERS)
    name = f"{like}#{scene.rng.randrange(10**6)}"
    world.add(name, like)
    pid = world.start(name)
    both = "SELECT count(DISTINCT pid) AS n FROM runners WHERE name = %s AND lease_until > now()"
    struck = False
    try:
        await asyncio.sleep(scene.rng.uniform(0.5, 2))
        [found] = await world.rows(both, like)
        struck = found["n"] > 1
    finally:
        began = time.time()
        send(pid, scene.rng.choice((signal.SIGTERM, signal.SIGKILL)))
        world.note("kill", began, pid=pid)
        world.drop(name)
    return struck


async def upgrade(scene: Scene) -> bool:
    """A runner is replaced by one of the other release."""
    world = scene.world
    found = scene.runner()
    if found is None:
        return False
    name, pid = found
    began = time.time()
    send(pid, signal.SIGTERM)
    async with asyncio.timeout(60):
        while world.pid(name) == pid:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    world.note("upgrade", began, pid=pid)
    if world.pid(name) is None:
        world.start(name, release=3 - world.release(name))
    return True


async def stopped(scene: Scene, pid: int, seconds: float) -> None:
    """Have a process sleep for so long."""
    began = time.time()
    send(pid, signal.SIGSTOP)
    try:
        await asyncio.sleep(seconds)
    finally:
        send(pid, signal.SIGCONT)
        scene.world.note("stop", began, pid=pid, after=2)
