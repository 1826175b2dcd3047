"""Faults of Postgres and of the way to it: cut, slow, away, restarted, locked, its clock stepped."""

import asyncio
import contextlib
import time
from typing import Any

import psycopg

from tests.faults.draws.scene import Found, Scene
from tests.faults.site.configuring import LEASE_SECONDS
from tests.faults.site.world import RUNNERS, World

_LOCKED_STEPS = 60
_HOUR = 3600.0
# Shorter than any statement waits for a lock, and longer than a busy machine takes for a step.
_LOCKED_SECONDS = 8.0


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
    began, hits = time.time(), scene.world.proxy.hits["stalled"]
    with scene.world.proxy.stalled(name):
        await asyncio.sleep(LEASE_SECONDS * scene.rng.uniform(0.5, 1.8))
    scene.world.note("partition", began, pid=pid, after=2)
    return scene.world.proxy.hits["stalled"] > hits


async def slow_link(scene: Scene) -> bool:
    """Every answer of Postgres comes later."""
    hits = scene.world.proxy.hits["delayed"]
    with scene.world.proxy.delayed(scene.rng.uniform(0.03, 0.25)):
        await asyncio.sleep(scene.rng.uniform(1, 2))
    return scene.world.proxy.hits["delayed"] > hits


async def away(scene: Scene) -> bool:
    """Postgres takes no connection for a while."""
    began, hits = time.time(), scene.world.proxy.hits["refused"]
    with scene.world.proxy.refusing():
        await asyncio.sleep(scene.rng.uniform(0.2, 3))
    scene.world.note("away", began, after=LEASE_SECONDS)
    return scene.world.proxy.hits["refused"] > hits


async def restart(scene: Scene) -> bool:
    """Postgres is stopped, or killed, and started again."""
    began = time.time()
    act = scene.world.stop_postgres if scene.rng.random() < 0.5 else scene.world.kill_postgres
    await asyncio.to_thread(act)
    await asyncio.to_thread(scene.world.start_postgres)
    scene.world.note("restart", began, after=LEASE_SECONDS)
    return True


async def fail_over(scene: Scene) -> bool:
    """Postgres goes on as a copy of itself in another place."""
    began = time.time()
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


async def clock_step(scene: Scene) -> bool:
    """The clock of leases and pauses is stepped: all that it says moves by seconds or an hour, as a server's.

    Times in the database are moved, not the clock: what compares them sees the same.
    """
    hour = scene.rng.choice((-_HOUR, _HOUR))
    seconds = hour if scene.rng.random() < 0.25 else scene.rng.uniform(-8, 8)
    struck = False
    began = time.time()
    for query in (
        "UPDATE runners SET lease_until = lease_until + make_interval(secs => %s)",
        "UPDATE lease_clock SET renewed_at = renewed_at + make_interval(secs => %s)",
        """UPDATE workflows SET not_before = not_before + make_interval(secs => %s)
           WHERE status = 'parked' AND not_before < 'infinity'""",
    ):
        moved = await scene.world.rows(f"{query} RETURNING 1", seconds)
        struck |= bool(moved) and "runners" in query
    scene.world.note("clock step", began, after=LEASE_SECONDS)
    return struck


async def _where_it_was(world: World, ids: list[str], before: dict[str, Any]) -> list[str]:
    now = await _documents(world, ids)
    return [i for i in ids if now.get(i, 0) == before.get(i, 0) < _LOCKED_STEPS]


async def _documents(world: World, ids: list[str]) -> dict[str, Any]:
    query = "SELECT workflow_id, count(*) AS n FROM documents WHERE workflow_id = ANY(%s) GROUP BY 1"
    return {row["workflow_id"]: row["n"] for row in await world.rows(query, ids)}
