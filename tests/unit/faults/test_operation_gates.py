"""What the campaign's people make of an operation's gates: what they mean can be done, nonsense can not."""

import random
from typing import Any

import pytest
from pydantic import ValidationError

from actors.systems.operations.plan_edits import edited
from actors.systems.operations.search_terms import search_terms_in
from models.errors import InputInvalid
from models.operations.decisions import AgentDecision, PlanDecision, ResultsDecision
from models.operations.operations import OperationRequest
from models.operations.plans import AgentStep, AllowedTool, OperationAgent, OperationPlan
from tests.faults.checks.changes import made
from tests.faults.people import operations
from tests.faults.people.gates import GateAnswer
from tests.faults.people.work import Said
from tests.faults.site.books import code_of, things
from tests.unit.faults.rows import assert_told

_AGENTS: tuple[OperationAgent, ...] = ("gmail", "accounts_payable", "crm", "analysis")
TOOL = AllowedTool(server="mail", tool="search", digest="d")
PLAN = OperationPlan(
    description="All of it is read.",
    agent_sequence=_AGENTS,
    estimated_duration=40,
    data_sources=("mail", "bills", "crm"),
    complexity="low",
    steps=tuple(AgentStep(agent=agent, why="because", tools=(TOOL,)) for agent in _AGENTS),
)
SHOWN = {"kind": "away", "iteration": 1, "plan": PLAN.model_dump(mode="json"), "feedback": None}


def is_taken(kind: str, said: GateAnswer) -> bool:
    """Whether the product takes it."""
    body = operations.body(kind, said, "d" * 64, "look at qaxbz-7 as well")
    try:
        if kind == "operation_plan":
            decision = PlanDecision.model_validate(body)
            if decision.modified_plan is not None:
                edited(PLAN, decision.modified_plan)
        elif kind == "operation_results":
            ResultsDecision.model_validate(body)
        else:
            AgentDecision.model_validate(body)
    except (InputInvalid, ValidationError):
        return False
    return True


@pytest.mark.parametrize("kind", sorted(operations.DOORS))
@pytest.mark.parametrize("careless", [True, False])
def test_what_is_meant_can_be_done_and_nonsense_can_not(kind: str, careless: bool) -> None:
    drawn = [operations.answer(kind, SHOWN, random.Random(seed), careless=careless) for seed in range(300)]
    assert [is_taken(kind, said) for said in drawn] == [said.possible for said in drawn]
    assert all(said.possible for said in drawn) is not careless
    assert {said.how for said in drawn} >= {"approve", "reject"}


def test_every_way_of_changing_a_plan_and_of_revising_is_drawn() -> None:
    plans, results = (
        [operations.answer(kind, SHOWN, random.Random(seed)) for seed in range(300)]
        for kind in ("operation_plan", "operation_results")
    )
    assert {key for said in plans for key in said.changes} == {
        *("agent_sequence", "skip_agents", "side_by_side", "instructions")
    }
    assert {said.changes["revision_type"] for said in results if said.changes} == {
        *("full_replan", "specific_agents", "analysis_only")
    }


@pytest.mark.parametrize("kind", ["operation_plan", "operation_results", "operation_review"])
def test_it_comes_to_an_end(kind: str) -> None:
    late = SHOWN | {"iteration": 4}
    assert "reject" not in {operations.answer(kind, late, random.Random(seed)).how for seed in range(300)}


@pytest.mark.parametrize(
    ("changes", "spoilt", "found"),
    [
        ({"skip_agents": ["crm"]}, {}, ""),
        ({"agent_sequence": ["crm", "gmail", "analysis"]}, {}, ""),
        ({"side_by_side": True, "instructions": {"crm": "be thorough"}}, {}, ""),
        ({"skip_agents": ["crm"]}, {"agent_sequence": list(_AGENTS)}, "bob made"),
        ({"side_by_side": True}, {"side_by_side": False}, "bob made"),
        ({"agent_sequence": ["crm", "gmail"]}, {"agent_sequence": ["gmail", "crm"]}, "bob made"),
    ],
)
def test_the_plan_that_is_approved_is_the_one_somebody_made(
    changes: dict[str, Any], spoilt: dict[str, Any], found: str
) -> None:
    decision = PlanDecision.model_validate({"approved": True, "modified_plan": changes})
    assert decision.modified_plan is not None
    plan = edited(PLAN, decision.modified_plan).model_dump(mode="json")
    content = SHOWN | {"plan": plan | {"steps": SHOWN["plan"]["steps"]} | spoilt}  # type: ignore[index]
    if not spoilt:
        content = SHOWN | {"plan": plan}
    approval = {"id": 7, "kind": "operation_plan", "asked": SHOWN, "content": content}
    assert_told(list(made(Said("7", "bob", "modify", 200, "d", None, changes=changes), approval)), found)


def test_all_that_is_looked_for_has_the_code_of_its_operation() -> None:
    rng = random.Random(1)
    codes = [code_of(run, number) for run in range(30) for number in range(12)]
    assert not any(one in other for one in codes for other in codes if one is not other)
    for run in range(30):
        body = operations.asked(run, 3, rng)
        OperationRequest.model_validate(body)
        code = code_of(run, 3)
        for text in (body["query"], operations.feedback(code, rng)):
            [lead] = search_terms_in(text)
            assert code in lead
            found = [one for book in ("mail", "bills", "crm") for one in things(book, lead)]
            assert len(found) == 3
            assert all(code in str(one).casefold() for one in found)
