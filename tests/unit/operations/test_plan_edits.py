"""Plans that a person changed: what they say is true of what runs, for that is what is approved."""

from typing import Any

import pytest

from actors.systems.operations.plan_edits import edited
from models.mcp.served_tools import WithheldTool
from models.operations.plans import SOURCE_AGENTS, OperationPlan
from models.operations.revisions import PlanEdit
from tests.unit.operations.test_planner import LISTING, planned


def edit(plan: OperationPlan, **changes: Any) -> OperationPlan:
    """The plan, changed."""
    return edited(plan, PlanEdit.model_validate(changes))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"skip_agents": ["crm"]}, "Read 2 systems and compare: "),
        ({"agent_sequence": ["crm", "gmail", "analysis"]}, "Read 2 systems and compare: "),
        ({"agent_sequence": ["crm", "analysis"]}, "Read 1 system and compare: "),
        ({"skip_agents": ["gmail", "analysis"]}, "Read 2 systems: "),
        (
            {"agent_sequence": ["crm", "gmail", "accounts_payable", "analysis"]},
            "Read 3 systems and compare: ",
        ),
        ({"side_by_side": True}, "Read 3 systems and compare: "),
    ],
)
async def test_it_counts_the_systems_that_are_read(changes: dict[str, Any], says: str) -> None:
    made = edit(await planned(*SOURCE_AGENTS), **changes)
    assert made.description == f"{says}Why is INV-2041 late?"


async def test_one_that_is_changed_again_is_counted_again() -> None:
    once = edit(await planned(*SOURCE_AGENTS), skip_agents=["crm", "analysis"])
    assert edit(once, skip_agents=["gmail"]).description == "Read 1 system: Why is INV-2041 late?"


async def test_with_fewer_agents_it_says_what_code_says_of_a_plan_for_them() -> None:
    fewer = await planned("gmail", "crm")
    made = edit(await planned(*SOURCE_AGENTS), skip_agents=["accounts_payable"])
    assert made.description == fewer.description


async def test_before_what_a_model_wrote_it_says_what_is_left_out() -> None:
    plan = (await planned(*SOURCE_AGENTS)).model_copy(update={"description": "Ask all three systems."})
    assert (
        edit(plan, skip_agents=["gmail", "crm"]).description == "Without gmail, crm: Ask all three systems."
    )
    assert edit(plan, instructions={"crm": "be quick"}).description == "Ask all three systems."
    long = plan.model_copy(update={"description": "word " * 79})
    assert len(edit(long, skip_agents=["crm"]).description) <= 400


async def test_notes_of_agents_that_are_left_out_go_and_others_stay() -> None:
    withheld = LISTING.model_copy(update={"withheld": (WithheldTool(name="pay", reason="not allowed"),)})
    away = LISTING.model_copy(update={"state": "away", "tools": (), "reason": "gone"})
    listings = {"gmail": withheld, "accounts_payable": away, "crm": withheld}
    plan = await planned("gmail", "crm", listings=listings, feedback="crm: look twice")
    said, gmail, bills, crm = plan.notes
    assert [note.partition(":")[0] for note in (gmail, bills, crm)] == list(SOURCE_AGENTS)
    assert gmail == "gmail: pay is not to be had: not allowed"
    assert edit(plan, skip_agents=["crm"]).notes == (said, gmail, bills)
    assert edit(plan, agent_sequence=["crm", "gmail", "analysis"]).notes == plan.notes


async def test_how_long_it_takes_and_what_is_read_are_those_of_the_agents_that_run() -> None:
    plan = await planned(*SOURCE_AGENTS)
    made = edit(plan, agent_sequence=["crm", "analysis"])
    assert made.data_sources == ("of crm",)
    assert made.estimated_duration == round(plan.estimated_duration / 2, 1)
