"""Faults that people make: deciding at once, early or never, stopping, and leaving a batch alone."""

import asyncio
import contextlib
import random
import signal
import time

from models.runtime.workflows import ENDED_STATUSES
from tests.faults.draws.scene import Found, Scene, send
from tests.faults.people import batches, deciding
from tests.faults.people.batches import Batch
from tests.faults.site.world import World

# So slow that a batch is not over while it is left alone.
_SLOW_SECONDS = 1.5
_BEGUN_SECONDS = 20.0
_STOPPED_SECONDS = 15.0
_MANY, _READERS, _READS_SECONDS = 40, 2, 4.0


async def decisions(scene: Scene) -> bool:
    """Several people decide the same at once."""
    at_once = scene.rng.randint(2, 6)
    return await deciding.decide(scene.people, scene.work, scene.rng, at_once=at_once, begins=True)


async def decided_early(scene: Scene) -> bool:
    """What is decided while its gate is being reached."""
    marches = [scene.people.asked_march(scene.work, random.Random(scene.rng.random())) for _ in range(8)]
    return any(await asyncio.gather(*marches))


async def late(scene: Scene) -> bool:
    """Nobody decides at a gate of a research in time."""
    return await deciding.let_pass(scene.people, scene.work, scene.rng)


async def cancel(scene: Scene) -> bool:
    """Somebody stops a workflow."""
    return await scene.people.cancel(scene.work, scene.rng)


async def many_stopped(scene: Scene) -> bool:
    """Much is begun, and all of it is stopped while it reads, so that its runners want their connections."""
    marches = [
        scene.people.march(scene.work, scene.rng, steps=1, step_seconds=_READS_SECONDS, readers=_READERS)
        for _ in range(_MANY)
    ]
    begun = await asyncio.gather(*marches)
    await asyncio.sleep(scene.rng.uniform(0.1, 1))
    return await scene.people.stop_all(scene.work, scene.rng, begun)


async def abandoned_batch(scene: Scene) -> bool:
    """A batch's driver is killed, and nobody submits it again for a while: its topics stop."""
    world = scene.world
    await asyncio.to_thread(world.model.script, latency=_SLOW_SECONDS)
    began = time.time()
    try:
        name = f"left-{scene.work.run}-{next(scene.work.numbers)}"
        batch = await scene.people.batch(scene.work, name, 2)
        return await _leave(scene, batch)
    finally:
        await asyncio.to_thread(world.model.reset)
        world.note("model", began)


async def _leave(scene: Scene, batch: Batch) -> bool:
    """Kill its driver as soon as its topics run, and look at them once its lease is over."""
    world = scene.world
    try:
        async with asyncio.timeout(_BEGUN_SECONDS):
            while "running" not in await _statuses(world, batch):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
    except TimeoutError:
        return False
    pid = world.pid(batch.name)
    if pid is None or world.is_over(batch.name):
        return False
    send(pid, signal.SIGKILL)
    world.note("kill", time.time(), pid=pid)
    over = "SELECT 1 FROM batches b JOIN batch_workflows h ON h.batch_id = b.id JOIN workflows w"
    over += " ON w.id = h.workflow_id WHERE w.key = ANY(%s) AND b.lease_until > now()"
    while await world.rows(over, batch.keys):  # noqa: ASYNC110
        await asyncio.sleep(0.1)
    # A step that is under way is finished first; then they are given back, and stay so.
    left: set[str] = set()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_STOPPED_SECONDS):
            while "running" in (left := await _statuses(world, batch)):  # noqa: ASYNC110
                await asyncio.sleep(0.1)
    if "running" in left:
        raise Found(f"{batch.name} was left alone, and its topics go on")
    before = await batches.trail(world, batch)
    await asyncio.sleep(1)
    after = await batches.trail(world, batch)
    world.revive(batch.name)
    if before != after:
        raise Found(f"{batch.name} was left alone, and came to {after[len(before) :]}")
    return not left <= set(ENDED_STATUSES)


async def _statuses(world: World, batch: Batch) -> set[str]:
    return {row["status"] for row in await batches.workflows_of(world, batch)}
