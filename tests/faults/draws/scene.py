"""What every fault gets."""

import contextlib
import os
import random
from collections.abc import Sequence
from dataclasses import dataclass

from tests.faults.people.work import People, Work
from tests.faults.site.world import RUNNERS, World


class Found(AssertionError):
    """What a fault finds wrong by itself, while it lasts."""


@dataclass
class Scene:
    """What a fault gets: the world, the people in it, the run's work, and chances of its own."""

    world: World
    people: People
    work: Work
    rng: random.Random

    def runner(self) -> tuple[str, int] | None:
        """A runner that lives, and its process."""
        return self.one_of(RUNNERS)

    def one_of(self, names: Sequence[str]) -> tuple[str, int] | None:
        """One of these, if it lives, and its process."""
        name = self.rng.choice(names)
        pid = self.world.pid(name)
        return (name, pid) if pid is not None else None


def send(pid: int, which: int) -> None:
    """Send a signal to a process, if it lives."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, which)
