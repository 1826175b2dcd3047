"""A workflow of many gates: what a replay sends does not grow with them, and their number is bounded."""

import pytest

from actors.platform.runtime import execution
from models.runtime.approvals import Approval
from models.store import approval_inbox, decisions
from models.store.database import Database
from models.store.runtime import workflows
from tests.fakes import graphs
from tests.fakes.barrier import Barrier
from tests.integration.rows_read import statements_sent
from tests.integration.runtime.deciding import EDITOR, yes
from tests.integration.runtime.journals.carrying import Configure, a_graph, carry, look
from tests.integration.workflows import begin


def with_gates(number: int) -> list[str]:
    """A step and a gate, so many times, and a last step."""
    return [part for n in range(number) for part in (f"step {n}", f"gate:g{n}")] + ["last"]


async def pending(database: Database, workflow_id: str) -> list[Approval]:
    """What a workflow waits for."""
    async with database.connection() as connection:
        return await approval_inbox.pending_of_workflow(connection, workflow_id)


async def agree(database: Database, workflow_id: str) -> None:
    """Say yes to what a workflow waits for."""
    for approval in await pending(database, workflow_id):
        await decisions.decide(
            database, approval_id=approval.id, answer=yes(approval), decided_by="bob", scopes=EDITOR
        )


async def test_a_replay_sends_as_much_after_many_gates_as_after_few(
    database: Database, configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, sent = configure(), []
    kind = a_graph(*with_gates(9))
    with Barrier() as barrier:
        workflow = await begin(database, barrier, "gated")
        for turn in range(9):
            with statements_sent(monkeypatch) as statements:
                await carry(database, config, kind, f"r{turn}")
            sent.append(len(statements))
            await agree(database, workflow.id)
        await carry(database, config, kind, "last")
        assert (await look(database, workflow.id)).status == "succeeded"
        assert [a.step for a in barrier.arrivals] == [part for part in with_gates(9) if "gate" not in part]
    # The first has no documents to read.
    assert sent[1:] == [sent[1]] * 8


async def test_the_limit_of_steps_is_from_one_gate_to_the_next(
    database: Database, configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "_RECURSION_LIMIT", 4)
    config = configure()
    kind = a_graph(*with_gates(6))
    with Barrier() as barrier:
        workflow = await begin(database, barrier, "gated")
        for turn in range(6):
            await carry(database, config, kind, f"r{turn}")
            await agree(database, workflow.id)
        await carry(database, config, kind, "last")
    assert (await look(database, workflow.id)).error is None
    assert (await look(database, workflow.id)).status == "succeeded"


async def test_a_workflow_asks_at_so_many_gates_and_no_more(
    database: Database, configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "MOST_GATES", 2)
    config = configure()
    kind = a_graph(*with_gates(3))
    with Barrier() as barrier:
        workflow = await begin(database, barrier, "gated")
        for turn in range(2):
            await carry(database, config, kind, f"r{turn}")
            assert len(await pending(database, workflow.id)) == 1
            await agree(database, workflow.id)
        await carry(database, config, kind, "last")
        failed = await look(database, workflow.id)
        assert failed.status == "failed"
        assert "it has asked people at 2 gates, as many as one workflow may" in (failed.error or "")
        assert await pending(database, workflow.id) == []
        assert [a.step for a in barrier.arrivals] == ["step 0", "step 1", "step 2"]


async def test_one_gate_is_come_by_while_the_one_beside_it_still_waits(
    database: Database, configure: Configure
) -> None:
    config = configure()
    with Barrier() as barrier:
        workflow = await begin(database, barrier, "gates")
        await carry(database, config, graphs.GATES)
        left, _ = sorted(await pending(database, workflow.id), key=lambda approval: approval.gate)
        await decisions.decide(
            database, approval_id=left.id, answer=yes(left), decided_by="bob", scopes=EDITOR
        )
        for turn in range(2):  # as if its runner had died before it could wait again
            async with database.connection() as connection:
                await connection.execute("UPDATE workflows SET status = 'queued'")
            await carry(database, config, graphs.GATES, f"r{turn}")
            assert (await look(database, workflow.id)).status == "waiting"
            assert [each.gate for each in await pending(database, workflow.id)] == ["right"]
        await agree(database, workflow.id)
        await carry(database, config, graphs.GATES, "last")
        done = await look(database, workflow.id)
        assert done.result is not None
        assert sorted(done.result["done"]) == ["beside", "join", "left: approved", "right: approved"]
        assert [a.step for a in barrier.arrivals] == ["beside", "join"]


@pytest.mark.parametrize("number", [1.0, 1e3, 1e22, 0.1, -0.0])
async def test_a_number_that_the_database_writes_in_another_way_is_the_same_request(
    database: Database, configure: Configure, monkeypatch: pytest.MonkeyPatch, number: float
) -> None:
    """It is looked at by the database then, as it wrote it."""
    config = configure()
    request = graphs.plan("pay").model_copy(update={"content": {"amount": number}})
    monkeypatch.setattr(graphs, "plan", lambda *_: request)
    with Barrier() as barrier:
        workflow = await begin(database, barrier, "gated")
        await carry(database, config, graphs.GATED)
        await agree(database, workflow.id)
        await carry(database, config, graphs.GATED, "r2")
        assert (await look(database, workflow.id)).status == "succeeded"
        assert barrier.runs(workflow.id, "act") == 1


async def test_a_retried_workflow_comes_by_its_gates_again(database: Database, configure: Configure) -> None:
    config = configure()
    kind = a_graph("gate:plan", "act")
    with Barrier() as barrier:
        workflow = await begin(database, barrier, "gated", fail="act")
        await carry(database, config, kind)
        await agree(database, workflow.id)
        await carry(database, config, kind, "r2")
        assert (await look(database, workflow.id)).status == "failed"
        async with database.transaction() as connection:
            await connection.execute("UPDATE workflows SET input = input - 'fail'")
            await workflows.retry(connection, workflow.id)
        await carry(database, config, kind, "r3")
        assert (await look(database, workflow.id)).status == "succeeded"
