"""What an agent wants to write: nothing is sent before a person has seen that very call, and then once."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from actors.platform.runtime.run import Run
from models.config import Config
from models.errors import AgentDied, NotSent, ServedToolRefused
from models.mcp.tool_answers import ServedToolCall
from models.operations.results import ProposedWrite
from models.store.database import Database
from tests.fakes.served import ScriptedChoices
from tests.integration.operations.operations_desk import OperationsDesk, operations_config

READ = {"tool": "search", "arguments": {"query": "INV-2041"}}
NOTE = {"tool": "add_note", "arguments": {"account": "a1", "text": "asked for a receipt"}}


def proposing(desk: OperationsDesk, *choices: dict[str, object]) -> ScriptedChoices:
    """The CRM has a tool that writes, and its agent's model wants these calls."""
    model = ScriptedChoices(*choices)
    desk.servers["crm"].writes = "add_note"
    desk.read_with("crm", model)
    return model


async def test_a_write_waits_for_a_yes_to_exactly_that_call(operations_desk: OperationsDesk) -> None:
    desk = operations_desk
    proposing(desk, READ, NOTE)
    crm = desk.servers["crm"]
    async with desk.running():
        number, gate = await desk.asked_to_write()
        assert gate.content["write"]["arguments"] == NOTE["arguments"]
        assert crm.written == []
        await desk.call("decide_operation_agent", number, digest=gate.digest, answer="accept")
        results = await desk.gate(number, "operation_results")
        assert crm.written == [NOTE["arguments"]]
        [found] = [one for one in results.content["results"] if one["agent"] == "crm"]
        assert [one["status"] for one in found["writes"]] == ["done"]
        assert found["writes"][0]["decided_by"] == "ann"


async def test_that_it_is_sent_is_kept_before_it_is(operations_desk: OperationsDesk) -> None:
    """Or whoever takes over after a death in between would send it again."""
    desk, kept = operations_desk, []
    proposing(desk, READ, NOTE)

    async def look(_: ServedToolCall) -> None:
        async with desk.database.connection() as connection:
            cursor = await connection.execute("SELECT key FROM documents WHERE key LIKE 'write%'")
            kept.extend([row["key"] for row in await cursor.fetchall()])

    desk.servers["crm"].before_write = look
    async with desk.running():
        number, gate = await desk.asked_to_write()
        await desk.call("decide_operation_agent", number, digest=gate.digest, answer="accept")
        results = await desk.gate(number, "operation_results")
        assert statuses(results, "crm") == ["done"]
        assert kept == ["write_sent/1"]


async def test_what_its_agent_says_was_not_sent_is_taken_back_and_sent_once(
    operations_desk: OperationsDesk,
) -> None:
    desk, tries = operations_desk, []
    proposing(desk, READ, NOTE)

    async def late(call: ServedToolCall) -> None:
        tries.append(call)
        if len(tries) <= 2:
            raise NotSent("this process was held up", waits_for="a process that is held up")

    crm = desk.servers["crm"]
    crm.before_write = late
    async with desk.running():
        number, gate = await desk.asked_to_write()
        await desk.call("decide_operation_agent", number, digest=gate.digest, answer="accept")
        results = await desk.gate(number, "operation_results")
        assert statuses(results, "crm") == ["done"]
        assert (len(tries), crm.written) == (3, [NOTE["arguments"]])
        told = await desk.call("read_operation_history", number)
        entries = [one.result for one in told.execution_history]
        sent = [one for one in entries if "sending" in one or "write" in one]
        assert [one["write"]["status"] if "write" in one else "sending" for one in sent] == [
            *("sending", "not_sent", "sending", "not_sent", "sending", "done")
        ]
        decided = {
            (one["write"]["approval_id"], one["write"]["decided_by"]) for one in sent if "write" in one
        }
        assert decided == {(gate.approval_id, "ann")}


