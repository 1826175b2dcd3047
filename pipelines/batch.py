"""A batch: a driver's lease over its workflows, how each row's workflow begins, and how it is watched.

The runners do the work, and only while the batch's lease lives: the driver renews it, ends it when it
is told to stop, and loses it when it dies. Submitting again finds the same workflows by their keys.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Literal

import psycopg

from actors.platform.runtime.batch_lease import again_and_again, batch_lease
from models.errors import WorkflowConflict
from models.runtime.events import Event
from models.runtime.workflows import ENDED_STATUSES, Workflow, WorkflowRequest
from models.store import events
from models.store.database import GONE, Connection, Database, is_gone
from models.store.runtime import batches, workflows

Start = Literal["new", "continued", "finished before"]
_POLL_SECONDS = 0.5
# Whom another batch has forestalled finds that one's workflow at the next look; something else is in the way
# of whoever does not.
_TRIES = 5


class Batch:
    """A live batch. `start` a workflow, then `wait` for it. `noun` is what people call what it is about."""

    def __init__(
        self,
        *,
        batch_id: str,
        database: Database,
        noun: str,
        force: bool,
        progress: Callable[[str, Event], None],
    ) -> None:
        self.id = batch_id
        self._database = database
        self._noun = noun
        self._force = force
        self._progress = progress
        self._wake = asyncio.Event()
        self._waiting: dict[str, tuple[str, asyncio.Future[Workflow]]] = {}

    async def start(self, request: WorkflowRequest) -> tuple[Workflow, Start]:
        """Begin what is asked for, or take up the workflow of its key that is there, and hold it.

        Raises:
            WorkflowConflict: an older workflow of the key is open; the newest can't be begun beside it.
        """
        tries = 0
        while True:
            try:
                async with self._database.transaction() as connection:
                    workflow, how = await self._begin_or_find(connection, request)
                    if how != "finished before":
                        await batches.hold(connection, batch_id=self.id, workflow_id=workflow.id)
                    return workflow, how
            except psycopg.errors.UniqueViolation as error:
                tries += 1
                if tries == _TRIES:
                    raise await self._in_the_way(request) from error
                await asyncio.sleep(_POLL_SECONDS)
            except GONE as error:
                if not is_gone(error):  # refused for what is in it
                    raise
                await asyncio.sleep(_POLL_SECONDS)

    async def _in_the_way(self, request: WorkflowRequest) -> WorkflowConflict:
        key = _key(request)

        async def look(connection: Connection) -> str:
            return await workflows.open_of_key(connection, key) or "ID"

        other = await self._database.read(look)
        return WorkflowConflict(
            f"an older run of the {self._noun} is open: stop it with `signoff workflows cancel {other}`, "
            f"then submit the {self._noun} again"
        )

    async def _begin_or_find(
        self, connection: Connection, request: WorkflowRequest
    ) -> tuple[Workflow, Start]:
        known = await workflows.latest_of_key(connection, _key(request))
        if known and known.input_digest == request.input_digest and not self._force:
            if known.status == "succeeded":
                return known, "finished before"
            if known.status == "failed":
                await workflows.retry(connection, known.id)
            if known.status != "cancelled":
                return known, "continued"
        elif known and known.status not in ENDED_STATUSES:
            reason = f"a newer run of the {self._noun} was asked for"
            await workflows.cancel(connection, known.id, reason=reason)
        return await workflows.create(connection, request), "new"

    async def wait(self, workflow: Workflow, *, name: str) -> Workflow:
        """The workflow once it has ended; its events are shown under `name` meanwhile."""
        done: asyncio.Future[Workflow] = asyncio.get_running_loop().create_future()
        self._waiting[workflow.id] = (name, done)
        try:
            return await done
        finally:
            del self._waiting[workflow.id]

    async def watch(self) -> None:
        """Show the progress of workflows being waited for, and end the waiting; until cancelled."""
        seen = await self._database.steadily(self._newest)

        async def look() -> None:
            nonlocal seen
            seen = await self._look(seen)

        to = f"watch the {self._noun}s"
        await again_and_again(look, every=_POLL_SECONDS, to=to, wake=self._wake)

    async def hear(self) -> None:
        """Have a look as soon as a workflow has succeeded; until cancelled."""
        await self._database.listen(batches.CHANNEL, lambda _: self._wake.set())

    async def _newest(self) -> int:
        async with self._database.connection() as connection:
            return await events.newest_id(connection)

    async def _look(self, seen: int) -> int:
        if not self._waiting:
            return seen
        ids = list(self._waiting)
        async with self._database.connection() as connection:
            fresh = await events.read(connection, after=seen, workflow_ids=ids)
            over = [p.id for p in await workflows.progress(connection, ids) if p.over]
            ended = await workflows.get_many(connection, over) if over else []
        for event in fresh:
            if event.workflow_id in self._waiting:
                self._progress(self._waiting[event.workflow_id][0], event)
        for workflow in ended:
            if workflow.id in self._waiting and not self._waiting[workflow.id][1].done():
                self._waiting[workflow.id][1].set_result(workflow)
        return fresh[-1].id if fresh else seen


def _key(request: WorkflowRequest) -> str:
    assert request.key is not None, "a batch finds its workflows by their keys"
    return request.key


@asynccontextmanager
async def live_batch(
    *,
    database: Database,
    requested_by: str,
    noun: str,
    lease_seconds: float,
    force: bool,
    progress: Callable[[str, Event], None],
) -> AsyncIterator[Batch]:
    """A batch whose lease lives as long as the block, and ends with it at once.

    The block ends with the error when the watching or the renewing fails: nobody waits for what nobody
    watches.
    """
    async with batch_lease(
        database=database, requested_by=requested_by, lease_seconds=lease_seconds
    ) as batch_id:
        batch = Batch(batch_id=batch_id, database=database, noun=noun, force=force, progress=progress)
        try:
            async with asyncio.TaskGroup() as group:
                helpers = [group.create_task(helper()) for helper in (batch.hear, batch.watch)]
                yield batch
                for helper in helpers:
                    helper.cancel()
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from failed
