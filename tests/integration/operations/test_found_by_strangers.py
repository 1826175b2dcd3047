"""What a stranger's attack on operations found: each was wrong once."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from models.config import Config
from models.errors import AgentDied, ModelTimedOut, ServedToolChanged, SignoffError
from models.mcp.tool_answers import ServedToolCall, ToolAnswer
from models.store import approvals
from models.store.database import Database
from models.store.people import users
from tests.fakes.served import ScriptedChoices
from tests.integration.operations.operations_desk import OperationsDesk, operations_config
from tests.integration.operations.properties.staged_agents import behave
from tests.integration.operations.test_writes import NOTE, READ, proposing
from tests.integration.rest import client, served

AGAIN = {"approved": False, "revision_type": "specific_agents", "target_agents": ["crm"], "feedback": "again"}


async def accept_write(desk: OperationsDesk) -> int:
    """Say yes to a plan, and to the call that changes something."""
    number, gate = await desk.asked_to_write()
    await desk.call("decide_operation_agent", number, digest=gate.digest, answer="accept")
    await desk.stopped(number, "waiting")
    return number


def writing(desk: OperationsDesk, answer: Callable[[ServedToolCall], ToolAnswer]) -> None:
    """Have the CRM's tool that writes answer so."""
    proposing(desk, READ, NOTE)
    crm = desk.servers["crm"]
    call = crm.call

    async def called(it: ServedToolCall, **how: Any) -> ToolAnswer:
        return answer(it) if it.tool == NOTE["tool"] else await call(it, **how)

    crm.call = called  # type: ignore[method-assign]


async def test_a_write_whose_tool_ends_with_an_error_may_have_been_done(
    operations_desk: OperationsDesk,
) -> None:
    desk = operations_desk
    failed = ToolAnswer(server="crm", tool="add_note", status="failed", text="ReadTimeout", seconds=0.1)
    writing(desk, lambda call: failed)
    async with desk.running():
        number = await accept_write(desk)
        gate = await desk.gate(number, "operation_question")
        assert (gate.content["kind"], gate.content["what"]) == (
            "write_unknown",
            "its server says that it failed: ReadTimeout",
        )


async def test_a_tool_that_changes_between_the_look_and_the_call_voids_the_plan(
    operations_desk: OperationsDesk,
) -> None:
    desk = operations_desk

    def changed(call: ServedToolCall) -> ToolAnswer:
        raise ServedToolChanged("crm.add_note: it is declared otherwise: nothing was called")

    writing(desk, changed)
    async with desk.running():
        number = await accept_write(desk)
        assert "declared otherwise" in (await desk.gate(number, "operation_plan")).content["feedback"]


@pytest.mark.parametrize("answer", [{"answer": "answer", "given": {"code": "7"}}, {"answer": "decline"}])
async def test_under_four_eyes_a_second_person_who_gives_the_same_to_a_server_decides(
    configure: Callable[..., Config], database: Database, answer: dict[str, Any]
) -> None:
    approval = operations_config(configure).operations.approval.model_dump() | {"four_eyes": True}
    desk = OperationsDesk(operations_config(configure, **{"operations.approval": approval}), database)
    behave(desk.servers["crm"], "asks")
    bob, carol = [await desk.desk.person(name, "macro:analyst") for name in ("bob", "carol")]
    async with desk.running():
        number = await desk.start(query="what is open")
        about = {"operation_id": number}
        gate = await desk.gate(number, "operation_plan")
        await desk.desk.call(bob, "decide_operation_plan", **about, digest=gate.digest, approved=True)
        outcomes = []
        for who in (bob, bob, carol):
            gate = await desk.gate(number, "operation_question")
            given = {**about, "digest": gate.digest, **answer}
            try:
                outcomes.append((await desk.desk.call(who, "decide_operation_agent", **given)).decision)
            except SignoffError as refused:
                outcomes.append(type(refused).__name__)
        assert outcomes[0] == "pending"
        assert outcomes[1] != "approved", "nobody approves what he has made of it himself"
        assert outcomes[2] == "approved"


@pytest.mark.parametrize("how", ["renamed", "removed"])
async def test_an_agent_that_was_gone_on_without_stays_so_where_the_settings_are_others_now(
    configure: Callable[..., Config], database: Database, how: str
) -> None:
    config = operations_config(configure)
    desk = OperationsDesk(config, database)
    behave(desk.servers["crm"], "asks")
    async with desk.running():
        number = await desk.start(query="what is open")
        await desk.approve_plan(number)
        gate = await desk.gate(number, "operation_question")
        await desk.call("decide_operation_agent", number, digest=gate.digest, answer="skip")
        await desk.gate(number, "operation_results")
    sources = config.operations.model_dump(mode="json")["sources"]
    if how == "renamed":
        sources["crm"]["service"] = "crm_v2"
    else:
        del sources["crm"]
    desk = OperationsDesk(operations_config(configure, **{"operations.sources": sources}), database)
    async with desk.running():
        await desk.decide_results(number, approved=True)
        ended = await desk.stopped(number, "succeeded", "failed", "parked")
        assert (ended.status, ended.parked_for) == ("succeeded", None)


