"""What a server asks a person: where several decide, what they give or decline is one answer."""

from collections.abc import Callable
from typing import Any

import pytest

from models.config import Config
from models.store.database import Database
from tests.integration.operations.operations_desk import OperationsDesk, operations_config
from tests.integration.operations.properties.staged_agents import behave

GIVEN: dict[str, Any] = {"answer": "answer", "given": {"code": "7"}}
DECLINED: dict[str, Any] = {"answer": "decline"}


@pytest.fixture
def desk(configure: Callable[..., Config], database: Database) -> OperationsDesk:
    """Where two people decide, and the CRM asks for a code."""
    approval = operations_config(configure).operations.approval.model_dump() | {"quorum": 2}
    made = OperationsDesk(operations_config(configure, **{"operations.approval": approval}), database)
    behave(made.servers["crm"], "asks")
    return made


async def both(desk: OperationsDesk, number: int, kind: str, tool: str, *answers: dict[str, Any]) -> None:
    """Ann and Bob answer what is asked, one after the other."""
    for name, answer in zip(("ann", "bob"), answers, strict=True):
        gate = await desk.gate(number, kind)
        person = await desk.desk.person(name, "macro:analyst")
        await desk.desk.call(person, tool, operation_id=number, digest=gate.digest, **answer)


@pytest.mark.parametrize(
    ("first", "second", "answer"),
    [
        (DECLINED, GIVEN, {"given": {"code": "7"}, "declined": False}),
        (GIVEN, DECLINED, {"given": None, "declined": True}),
    ],
)
async def test_who_says_otherwise_replaces_what_was_said_before(
    desk: OperationsDesk, first: dict[str, Any], second: dict[str, Any], answer: dict[str, Any]
) -> None:
    async with desk.running():
        number = await desk.start(query="what is open")  # names nothing to look for: one call each
        yes = {"approved": True}
        await both(desk, number, "operation_plan", "decide_operation_plan", yes, yes)
        await both(desk, number, "operation_question", "decide_operation_agent", first, second)
        gate = await desk.gate(number, "operation_question")
        assert {name: gate.content[name] for name in answer} == answer
        await desk.call("decide_operation_agent", number, digest=gate.digest, **second)
        await desk.gate(number, "operation_results")
    [told] = desk.servers["crm"].given
    action = "decline" if answer["declined"] else "accept"
    assert (told.action, told.content) == (action, answer["given"])
