"""What people approved: results and exports tell of it alike, and from the moment of the decision on."""

import json
from collections.abc import Callable

from models.config import Config
from models.store.database import Database
from tests.integration.operations.operations_desk import OperationsDesk, operations_config
from tests.integration.operations.test_server_questions import both


async def test_who_approved_results_is_told_as_in_an_export_before_a_runner_takes_it_up(
    configure: Callable[..., Config], database: Database
) -> None:
    approval = operations_config(configure).operations.approval.model_dump() | {"quorum": 2}
    desk = OperationsDesk(operations_config(configure, **{"operations.approval": approval}), database)
    yes = {"approved": True}
    async with desk.running():
        number = await desk.start()
        await both(desk, number, "operation_plan", "decide_operation_plan", yes, yes)
        await desk.gate(number, "operation_results")
    read = await desk.call("read_operation_results", number)
    assert (read.approved, read.approved_by) == (False, None)
    await both(desk, number, "operation_results", "decide_operation_results", yes, yes)
    read = await desk.call("read_operation_results", number, iteration=1)
    assert (read.approved, read.approved_by) == (True, "ann, bob")
    exported = json.loads((await desk.call("export_operation", number, format="json")).text)
    assert [vote["voter"] for vote in exported["approval"]["votes"]] == ["ann", "bob"]
