"""Faults that strike a claim where it counts: within an effect's transaction, and once its lease is over."""

import asyncio
import time
from contextlib import suppress

import psycopg

from tests.faults.draws.processes import stopped
from tests.faults.draws.scene import Scene
from tests.faults.site.configuring import LEASE_SECONDS

_ACTS_SECONDS = 1.5
_REACHED_SECONDS = 10.0
# More than the runners beside take at once.
_WAITING = 12


async def cancel_in_an_effect(scene: Scene) -> bool:
    """Somebody stops a march that acts, and its runner is held up so long that it can't hear of that.

    It has acted whole, or not at all, before it is stopped.
    """
    if (march := await _acting(scene)) is None or (pid := await _runner_of(scene, march)) is None:
        return False
    await asyncio.gather(scene.people.stop_march(scene.work, march), stopped(scene, pid, _ACTS_SECONDS))
    return True


async def stop_in_an_effect(scene: Scene) -> bool:
    """A runner sleeps past its lease while it acts, before what it does is kept."""
    if (march := await _acting(scene)) is None or (pid := await _runner_of(scene, march)) is None:
        return False
    await stopped(scene, pid, LEASE_SECONDS * scene.rng.uniform(1.2, 3))
    return True


async def _runner_of(scene: Scene, march: str) -> int | None:
    """The process that runs a march, if any does."""
    query = "SELECT r.name FROM workflows w JOIN runners r ON r.id = w.runner_id WHERE w.id = %s"
    [row] = await scene.world.rows(query, march) or [{"name": None}]
    return scene.world.pid(row["name"]) if row["name"] else None


async def _acting(scene: Scene) -> str | None:
    """A march that has begun to act, and takes its time; None: it did not come to it."""
    world = scene.world
    march = await scene.people.march(
        scene.work, scene.rng, steps=1, step_seconds=0.02, act_seconds=_ACTS_SECONDS
    )
    with suppress(TimeoutError):
        async with asyncio.timeout(_REACHED_SECONDS):
            while march not in await asyncio.to_thread(world.trace.acting):  # noqa: ASYNC110
                await asyncio.sleep(0.02)  # another process acts
    return march if march in await asyncio.to_thread(world.trace.acting) else None


async def locked_lease(scene: Scene) -> bool:
    """A runner can't renew its lease, for its row is locked; meanwhile much waits to be claimed."""
    found = scene.runner()
    if found is None:
        return False
    began, (_, pid) = time.time(), found
    struck = False
    # Postgres goes away meanwhile, or all takes too long.
    with suppress(psycopg.OperationalError, TimeoutError):
        async with await psycopg.AsyncConnection.connect(scene.world.direct_url) as connection:
            await connection.execute("SELECT 1 FROM runners WHERE pid = %s FOR UPDATE", (pid,))
            struck = await _lapses(scene, pid)
    scene.world.note("partition", began, pid=pid, after=2)
    return struck


async def _lapses(scene: Scene, pid: int) -> bool:
    """Wait until its lease is over, and have much begun; whether it still is over then."""
    lapsed = "SELECT 1 FROM runners WHERE pid = %s AND lease_until < now()"
    async with asyncio.timeout(3 * LEASE_SECONDS):
        while not await scene.world.rows(lapsed, pid):  # noqa: ASYNC110
            await asyncio.sleep(0.1)  # its time passes
        marches = [
            scene.people.march(scene.work, scene.rng, steps=2, step_seconds=0.3) for _ in range(_WAITING)
        ]
        await asyncio.gather(*marches)
    await asyncio.sleep(scene.rng.uniform(0.5, 1.5))
    return bool(await scene.world.rows(lapsed, pid))
