"""What earlier runs of a workflow left, and this one has not asked for yet: its steps, and its gates.

A graph is run from its start each time, so it asks for all of that on its way to what is new. Nothing new is
done before: a graph of another release that passes over a gate, or over a step that was done, must not act
on what nobody signed off, nor do it twice.
"""

import asyncio
from collections.abc import Iterable, Mapping

from models.errors import JournalMismatch, SignoffError
from models.runtime.approvals import AskedGate, GateDecision, GateRequest, content_digest
from models.store.runtime.documents import GATE_PREFIX

# For so long a node may read, say, the database before it asks for what was kept for it.
PATIENCE_SECONDS = 5.0


class Replay:
    """The keys of documents that are still to be asked for, and the gates of this run. For one event loop."""

    def __init__(self, kept: Iterable[str]) -> None:
        self._left = set(kept)
        self._passed = frozenset(key for key in self._left if key.startswith(GATE_PREFIX))
        self._moved = asyncio.Event()
        self._reached: set[str] = set()
        self._given: dict[str, str] = {}
        # The gates that people were asked at.
        self.asked: Mapping[str, AskedGate] = {}

    @property
    def over(self) -> bool:
        """Whether all was asked for: what comes now is new."""
        return not self._left

    def read(self, key: str) -> None:
        """The graph has asked for a document."""
        if key in self._left:
            self._left.remove(key)
            self._moved.set()
            self._moved = asyncio.Event()

    def reach(self, gate: str) -> None:
        """The graph has come to a gate."""
        self._reached.add(gate)
        self.read(f"{GATE_PREFIX}{gate}")

    def decision(self, gate: str, request: GateRequest | None, *, place: str) -> GateDecision | None:
        """The decision on a gate that an earlier run came by, which need not stop the graph again.

        None where that is not certain: the gate is new, is not decided, or seems to ask for something else.
        """
        asked = self.asked.get(gate)
        if asked is None or asked.decision is None or f"{GATE_PREFIX}{gate}" not in self._passed:
            return None
        if request is not None and content_digest(request.content) != asked.digest:
            return None
        self.give(gate, place=place)
        return asked.decision

    def give(self, gate: str, *, place: str) -> None:
        """A gate is given its decision, at one place in the graph (a node that is run again is at the same).

        Raises:
            SignoffError: it was given it at another.
        """
        if self._given.setdefault(gate, place) != place:
            raise SignoffError(f"gate {gate} stands twice in the graph: give each gate its own name")

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
        """What was kept belongs to the way that the graph has taken. Raises JournalMismatch."""
        if not self._left:
            return
        left = min(self._left)
        gate = left.removeprefix(GATE_PREFIX)
        raise mismatch(f"step {left}, which was done already" if gate == left else f"gate {gate}")

    def check_gates(self, asked: Iterable[str]) -> None:
        """What people were asked belongs to it too. Raises JournalMismatch."""
        if unreached := set(asked) - self._reached:
            raise mismatch(f"gate {min(unreached)}")


def mismatch(left: str) -> JournalMismatch:
    """The graph passes over something."""
    return JournalMismatch(
        f"this release's graph does not ask for {left}: run the release that began the workflow, or stop it"
    )
