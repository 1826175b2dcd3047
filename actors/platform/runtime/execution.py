"""One claim, carried to its next stop: its gates, its end, a failure, or something that is away.

The runner makes one for each claim and awaits `carry`, which writes down what it came to in one fenced
transaction. The graph is run from its start; what its journal holds is not done again, and gates that were
decided are given their decisions on the way.
"""

import asyncio
import json
import logging
import pickle
import time
from dataclasses import dataclass, field
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphDrained
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import RunControl
from langgraph.types import Command
from pydantic import ValidationError

from actors.platform import tracing
from actors.platform.runtime import gate, outage
from actors.platform.runtime.directory import Directory
from actors.platform.runtime.group_commit import JournalWriter
from actors.platform.runtime.replay import mismatch
from actors.platform.runtime.run import Run
from actors.platform.runtime.workflow_graph import WorkflowGraph
from models.config import Config
from models.error_lines import error_line, logged
from models.errors import Fenced, GatesExhausted, JournalMismatch, PermissionMissing, WorkflowDeadly
from models.runtime.approvals import AskedGate, GateStop
from models.runtime.workflows import Claim
from models.store import approvals
from models.store.database import Connection, Database
from models.store.people import users
from models.store.runtime import claims, documents
from models.store.runtime.claimable import SUSPECT_DEATHS

_log = logging.getLogger("signoff.runner")
_INTERRUPT = "__interrupt__"
# Supersteps from one gate to the next.
_RECURSION_LIMIT = 1_000
# A run comes by all the gates before the one it goes on from: what that costs is bounded.
MOST_GATES = 500


class _Pickled:
    """How the saver keeps a state between two stops of one run: it never leaves this process's memory."""

    def dumps_typed(self, value: Any) -> tuple[str, bytes]:
        return "pickle", pickle.dumps(value)

    def loads_typed(self, kept: tuple[str, bytes]) -> Any:
        return pickle.loads(kept[1])  # what this process wrote a moment ago


class CompiledGraph:
    """A workflow graph, compiled; one in each runner. Gates need a saver, in memory, for one run."""

    def __init__(self, declared: WorkflowGraph) -> None:
        self.declared = declared
        self._saver = InMemorySaver(serde=_Pickled()) if declared.gates else None
        self.graph: CompiledStateGraph[Any, Any, Any, Any] = declared.build().compile(
            checkpointer=self._saver
        )

    def forget(self, thread_id: str) -> None:
        """Drop what the saver holds of a run."""
        if self._saver:
            self._saver.delete_thread(thread_id)


