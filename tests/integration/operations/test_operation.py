"""An operation from its question to approved results, and what a person wants done over."""

import pytest

from models.errors import ApprovalConflict
from tests.integration.operations.operations_desk import OperationsDesk


async def test_a_plan_is_approved_agents_read_and_results_are_approved(
    operations_desk: OperationsDesk,
) -> None:
    desk = operations_desk
    async with desk.running():
        number = await desk.start()
        gate = await desk.gate(number, "operation_plan")
        assert await desk.calls() == {"gmail": 0, "accounts_payable": 0, "crm": 0}
        assert gate.content["plan"]["agent_sequence"] == ["gmail", "accounts_payable", "crm", "analysis"]
        assert "INV-2041" in gate.content["plan"]["leads"]
        await desk.approve_plan(number)
        results = await desk.gate(number, "operation_results")
        kinds = {one["kind"] for one in results.content["conflicts"]}
        assert "status" in kinds, results.content
        told = await desk.decide_results(number, approved=True)
        assert told.decision == "approved"
        workflow = await desk.stopped(number)
        assert workflow.status == "succeeded", workflow.error
        assert workflow.result is not None
        assert workflow.result["outcome"] == "completed"


async def test_revising_one_agent_leaves_the_others_alone(operations_desk: OperationsDesk) -> None:
    desk = operations_desk
    async with desk.running():
        number = await desk.start()
        await desk.approve_plan(number)
        await desk.gate(number, "operation_results")
        before = await desk.calls()
        await desk.decide_results(
            number,
            approved=False,
            revision_type="specific_agents",
            target_agents=["crm"],
            feedback="look at invoice 3077 as well",
        )
        await desk.stopped(number, "waiting")
        gate = await desk.gate(number, "operation_results")
        after = await desk.calls()
        assert gate.content["iteration"] == 2
        assert (after["gmail"], after["accounts_payable"]) == (before["gmail"], before["accounts_payable"])
        assert after["crm"] > before["crm"]
        assert gate.content["reused"] == ["gmail", "accounts_payable"]
        history = await desk.call("read_operation_history", number)
        assert [one.revision_type for one in history.final_approvals] == ["specific_agents"]
        await desk.decide_results(number, approved=True)
        assert (await desk.stopped(number)).status == "succeeded"


async def test_a_rejected_plan_is_made_anew_and_the_old_one_cannot_be_approved(
    operations_desk: OperationsDesk,
) -> None:
    desk = operations_desk
    async with desk.running():
        number = await desk.start()
        first = await desk.gate(number, "operation_plan")
        await desk.call(
            "decide_operation_plan", number, approved=False, digest=first.digest, feedback="leave mail out"
        )
        await desk.stopped(number, "waiting")
        second = await desk.gate(number, "operation_plan")
        assert second.content["feedback"] == "leave mail out"
        with pytest.raises(ApprovalConflict):
            await desk.call("decide_operation_plan", number, approved=True, digest=first.digest)
        await desk.approve_plan(number, modified_plan={"skip_agents": ["gmail"]})
        results = await desk.gate(number, "operation_results")
        assert [one["agent"] for one in results.content["results"]] == ["accounts_payable", "crm"]
        assert (await desk.calls())["gmail"] == 0
