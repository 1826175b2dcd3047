"""What an agent wants to write: nothing is sent before a person has seen that very call, and then once."""

from tests.fakes.served import ScriptedChoices
from tests.integration.operations.operations_desk import OperationsDesk

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
        number = await desk.start()
        await desk.approve_plan(number)
        gate = await desk.gate(number, "operation_write")
        assert gate.content["write"]["arguments"] == NOTE["arguments"]
        assert crm.written == []
        await desk.call("decide_operation_agent", number, digest=gate.digest, answer="accept")
        results = await desk.gate(number, "operation_results")
        assert crm.written == [NOTE["arguments"]]
        [found] = [one for one in results.content["results"] if one["agent"] == "crm"]
        assert [one["status"] for one in found["writes"]] == ["done"]
        assert found["writes"][0]["decided_by"] == "ann"


async def test_a_write_that_is_refused_is_never_sent(operations_desk: OperationsDesk) -> None:
    desk = operations_desk
    proposing(desk, READ, NOTE)
    async with desk.running():
        number = await desk.start()
        await desk.approve_plan(number)
        gate = await desk.gate(number, "operation_write")
        await desk.call(
            "decide_operation_agent", number, digest=gate.digest, answer="skip", feedback="not needed"
        )
        results = await desk.gate(number, "operation_results")
        assert desk.servers["crm"].written == []
        [found] = [one for one in results.content["results"] if one["agent"] == "crm"]
        assert [one["status"] for one in found["writes"]] == ["refused"]


async def test_a_write_whose_answer_is_lost_is_asked_about_and_never_sent_again_by_itself(
    operations_desk: OperationsDesk,
) -> None:
    desk = operations_desk
    proposing(desk, READ, NOTE)
    crm = desk.servers["crm"]
    crm.lost = True
    async with desk.running():
        number = await desk.start()
        await desk.approve_plan(number)
        gate = await desk.gate(number, "operation_write")
        await desk.call("decide_operation_agent", number, digest=gate.digest, answer="accept")
        await desk.stopped(number, "waiting")
        gate = await desk.gate(number, "operation_question")
        assert gate.content["kind"] == "write_unknown"
        assert len(crm.written) == 1
        await desk.call("decide_operation_agent", number, digest=gate.digest, answer="skip")
        results = await desk.gate(number, "operation_results")
        assert len(crm.written) == 1
        [found] = [one for one in results.content["results"] if one["agent"] == "crm"]
        assert [one["status"] for one in found["writes"]] == ["unknown"]


async def test_a_tool_that_the_plan_does_not_allow_is_not_called(operations_desk: OperationsDesk) -> None:
    desk = operations_desk
    model = ScriptedChoices(READ, {"tool": "pay", "arguments": {}}, {"tool": "pay", "arguments": {}})
    desk.read_with("crm", model)
    async with desk.running():
        number = await desk.start()
        await desk.approve_plan(number)
        await desk.gate(number, "operation_results")
        assert {call.tool for call in desk.servers["crm"].calls} == {"search"}