async def test_what_was_given_goes_nowhere_once_its_agent_was_gone_on_without(
    operations_desk: OperationsDesk,
) -> None:
    desk = operations_desk
    crm = desk.servers["crm"]
    behave(crm, "asks")
    async with desk.running():
        number = await desk.start()  # two things are looked for: its server asks at each
        await desk.approve_plan(number)
        gate = await desk.gate(number, "operation_question")
        given = {"answer": "answer", "given": {"code": "7"}}
        await desk.call("decide_operation_agent", number, digest=gate.digest, **given)
        await desk.stopped(number, "waiting")
        gate = await desk.gate(number, "operation_question")
        await desk.call("decide_operation_agent", number, digest=gate.digest, answer="skip")
        await desk.gate(number, "operation_results")
        before = len(crm.given)
        await desk.decide_results(number, **AGAIN)
        await desk.stopped(number, "waiting")
        await desk.gate(number, "operation_question")
        assert len(crm.given) == before


async def test_only_how_long_the_server_itself_is_away_counts(
    configure: Callable[..., Config], database: Database
) -> None:
    desk = OperationsDesk(operations_config(configure, **{"operations.away_seconds": 0.5}), database)
    reader, crm, loop = desk.agents["crm"], desk.servers["crm"], asyncio.get_running_loop()
    read, began, looks = reader.read, list[float](), 0

    async def away_at_the_first_look(task: Any, iteration: int, **how: Any) -> Any:
        nonlocal looks
        began.append(loop.time())
        if loop.time() - began[0] < 1.2:
            raise AgentDied("the agent crm can't be reached", waits_for="agent crm")
        looks += 1
        crm.away = looks == 1
        return await read(task, iteration, **how)

    reader.read = away_at_the_first_look
    async with desk.running():
        number = await desk.start()
        await desk.approve_plan(number)
        await desk.gate(number, "operation_results")


async def test_a_model_that_fails_in_mid_reading_is_asked_about(operations_desk: OperationsDesk) -> None:
    desk = operations_desk

    class Failing(ScriptedChoices):
        async def complete(self, **asked: Any) -> Any:
            if self.prompts:
                raise ModelTimedOut("the model took too long")
            return await super().complete(**asked)

    desk.read_with("crm", Failing(READ))
    async with desk.running():
        number = await desk.start()
        await desk.approve_plan(number)
        gate = await desk.gate(number, "operation_question")
        assert gate.content["what"] == "its model chose no further call: the model took too long"
        await desk.call("decide_operation_agent", number, digest=gate.digest, answer="skip")
        results = await desk.gate(number, "operation_results")
        assert [text for text in results.content["missing"] if text.startswith("crm is here only in part")]


async def test_who_is_no_analyst_any_more_reads_nothing_of_it_through_its_approvals(
    configure: Callable[..., Config], database: Database
) -> None:
    config = operations_config(configure)
    desk = OperationsDesk(config, database)
    with served(config, database.url) as base:
        async with desk.running():
            number = await desk.start()
            gate = await desk.gate(number, "operation_plan")
            async with database.transaction() as connection:
                await users.revoke(connection, "ann", "macro:analyst", reason="left", revoked_by="eve")
            async with client(config, base, "ann", "macro:editor") as ann:
                assert (await ann.get(f"/api/operations/{number}")).status_code == 403
                assert (await ann.get(f"/api/approvals/{gate.approval_id}")).status_code == 404
                assert gate.approval_id not in (await ann.get("/api/approvals")).text


async def test_what_an_operation_ended_with_is_of_the_iteration_in_which_it_ended(
    operations_desk: OperationsDesk, database: Database
) -> None:
    desk = operations_desk
    async with desk.running():
        number = await desk.start()
        await desk.approve_plan(number)
        await desk.decide_results(
            number, approved=False, revision_type="full_replan", feedback="again, please"
        )
        await desk.stopped(number, "waiting")
        gate = await desk.gate(number, "operation_plan")
        progress = (await desk.call("get_operation", number)).progress
        assert (progress.current_stage, progress.completed_agents) == ("plan_approval", ())
        async with database.transaction() as connection:
            await connection.execute(
                "UPDATE approvals SET expires_at = now() WHERE id = %s", (gate.approval_id,)
            )
        await approvals.expire_due(database)
        ended = await desk.stopped(number)
        assert ended.result is not None
        assert (ended.result["iteration"], ended.result["conflicts"]) == (2, 0)


async def test_an_agent_that_is_gone_is_among_what_has_changed(operations_desk: OperationsDesk) -> None:
    desk = operations_desk
    async with desk.running():
        number = await desk.start()
        await desk.approve_plan(number)
        await desk.decide_results(number, approved=False, revision_type="full_replan", feedback="again")
        await desk.stopped(number, "waiting")
        await desk.approve_plan(number, modified_plan={"skip_agents": ["crm"]})
        results = await desk.gate(number, "operation_results")
        assert "crm" in results.content["changes"]["agents"]
