"""The journal: documents of many workflows committed together, each fenced by itself.

One per runner. Runs hand in what their steps came to; up to `lanes` commits are under way at a time, and
what arrives meanwhile goes out together in the next (group commit). One bad or locked row concerns only its
own workflow: it is committed by itself, or tried again beside the others until its lock is gone.
"""

import asyncio
from dataclasses import dataclass

import psycopg

from models.store import documents
from models.store.claims import fenced
from models.store.database import Database
from models.store.documents import Outcome

_LOCKED_PAUSE_SECONDS = 0.05


@dataclass(slots=True, eq=False)
class _Pending:
    """An outcome on its way, and the future of whoever waits until it is kept."""

    outcome: Outcome
    done: asyncio.Future[None]

    @property
    def owner(self) -> tuple[str, int]:
        return self.outcome.claim.workflow_id, self.outcome.claim.epoch

    def settle(self, error: BaseException | None) -> None:
        if self.done.done():  # whoever waited was cancelled
            return
        if error:
            self.done.set_exception(error)
        else:
            self.done.set_result(None)


class Journal:
    """Collects outcomes and commits them in groups. Use it in one event loop."""

    def __init__(self, *, database: Database, lanes: int = 2) -> None:
        self._database = database
        self._lanes = lanes
        self._busy = 0
        self._waiting: list[_Pending] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def put(self, outcome: Outcome) -> None:
        """Keep a document; the first one under a key stays.

        Raises:
            Fenced: the claim is over; nothing was kept.
            psycopg.Error: the document can't be stored as it is.
        """
        pending = _Pending(outcome, asyncio.get_running_loop().create_future())
        self._add([pending])
        await pending.done

    def _add(self, pending: list[_Pending]) -> None:
        self._waiting.extend(pending)
        if self._busy < self._lanes and self._waiting:
            self._busy += 1
            task = asyncio.get_running_loop().create_task(self._drain())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _drain(self) -> None:
        try:
            while self._waiting:
                group, self._waiting = self._waiting, []
                await self._commit(group)
        finally:
            self._busy -= 1
            self._add([])

    async def _commit(self, group: list[_Pending]) -> None:
        try:
            kept = await self._database.steadily(
                lambda: documents.put(self._database, [pending.outcome for pending in group])
            )
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
        _settle([pending for pending in group if pending.owner in kept], None)
        if passed_over := [pending for pending in group if pending.owner not in kept]:
            await self._look_at(passed_over)

    async def _look_at(self, passed_over: list[_Pending]) -> None:
        """Refuse those whose claim is over; the others are locked by somebody, and are tried again."""
        claims = [pending.outcome.claim for pending in passed_over]
        try:
            owned = await self._database.steadily(lambda: documents.still_owned(self._database, claims))
        except Exception as error:  # noqa: BLE001  # whoever waits is told
            _settle(passed_over, error)
            return
        locked = []
        for pending in passed_over:
            if pending.owner in owned:
                locked.append(pending)
            else:
                pending.settle(fenced(pending.outcome.claim))
        if locked:
            asyncio.get_running_loop().call_later(_LOCKED_PAUSE_SECONDS, self._add, locked)


def _settle(group: list[_Pending], error: BaseException | None) -> None:
    for pending in group:
        pending.settle(error)
