"""Plans: a server that is away while one is made is waited for, and what a person says is not lost."""

from collections.abc import Callable
from typing import Any

import pytest

from models.config import Config
from models.mcp.tool_answers import ServerQuestion
from models.store import approval_inbox
from models.store.database import Database
from tests.integration.operations.operations_desk import OperationsDesk, operations_config
from tests.integration.workflows import ended

ASKED = {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]}


async def test_a_server_that_is_away_while_a_plan_is_made_is_waited_for(
    operations_desk: OperationsDesk,
) -> None:
    desk = operations_desk
    desk.servers["crm"].away = True
    async with desk.running():
        number = await desk.start()
        found = await desk.call("get_operation", number)
        parked = await ended(desk.database, found.plan_id, "parked")
        assert parked.parked_for == "MCP server crm"
        found = await desk.call("get_operation", number)
        assert (found.status, found.waits_for) == ("parked", "MCP server crm")
        desk.servers["crm"].away = False
        gate = await desk.gate(number, "operation_plan")
        assert [step["agent"] for step in gate.content["plan"]["steps"] if step["tools"]] == [
            *("gmail", "accounts_payable", "crm"),
        ]


async def test_one_that_stays_away_is_left_out_of_the_plan_and_told_of(
    configure: Callable[..., Config], database: Database
) -> None:
    desk = OperationsDesk(operations_config(configure, **{"operations.away_seconds": 0.05}), database)
    desk.servers["crm"].away = True
    async with desk.running():
        gate = await desk.gate(await desk.start(), "operation_plan")
        assert gate.content["plan"]["agent_sequence"] == ["gmail", "accounts_payable", "analysis"]
        assert any(note.startswith("crm: crm can't be used now") for note in gate.content["plan"]["notes"])


async def test_an_agent_that_was_left_out_is_in_the_plan_that_a_person_asks_for_instead(
    operations_desk: OperationsDesk,
) -> None:
    desk = operations_desk
    async with desk.running():
        number = await desk.start()
        await desk.approve_plan(number, modified_plan={"skip_agents": ["crm"]})
        await desk.decide_results(
            number, approved=False, revision_type="full_replan", feedback="crm is to run as well"
        )
        await desk.stopped(number, "waiting")
        gate = await desk.gate(number, "operation_plan")
        assert "crm" in gate.content["plan"]["agent_sequence"]


async def test_what_is_said_with_a_retry_reaches_the_agent(operations_desk: OperationsDesk) -> None:
    desk = operations_desk
    desk.servers["crm"].fault = "out of order"
    async with desk.running():
        number = await desk.start()
        await desk.approve_plan(number)
        gate = await desk.gate(number, "operation_question")
        desk.servers["crm"].fault = None
        said = {"answer": "retry", "digest": gate.digest, "feedback": "look for INV-3077"}
        await desk.call("decide_operation_agent", number, **said)
        await desk.gate(number, "operation_results")
        assert "INV-3077" in {call.arguments["query"] for call in desk.servers["crm"].calls}


async def test_how_long_it_takes_is_learnt_from_what_it_took(operations_desk: OperationsDesk) -> None:
    desk = operations_desk
    async with desk.running():
        first = await desk.start()
        usual = (await desk.gate(first, "operation_plan")).content["plan"]["estimated_duration"]
        await desk.approve_plan(first)
        await desk.gate(first, "operation_results")
        second = await desk.gate(await desk.start(), "operation_plan")
        assert second.content["plan"]["estimated_duration"] < usual


