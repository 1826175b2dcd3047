"""No process loses a connection of its pool: one that is lost is open, and nobody uses it any more.

A pool hands out its connections by turns. So one that stands still while the others are used again and again
is out of its turn, and what runs out of them stands still for good, though its lease is renewed.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from tests.faults.site.world import RUNNERS, World

# Each is used so often, on average, before one that was not at all is told of.
_TURNS = 5
_LONGEST_SECONDS, _PAUSE_SECONDS = 60.0, 0.1
# Of the pool: what listens is not, what renews a lease does so on a connection of its own, and what was never
# asked anything was given up while it was made.
_QUERY = """
SELECT application_name AS of, pid, state_change AS at FROM pg_stat_activity
WHERE application_name = ANY(%s) AND query NOT ILIKE 'LISTEN%%' AND query <> ''
"""


async def check(world: World) -> list[str]:
    """Look at the runners' connections, until each runner has used its own often enough."""
    names = [f"signoff {name}" for name in RUNNERS]
    looks: list[Sequence[Mapping[str, Any]]] = []
    until = time.monotonic() + _LONGEST_SECONDS
    while time.monotonic() < until:
        looks.append(await world.rows(_QUERY, names))
        if len(looks) > 1 and all(_is_enough(looks, name) for name in names):
            break
        await asyncio.sleep(_PAUSE_SECONDS)  # other processes use them
    return [odd for name in names for odd in lost(looks, name)]


def _uses(looks: Sequence[Sequence[Mapping[str, Any]]], name: str) -> dict[int, set[datetime]]:
    """When each connection of a process was used, as far as was seen; of those that were there all along."""
    seen: dict[int, set[datetime]] = defaultdict(set)
    for look in looks:
        for row in look:
            if row["of"] == name:
                seen[row["pid"]].add(row["at"])
    there = [{row["pid"] for row in look if row["of"] == name} for look in looks]
    return {pid: seen[pid] for pid in set(seen).intersection(*there)}


def _is_enough(looks: Sequence[Sequence[Mapping[str, Any]]], name: str) -> bool:
    uses = _uses(looks, name)
    return sum(len(times) - 1 for times in uses.values()) >= _TURNS * len(uses)


def lost(looks: Sequence[Sequence[Mapping[str, Any]]], name: str) -> Iterator[str]:
    """What is wrong with the connections of a process.

    Args:
        looks: one after the other, each with `of`, `pid` and `at`, when it was used last.
    """
    uses = _uses(looks, name)
    if uses and _is_enough(looks, name):
        idle = [pid for pid, times in uses.items() if len(times) == 1]
        if idle:
            turns = sum(len(times) - 1 for times in uses.values())
            yield f"{name} has lost {len(idle)} of {len(uses)} connections: {turns} uses of the others"
