"""What the properties found in the first operations, each by itself."""

from typing import Any

import pytest

from models.operations.items import SourceAgent
from tests.integration.operations.operations_desk import QUESTION
from tests.integration.operations.properties.played_operation import House, PlayedOperation
from tests.integration.operations.properties.staged_agents import PlanShape, behave

# It names nothing that could be looked for, so each server is called once.
ONE_CALL = "what is open"
READERS: tuple[SourceAgent, ...] = ("gmail", "accounts_payable", "crm")


async def _began(
    house: House, task_type: str, *shapes: PlanShape, query: str = QUESTION, **doings: str
) -> PlayedOperation:
    play = PlayedOperation(house, shapes=shapes)
    for agent, doing in doings.items():
        behave(play.servers[agent], doing)  # type: ignore[index]
    await play.begin(query, task_type)
    await play.carry()
    return play


def test_an_agent_that_is_gone_on_without_ends_no_operation(house: House) -> None:
    """Its type asks for no results: the last thing that anybody said was a no, to one agent."""

    async def work() -> None:
        play = await _began(house, "unattended", crm="fails")
        await play.decide("decide_operation_agent", answer="skip")
        facts = await play.carry()
        assert (facts.status, facts.outcome) == ("succeeded", "completed")

    house.run(work())


@pytest.mark.parametrize("task_type", ["checked", "checked_stepwise"])
def test_another_plan_is_shown_where_the_first_was_not(house: House, task_type: str) -> None:
    async def work() -> None:
        play = await _began(house, task_type)
        while (facts := await play.carry()).pending["kind"] == "operation_review":  # type: ignore[index]
            await play.decide("decide_operation_agent", answer="accept")
        calls = len(play.ledger.calls)
        again = {"approved": False, "revision_type": "full_replan", "feedback": "leave mail out"}
        told = await play.decide("decide_operation_results", **again)
        assert "shown to you before it runs" in told.message
        facts = await play.carry()
        assert facts.pending is not None
        assert facts.pending["kind"] == "operation_plan"
        assert len(play.ledger.calls) == calls

    house.run(work())


def test_a_plan_that_replaces_a_void_one_does_not_run_because_it_was_rejected(house: House) -> None:
    """A tool is not what it was, so a plan is asked about where none is by its type; the next one is, too."""

    async def work() -> None:
        play = PlayedOperation(house)
        # It changes after the plan is made, and before it is called.
        play.servers["gmail"].before_answer = lambda call: behave(
            play.servers["crm"], "is declared otherwise"
        )
        await play.begin(QUESTION, "unattended")
        await play.carry()
        await play.decide("decide_operation_plan", approved=False, feedback="without the crm")
        calls = len(play.ledger.calls)
        facts = await play.carry()
        assert facts.pending is not None
        assert facts.pending["kind"] == "operation_plan"
        assert len(play.ledger.calls) == calls

    house.run(work())


def test_what_was_decided_about_an_agent_is_in_the_history(house: House) -> None:
    async def work() -> None:
        play = await _began(house, "stepwise", PlanShape(("crm",)), crm="fails")
        await play.decide("decide_operation_agent", answer="retry", feedback="it is up again")
        behave(play.servers["crm"], "is well")
        await play.carry()
        await play.decide("decide_operation_agent", answer="accept")
        facts = await play.carry()
        told = [(one["result"], one["by"], one["user_feedback"]) for one in facts.history if one["by"]]
        assert told == [
            ({"asked": "question", "status": "approved"}, "ann", "it is up again"),
            ({"asked": "review", "status": "approved"}, "ann", None),
        ]

    house.run(work())


def test_an_agent_whose_server_asks_is_gone_on_without_and_its_server_left_alone(house: House) -> None:
    async def work() -> None:
        play = await _began(house, "unattended", PlanShape(("crm", "gmail")), crm="asks")
        calls = len(play.ledger.calls)
        await play.decide("decide_operation_agent", answer="skip")
        facts = await play.carry()
        assert "crm" not in {agent for agent, _ in play.ledger.calls[calls:]}
        [crm, _] = facts.iterations[-1]["results"]["results"]
        assert crm["status"] == "skipped"
        assert "Which code?" in crm["error"]
        assert play.servers["crm"].given == []

    house.run(work())


def test_a_server_that_is_declined_is_told_so_and_the_agent_goes_on(house: House) -> None:
    async def work() -> None:
        play = await _began(house, "unattended", PlanShape(("crm",)), query=ONE_CALL, crm="asks")
        await play.decide("decide_operation_agent", answer="decline")
        facts = await play.carry()
        assert {one.action for one in play.servers["crm"].given} == {"decline"}
        assert [one["status"] for one in facts.iterations[-1]["results"]["results"]] == ["completed"]

    house.run(work())


def test_of_servers_that_ask_at_once_each_is_answered_and_none_asked_again_meanwhile(house: House) -> None:
    async def work() -> None:
        doings = dict.fromkeys(READERS, "asks")
        shape = PlanShape(READERS, side_by_side=True)
        play = await _began(house, "unattended", shape, query=ONE_CALL, **doings)
        for agent in READERS:
            facts = await play.facts()
            assert facts.pending is not None
            assert facts.pending["content"]["agent"] == agent
            assert len(play.ledger.readings) == 3
            await play.decide("decide_operation_agent", answer="answer", given={"code": "1"})
            await play.carry()
        assert (await play.facts()).outcome == "completed"
        assert len(play.ledger.readings) == 6

    house.run(work())


def test_a_revision_that_names_no_agent_is_refused_as_bad_input(house: House) -> None:
    async def work() -> None:
        play = await _began(house, "checked")
        wish: dict[str, Any] = {"approved": False, "revision_type": "specific_agents", "feedback": "again"}
        error = await play.refuses("decide_operation_results", **wish)
        assert error.http_status == 422
        assert "target_agents: name the agents that are to run again" in str(error)

    house.run(work())


def test_a_late_answer_is_none_to_the_same_question_asked_again(house: House) -> None:
    """Rejected twice for the same, two plans say the same; an agent that tries again fails as before."""

    async def work() -> None:
        play = await _began(house, "planned", PlanShape(("crm",)), crm="fails")
        shown = []
        for _ in range(3):
            pending = (await play.facts()).pending
            assert pending is not None
            shown.append(pending["digest"])
            await play.decide("decide_operation_plan", approved=False, feedback="not so")
            await play.carry()
        assert len(set(shown)) == 3
        await play.refuses("decide_operation_plan", approved=True, digest=shown[-1])
        await play.decide("decide_operation_plan", approved=True)
        facts = await play.carry()
        assert facts.pending is not None
        await play.decide("decide_operation_agent", answer="retry")
        await play.carry()
        await play.refuses("decide_operation_agent", answer="skip", digest=facts.pending["digest"])

    house.run(work())
