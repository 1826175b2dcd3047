"""No process loses a connection of its pool: it can have as many at once as it is configured to.

What runs out of them stands still for good, though its lease is renewed.
"""

import asyncio
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from tests.faults.site.configuring import POOL_SIZE
from tests.faults.site.counting import COUNTS, answer_of
from tests.faults.site.world import RUNNERS, World

# Longer than a pool has somebody wait for a connection.
_ANSWER_SECONDS, _LONGEST_SECONDS, _PAUSE_SECONDS = 20.0, 90.0, 0.05
# Whoever renews a lease has come so far as to be asked.
_ASKED = "SELECT 1 FROM runners WHERE pid = %s AND lease_until > now()"


async def check(world: World) -> list[str]:
    """Have each runner take all of its connections."""
    found = await asyncio.gather(*(_had(world, name) for name in RUNNERS))
    return list(lost(dict(zip(RUNNERS, found, strict=True))))


async def _had(world: World, name: str) -> int | None:
    """How many a runner's process can have at once; None where it does not say."""
    until = time.monotonic() + _LONGEST_SECONDS
    while time.monotonic() < until:
        pid = world.pid(name)
        if pid is not None and await world.rows(_ASKED, pid):
            answer = answer_of(world.logs()[pid], pid)
            with suppress(ProcessLookupError, TimeoutError):
                os.kill(pid, COUNTS)
                async with asyncio.timeout(_ANSWER_SECONDS):
                    return await _taken(answer)
        await asyncio.sleep(_PAUSE_SECONDS)  # other processes begin
    return None


async def _taken(answer: Path) -> int:
    while not answer.exists():  # noqa: ASYNC110  # another process writes it
        await asyncio.sleep(_PAUSE_SECONDS)
    taken = int(answer.read_text(encoding="utf-8"))
    answer.unlink()
    return taken


def lost(had: Mapping[str, int | None]) -> Iterator[str]:
    """What is wrong with the connections of processes, by how many each could have; None: it did not say."""
    for name, taken in had.items():
        if taken is None:
            yield f"{name} does not say how many connections it can have"
        elif taken < POOL_SIZE:
            yield f"{name} has lost {POOL_SIZE - taken} of {POOL_SIZE} connections"
