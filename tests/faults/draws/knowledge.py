"""Faults of batches of knowledge: cut off in the middle, between two halves of one thing, without room."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress

import psycopg

from tests.faults import ledger
from tests.faults.draws.processes import stopped
from tests.faults.draws.scene import Scene, send
from tests.faults.draws.services import filled
from tests.faults.people.knowledge import KnowledgeBatch
from tests.faults.site.configuring import BATCH_SECONDS
from tests.faults.site.driver import unwritten_file

_REACHED_SECONDS, _FULL_SECONDS = 20.0, 12.0
_WAITS = """SELECT 1 FROM pg_stat_activity
WHERE wait_event_type = 'Lock' AND query LIKE 'DELETE FROM source_passages%%'"""


async def knowledge_cut_off(scene: Scene) -> bool:
    """A batch's driver is killed, stopped or paused while pages are read, indexed or extracted."""
    world, rng = scene.world, scene.rng
    batch = await scene.people.knowledge(scene.work)
    # Each page is kept, indexed and extracted: somewhere among all of these.
    after = rng.randrange(3 * len(batch.points))
    if not await _reached(scene, batch, lambda: _is_known(scene, batch, after)):
        return False
    pid = world.pid(batch.name)
    if pid is None or world.is_over(batch.name):
        return False
    which = rng.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP))
    if which == signal.SIGSTOP:
        await stopped(scene, pid, BATCH_SECONDS * rng.uniform(0.5, 1.5))
        return True
    send(pid, which)
    # Submitted again while its lease still lives, or after.
    await asyncio.sleep(BATCH_SECONDS * rng.uniform(0, 1.2))
    world.revive(batch.name)
    return True


async def kill_before_passages(scene: Scene) -> bool:
    """A batch's driver is killed between its word that a source is indexed and the source's passages."""
    world = scene.world
    batch = await scene.people.knowledge(scene.work)
    all_read = len(batch.points)
    if not await _reached(scene, batch, lambda: _is_known(scene, batch, all_read)):
        return False
    struck = False
    with suppress(psycopg.OperationalError):
        async with await psycopg.AsyncConnection.connect(world.direct_url) as connection:
            await connection.execute("LOCK TABLE source_passages IN SHARE MODE")

            async def waits() -> bool:
                return bool(await world.rows(_WAITS))

            struck = await _reached(scene, batch, waits)
            if struck and (pid := world.pid(batch.name)) is not None:
                send(pid, signal.SIGKILL)
                while world.pid(batch.name) == pid:  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
    world.revive(batch.name)
    return struck


async def disk_full_at_knowledge(scene: Scene) -> bool:
    """There is no room while a batch writes its Parquet file, or a segment of the index."""
    world = scene.world
    if not os.path.ismount(world.output):
        return False
    batch = await scene.people.knowledge(scene.work)
    if scene.rng.random() < 0.5:

        async def has_its_file() -> bool:
            return any(batch.output.glob("*.parquet"))

        if not await _reached(scene, batch, has_its_file):
            return False

    async def is_unwritten() -> bool:
        world.revive(batch.name)
        return unwritten_file(batch.folder).exists()

    async with filled(world):
        return await _reached(scene, batch, is_unwritten, seconds=_FULL_SECONDS)


async def _is_known(scene: Scene, batch: KnowledgeBatch, least: int) -> bool:
    known = await ledger.known(scene.world.rows, batch.urls)
    return sum(one.what != ledger.PASSAGE for one in known) >= least


async def _reached(
    scene: Scene,
    batch: KnowledgeBatch,
    there: Callable[[], Awaitable[bool]],
    *,
    seconds: float = _REACHED_SECONDS,
) -> bool:
    """Wait until it is so; not if the batch is over before, or it takes too long."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while not await there():
                if scene.world.is_over(batch.name):
                    return False
                await asyncio.sleep(0.02)  # another process does it
            return True
    return False
