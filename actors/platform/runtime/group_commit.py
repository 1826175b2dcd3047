"""The journal of a runner: what its workflows come to, committed together, each fenced by itself.

Runs hand in what their steps came to, executions that they are done; up to `lanes` commits are under way at
a time, and what arrives meanwhile goes out together in the next ones (group commit), of a bounded size, so
that a statement's time is bounded, too. One bad or locked row concerns only its own workflow: it is committed
by itself, or tried again beside the others until its lock is gone.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import psycopg

from models.runtime.workflows import Claim
from models.store.database import Database
from models.store.runtime import claims, documents
from models.store.runtime.claims import Finish, fenced
from models.store.runtime.documents import NewDocument

_LOCKED_PAUSE_SECONDS = 0.05
# What one commit holds at most: so many writes, of so many characters (one that is larger goes by itself).
_MOST_WRITES, _MOST_CHARACTERS = 500, 4_000_000


class Claimed(Protocol):
    """A write under a claim."""

    @property
    def claim(self) -> Claim:
        """Whose right it is written by."""

    @property
    def size(self) -> int:
        """How many characters it is, about."""


W = TypeVar("W", bound=Claimed)
# Writes what it can at once, and says which claims, as (workflow id, epoch), that was for.
Put = Callable[[Database, Sequence[W]], Awaitable[set[tuple[str, int]]]]


class JournalWriter:
    """Where a runner's workflows write. Use it in one event loop."""

    def __init__(self, *, database: Database, lanes: int = 2) -> None:
        self._documents: GroupCommit[NewDocument] = GroupCommit(database, documents.put, lanes=lanes)
        self._ends: GroupCommit[Finish] = GroupCommit(database, claims.finish, lanes=1)

    async def put(self, outcome: NewDocument) -> None:
        """Keep a document; the first one under a key stays.

        Raises:
            Fenced: the claim is over; nothing was kept.
            psycopg.Error: the document can't be stored as it is.
        """
        await self._documents.write(outcome)

    async def finish(self, end: Finish) -> None:
        """Mark a workflow as succeeded. Raises as `put` does."""
        await self._ends.write(end)


@dataclass(slots=True, eq=False)
class _Pending(Generic[W]):
    """A write on its way, and the future of whoever waits until it is committed."""

    write: W
    done: asyncio.Future[None]

    @property
    def owner(self) -> tuple[str, int]:
        return self.write.claim.workflow_id, self.write.claim.epoch

    def settle(self, error: BaseException | None) -> None:
        if self.done.done():  # whoever waited was cancelled
            return
        if error:
            self.done.set_exception(error)
        else:
            self.done.set_result(None)


class GroupCommit(Generic[W]):
    """Collects writes of one sort and commits them in groups with `put`."""

    def __init__(self, database: Database, put: Put[W], *, lanes: int) -> None:
        self._database = database
        self._put = put
        self._lanes = lanes
        self._busy = 0
        self._waiting: list[_Pending[W]] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def write(self, write: W) -> None:
        """Commit a write with whatever else is there. Raises Fenced, psycopg.Error."""
        pending = _Pending(write, asyncio.get_running_loop().create_future())
        self._add([pending])
        await pending.done

    def _add(self, pending: list[_Pending[W]]) -> None:
        self._waiting.extend(pending)
        if self._busy < self._lanes and self._waiting:
            self._busy += 1
            task = asyncio.get_running_loop().create_task(self._drain())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _drain(self) -> None:
        try:
            while self._waiting:
                await self._commit(self._next())
        finally:
            self._busy -= 1
            self._add([])

    def _next(self) -> list[_Pending[W]]:
        """Take those that have waited longest, as many as one commit may hold."""
        size, count = 0, 0
        for pending in self._waiting[:_MOST_WRITES]:
            size += pending.write.size
            if count and size > _MOST_CHARACTERS:
                break
            count += 1
        group = self._waiting[:count]
        del self._waiting[:count]
        return group

    async def _commit(self, group: list[_Pending[W]]) -> None:
        writes = [pending.write for pending in group]
        try:
            written = await self._database.steadily(lambda: self._put(self._database, writes))
        except psycopg.Error as error:
            if len(group) == 1:
                _settle(group, error)
                return
            # One of them is bad: each by itself, so that only that one is told.
            for pending in group:
                await self._commit([pending])
            return
        except BaseException as error:
            _settle(group, error)
            if not isinstance(error, Exception):
                raise
            return
        _settle([pending for pending in group if pending.owner in written], None)
        if passed_over := [pending for pending in group if pending.owner not in written]:
            await self._look_at(passed_over)

    async def _look_at(self, passed_over: list[_Pending[W]]) -> None:
        """Refuse those whose claim is over; the others are locked by somebody, and are tried again."""
        theirs = [pending.write.claim for pending in passed_over]
        try:
            owned = await self._database.steadily(lambda: claims.still_owned(self._database, theirs))
        except Exception as error:  # noqa: BLE001  # whoever waits is told
            _settle(passed_over, error)
            return
        locked = []
        for pending in passed_over:
            if pending.owner in owned:
                locked.append(pending)
            else:
                pending.settle(fenced(pending.write.claim))
        if locked:
            asyncio.get_running_loop().call_later(_LOCKED_PAUSE_SECONDS, self._add, locked)


def _settle(group: Sequence[_Pending[W]], error: BaseException | None) -> None:
    for pending in group:
        pending.settle(error)
