"""Faults of what the site needs besides Postgres: the model, the disk, the webhooks' target."""

import asyncio
import contextlib
import os
import time
import uuid
from collections.abc import AsyncIterator

from tests.fakes.model.model_script import Rule
from tests.faults.draws.scene import Scene
from tests.faults.site.driver import unwritten_file
from tests.faults.site.target import Mood
from tests.faults.site.world import World

# As long as a breaker stays open after an outage of a few seconds.
_BREAKER_SECONDS = 10.0
_TARGET_SECONDS = 5.0
_DELAYED_SECONDS, _SUMMED_UP_SECONDS = 4.0, 12.0


async def model_down(scene: Scene) -> bool:
    """The model answers every call with 503."""
    return await _model(scene, Rule(status=503))


async def model_slow(scene: Scene) -> bool:
    """The model takes seconds for a call, and answers as it would have."""
    return await _model(scene, latency=scene.rng.uniform(0.5, 3))


async def model_lies(scene: Scene) -> bool:
    """The model's server sends what is no answer."""
    rules = (Rule(raw="<html>", times=2), Rule(status=500, times=2), Rule(drop=True, times=2))
    return await _model(scene, scene.rng.choice(rules))


async def disk_full(scene: Scene) -> bool:
    """The output's file system has no room, while somebody ends and has a file to write."""
    world = scene.world
    if not os.path.ismount(world.output):
        return False
    delayed = """SELECT 1 FROM incoming_events WHERE type = 'workflow.files_delayed' AND workflow_id = %s
                 UNION ALL
                 SELECT 1 FROM events WHERE type = 'workflow.files_delayed' AND workflow_id = %s"""
    async with filled(world):
        march = await scene.people.march(scene.work, scene.rng, steps=1, step_seconds=0.02, after_seconds=0)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_DELAYED_SECONDS):
                while not await world.rows(delayed, march, march):  # noqa: ASYNC110
                    await asyncio.sleep(0.1)
            return True
    return False


async def disk_full_at_a_summary(scene: Scene) -> bool:
    """It has no room while the table of a batch is written, which its driver tells by its exit code."""
    world = scene.world
    if not os.path.ismount(world.output):
        return False
    batch = await scene.people.batch(scene.work, f"full-{scene.work.run}-{next(scene.work.numbers)}", 1)
    async with filled(world):
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_SUMMED_UP_SECONDS):
                while not (unwritten_file(batch.topics).exists() or world.is_over(batch.name)):
                    world.revive(batch.name)
                    await asyncio.sleep(0.1)  # a process of its own
    return unwritten_file(batch.topics).exists()


@contextlib.asynccontextmanager
async def filled(world: World) -> AsyncIterator[None]:
    """There is no room, for as long as the block."""
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
        yield
    finally:
        path.unlink()


async def _model(scene: Scene, *rules: Rule, latency: float | None = None) -> bool:
    began, asked = time.time(), time.monotonic()
    await asyncio.to_thread(scene.world.model.script, *rules, latency=latency)
    calls = []
    try:
        await asyncio.sleep(scene.rng.uniform(0.5, 2))
        calls = await asyncio.to_thread(scene.world.model.calls)
    finally:
        await asyncio.to_thread(scene.world.model.reset)
        # A breaker that has opened stays so for a while.
        scene.world.note("model", began, after=_BREAKER_SECONDS)
    return any(call.started >= asked for call in calls)


async def target_away(scene: Scene) -> bool:
    """The webhooks' target refuses, hangs or hangs up, while an article is put up for publication."""
    target = scene.world.target
    refused = target.refused
    moods: tuple[Mood, ...] = ("refuses", "hangs", "hangs up")
    with target.being(scene.rng.choice(moods)):
        publication = asyncio.create_task(scene.people.publication(scene.work))
        try:
            async with asyncio.timeout(_TARGET_SECONDS):
                while target.refused == refused:  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
            await asyncio.sleep(scene.rng.uniform(0, 1))
        except TimeoutError:
            pass
    await publication
    return target.refused > refused
