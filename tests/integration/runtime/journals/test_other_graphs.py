"""A replay under another graph: nothing new before all that was kept was asked for, or parked."""

import asyncio
import dataclasses
from typing import Any

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from pydantic import BaseModel

from actors.platform.runtime import replay
from actors.platform.runtime.run import Run
from actors.platform.runtime.workflow_graph import WorkflowGraph
from models.store import approvals, decisions
from models.store.database import Database
from models.store.runtime import documents, workflows
from tests.fakes import graphs
from tests.fakes.barrier import Barrier
from tests.integration.runtime.claims.claiming import claim, end, lease, outcome
from tests.integration.runtime.deciding import EDITOR, waiting, yes
from tests.integration.runtime.journals.carrying import Configure, a_graph, carry, look
from tests.integration.workflows import begin


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A graph that passes over something is found out soon."""
    monkeypatch.setattr(replay, "PATIENCE_SECONDS", 0.2)


OTHER_GRAPHS = [
    (("prepare", "gate:other", "act"), "gate plan"),
    (("prepare", "act"), "gate plan"),
    (("act",), "gate plan"),
    (("prepare", "new", "gate:plan", "act"), "gate plan"),
    (("gate:plan", "act"), "step prepare, which was done already"),
    (("prepare/1", "gate:plan", "act"), "gate plan"),
    (("gate:plan",), "step prepare, which was done already"),
    ((), "gate plan"),
]


@pytest.mark.parametrize("decided", ["approve", "reject", None])
@pytest.mark.parametrize(("now", "reason"), OTHER_GRAPHS)
async def test_a_graph_that_passes_over_what_there_is_does_nothing_and_is_parked_with_the_reason(
    database: Database,
    configure: Configure,
    impatient: None,
    decided: str | None,
    now: tuple[str, ...],
    reason: str,
) -> None:
    config = configure()
    with Barrier() as barrier:
        workflow = await begin(database, barrier, "gated")
        await carry(database, config, a_graph("prepare", "gate:plan", "act"))
        approval = await waiting(database, workflow.id)
        if decided:
            answer = {**yes(approval), "decision": decided, "notes": "no"}
            await decisions.decide(
                database, approval_id=approval.id, answer=answer, decided_by="bob", scopes=EDITOR
            )
        else:  # as one is that was asked for together with its workflow, or beside another gate
            async with database.connection() as connection:
                await connection.execute("UPDATE workflows SET status = 'queued'")
        await carry(database, config, a_graph(*now), "r2")
        parked = await look(database, workflow.id)
        assert parked.status == "parked"
        assert f"does not ask for {reason}" in (parked.parked_for or "")
        assert [a.step for a in barrier.arrivals] == ["prepare"], "nothing new was done"
        # It goes on under the graph that began it, once a runner starts or somebody says so.
        async with database.transaction() as connection:
            await workflows.retry(connection, workflow.id)
        await carry(database, config, a_graph("prepare", "gate:plan", "act"), "r3")
        assert (await look(database, workflow.id)).status == ("succeeded" if decided else "waiting")


@pytest.mark.parametrize(("gate", "done"), [("plan", ["prepare"]), ("other", []), (None, [])])
@pytest.mark.parametrize("decided", ["approve", None])
async def test_a_gate_that_was_asked_about_beforehand_is_come_by_or_it_does_not_succeed(
    database: Database,
    configure: Configure,
    impatient: None,
    decided: str | None,
    gate: str | None,
    done: list[str],
) -> None:
    """A graph that has the gate may not come by it; one that has not does nothing at all."""
    config = configure()
    with Barrier() as barrier:
        workflow = await begin(database, barrier, "gated")
        async with database.transaction() as connection:
            request = graphs.plan("send the letter", "pay the bill")
            approval = await approvals.ask(connection, workflow.id, "plan", request, requested_by="ann")
        if decided:
            await decisions.decide(
                database, approval_id=approval.id, answer=yes(approval), decided_by="bob", scopes=EDITOR
            )
        without = dataclasses.replace(a_graph("prepare"), gates=frozenset({gate} if gate else ()))
        await carry(database, config, without)
        parked = await look(database, workflow.id)
        assert (parked.status, parked.result) == ("parked", None)
        assert [a.step for a in barrier.arrivals] == done
        assert "does not ask for gate plan" in (parked.parked_for or "")


@pytest.mark.parametrize("now", [("one", "two/1"), ("two",), ("one/1", "two"), ("zero", "one", "two")])
async def test_a_step_that_was_done_is_not_done_again_under_another_name(
    database: Database, configure: Configure, impatient: None, now: tuple[str, ...]
) -> None:
    config = configure()
    with Barrier() as barrier:
        workflow = await begin(database, barrier)
        await lease(database, "r0")
        [held] = await claim(database, "r0")
        for step in ("one", "two"):
            await documents.put(database, [outcome(held, step, f'{{"said": "{step}"}}')])
        await end(database, "r0")
        await carry(database, config, a_graph(*now))
        parked = await look(database, workflow.id)
        assert parked.status == "parked"
        assert "which was done already" in (parked.parked_for or "")
        assert barrier.arrivals == []


async def test_a_gate_stands_once_in_a_graph(database: Database, configure: Configure) -> None:
    config = configure()
    with Barrier() as barrier:
        workflow = await begin(database, barrier, "gated")
        await carry(database, config, a_graph("prepare", "gate:plan", "act"))
        approval = await waiting(database, workflow.id)
        await decisions.decide(
            database, approval_id=approval.id, answer=yes(approval), decided_by="bob", scopes=EDITOR
        )
        await carry(database, config, a_graph("prepare", "gate:plan", "gate:plan"), "r2")
        failed = await look(database, workflow.id)
        assert failed.status == "failed"
        assert "stands twice" in (failed.error or "")


async def test_a_node_that_reads_for_long_has_passed_over_nothing(
    database: Database, configure: Configure, impatient: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While Postgres is away, what its sibling would do anew waits."""
    config = configure()
    back = asyncio.Event()
    asked = asyncio.Event()

    async def ping() -> None:
        asked.set()
        await back.wait()

    async def slow(state: graphs.State, runtime: Runtime[graphs.Context]) -> graphs.State:
        await asyncio.wait_for(asked.wait(), 10)
        back.set()
        return {"done": [await runtime.context.step("kept")]}

    async def quick(state: graphs.State, runtime: Runtime[graphs.Context]) -> graphs.State:
        return {"done": [await runtime.context.step("new")]}

    def build() -> StateGraph[Any, Any, Any, Any]:
        graph = StateGraph(graphs.State, context_schema=graphs.Context)
        for name, node in {"slow": slow, "quick": quick}.items():
            graph.add_node(name, node)
            graph.add_edge(START, name)
            graph.add_edge(name, END)
        return graph

    with Barrier() as barrier:
        workflow = await begin(database, barrier)
        await lease(database, "r0")
        [held] = await claim(database, "r0")
        await documents.put(database, [outcome(held, "kept", '{"said": "kept"}')])
        await end(database, "r0")
        monkeypatch.setattr(database, "ping", ping)
        await carry(database, config, WorkflowGraph(build=build, begin=graphs.begin, result=graphs._result))
        assert (await look(database, workflow.id)).status == "succeeded"
        assert [a.step for a in barrier.arrivals] == ["new"]


async def test_an_input_that_no_longer_fits_parks_the_workflow(
    database: Database, configure: Configure
) -> None:
    class Asked(BaseModel):
        topics: list[str]

    async def begin_otherwise(run: Run) -> tuple[dict[str, Any], graphs.Context]:
        Asked.model_validate(run.input)
        return await graphs.begin(run)

    kind = WorkflowGraph(build=graphs.build_steps, begin=begin_otherwise, result=graphs._result)
    with Barrier() as barrier:
        workflow = await begin(database, barrier)
        await carry(database, configure(), kind)
        parked = await look(database, workflow.id)
        assert (parked.status, barrier.arrivals) == ("parked", [])
        assert "takes another input (topics: Field required)" in (parked.parked_for or "")
