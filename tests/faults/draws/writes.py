"""A runner sleeps between the note that a write is about to be sent, and its sending."""

import asyncio
import signal
import time

from tests.faults.draws.scene import Scene, send
from tests.faults.people import deciding, operators
from tests.faults.people.operations import BegunOperation
from tests.faults.site.configuring import LEASE_SECONDS

_NOTED_SECONDS = 15.0
_LONGEST_SECONDS = 60.0
_NOTE = b"write_sent/"


async def stop_before_a_write(scene: Scene) -> bool:
    """It sleeps for up to a minute; meanwhile people are asked, and say it again, leave it, or cancel."""
    world = scene.world
    begun = await operators.begin(scene.people, scene.work, scene.rng, notes=True)
    stopped: list[tuple[int, float]] = []

    def stop(owner: str) -> None:
        if (pid := world.pid_of(owner)) is not None:
            send(pid, signal.SIGSTOP)
            stopped.append((pid, time.time()))

    with world.proxy.at_commit((_NOTE, begun.workflow_id.encode()), stop):
        try:
            async with asyncio.timeout(_NOTED_SECONDS):
                while not stopped:
                    await deciding.decide(
                        scene.people, scene.work, scene.rng, only=begun.workflow_id, yes=True
                    )
                    await asyncio.sleep(0.05)  # asked again: another process works on it
        except TimeoutError:
            pass
    for pid, at in stopped:
        try:
            await _meanwhile(scene, begun)
        finally:
            send(pid, signal.SIGCONT)
            world.note("stop", at, pid=pid, after=2)
    return bool(stopped)


async def _meanwhile(scene: Scene, begun: BegunOperation) -> None:
    """For as long as it sleeps people answer what is asked of that operation; some cancel it."""
    rng = scene.rng
    seconds = rng.uniform(1.5, 5) * LEASE_SECONDS if rng.random() < 0.9 else rng.uniform(10, _LONGEST_SECONDS)
    cancels = rng.random() < 0.3
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        query = "SELECT 1 FROM approvals WHERE workflow_id = %s AND status = 'pending'"
        if await scene.world.rows(query, begun.workflow_id):
            if cancels:
                await operators.cancel(scene.people, scene.work, begun)
                cancels = False
            await deciding.decide(scene.people, scene.work, rng, only=begun.workflow_id, yes=True)
        await asyncio.sleep(0.1)  # asked again: another process works on it