async def test_what_is_never_sent_in_time_is_asked_about_and_shown_as_not_sent(
    configure: Callable[..., Config], database: Database
) -> None:
    desk = OperationsDesk(operations_config(configure, **{"operations.away_seconds": 0.05}), database)
    proposing(desk, READ, NOTE)

    async def late(_: ServedToolCall) -> None:
        raise NotSent("this process was held up", waits_for="a process that is held up")

    crm = desk.servers["crm"]
    crm.before_write = late
    async with desk.running():
        number, gate = await desk.asked_to_write()
        await desk.call("decide_operation_agent", number, digest=gate.digest, answer="accept")
        await desk.stopped(number, "waiting")
        gate = await desk.gate(number, "operation_question")
        assert gate.content["kind"] == "write_not_sent"
        assert crm.written == []
        crm.before_write = None
        await desk.call("decide_operation_agent", number, digest=gate.digest, answer="retry")
        gate = await desk.gate(number, "operation_write")
        assert gate.content["sent_before"] == []
        await desk.call("decide_operation_agent", number, digest=gate.digest, answer="accept")
        results = await desk.gate(number, "operation_results")
        assert statuses(results, "crm") == ["done"]
        assert crm.written == [NOTE["arguments"]]


async def test_nobody_is_asked_whether_it_was_done_while_it_may_still_go_out(
    operations_desk: OperationsDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, waited, over = operations_desk, asyncio.Event(), asyncio.Event()
    proposing(desk, READ, NOTE)
    reader = desk.agents["crm"]

    async def die(_: ProposedWrite) -> None:
        raise AgentDied("the agent crm ended while it was asked", waits_for="agent crm")

    async def outlast(_: Run) -> None:
        waited.set()
        await over.wait()

    monkeypatch.setattr(Run, "outlast_senders", outlast)
    reader.write = die
    async with desk.running():
        number, gate = await desk.asked_to_write()
        await desk.call("decide_operation_agent", number, digest=gate.digest, answer="accept")
        async with asyncio.timeout(20):
            await waited.wait()
        assert (await desk.call("get_operation", number)).approval is None
        over.set()
        gate = await desk.gate(number, "operation_question")
        assert gate.content["kind"] == "write_unknown"


async def test_a_write_that_is_refused_is_never_sent(operations_desk: OperationsDesk) -> None:
    desk = operations_desk
    proposing(desk, READ, NOTE)
    async with desk.running():
        number, gate = await desk.asked_to_write()
        await desk.call(
            "decide_operation_agent", number, digest=gate.digest, answer="skip", feedback="not needed"
        )
        results = await desk.gate(number, "operation_results")
        assert desk.servers["crm"].written == []
        assert statuses(results, "crm") == ["refused"]


async def test_a_write_whose_answer_is_lost_is_asked_about_and_never_sent_again_by_itself(
    operations_desk: OperationsDesk,
) -> None:
    desk = operations_desk
    proposing(desk, READ, NOTE)
    crm = desk.servers["crm"]
    crm.lost = True
    async with desk.running():
        number, gate = await desk.asked_to_write()
        await desk.call("decide_operation_agent", number, digest=gate.digest, answer="accept")
        await desk.stopped(number, "waiting")
        gate = await desk.gate(number, "operation_question")
        assert gate.content["kind"] == "write_unknown"
        assert len(crm.written) == 1
        await desk.call("decide_operation_agent", number, digest=gate.digest, answer="skip")
        results = await desk.gate(number, "operation_results")
        assert len(crm.written) == 1
        assert statuses(results, "crm") == ["unknown"]


async def test_a_tool_that_the_plan_does_not_allow_is_not_called(operations_desk: OperationsDesk) -> None:
    desk = operations_desk
    model = ScriptedChoices(READ, {"tool": "pay", "arguments": {}}, {"tool": "pay", "arguments": {}})
    desk.read_with("crm", model)
    async with desk.running():
        number = await desk.start()
        await desk.approve_plan(number)
        gate = await desk.gate(number, "operation_question")
        assert "tool: must be one of search, done" in gate.content["what"]
        assert {call.tool for call in desk.servers["crm"].calls} == {"search"}


async def test_a_server_that_is_away_after_the_yes_is_waited_for(operations_desk: OperationsDesk) -> None:
    desk = operations_desk
    proposing(desk, READ, NOTE)
    crm = desk.servers["crm"]
    async with desk.running():
        number, gate = await desk.asked_to_write()
        crm.away = True
        await desk.call("decide_operation_agent", number, digest=gate.digest, answer="accept")
        parked = await desk.stopped(number, "parked")
        assert parked.parked_for == "MCP server crm"
        crm.away = False
        results = await desk.gate(number, "operation_results")
        assert crm.written == [NOTE["arguments"]]
        assert statuses(results, "crm") == ["done"]


async def test_one_that_stays_away_is_asked_about_and_what_was_not_sent_is_shown_again(
    configure: Callable[..., Config], database: Database
) -> None:
    desk = OperationsDesk(operations_config(configure, **{"operations.away_seconds": 0.05}), database)
    proposing(desk, READ, NOTE)
    crm = desk.servers["crm"]
    async with desk.running():
        number, gate = await desk.asked_to_write()
        crm.away = True
        await desk.call("decide_operation_agent", number, digest=gate.digest, answer="accept")
        await desk.stopped(number, "waiting")
        gate = await desk.gate(number, "operation_question")
        assert gate.content["kind"] == "write_not_sent"
        assert "it has been waited for" in gate.content["what"]
        crm.away = False
        await desk.call("decide_operation_agent", number, digest=gate.digest, answer="retry")
        gate = await desk.gate(number, "operation_write")
        assert (crm.written, gate.content["sent_before"]) == ([], [])
        await desk.call("decide_operation_agent", number, digest=gate.digest, answer="accept")
        results = await desk.gate(number, "operation_results")
        assert crm.written == [NOTE["arguments"]]
        assert statuses(results, "crm") == ["done"]


async def test_a_tool_that_is_declared_otherwise_after_the_yes_is_not_called_and_voids_the_plan(
    operations_desk: OperationsDesk,
) -> None:
    desk = operations_desk
    proposing(desk, READ, NOTE)
    crm = desk.servers["crm"]
    async with desk.running():
        number, gate = await desk.asked_to_write()
        crm.digest = "e" * 64
        await desk.call("decide_operation_agent", number, digest=gate.digest, answer="accept")
        gate = await desk.gate(number, "operation_plan")
        assert crm.written == []
        assert "crm.add_note: its server declares it otherwise than when" in gate.content["feedback"]


async def test_a_server_that_is_elsewhere_after_the_yes_is_not_written_to_and_asked_about_anew(
    operations_desk: OperationsDesk,
) -> None:
    desk = operations_desk
    proposing(desk, READ, NOTE, READ, NOTE)
    crm = desk.servers["crm"]
    before, crm_now = crm.address, "https://crm-test.example/mcp"
    async with desk.running():
        number, gate = await desk.asked_to_write()
        assert gate.content["write"]["address"] == before
        crm.address = crm_now
        await desk.call("decide_operation_agent", number, digest=gate.digest, answer="accept")
        gate = await desk.gate(number, "operation_plan")
        assert crm.written == []
        assert f"its server is at {crm_now} now, and it was approved at {before}" in gate.content["feedback"]
        tools = [tool for step in gate.content["plan"]["steps"] for tool in step["tools"]]
        assert [tool["address"] for tool in tools if tool["server"] == "crm"] == [crm_now] * 2
        await desk.call("decide_operation_plan", number, digest=gate.digest, approved=True)
        gate = await desk.gate(number, "operation_write")
        assert gate.content["write"]["address"] == crm_now
        await desk.call("decide_operation_agent", number, digest=gate.digest, answer="accept")
        results = await desk.gate(number, "operation_results")
        assert crm.written == [NOTE["arguments"]]
        assert statuses(results, "crm") == ["done"]


async def test_an_agent_that_dies_as_it_writes_leaves_a_question_and_is_not_asked_again(
    operations_desk: OperationsDesk,
) -> None:
    desk = operations_desk
    proposing(desk, READ, NOTE)
    crm, reader = desk.servers["crm"], desk.agents["crm"]
    write = reader.write

    async def write_and_die(proposed: ProposedWrite) -> None:
        await write(proposed)
        raise AgentDied("the agent crm ended while it was asked", waits_for="agent crm")

    reader.write = write_and_die
    async with desk.running():
        number, gate = await desk.asked_to_write()
        await desk.call("decide_operation_agent", number, digest=gate.digest, answer="accept")
        gate = await desk.gate(number, "operation_question")
        assert gate.content["kind"] == "write_unknown"
        assert crm.written == [NOTE["arguments"]]
        reader.write = write
        await desk.call("decide_operation_agent", number, digest=gate.digest, answer="retry")
        # It is sent again only by a further yes, which says what is known of the first.
        gate = await desk.gate(number, "operation_write")
        assert [one["status"] for one in gate.content["sent_before"]] == ["unknown"]
        assert len(crm.written) == 1
        await desk.call("decide_operation_agent", number, digest=gate.digest, answer="skip")
        results = await desk.gate(number, "operation_results")
        assert len(crm.written) == 1
        assert [one["status"] for one in results.content["written_before"]] == ["unknown"]


async def test_what_was_written_stays_in_the_results_of_an_agent_that_reads_anew(
    operations_desk: OperationsDesk,
) -> None:
    desk = operations_desk
    proposing(desk, READ, NOTE)
    async with desk.running():
        number, gate = await desk.asked_to_write()
        await desk.call("decide_operation_agent", number, digest=gate.digest, answer="accept")
        revision = {
            "revision_type": "specific_agents",
            "target_agents": ["crm"],
            "feedback": "read once more",
        }
        await desk.gate(number, "operation_results")
        proposing(desk, READ, NOTE)
        await desk.decide_results(number, approved=False, **revision)
        await desk.stopped(number, "waiting")
        gate = await desk.gate(number, "operation_write")
        assert [one["status"] for one in gate.content["sent_before"]] == ["done"]
        await desk.call("decide_operation_agent", number, digest=gate.digest, answer="skip")
        results = await desk.gate(number, "operation_results")
        assert statuses(results, "crm") == ["refused"]
        assert [one["status"] for one in results.content["written_before"]] == ["done"]
        assert desk.servers["crm"].written == [NOTE["arguments"]]


async def test_who_is_asked_for_a_call_that_was_refused_is_shown_that(
    operations_desk: OperationsDesk,
) -> None:
    """It went to its server, and that alone says that it did nothing with it."""
    desk = operations_desk
    proposing(desk, READ, NOTE)

    async def refuse(_: ServedToolCall) -> None:
        raise ServedToolRefused("MCP server crm: it answers 401")

    desk.servers["crm"].before_write = refuse
    async with desk.running():
        number, gate = await desk.asked_to_write()
        await desk.call("decide_operation_agent", number, digest=gate.digest, answer="accept")
        results = await desk.gate(number, "operation_results")
        assert statuses(results, "crm") == ["failed"]
        proposing(desk, READ, NOTE)
        revision = {"revision_type": "specific_agents", "target_agents": ["crm"], "feedback": "once more"}
        await desk.decide_results(number, approved=False, **revision)
        await desk.stopped(number, "waiting")
        gate = await desk.gate(number, "operation_write")
        before = [(one["status"], one["told"]) for one in gate.content["sent_before"]]
        assert before == [("failed", "MCP server crm: it answers 401")]


def statuses(results: Any, agent: str) -> list[str]:
    """What became of an agent's writes, as the gate of the results shows it."""
    [found] = [one for one in results.content["results"] if one["agent"] == agent]
    return [one["status"] for one in found["writes"]]
