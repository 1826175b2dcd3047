"""What earlier runs of a workflow left, and this one has not asked for yet: its documents and its gates.

A graph is run from its start each time, so it asks for all of that on its way to what is new. Nothing new is
done before: a graph of another release that passes over a gate, or over a step that was done, must not act
on what nobody signed off, nor do it twice.
"""

import asyncio
from collections.abc import Iterable

from models.errors import JournalMismatch

# For so long a node may read, say, the database before it asks for what was kept for it.
PATIENCE_SECONDS = 5.0


class Replay:
    """Steps by the key of their document; gates by name, and whether each was decided. For one event loop."""

    def __init__(self, steps: Iterable[str]) -> None:
        self._steps = set(steps)
        self._gates: dict[str, bool] = {}
        self._moved = asyncio.Event()

    def expect(self, gates: dict[str, bool]) -> None:
        """These gates have their approvals, decided or not: the graph comes by them again."""
        self._gates = dict(gates)

    @property
    def over(self) -> bool:
        """Whether all was asked for: what comes now is new."""
        return not self._steps and not self._gates

    def read(self, step: str) -> None:
        """The graph has asked for a step."""
        if step in self._steps:
            self._steps.remove(step)
            self._move()

    def reach(self, gate: str) -> None:
        """The graph has come to a gate."""
        if gate in self._gates:
            del self._gates[gate]
            self._move()

    async def moves(self) -> bool:
        """Wait until something is asked for; False where nothing is for `PATIENCE_SECONDS`."""
        moved = self._moved
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await moved.wait()
        except TimeoutError:
            return False
        return True

    def check(self) -> None:
        """What was kept and what was asked of people belongs to the way that the graph has taken.

        Raises:
            JournalMismatch: it passes over some of it.
        """
        if self._gates:
            gate = min(self._gates)
            left = f"gate {gate}, which {'was decided' if self._gates[gate] else 'waits for its decision'}"
        elif self._steps:
            left = f"step {min(self._steps)}, which was done already"
        else:
            return
        raise JournalMismatch(
            f"this release's graph does not ask for {left}: run the release that began the workflow, or "
            "stop it"
        )

    def _move(self) -> None:
        self._moved.set()
        self._moved = asyncio.Event()
