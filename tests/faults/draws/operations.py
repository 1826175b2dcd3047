"""Faults that strike operations at a plan, a reading or a comparison, and servers that go away."""

import asyncio
import contextlib
import signal
import time
from collections.abc import Callable

from tests.fakes.model.model_script import Rule
from tests.faults.draws.scene import Scene, send
from tests.faults.people import deciding, operators
from tests.faults.people.operations import BegunOperation
from tests.faults.site.books import ASKS, NOTE, SEARCH, WRITTEN, BookMood, code_of

_AWAY_SECONDS = 5.0
_REACHED_SECONDS = 15.0


async def books_away(scene: Scene) -> bool:
    """A server that operations read refuses, hangs up, hangs or is slow, while one of them wants to read."""
    book = scene.rng.choice(list(scene.world.books.values()))
    moods: tuple[BookMood, ...] = ("refuses", "hangs up", "hangs", "slow")
    begun = await operators.begin(scene.people, scene.work, scene.rng)
    hindered = book.hindered
    with book.being(scene.rng.choice(moods)):
        if await _until(scene, begun, lambda: book.hindered > hindered, within=_AWAY_SECONDS):
            await asyncio.sleep(scene.rng.uniform(0, 2))
    return book.hindered > hindered


async def kill_in_an_operation(scene: Scene) -> bool:
    """The runner of an operation is killed while that is planned, reads, writes or compares."""
    world, work = scene.world, scene.work
    stage = scene.rng.choice(("plan", "reading", "writing", "writing", "comparison"))
    book = world.books[WRITTEN] if stage == "writing" else scene.rng.choice(list(world.books.values()))
    code = code_of(work.run, work.operations_asked)
    held = Rule(contains=code, hold=True, times=1)
    wanted = NOTE if stage == "writing" else SEARCH

    def is_read() -> bool:
        return any(call.code == code for one in world.books.values() for call in list(one.entries))

    def is_held() -> bool:
        return any((call.code, call.tool) == (code, wanted) for call in list(book.entries))

    def is_asked() -> bool:
        return any(call.held and code in call.prompt for call in world.model.calls())

    try:
        if stage == "plan":
            await asyncio.to_thread(world.model.script, held)
        begun = await operators.begin(scene.people, work, scene.rng, notes=stage == "writing")
        if stage in ("reading", "writing"):
            with book.being("holds" if stage == "reading" else "holds writes"):
                return await _until(scene, begun, is_held, yes=True) and await _kill_its_runner(scene, begun)
        if stage == "comparison":
            if not await _until(scene, begun, is_read):
                return False
            await asyncio.to_thread(world.model.script, held)
        return await _until(scene, begun, is_asked) and await _kill_its_runner(scene, begun)
    finally:
        if stage in ("plan", "comparison"):
            await asyncio.to_thread(world.model.reset)


async def kill_at_a_question(scene: Scene) -> bool:
    """A runner is killed while a server is about to ask something, or is told what a person gave."""
    book = scene.world.books[ASKS]
    is_given = scene.rng.random() < 0.6
    begun = await operators.begin(scene.people, scene.work, scene.rng, asks=True)

    def has_come(*, given: bool) -> bool:
        calls = [call for call in list(book.entries) if call.code == begun.code]
        return any((call.given is not None) is given for call in calls)

    if is_given and not await _until(scene, begun, lambda: has_come(given=False), yes=True):
        return False
    with book.being("holds"):
        there = await _until(scene, begun, lambda: has_come(given=is_given), yes=True)
        return there and await _kill_its_runner(scene, begun)


async def _until(
    scene: Scene,
    begun: BegunOperation,
    there: Callable[[], bool],
    *,
    within: float = _REACHED_SECONDS,
    yes: bool = False,
) -> bool:
    """Let people decide on an operation until it is there; not for long, as anything may be away.

    Args:
        yes: they want it to get there.
    """
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(within):
            while not await asyncio.to_thread(there):
                await deciding.decide(scene.people, scene.work, scene.rng, only=begun.workflow_id, yes=yes)
                await asyncio.sleep(0.05)  # asked again: another process works on it
            return True
    return False


async def _kill_its_runner(scene: Scene, begun: BegunOperation) -> bool:
    world = scene.world
    query = "SELECT r.name FROM workflows w JOIN runners r ON r.id = w.runner_id WHERE w.id = %s"
    [row] = await world.rows(query, begun.workflow_id) or [{"name": None}]
    pid = world.pid(row["name"]) if row["name"] else None
    if pid is None:
        return False
    at = time.time()
    send(pid, signal.SIGKILL)
    world.note("kill", at, pid=pid)
    while world.pid(row["name"]) == pid:  # noqa: ASYNC110  # a large process takes a moment to be gone
        await asyncio.sleep(0.05)
    world.revive(row["name"])
    return True
