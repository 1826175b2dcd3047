"""The journal is the only record of progress: replayed from the start, and fenced row by row."""

import asyncio
import dataclasses
from typing import Any

import psycopg
import pytest
from langgraph.graph import END, START, StateGraph
from pydantic import BaseModel

from actors.platform.runtime.group_commit import JournalWriter
from actors.platform.runtime.workflow_graph import WorkflowGraph
from models.errors import Fenced
from models.store import approval_inbox, decisions
from models.store.database import Database
from models.store.runtime import claims, documents, workflows
from models.store.runtime.documents import NewDocument
from tests.fakes import graphs
from tests.fakes.barrier import Barrier
from tests.integration.runtime.claims.claiming import claim, end, lease, outcome
from tests.integration.runtime.deciding import EDITOR, waiting, yes
from tests.integration.runtime.journals.carrying import Configure, carry, look
from tests.integration.workflows import begin, ended, running


async def test_locked_rows_hold_up_only_their_own_workflows(database: Database, database_url: str) -> None:
    with Barrier() as barrier:
        made = [(await begin(database, barrier)).id for _ in range(12)]
    await lease(database, "r")
    held = {c.workflow_id: c for c in await claim(database, "r", 12)}
    journal = JournalWriter(database=database)
    locked = made[:3]
    async with await psycopg.AsyncConnection.connect(database_url) as other:
        await other.execute("SELECT 1 FROM workflows WHERE id = ANY(%s) FOR UPDATE", (locked,))
        puts = {
            workflow_id: asyncio.create_task(journal.put(outcome(held[workflow_id], f"s{turn}")))
            for workflow_id in made
            for turn in (1,)
        }
        for workflow_id in made[3:]:
            await asyncio.wait_for(puts[workflow_id], 20)
            # And the next ones too: nothing waits in line behind the locked rows.
            await asyncio.wait_for(journal.put(outcome(held[workflow_id], "s2")), 20)
        assert not any(puts[workflow_id].done() for workflow_id in locked)
        await other.rollback()
    for workflow_id in locked:
        await asyncio.wait_for(puts[workflow_id], 20)
        assert "s1" in await documents.get_all(database, workflow_id)


async def test_a_row_that_cannot_be_stored_fails_only_its_own_workflow(database: Database) -> None:
    with Barrier() as barrier:
        for _ in range(4):
            await begin(database, barrier)
    await lease(database, "r")
    held = await claim(database, "r", 4)
    journal = JournalWriter(database=database, lanes=1)
    values = ["{}", '{"text": "\\u0000"}', "{}", "not JSON"]
    answers = await asyncio.gather(
        *(journal.put(outcome(c, "k", value)) for c, value in zip(held, values, strict=True)),
        return_exceptions=True,
    )
    assert [isinstance(answer, psycopg.DataError) for answer in answers] == [False, True, False, True]
    assert ["k" in await documents.get_all(database, c.workflow_id) for c in held] == [
        True,
        False,
        True,
        False,
    ]


async def test_one_group_of_an_old_and_a_new_epoch_writes_only_the_new(database: Database) -> None:
    with Barrier() as barrier:
        workflow = await begin(database, barrier)
    await lease(database, "r1")
    [old] = await claim(database, "r1")
    await end(database, "r1")
    await lease(database, "r2")
    [new] = await claim(database, "r2")
    journal = JournalWriter(database=database, lanes=1)
    puts = [outcome(new, "a"), outcome(old, "b"), outcome(new, "c")]
    answers = await asyncio.gather(*(journal.put(o) for o in puts), return_exceptions=True)
    assert [isinstance(answer, Fenced) for answer in answers] == [False, True, False]
    assert (await documents.get_all(database, workflow.id)).keys() == {"a", "c"}


@pytest.mark.parametrize("first", ["old", "new"])
async def test_one_group_of_an_old_and_a_new_epoch_s_end_is_the_new_one_s(
    database: Database, first: str
) -> None:
    with Barrier() as barrier:
        workflow = await begin(database, barrier)
    await lease(database, "r1")
    [old] = await claim(database, "r1")
    await end(database, "r1")
    await lease(database, "r2")
    [new] = await claim(database, "r2")
    ends = [claims.Finish(old, '{"of": "old"}', False), claims.Finish(new, '{"of": "new"}', False)]
    if first == "new":
        ends.reverse()
    assert await claims.finish(database, ends) == {(workflow.id, new.epoch)}
    async with database.connection() as connection:
        assert (await workflows.get(connection, workflow.id)).result == {"of": "new"}


async def test_what_can_t_be_done_beside_a_failure_is_told_with_its_reason(
    database: Database, configure: Configure
) -> None:
    async def failed(*_: Any) -> None:
        raise ValueError("nobody could be told")

    kind = dataclasses.replace(graphs.STEPS, failed=failed)
    with Barrier() as barrier:
        workflow = await begin(database, barrier, fail="two")
        await carry(database, configure(), kind)
    found = await look(database, workflow.id)
    assert found.status == "failed"
    reason, _, beside = (found.error or "").partition(" (and what goes with a failure could not be done: ")
    assert reason
    assert "nobody could be told" in beside


async def test_the_first_document_under_a_key_stays(database: Database) -> None:
    with Barrier() as barrier:
        workflow = await begin(database, barrier)
    await lease(database, "r")
    [held] = await claim(database, "r")
    for value in ('{"n": 1}', '{"n": 2}'):
        await documents.put(database, [NewDocument(claim=held, key="k", value=value, calls=None)])
    assert await documents.get_all(database, workflow.id) == {"k": {"n": 1}}


