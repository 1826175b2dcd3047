"""The runner: claims workflows under a lease and carries them to their next stops, many at once.

`signoff up` starts a small pool of them as detached Ray actors. A runner wakes on NOTIFY, on a free
slot and every `poll_seconds`. It keeps nothing that matters: killed at any point, another claims its
workflows when the lease runs out, and whatever it might still write is refused.
"""

import asyncio
import contextlib
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime

from actors.platform import sending
from actors.platform.runtime.directory import Directory
from actors.platform.runtime.execution import CompiledGraph, Execution
from actors.platform.runtime.group_commit import JournalWriter
from actors.platform.runtime.process import is_dead, this_process
from actors.platform.runtime.projection import Projector
from actors.platform.runtime.workflow_graph import load_graph
from models import log_ids
from models.config import Config
from models.errors import Fenced
from models.log_ids import LogIds
from models.runtime.workflows import Claim, Holding
from models.store import approvals
from models.store.database import GONE, Connection, Database, missing
from models.store.runtime import claims, runners, workflows

_log = logging.getLogger("signoff.runner")
_GATHERING_SECONDS = 0.002


class Runner:
    """Runs workflows of the given kinds until `stop`. `run` must be awaited once.

    Args:
        name: what people call it; unique among the sites that share the database.
        kinds: where each kind is, those that people wait for first.
    """

    def __init__(
        self, *, name: str, config: Config, database: Database, directory: Directory, kinds: dict[str, str]
    ) -> None:
        self.id = f"{name}:{uuid.uuid4().hex[:12]}"
        self._name = name
        self._process = this_process()
        self._config = config
        self._settings = config.runners
        self._database = database
        self._directory = directory
        self._paths = kinds
        self._kinds: dict[str, CompiledGraph] = {}
        self._active: dict[tuple[str, int], Execution] = {}
        self._turn = asyncio.Lock()  # claiming and reconciling see the same `_active`
        self._wake = asyncio.Event()
        self._check = asyncio.Event()
        self._stopping = False
        self._suspects_at = 0.0
        self._journal = JournalWriter(database=database)
        self._projector = Projector(config=config, database=database)

    async def run(self) -> None:
        """Claim and run workflows until `stop` is called."""
        # Before the lease begins: imports take seconds, in which nothing could be renewed.
        self._kinds = await asyncio.to_thread(self._load_kinds)
        await self._database.steadily(self._renew_in_pool)
        started = await self._database.steadily(lambda: claims.now(self._database))
        async with asyncio.TaskGroup() as group:
            helpers = [
                group.create_task(self._database.listen(workflows.CHANNEL, self._heard)),
                group.create_task(self._keep_lease()),
                group.create_task(self._forever(1.0, lambda: approvals.expire_due(self._database))),
                group.create_task(self._forever(2.0, self._sweep)),
                group.create_task(self._try_again(started)),
            ]
            await self._claim_forever()
            await asyncio.gather(*(e.task for e in self._active.values() if e.task))
            for helper in helpers:
                helper.cancel()
        await self._database.steadily(self._end_lease)

    def stop(self) -> None:
        """Begin nothing more; what is under way stops after its present step and is given back."""
        self._stopping = True
        for execution in self._active.values():
            execution.control.request_drain("the runner stops")
        self._wake.set()

    def _load_kinds(self) -> dict[str, CompiledGraph]:
        return {name: CompiledGraph(load_graph(path)) for name, path in self._paths.items()}

    def _heard(self, about: str) -> None:
        self._wake.set()
        if about:
            self._check.set()

    async def _renew(self, connection: Connection) -> None:
        await runners.renew(
            connection,
            runner_id=self.id,
            name=self._name,
            process=self._process,
            lease_seconds=self._settings.lease_seconds,
        )

    async def _renew_in_pool(self) -> None:
        async with self._database.connection() as connection:
            await self._renew(connection)

    async def _end_lease(self) -> None:
        async with self._database.connection() as connection:
            await runners.end(connection, [self.id])

    async def _keep_lease(self) -> None:
        """Renew the lease, on a connection of its own: a busy pool must not cost it."""
        while True:
            try:
                async with self._database.apart() as connection:
                    while True:
                        await self._renew(connection)
                        await self._bury_the_dead(connection)
                        await self._reconcile(connection)
                        await _wait(self._check, self._settings.lease_seconds / 4)
            except GONE as error:
                _log.warning("%s is without %s: %s", self.id, missing(error), error)
                await asyncio.sleep(min(0.5, self._settings.lease_seconds / 8))

    async def _bury_the_dead(self, connection: Connection) -> None:
        """End the leases of runners on this machine whose processes are proven dead."""
        machine = self._process.machine
        if machine is None:
            return
        dead = [
            runner_id
            for runner_id, process in (await runners.of_machine(connection, machine)).items()
            if runner_id != self.id and is_dead(process, seen_from=self._process)
        ]
        if dead:
            _log.warning("%s: found dead: %s", self.id, ", ".join(dead))
            await runners.end(connection, dead)
            self._wake.set()

    async def _reconcile(self, connection: Connection) -> None:
        """Let go of what the database says is no longer ours, or no longer wanted."""
        if self._turn.locked():  # a claim is under way, and may take longer than the lease lasts
            begun = list(self._active.items())  # what it brings meanwhile is not looked for
            self._end(begun, await claims.held_by(connection, self.id))
            return
        async with self._turn:
            holdings = await claims.held_by(connection, self.id)
            for holding in self._end(list(self._active.items()), holdings):
                # Claimed by a statement whose answer never reached us, or not settled.
                await claims.let_go(connection, self.id, holding)

    def _end(
        self, begun: Iterable[tuple[tuple[str, int], Execution]], held: Iterable[Holding]
    ) -> list[Holding]:
        """End what was stopped or taken over; what is held, and was not begun."""
        holdings = {(h.workflow_id, h.epoch): h for h in held}
        for key, execution in begun:
            holding = holdings.pop(key, None)
            if holding is None:
                # What is settled writes its files.
                if execution.task and not execution.settled:
                    execution.task.cancel()
            elif not holding.wanted:
                execution.control.request_drain("its batch is gone")
        return list(holdings.values())

    async def _forever(self, seconds: float, act: Callable[[], Awaitable[object]]) -> None:
        while True:
            try:
                await act()
            except GONE as error:
                _log.warning("%s is without %s: %s", self.id, missing(error), error)
            except Exception:  # noqa: BLE001  # one bad row, say: leases and claims go on
                _log.exception("%s: will be tried again in %g s", self.id, seconds)
            await asyncio.sleep(seconds)

    async def _try_again(self, parked_before: datetime) -> None:
        """Try what earlier releases could not go on with."""
        all_tried = False
        while not all_tried:
            all_tried = await self._database.steadily(
                lambda: claims.unpark_mismatches(self._database, parked_before=parked_before)
            )
            self._wake.set()
            if not all_tried:
                await asyncio.sleep(self._settings.poll_seconds)

    async def _sweep(self) -> None:
        await self._projector.sweep({name: compiled.declared for name, compiled in self._kinds.items()})

    async def _claim_forever(self) -> None:
        while not self._stopping:
            self._wake.clear()
            if not await self._claim():
                await _wait(self._wake, self._settings.poll_seconds)
                if self._active:
                    # What ends now often ends together: claim for all of it at once.
                    await asyncio.sleep(_GATHERING_SECONDS)

    def _rooms(self) -> dict[str, int]:
        """How many more of each kind there is room for; kinds without room are left out."""
        free = self._settings.concurrency - len(self._active)
        active = [execution.claim.kind for execution in self._active.values()]
        rooms = {
            kind: max(free, self._settings.reserved_per_kind - active.count(kind)) for kind in self._kinds
        }
        return {kind: room for kind, room in rooms.items() if room > 0}

    async def _claim(self) -> bool:
        """Begin what there is room for. Whether there may be more at once."""
        rooms = self._rooms()
        if not rooms:
            return False
        async with self._turn:
            try:
                taken = await self._take(rooms, limit=max(rooms.values()))
                if time.monotonic() >= self._suspects_at:
                    self._suspects_at = time.monotonic() + self._settings.poll_seconds
                    # One at a time, so that what kills runners takes no other suspect along.
                    if not any(execution.suspect for execution in self._active.values()):
                        await self._take(dict.fromkeys(self._kinds, 1), limit=1, suspects=True)
            except GONE as error:
                _log.warning("%s is without %s: %s", self.id, missing(error), error)
                return False
        return taken == max(rooms.values())

    async def _take(self, rooms: dict[str, int], *, limit: int, suspects: bool = False) -> int:
        taken = await claims.claim(
            self._database,
            runner_id=self.id,
            rooms=rooms,
            limit=limit,
            lease_seconds=self._settings.lease_seconds,
            longest_pause_seconds=self._config.outages.longest_pause_seconds,
            suspects=suspects,
        )
        for claim in taken:
            self._begin(claim)
        return len(taken)

    def _begin(self, claim: Claim) -> None:
        execution = Execution(
            claim=claim,
            compiled=self._kinds[claim.kind],
            config=self._config,
            database=self._database,
            directory=self._directory,
            journal=self._journal,
        )
        self._active[claim.workflow_id, claim.epoch] = execution
        if self._stopping:
            # Claimed while it was stopped: perhaps what it has just given back.
            execution.control.request_drain("the runner stops")
        execution.task = asyncio.get_running_loop().create_task(self._carry(execution))

    async def _carry(self, execution: Execution) -> None:
        claim = execution.claim
        log_ids.take(LogIds(workflow_id=claim.workflow_id, user_id=claim.requested_by))
        sending.take(sending.Sender(claim=claim.mark, database_url=self._database.url))
        try:
            await execution.carry()
            execution.settled = True
            await self._projector.project(claim.workflow_id, execution.compiled.declared)
            _log.info("%s: workflow %s was carried to its next stop", self.id, claim.workflow_id)
        except asyncio.CancelledError:
            _log.info("%s: workflow %s was stopped", self.id, claim.workflow_id)
        except Fenced as error:
            _log.warning("%s: %s", self.id, error)
        except Exception as error:  # noqa: BLE001  # nothing may end the runner; what was not told is told here
            _log.exception("%s: workflow %s could not be settled: %s", self.id, claim.workflow_id, error)
        finally:
            del self._active[claim.workflow_id, claim.epoch]
            self._wake.set()


async def _wait(event: asyncio.Event, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        # Not `wait_for`: before Python 3.12 it swallows a cancellation that comes together with the event.
        async with asyncio.timeout(seconds):
            await event.wait()
    event.clear()
