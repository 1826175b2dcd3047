"""The runner: claims workflows under a lease and runs their graphs, many at once.

`signoff up` starts a small pool of them as detached Ray actors. A runner wakes on NOTIFY, on a free
slot and every `poll_seconds`. It keeps nothing that matters: killed at any point, another claims its
workflows when the lease runs out, and whatever it might still write is refused.
"""

import asyncio
import contextlib
import logging
import os
import socket
import uuid
from dataclasses import dataclass, field
from typing import Any

from langgraph.errors import GraphDrained
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import RunControl
from langgraph.types import Command

from actors.runtime.checkpoints import EPOCH, FencedSaver, GroupCommit
from actors.runtime.directory import Directory
from actors.runtime.kind import Kind, load_kind
from actors.runtime.run import Run
from models.approvals import Asked, GateRequest
from models.config import Config
from models.errors import Fenced, PermissionMissing, SignoffError
from models.scopes import check_permission
from models.store import approvals, runners, users, workflows
from models.store.database import GONE, Database
from models.workflows import Claim

_log = logging.getLogger("signoff.runner")
_INTERRUPT = "__interrupt__"
_RECURSION_LIMIT = 1_000


@dataclass
class _Active:
    """A workflow this runner is running now."""

    claim: Claim
    control: RunControl = field(default_factory=RunControl)
    task: asyncio.Task[None] | None = None


