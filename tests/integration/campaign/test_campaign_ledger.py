"""The campaign's ledger, in a real Postgres: what is moved, kept and tampered with is noted."""

from typing import Any

import pytest

from models.operations.operations import OperationRequest
from models.research.agent_workflows import StartRequest
from models.runtime.workflows import Claim, WorkflowRequest
from models.store.database import Database
from models.store.knowledge import projects
from models.store.operations import history, operations
from models.store.research import agent_workflows, progress
from models.store.runtime import claims, documents, runners, workflows
from models.store.runtime.documents import NewDocument
from models.store.runtime.runners import RunnerProcess
from tests.fakes.graphs import KINDS
from tests.faults import ledger
from tests.faults.ledger import Ask, Keep, Move

HERE = RunnerProcess(node="n", pid=1, machine=None, started=None)


@pytest.fixture
def ask(database: Database) -> Ask:
    """What a query finds."""

    async def find(query: str, *values: Any) -> list[dict[str, Any]]:
        async with database.connection() as connection:
            return await (await connection.execute(query.encode(), values)).fetchall()

    return find


async def claimed(database: Database, runner_id: str, *, lease_seconds: float) -> Claim:
    """The one workflow there is, claimed by a runner."""
    async with database.connection() as connection:
        await runners.renew(
            connection, runner_id=runner_id, name=runner_id, process=HERE, lease_seconds=lease_seconds
        )
    [claim] = await claims.claim(
        database, runner_id=runner_id, rooms=dict.fromkeys(KINDS, 1), limit=1, lease_seconds=lease_seconds
    )
    return claim


async def test_what_is_moved_kept_and_tampered_with_is_noted(database: Database, ask: Ask) -> None:
    await ledger.install(database)
    request = WorkflowRequest(kind=next(iter(KINDS)), input={}, input_digest="d", requested_by="ann")
    async with database.transaction() as connection:
        workflow_id = (await workflows.create(connection, request)).id
    claim = await claimed(database, "a", lease_seconds=60)
    await documents.put(database, [NewDocument(claim=claim, key="k", value='{"epoch": 1}', calls=None)])
    async with database.connection() as connection:
        await connection.execute("UPDATE documents SET value = '{}' WHERE key = 'k'")
        await connection.execute("UPDATE runners SET lease_until = now() - interval '1 second'")
        await connection.execute("UPDATE lease_clock SET running_since = now() - interval '1 hour'")
    await claimed(database, "b", lease_seconds=60)
    async with database.transaction() as connection:
        await workflows.cancel(connection, workflow_id, reason="cancelled by ann")
    moves = await ledger.moves(ask, [workflow_id])
    assert [(m.before, m.after, m.epoch, m.new_epoch) for m in moves] == [
        ("queued", "running", 0, 1),
        ("running", "running", 1, 2),
        ("running", "cancelled", 2, 3),
    ]
    taken = [move.taken_with for move in moves]
    assert [with_ is not None and with_ > 0 for with_ in taken] == [True, True, False]
    lost: list[Move] = [move for move in moves if move.lease_left is not None and move.lease_left <= 0]
    assert lost == [moves[1]]
    keeps: list[Keep] = await ledger.keeps(ask, [workflow_id])
    assert [(k.key, k.did, k.epoch, k.status, k.made_under) for k in keeps] == [
        ("k", "INSERT", 1, "running", 1),
        ("k", "UPDATE", 1, "running", None),
    ]


async def test_what_is_written_of_a_research_is_noted_with_its_status(database: Database, ask: Ask) -> None:
    await ledger.install(database)
    request = StartRequest.model_validate({"task_type": "scrape", "user_query": "How do watermills turn?"})
    async with database.transaction() as connection:
        project, _ = await projects.find_or_create(connection, topic="macro", name="Mills", by="ann")
        research, _ = await agent_workflows.start(connection, request, project=project, requested_by="ann")
        await progress.say(
            connection, research.id, agent="researcher", step="create_plan", content="c", reasoning="r"
        )
        await workflows.cancel(connection, research.workflow_id, reason="cancelled by ann")
        await connection.execute("UPDATE agent_messages SET content = 'd'")
        await connection.execute("DELETE FROM agent_messages")
    noted = await ledger.writes(ask, [research.id])
    assert [(w.table, w.did, w.status) for w in noted] == [
        ("agent_messages", "INSERT", "queued"),
        ("agent_messages", "UPDATE", "cancelled"),
        ("agent_messages", "DELETE", "cancelled"),
    ]
    assert [(w.was or {}).get("content") for w in noted] == [None, "c", "d"]
    assert [(w.now or {}).get("content") for w in noted] == ["c", "d", None]
    assert await ledger.writes(ask, [research.id + 1]) == []


async def test_what_is_written_of_an_operation_is_noted_with_its_status(database: Database, ask: Ask) -> None:
    await ledger.install(database)
    request = OperationRequest(query="why is it late?", topic="macro")
    async with database.transaction() as connection:
        operation, _ = await operations.start(
            connection, request, requested_by="ann", gates=("plan", "results")
        )
        await operations.keep_progress(connection, operation.id, {})
        await workflows.cancel(connection, operation.workflow_id, reason="cancelled by ann")
        await history.tell(
            connection, operation.id, iteration=1, stage="plan_creation", agent="planner", result={}
        )
        await connection.execute("UPDATE operation_history SET user_feedback = 'd'")
        await connection.execute("DELETE FROM operation_history")
    noted = await ledger.operated(ask, [operation.id])
    assert [(o.table, o.did, o.status) for o in noted] == [
        ("operations", "UPDATE", "queued"),
        ("operation_history", "INSERT", "cancelled"),
        ("operation_history", "UPDATE", "cancelled"),
        ("operation_history", "DELETE", "cancelled"),
    ]
    assert await ledger.operated(ask, [operation.id + 1]) == []
