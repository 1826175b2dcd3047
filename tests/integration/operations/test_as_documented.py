"""What docs/operations.md says of operations where it is easily forgotten."""

import asyncio
from collections.abc import Callable

import pytest

from models.config import Config
from models.errors import ApprovalConflict, ModelUnavailable
from models.mcp.tool_answers import ServedToolCall
from models.operations.results import ProposedWrite
from models.store.database import Database
from models.store.runtime import workflows
from tests.fakes.served import ServedThings
from tests.integration.events.event_streams import until
from tests.integration.operations.operations_desk import OperationsDesk, operations_config
from tests.integration.operations.test_writes import NOTE, READ, proposing


def leave_at(server: ServedThings, number: int) -> None:
    """Have a server go away as it answers a call."""

    def leave(call: ServedToolCall) -> None:
        server.away = len(server.calls) == number

    server.before_answer = leave


async def test_a_server_that_goes_away_in_the_middle_of_a_reading_is_waited_for(
    operations_desk: OperationsDesk,
) -> None:
    desk = operations_desk
    crm = desk.servers["crm"]
    leave_at(crm, 1)
    async with desk.running():
        number = await desk.start()
        await desk.approve_plan(number)
        assert (await desk.stopped(number, "parked")).parked_for == "MCP server crm"
        crm.away = False
        results = await desk.gate(number, "operation_results")
        [found] = [one for one in results.content["results"] if one["agent"] == "crm"]
        assert (found["status"], found["metadata"]["data_quality"]) == ("completed", "high")
        assert results.content["missing"] == []


async def test_one_that_stays_away_in_the_middle_of_a_reading_is_asked_about(
    configure: Callable[..., Config], database: Database
) -> None:
    desk = OperationsDesk(operations_config(configure, **{"operations.away_seconds": 0.05}), database)
    leave_at(desk.servers["crm"], 1)
    async with desk.running():
        number = await desk.start()
        await desk.approve_plan(number)
        await desk.stopped(number, "waiting")
        question = await desk.gate(number, "operation_question")
        assert (question.content["agent"], question.content["kind"]) == ("crm", "failed")
        assert "it has been waited for" in question.content["what"]


@pytest.mark.parametrize("most", ["operations.most_calls", "operations.most_items"])
async def test_a_reading_that_was_cut_off_says_so(
    configure: Callable[..., Config], database: Database, most: str
) -> None:
    desk = OperationsDesk(operations_config(configure, **{most: 1}), database)
    async with desk.running():
        number = await desk.start()
        await desk.approve_plan(number)
        results = await desk.gate(number, "operation_results")
        [found] = [one for one in results.content["results"] if one["agent"] == "crm"]
        assert (found["status"], found["metadata"]["data_quality"]) == ("completed", "medium")
        assert (
            "crm stopped after 1 call and 1 thing, as many as it may: there may be more"
            in (results.content["missing"])
        )


async def test_who_is_at_work_is_told_while_they_work(operations_desk: OperationsDesk) -> None:
    desk = operations_desk
    desk.servers["crm"].held.clear()
    async with desk.running():
        number = await desk.start()
        await desk.approve_plan(number)
        await until(lambda: bool(desk.servers["crm"].calls))
        progress = (await desk.call("get_operation", number)).progress
        assert (progress.current_stage, progress.current_agent) == ("crm_execution", "crm")
        assert progress.completed_agents == ("gmail", "accounts_payable")
        desk.servers["crm"].held.set()
        await desk.gate(number, "operation_results")


async def test_a_cancel_while_something_is_written_names_it_and_the_history_has_it(
    operations_desk: OperationsDesk,
) -> None:
    desk = operations_desk
    proposing(desk, {**READ}, {**NOTE})
    sent = asyncio.Event()

    async def write(proposed: ProposedWrite) -> None:
        sent.set()
        await asyncio.Event().wait()

    desk.agents["crm"].write = write
    async with desk.running():
        number, gate = await desk.asked_to_write()
        await desk.call("decide_operation_agent", number, digest=gate.digest, answer="accept")
        await asyncio.wait_for(sent.wait(), 20)
        cancelled = await desk.call("cancel_operation", number)
        assert "add_note was being sent: look there whether it was done." in cancelled.message
        history = (await desk.call("read_operation_history", number)).execution_history
        [entry] = [one for one in history if "sending" in one.result]
        assert (entry.by, entry.result["sending"]["arguments"]) == ("ann", NOTE["arguments"])


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
        number, gate = await desk.asked_to_write()
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
    impatient = {"outages.patience_seconds": 0.5, "operations.away_seconds": 0.1}
    desk = OperationsDesk(operations_config(configure, **impatient), database)
    reader = desk.agents["crm"]
    read = reader.read

    async def nobody_chooses(*task: object, **how: object) -> None:
        raise ModelUnavailable("the model is away", waits_for="model m at u")

    reader.read = nobody_chooses
    async with desk.running():
        number = await desk.start()
        await desk.approve_plan(number)
        assert (await desk.stopped(number)).status == "failed"
        before = await desk.calls()
        reader.read = read
        found = await desk.call("get_operation", number)
        async with database.transaction() as connection:
            await workflows.retry(connection, found.plan_id)
        await desk.stopped(number, "waiting", "failed")
        await desk.gate(number, "operation_results")
        assert (await desk.calls())["gmail"] == before["gmail"]
