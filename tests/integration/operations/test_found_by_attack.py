"""What an attack on operations found: each of these went wrong once."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from models.config import Config
from models.store.database import Database
from tests.integration.operations.operations_desk import OperationsDesk, operations_config
from tests.integration.operations.test_doors import say, socket, told
from tests.integration.operations.test_writes import NOTE, READ, proposing
from tests.integration.rest import served

ODD: dict[str, Any] = {
    "nul": "a\0b",
    "half": "a\ud800b",
    "nan": float("nan"),
    "infinity": float("-inf"),
    "huge": 10**400,
    "deep": json.loads("[" * 150 + "]" * 150),
}


async def test_a_plan_made_anew_for_a_tool_says_nothing_of_what_a_person_said(
    operations_desk: OperationsDesk,
) -> None:
    desk = operations_desk
    async with desk.running():
        number = await desk.start()
        await desk.gate(number, "operation_plan")
        desk.servers["gmail"].digest = "e" * 64
        await desk.approve_plan(number)
        gate = await desk.gate(number, "operation_plan")
        assert "otherwise" in gate.content["feedback"]
        assert not [note for note in gate.content["plan"]["notes"] if "You said" in note]


@pytest.mark.parametrize("odd", ODD)
async def test_a_write_with_odd_arguments_ends_no_operation(
    operations_desk: OperationsDesk, odd: str
) -> None:
    desk = operations_desk
    proposing(desk, READ, {"tool": "add_note", "arguments": {"text": ODD[odd]}}, NOTE)
    async with desk.running():
        number = await desk.start()
        await desk.approve_plan(number)
        sent = []
        while (gate := await desk.gate(number)).kind == "operation_write":
            sent.append(gate.content["write"]["arguments"])
            await desk.call("decide_operation_agent", number, digest=gate.digest, answer="accept")
        assert gate.kind == "operation_results", gate.content
        # What was shown is what was sent, to the last sign.
        assert json.dumps(desk.servers["crm"].written) == json.dumps(sent)


async def test_a_write_is_asked_about_over_a_websocket_and_decided_there(
    configure: Callable[..., Config], database: Database
) -> None:
    config = operations_config(configure)
    desk = OperationsDesk(config, database)
    proposing(desk, READ, NOTE)
    with served(config, database.url) as base:
        async with desk.running():
            number = await desk.start()
            async with socket(base, config, number) as opened:
                asked = await told(opened, "plan_approval_request")
                await say(opened, "plan_approval_response", approved=True, digest=asked["data"]["digest"])
                asked = await told(opened, "user_clarification_request")
                assert asked["data"]["write"]["arguments"] == NOTE["arguments"]
                assert desk.servers["crm"].written == []
                await say(opened, "agent_decision", answer="accept", digest=asked["data"]["digest"])
                await told(opened, "final_results_approval_request")
                assert desk.servers["crm"].written == [NOTE["arguments"]]


_NONSENSE: tuple[Any, ...] = (
    "", "x", "[]", "null", "1e999", "NaN", "[" * 5000, "{}",
    '{"type": [], "data": {}}', '{"type": {}, "data": {}}', '{"type": null, "data": {}}',
    '{"type": "plan_approval_response"}', '{"type": "plan_approval_response", "data": []}',
    '{"type": "plan_approval_response", "data": {"approved": true, "operation_id": 2}}',
    '{"type": "plan_approval_response", "data": {"approved": "true"}}',
    '{"type": "plan_approval_response", "data": {"approved": false, "feedback": "a\\u0000b"}}',
    '{"type": "plan_approval_response", "data": {"approved": false, "feedback": "a\\ud800b"}}',
    '{"type": "plan_approval_response", "data": {"approved": true, "digest": "x"}}',
    '{"type": "plan_approval_response", "data": {"approved": true, "modified_plan": {"skip_agents": [1]}}}',
    '{"type": "user_clarification_response", "data": {"request_id": "\\u0000", "answer": "OK"}}',
    '{"type": "user_clarification_response", "data": {"request_id": "99", "answer": "OK"}}',
    '{"type": "agent_decision", "data": {"answer": "accept"}}',
    '{"type": "agent_decision", "data": {"answer": ["accept"]}}',
    '{"type": "agent_decision", "data": {"answer": "answer", "given": {"a": NaN}}}',
)  # fmt: skip


async def test_nonsense_over_a_websocket_is_answered_and_decides_nothing(
    configure: Callable[..., Config], database: Database
) -> None:
    config = operations_config(configure)
    desk = OperationsDesk(config, database)
    with served(config, database.url) as base:
        async with desk.running():
            number = await desk.start()
            await desk.gate(number, "operation_plan")
            async with socket(base, config, number) as opened:
                for text in _NONSENSE:
                    await opened.send(text)
                    refused = await told(opened, "error")
                    assert 400 <= refused["data"]["status"] < 500, (text, refused)
            gate = await desk.gate(number, "operation_plan")
            assert gate.amended_by is None
            assert sum((await desk.calls()).values()) == 0