class Runner:
    """Runs workflows of the given kinds until `stop`. `run` must be awaited once."""

    def __init__(
        self, *, name: str, config: Config, database: Database, directory: Directory, kinds: dict[str, str]
    ) -> None:
        self.id = f"{name}:{uuid.uuid4().hex[:12]}"
        self._name = name
        self._config = config
        self._settings = config.runners
        self._database = database
        self._directory = directory
        self._kinds = kinds
        self._graphs: dict[str, tuple[Kind, CompiledStateGraph[Any, Any, Any, Any]]] = {}
        self._active: dict[str, _Active] = {}
        self._turn = asyncio.Lock()  # claiming and reconciling see the same `_active`
        self._wake = asyncio.Event()
        self._check = asyncio.Event()
        self._stopping = False
        self._saver = FencedSaver(database=database, commits=GroupCommit(database=database))

    async def run(self) -> None:
        """Claim and run workflows until `stop` is called."""
        await self._database.steadily(self._register)
        async with asyncio.TaskGroup() as group:
            helpers = [
                group.create_task(self._database.listen(workflows.CHANNEL, self._heard)),
                group.create_task(self._keep_lease()),
                group.create_task(self._expire_approvals()),
            ]
            await self._claim_forever()
            await asyncio.gather(*(a.task for a in self._active.values() if a.task))
            for helper in helpers:
                helper.cancel()
        await self._database.steadily(lambda: runners.end(self._database, runner_id=self.id))

    def stop(self) -> None:
        """Begin nothing more; what is under way stops after its present step and is given back."""
        self._stopping = True
        for active in self._active.values():
            active.control.request_drain("the runner stops")
        self._wake.set()

    def _heard(self, about: str) -> None:
        self._wake.set()
        if about:
            self._check.set()

    async def _register(self) -> None:
        await runners.register(
            self._database,
            runner_id=self.id,
            name=self._name,
            node=socket.gethostname(),
            pid=os.getpid(),
            lease_seconds=self._settings.lease_seconds,
        )

    async def _keep_lease(self) -> None:
        """Renew the lease, and let go of what the database says is no longer ours or no longer wanted."""
        while True:
            try:
                await self._register()
                await self._reconcile()
            except GONE as error:
                _log.warning("%s: Postgres is away: %s", self.id, error)
            await _wait(self._check, self._settings.lease_seconds / 4)

    async def _reconcile(self) -> None:
        async with self._turn, self._database.connection() as connection:
            holdings = {h.workflow_id: h for h in await workflows.held_by(connection, self.id)}
            for workflow_id, active in list(self._active.items()):
                holding = holdings.pop(workflow_id, None)
                if holding is None or holding.epoch != active.claim.epoch:
                    # Cancelled or taken over. (Or just settled: then this cancels nothing that matters.)
                    if active.task:
                        active.task.cancel()
                elif not holding.wanted:
                    active.control.request_drain("its batch is gone")
            for holding in holdings.values():
                # Claimed by a statement whose answer never reached us.
                await workflows.let_go(connection, holding.workflow_id, holding.epoch)

    async def _expire_approvals(self) -> None:
        while True:
            try:
                await approvals.expire_due(self._database)
            except GONE as error:
                _log.warning("%s: Postgres is away: %s", self.id, error)
            await asyncio.sleep(1.0)

    async def _claim_forever(self) -> None:
        while not self._stopping:
            self._wake.clear()
            room = self._settings.concurrency - len(self._active)
            claimed = await self._claim(room) if room > 0 else 0
            if claimed < room or room <= 0:
                await _wait(self._wake, self._settings.poll_seconds)

    async def _claim(self, room: int) -> int:
        async with self._turn:
            try:
                claims = await workflows.claim(
                    self._database,
                    runner_id=self.id,
                    kinds=list(self._kinds),
                    limit=room,
                    lease_seconds=self._settings.lease_seconds,
                )
            except GONE as error:
                _log.warning("%s: Postgres is away: %s", self.id, error)
                return 0
            for claim in claims:
                active = _Active(claim=claim)
                self._active[claim.workflow_id] = active
                active.task = asyncio.get_running_loop().create_task(self._carry(active))
        return len(claims)

    async def _carry(self, active: _Active) -> None:
        claim = active.claim
        try:
            await self._advance(active)
        except asyncio.CancelledError:
            _log.info("%s: workflow %s was stopped", self.id, claim.workflow_id)
        except Fenced as error:
            _log.warning("%s: %s", self.id, error)
        except Exception as error:  # noqa: BLE001  # nothing may end the runner; what was not told is told here
            _log.exception("%s: workflow %s could not be settled: %s", self.id, claim.workflow_id, error)
        finally:
            self._active.pop(claim.workflow_id, None)
            self._wake.set()

    async def _advance(self, active: _Active) -> None:
        """Run a workflow to its next stop, and write down what it came to."""
        claim = active.claim
        run = await Run.open(
            claim=claim, config=self._config, database=self._database, directory=self._directory
        )
        kind, graph = self._graph(claim.kind)
        try:
            outcome = await self._invoke(active, run, kind, graph)
            await self._settle(claim, kind, outcome)
        except GraphDrained:
            await self._database.steadily(lambda: workflows.give_back(self._database, claim))
        except (Fenced, asyncio.CancelledError):
            raise
        except Exception as error:  # noqa: BLE001  # whatever went wrong fails the workflow, with its reason
            await self._fail(claim, run, kind, error)

    async def _settle(self, claim: Claim, kind: Kind, outcome: dict[str, Any]) -> None:
        """The graph has stopped: at its gates, or at its end."""
        if gates := outcome.get(_INTERRUPT):
            waits = {gate.id: _gate(gate.value) for gate in gates}
            await self._database.steadily(lambda: approvals.open_gates(self._database, claim, waits))
        else:
            result = kind.result(outcome)
            await self._database.steadily(lambda: workflows.finish(self._database, claim, result=result))

    async def _invoke(
        self, active: _Active, run: Run, kind: Kind, graph: CompiledStateGraph[Any, Any, Any, Any]
    ) -> dict[str, Any]:
        claim = active.claim
        await self._database.steadily(lambda: self._check_still_permitted(claim))
        where: Any = {
            "configurable": {"thread_id": claim.workflow_id, EPOCH: claim.epoch},
            "recursion_limit": _RECURSION_LIMIT,
        }
        state, context = await kind.begin(run)
        entry: Any = state
        # An epoch above 1 means that someone ran it before, perhaps to a checkpoint.
        if claim.epoch > 1 and (saved := await self._saver.aget_tuple(where)):
            open_gates = {
                gate.id
                for _, channel, gates in saved.pending_writes or []
                if channel == _INTERRUPT
                for gate in gates
            }
            answers = {i: answer for i, answer in (claim.resume or {}).items() if i in open_gates}
            entry = Command(resume=answers) if answers else None
        outcome = await graph.ainvoke(
            entry, where, context=context, durability="sync", control=active.control
        )
        return outcome if isinstance(outcome, dict) else {}

    async def _check_still_permitted(self, claim: Claim) -> None:
        """Before what was approved is done: whoever asked must still have the scope, as last seen."""
        approved = any(answer["status"] == "approved" for answer in (claim.resume or {}).values())
        if claim.permission is None or not approved:
            return
        async with self._database.connection() as connection:
            scopes = await users.stored_scopes(connection, claim.requested_by)
        role, topic = claim.permission.role, claim.permission.topic
        if not check_permission(scopes, role, topic):
            raise PermissionMissing(f"{claim.requested_by} asked for this and no longer has {topic}:{role}")

    async def _fail(self, claim: Claim, run: Run, kind: Kind, error: Exception) -> None:
        reason = str(error) if isinstance(error, SignoffError) else f"{type(error).__name__}: {error}"
        reason = reason.replace("\x00", "")  # Postgres holds no NUL
        _log.warning("%s: workflow %s failed: %s", self.id, claim.workflow_id, reason)
        if kind.failed:
            try:
                await kind.failed(run, reason)
            except Exception as second:  # noqa: BLE001  # it is told in the reason, and must not hide the first
                reason += f" (and the failure could not be filed: {type(second).__name__}: {second})"
        await self._database.steadily(lambda: workflows.fail(self._database, claim, error=reason))

    def _graph(self, name: str) -> tuple[Kind, CompiledStateGraph[Any, Any, Any, Any]]:
        if name not in self._graphs:
            kind = load_kind(self._kinds[name])
            self._graphs[name] = (kind, kind.build_graph().compile(checkpointer=self._saver))
        return self._graphs[name]


def _gate(value: dict[str, Any]) -> GateRequest | Asked:
    return (Asked if value.keys() == {"approval_id"} else GateRequest).model_validate(value)


async def _wait(event: asyncio.Event, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)
    event.clear()