async def test_gates_side_by_side_are_decided_one_by_one_and_their_sibling_finishes(
    database: Database, configure: Configure
) -> None:
    with Barrier() as barrier:
        workflow = await begin(database, barrier, "gates")
        async with running(database, configure()):
            await ended(database, workflow.id, "waiting")
            assert barrier.runs(workflow.id, "beside") == 1
            async with database.connection() as connection:
                gates = {a.gate: a for a in await approval_inbox.of_workflow(connection, workflow.id)}
            assert gates.keys() == {"left", "right"}
            for gate in ("right", "left"):
                assert barrier.runs(workflow.id, "join") == 0
                answer = yes(gates[gate])
                if gate == "left":
                    answer = {"decision": "reject", "digest": gates[gate].digest, "notes": "no"}
                await decisions.decide(
                    database, approval_id=gates[gate].id, answer=answer, decided_by="bob", scopes=EDITOR
                )
            done = await ended(database, workflow.id)
        assert done.result is not None
        assert sorted(done.result["done"]) == ["beside", "join", "left: rejected", "right: approved"]
        assert [barrier.runs(workflow.id, step) for step in ("beside", "join")] == [1, 1]


async def test_a_renamed_node_skips_nothing_when_its_gate_is_decided(
    database: Database, configure: Configure
) -> None:
    """A node was renamed while an approval waited: the decision is found by the gate's name."""
    config = configure()
    with Barrier() as barrier:
        workflow = await begin(database, barrier, "gated")
        await carry(database, config, graphs.GATED)
        approval = await waiting(database, workflow.id)
        await decisions.decide(
            database, approval_id=approval.id, answer=yes(approval), decided_by="bob", scopes=EDITOR
        )

        def renamed() -> StateGraph[Any, Any, Any, Any]:
            graph = StateGraph(graphs.State, context_schema=graphs.Context)
            nodes = {"prepare": graphs._step("prepare"), "decision": graphs._gate, "do": graphs._step("act")}
            for name, node in nodes.items():
                graph.add_node(name, node)
            graph.add_edge(START, "prepare")
            graph.add_edge("prepare", "decision")
            graph.add_edge("decision", "do")
            graph.add_edge("do", END)
            return graph

        kind = WorkflowGraph(
            build=renamed, begin=graphs.begin, result=graphs._result, gates=frozenset({"plan"})
        )
        await carry(database, config, kind, "r2")
        assert (await look(database, workflow.id)).status == "succeeded"
        assert [a.step for a in barrier.arrivals] == ["prepare", "act"]


async def test_whoever_waits_for_a_locked_workflow_holds_no_connection(
    database_url: str, configure: Configure
) -> None:
    with Barrier() as barrier:
        async with Database(url=database_url, pool_size=2) as database:
            made = [(await begin(database, barrier)).id for _ in range(5)]
            await lease(database, "r")
            held = {c.workflow_id: c for c in await claim(database, "r", 5)}
            locked, free = made[:4], made[4]
            journal = JournalWriter(database=database)
            async with await psycopg.AsyncConnection.connect(database_url) as other:
                await other.execute("SELECT 1 FROM workflows WHERE id = ANY(%s) FOR UPDATE", (locked,))
                waits = [
                    asyncio.create_task(
                        database.steadily(lambda c=held[i]: claims.give_back(database, c))  # type: ignore[misc]
                    )
                    for i in locked
                ]
                for step in range(10):
                    await asyncio.wait_for(journal.put(outcome(held[free], f"s{step}")), 3)
                assert not any(task.done() for task in waits)
                await other.rollback()
            await asyncio.wait_for(asyncio.gather(*waits), 20)


async def test_a_decision_is_not_given_to_a_gate_that_asks_for_something_else(
    database: Database, configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = configure()
    with Barrier() as barrier:
        workflow = await begin(database, barrier, "gated")
        await carry(database, config, graphs.GATED)
        approval = await waiting(database, workflow.id)
        await decisions.decide(
            database, approval_id=approval.id, answer=yes(approval), decided_by="bob", scopes=EDITOR
        )
        with monkeypatch.context() as patch:
            patch.setattr(graphs, "plan", lambda *_: graphs_plan("send everything to everybody"))
            await carry(database, config, graphs.GATED, "r2")
        parked = await look(database, workflow.id)
        assert parked.status == "parked"
        assert "asks for something else than approval" in (parked.parked_for or "")
        assert barrier.runs(workflow.id, "act") == 0


graphs_plan = graphs.plan


async def test_a_document_that_no_longer_fits_its_record_parks_the_workflow(
    database: Database, configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Other(BaseModel):
        number: int

    config = configure()
    with Barrier() as barrier:
        workflow = await begin(database, barrier)
        await lease(database, "r0")
        [held] = await claim(database, "r0")
        await documents.put(database, [outcome(held, "one", '{"said": "one"}')])
        await end(database, "r0")
        monkeypatch.setattr(graphs, "Done", Other)
        await carry(database, config, graphs.STEPS)
        parked = await look(database, workflow.id)
        assert parked.status == "parked"
        assert "step one was kept as something else than this release's Other" in (parked.parked_for or "")
        assert barrier.arrivals == []
        assert await claim(database, "r") == [], "it waits for another release, not for a time"
        monkeypatch.undo()
        async with running(database, config):  # a runner that starts tries it again
            assert (await ended(database, workflow.id)).status == "succeeded"