async def test_what_was_given_to_a_server_is_for_one_reading(operations_desk: OperationsDesk) -> None:
    desk = operations_desk
    mail = desk.servers["gmail"]
    mail.asks = ServerQuestion(server="mail", tool="search", key="k", message="Which code?", requested=ASKED)
    async with desk.running():
        number = await desk.start(query="Why is INV-2041 late?")
        await desk.approve_plan(number)
        for times in (1, 2):
            gate = await desk.gate(number, "operation_question")
            assert len(mail.given) == times - 1, "nobody has given it anything yet"
            await desk.call(
                "decide_operation_agent", number, digest=gate.digest, answer="answer", given={"code": "1"}
            )
            await desk.gate(number, "operation_results")
            assert len(mail.given) == times
            if times == 1:
                revision = {
                    "revision_type": "specific_agents",
                    "target_agents": ["gmail"],
                    "feedback": "again",
                }
                await desk.decide_results(number, approved=False, **revision)
                await desk.stopped(number, "waiting")


async def test_another_iteration_takes_what_a_server_was_given_something_for(
    operations_desk: OperationsDesk,
) -> None:
    desk = operations_desk
    mail = desk.servers["gmail"]
    mail.asks = ServerQuestion(server="mail", tool="search", key="k", message="Which code?", requested=ASKED)
    async with desk.running():
        number = await desk.start(query="Why is INV-2041 late?")
        await desk.approve_plan(number)
        gate = await desk.gate(number, "operation_question")
        await desk.call(
            "decide_operation_agent", number, digest=gate.digest, answer="answer", given={"code": "1"}
        )
        await desk.gate(number, "operation_results")
        revision = {"revision_type": "specific_agents", "target_agents": ["crm"], "feedback": "again"}
        await desk.decide_results(number, approved=False, **revision)
        await desk.stopped(number, "waiting")
        gate = await desk.gate(number, "operation_results")
        assert gate.content["reused"] == ["gmail", "accounts_payable"]
        assert len(mail.given) == 1


async def test_an_operation_goes_on_as_it_was_asked_for_where_the_settings_are_others_now(
    configure: Callable[..., Config], database: Database
) -> None:
    desk = OperationsDesk(operations_config(configure), database)
    async with desk.running():
        number = await desk.start(task_type="comprehensive")
        await desk.approve_plan(number, modified_plan={"skip_agents": ["crm"]})
        await desk.gate(number, "operation_results")
    changed = operations_config(
        configure,
        **{"operations.task_types": {"other": {"gates": []}}, "operations.writes": "model"},
    )
    sources = {agent: one for agent, one in changed.operations.sources.items() if agent != "crm"}
    operations = changed.operations.model_copy(update={"sources": sources})
    desk.config = changed.model_copy(update={"operations": operations})
    async with desk.running():
        await desk.decide_results(
            number, approved=False, revision_type="specific_agents", target_agents=["gmail"], feedback="again"
        )
        await desk.stopped(number, "waiting", "parked", "failed")
        again = await desk.gate(number, "operation_results")
        assert again.content["iteration"] == 2
        await desk.decide_results(number, approved=True, revision_type="none")
        assert (await desk.stopped(number)).status == "succeeded"


async def test_of_what_was_decided_before_no_contents_are_read(
    operations_desk: OperationsDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = operations_desk
    async with desk.running():
        number = await desk.start()
        await desk.approve_plan(number, approved=False, feedback="again")
        gate = await desk.gate(number, "operation_plan")
        workflow = (await desk.stopped(number, "waiting")).id
    async with desk.database.connection() as connection:
        [waiting] = await approval_inbox.pending_of_workflow(connection, workflow)
        assert (waiting.id, waiting.content) == (gate.approval_id, gate.content)
        listed = await approval_inbox.listed_of_workflow(connection, workflow)
        assert [one.status for one in listed] == ["rejected", "pending"]
        assert all(not any(one.content.values()) for one in listed)

    async def all_of_it(*given: Any) -> None:
        raise AssertionError("each may be a megabyte")

    monkeypatch.setattr(approval_inbox, "of_workflow", all_of_it)
    found = await desk.call("get_operation", number)
    assert found.approval.content == gate.content
    told = await desk.call("decide_operation_plan", number, approved=True, digest=gate.digest)
    assert told.decision == "approved"