@dataclass(eq=False)
class Execution:
    """A claim under way in this runner."""

    claim: Claim
    compiled: CompiledGraph
    config: Config
    database: Database
    directory: Directory
    journal: JournalWriter
    control: RunControl = field(default_factory=RunControl)
    task: asyncio.Task[None] | None = None
    run: Run | None = None
    begun: float = field(default_factory=time.monotonic)
    settled: bool = False

    @property
    def suspect(self) -> bool:
        """Whether runners have died with it again and again, and it got nowhere since."""
        return self.claim.deaths >= SUSPECT_DEATHS and not (self.run and self.run.got_on)

    async def carry(self) -> None:
        """Run the graph to its next stop, and write down what it came to. Raises Fenced."""
        claim = self.claim
        facts: tracing.Facts = {"signoff.workflow": claim.workflow_id, "signoff.epoch": claim.epoch}
        with tracing.span(f"workflow {claim.kind}", facts, continues=claim.traceparent):
            await self._carry()

    async def _carry(self) -> None:
        try:
            self.run = await Run.open(
                claim=self.claim,
                config=self.config,
                database=self.database,
                directory=self.directory,
                journal=self.journal,
                forgotten=self.compiled.declared.forgotten,
                added=self.compiled.declared.added,
            )
            await self._refuse_what_kills()
            await self._settle(await self._to_next_stop(self.run))
        except GraphDrained:
            await self.database.steadily(lambda: claims.give_back(self.database, self.claim))
        except (Fenced, asyncio.CancelledError):
            raise
        except JournalMismatch as error:
            await self._park(str(error), pause_seconds=None)
        except Exception as error:  # noqa: BLE001  # whatever went wrong parks or fails the workflow, with its reason
            await self._park_or_fail(error)

    async def _refuse_what_kills(self) -> None:
        deaths, workflow_id = self.claim.deaths, self.claim.workflow_id
        if deaths >= self.config.runners.max_attempts:
            last = await self.database.steadily(lambda: documents.newest(self.database, workflow_id))
            where = f"after its step {last}" if last else "before its first step"
            raise WorkflowDeadly(
                f"{deaths} runners in a row ended while they ran it, {where}: look into their logs, then "
                f"begin it again with `signoff workflows retry {workflow_id}`"
            )

    async def _to_next_stop(self, run: Run) -> dict[str, Any] | list[GateStop]:
        """The graph's last state, or the gates it has stopped at without a decision."""
        run.replay.asked = gates = await self._gates(run)
        decisions = {name: asked.decision for name, asked in gates.items() if asked.decision}
        state, context = await self._begin(run)
        thread_id = f"{self.claim.workflow_id}/{self.claim.epoch}"
        where: Any = {
            "configurable": {"thread_id": thread_id, gate.REPLAY: run.replay},
            "recursion_limit": _RECURSION_LIMIT * (1 + len(gates)),
        }
        # Without a saver there is nothing that could be kept at the exit.
        how: Any = {"durability": "exit"} if self.compiled.declared.gates else {}
        entry: Any = state
        try:
            while True:
                outcome = await self.compiled.graph.ainvoke(
                    entry, where, context=context, control=self.control, **how
                )
                stops = {stop.id: GateStop.model_validate(stop.value) for stop in outcome.get(_INTERRUPT, ())}
                answers = {i: decisions[stop.gate] for i, stop in stops.items() if stop.gate in decisions}
                if not answers:
                    run.replay.check()
                    if not stops:
                        run.replay.check_gates(gates)
                    elif len(gates.keys() | {stop.gate for stop in stops.values()}) > MOST_GATES:
                        raise GatesExhausted(
                            f"it has asked people at {MOST_GATES} gates, as many as one workflow may: what "
                            "was decided and done stands; begin another for what is left"
                        )
                    return list(stops.values()) or dict(outcome)
                for stop_id in answers:
                    await self._check_given(run, stop_id, stops[stop_id])
                    await run.pass_gate(stops[stop_id].gate)
                entry = Command(resume={i: answer.model_dump() for i, answer in answers.items()})
        finally:
            self.compiled.forget(thread_id)

    async def _begin(self, run: Run) -> tuple[dict[str, Any], Any]:
        try:
            return await self.compiled.declared.begin(run)
        except ValidationError as error:
            fault = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in fault["loc"]) or "input"
            raise JournalMismatch(
                f"this release's {self.claim.kind} takes another input ({where}: {fault['msg']}): run the "
                "release that began the workflow, or stop it"
            ) from error

    async def _gates(self, run: Run) -> dict[str, AskedGate]:
        """The gates that people were asked at, with the decisions so far; looked for where there are any.

        Raises:
            PermissionMissing: whoever asked may not ask any more for what was approved.
            JournalMismatch: the graph has no such gate.
        """

        async def look(connection: Connection) -> dict[str, AskedGate]:
            found = await approvals.gates(connection, self.claim.workflow_id)
            decisions = [asked.decision for asked in found.values() if asked.decision]
            if any(decision.status == "approved" for decision in decisions):
                await self._check_still_permitted(connection)
            return found

        if not run.asked:
            return {}
        here = self.compiled.declared.gates
        # Of a graph that has no gate, too: an approval may have come with its workflow.
        gates = await self.database.read(look)
        if unknown := [gate for gate in gates if gate.partition("/")[0] not in here]:
            raise mismatch(f"gate {min(unknown)}")
        return gates

    async def _check_still_permitted(self, connection: Connection) -> None:
        permission, person = self.claim.permission, self.claim.requested_by
        if permission and not await users.still_has(connection, person, permission):
            raise PermissionMissing(
                f"{person} asked for this and no longer has {permission.topic}:{permission.role}"
            )

    async def _check_given(self, run: Run, stop_id: str, stop: GateStop) -> None:
        """A decision is given once, to the gate that it was taken for."""
        run.replay.give(stop.gate, place=stop_id)
        if stop.request is not None:
            await self.database.read(
                lambda connection: approvals.check_same(connection, self.claim.workflow_id, stop)
            )

    async def _settle(self, stop: dict[str, Any] | list[GateStop]) -> None:
        if isinstance(stop, list):
            await self.database.steadily(lambda: approvals.open_gates(self.database, self.claim, stop))
            return
        kind = self.compiled.declared
        result = json.dumps(kind.result(stop))
        await self.journal.finish(
            claims.Finish(claim=self.claim, result=result, project=kind.project is not None)
        )

    async def _park_or_fail(self, error: Exception) -> None:
        waiting = outage.waits_for(error)
        if waiting is None:
            await self._fail(logged(error, _log, f"workflow {self.claim.workflow_id}"))
            return
        waited = self._waited()
        pause = outage.pause_seconds(waited, self.config.outages)
        if pause is None:
            patience = self.config.outages.patience_seconds
            await self._fail(f"waited {patience:g} s in vain for {waiting}: {error_line(error)}")
        else:
            await self._park(waiting, pause_seconds=pause, waited=waited + pause)

    def _waited(self) -> float:
        """For how many seconds it has been tried in vain since it got on, in this run and in earlier ones."""
        if self.run and self.run.kept_at is not None:
            return time.monotonic() - self.run.kept_at
        return self.claim.waited_seconds + time.monotonic() - self.begun

    async def _park(self, waits_for: str, *, pause_seconds: float | None, waited: float = 0.0) -> None:
        waits_for = error_line(waits_for)
        _log.warning("workflow %s is parked: %s", self.claim.workflow_id, waits_for)
        afresh = self.run is not None and self.run.got_on
        await self.database.steadily(
            lambda: claims.park(
                self.database,
                self.claim,
                waits_for=waits_for,
                pause_seconds=pause_seconds,
                waited_seconds=waited,
                afresh=afresh,
            )
        )

    async def _fail(self, reason: str) -> None:
        _log.warning("workflow %s failed: %s", self.claim.workflow_id, reason)
        kind, run = self.compiled.declared, self.run
        project = kind.project is not None

        async def besides(connection: Connection) -> None:
            if kind.failed and run:
                await kind.failed(connection, run, reason)

        try:
            await self.database.steadily(
                lambda: claims.fail(self.database, self.claim, error=reason, project=project, besides=besides)
            )
        except (Fenced, asyncio.CancelledError):
            raise
        except Exception as second:  # noqa: BLE001  # it is told in the reason, and must not hide the first
            besides_too = logged(second, _log, f"workflow {self.claim.workflow_id}, beside its failure")
            told = f"{reason} (and what goes with a failure could not be done: {besides_too})"
            await self.database.steadily(
                lambda: claims.fail(self.database, self.claim, error=told, project=project)
            )
