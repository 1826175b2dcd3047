"""What docs/operations.md says of operations where it is easily forgotten."""

from collections.abc import Callable

import pytest

from models.config import Config
from models.errors import ApprovalConflict
from models.mcp.tool_answers import ServedToolCall
from models.store.database import Database
from models.store.runtime import workflows
from tests.integration.operations.operations_desk import OperationsDesk, operations_config
from tests.integration.operations.test_writes import NOTE, READ, proposing


async def test_a_server_that_goes_away_in_the_middle_of_a_reading_is_not_waited_for(
    operations_desk: OperationsDesk,
) -> None:
    desk = operations_desk
    crm = desk.servers["crm"]

    def leave(call: ServedToolCall) -> None:
        crm.away = True

    crm.before_answer = leave
    async with desk.running():
        number = await desk.start()
        await desk.approve_plan(number)
        results = await desk.gate(number, "operation_results")
        [found] = [one for one in results.content["results"] if one["agent"] == "crm"]
        assert (found["status"], found["metadata"]["data_quality"]) == ("completed", "medium")
        assert len(found["result"]["items"]) == 1
        assert "crm: call 2 of search failed: the server is away" in results.content["missing"]


async def test_what_is_said_to_a_plan_that_code_makes_changes_nothing_and_is_told(
    operations_desk: OperationsDesk,
) -> None:
    desk = operations_desk
    said = "look for INV-3077 as well"
    async with desk.running():
        number = await desk.start()
        first = await desk.gate(number, "operation_plan")
        refused = {"approved": False, "digest": first.digest, "feedback": said}
        await desk.call("decide_operation_plan", number, **refused)
        await desk.stopped(number, "waiting")
        second = await desk.gate(number, "operation_plan")
        assert second.content["plan"]["leads"] == first.content["plan"]["leads"]
        assert [note for note in second.content["plan"]["notes"] if said in note]
        await desk.approve_plan(number, modified_plan={"instructions": {"crm": said}})
        await desk.gate(number, "operation_results")
        assert "INV-3077" in {call.arguments["query"] for call in desk.servers["crm"].calls}


async def test_a_no_in_the_inbox_to_a_write_is_a_no_to_that_write(operations_desk: OperationsDesk) -> None:
    desk = operations_desk
    proposing(desk, {**READ}, {**NOTE})
    async with desk.running():
        number = await desk.start()
        await desk.approve_plan(number)
        gate = await desk.gate(number, "operation_write")
        with pytest.raises(ApprovalConflict):  # it is no question that words answer
            await desk.call("clarify_operation", number, request_id=gate.approval_id, answer="OK")
        decision = {"approval_id": gate.approval_id, "digest": gate.digest, "decision": "reject"}
        await desk.desk.call(await desk.ann(), "decide_approval", **decision, notes="not needed")
        await desk.stopped(number, "waiting")
        await desk.gate(number, "operation_results")
        assert desk.servers["crm"].written == []


async def test_what_nobody_decides_ends_as_expired(
    configure: Callable[..., Config], database: Database
) -> None:
    soon = operations_config(configure, **{"operations.approval.expires_in_seconds": 0.5})
    desk = OperationsDesk(soon, database)
    async with desk.running():
        number = await desk.start()
        await desk.stopped(number)
        found = await desk.call("get_operation", number)
        assert (found.status, found.outcome) == ("completed", "expired")
        assert sum((await desk.calls()).values()) == 0


async def test_one_that_failed_goes_on_from_its_last_step_where_it_is_retried(
    configure: Callable[..., Config], database: Database
) -> None:
    desk = OperationsDesk(operations_config(configure, **{"outages.patience_seconds": 0.5}), database)
    async with desk.running():
        number = await desk.start()
        await desk.gate(number, "operation_plan")
        desk.servers["crm"].away = True
        await desk.approve_plan(number)
        assert (await desk.stopped(number)).status == "failed"
        before = await desk.calls()
        desk.servers["crm"].away = False
        found = await desk.call("get_operation", number)
        async with database.transaction() as connection:
            await workflows.retry(connection, found.plan_id)
        await desk.stopped(number, "waiting", "failed")
        await desk.gate(number, "operation_results")
        assert (await desk.calls())["gmail"] == before["gmail"]
