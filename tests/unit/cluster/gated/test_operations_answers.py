"""Answers at the gates of an operation, as they are typed: what each means, and that unclear is not yes."""

from typing import Any

import pytest

from cluster.cli.operations.answers import Wish
from cluster.cli.operations.kind import OPERATIONS
from cluster.cli.operations.words import only_agents
from models.errors import InputInvalid
from models.record import Record
from tests.unit.cluster.gated.operations_contents import (
    ASKS,
    EVERY_GATE,
    FAILED,
    PLAN,
    RESULTS,
    REVIEW,
    UNKNOWN,
    WRITES,
    plan,
)
from tests.unit.cluster.gated.site import gate_of, said_at
from tests.unit.cluster.gated.test_operations_view import gate as waiting


def said_to(record: Record, *typed: str) -> tuple[str, Any]:
    return said_at(OPERATIONS, waiting(record), *typed)


# Somebody has answered its server already, and another person is to approve that.
GIVEN = ASKS.model_copy(update={"given": {"sure": True}})
YES: tuple[tuple[Record, str, dict[str, Any]], ...] = (
    (PLAN, "approve", {"approved": True}),
    (PLAN, "reject look at June", {"approved": False, "feedback": "look at June"}),
    (FAILED, "retry", {"answer": "retry"}),
    (FAILED, "skip", {"answer": "skip"}),
    (UNKNOWN, "retry", {"answer": "retry"}),
    (UNKNOWN, "skip", {"answer": "skip"}),
    (WRITES, "accept", {"answer": "accept"}),
    (WRITES, "skip", {"answer": "skip"}),
    (ASKS, "skip", {"answer": "skip"}),
    (ASKS, "decline", {"answer": "decline"}),
    (
        ASKS.model_copy(update={"given": {"sure": True}}),
        "answer",
        {"answer": "answer", "given": {"sure": True}},
    ),
    (ASKS, "answer", {"answer": "answer", "given": {}}),
    (
        ASKS,
        "answer account=0042 amount=4300.5 count=3 sure=true 'tags=a, b'",
        {
            "answer": "answer",
            "given": {
                "account": "0042",
                "amount": 4300.5,
                "count": 3,
                "sure": True,
                "tags": ["a", "b"],
            },
        },
    ),
    (ASKS, "answer account='a b=c'", {"answer": "answer", "given": {"account": "a b=c"}}),
    (REVIEW, "accept", {"answer": "accept"}),
    (REVIEW, "revise full of holes", {"answer": "revise", "feedback": "full of holes"}),
    (RESULTS, "approve", {"approved": True}),
    (
        RESULTS,
        "revise full add the CRM",
        {"approved": False, "revision_type": "full_replan", "feedback": "add the CRM"},
    ),
    (
        RESULTS,
        "revise analysis be brief",
        {"approved": False, "revision_type": "analysis_only", "feedback": "be brief"},
    ),
    (
        RESULTS,
        "revise Accounts payable, gmail look at July",
        {
            "approved": False,
            "revision_type": "specific_agents",
            "target_agents": ["accounts_payable", "gmail"],
            "feedback": "look at July",
        },
    ),
    (
        RESULTS,
        "revise gmail crm is not asked",
        {
            "approved": False,
            "revision_type": "specific_agents",
            "target_agents": ["gmail"],
            "feedback": "crm is not asked",
        },
    ),
)


@pytest.mark.parametrize(("record", "typed", "sent"), YES)
def test_each_answer_is_sent_as_it_was_meant_once_it_is_confirmed(
    record: Record, typed: str, sent: dict[str, Any]
) -> None:
    told, answer = said_to(record, typed, "y")
    assert answer == {"digest": waiting(record).digest, **sent}
    if "feedback" in sent:
        assert f"because {sent['feedback']}" in told


@pytest.mark.parametrize(("record", "typed"), [(record, typed) for record, typed, _ in YES])
@pytest.mark.parametrize("confirmed", ["", "n", "ok", "approve", "yes please", "ya"])
def test_what_is_unclear_to_the_last_question_is_not_yes(record: Record, typed: str, confirmed: str) -> None:
    told, answer = said_to(record, typed, confirmed)
    assert answer is None
    assert "nothing was decided" in told


@pytest.mark.parametrize("record", EVERY_GATE, ids=lambda record: type(record).__name__)
@pytest.mark.parametrize("typed", ["ok", "yes", "y", "no", "Approve", "approve!", "ja", "later?"])
def test_unclear_is_not_yes_at_any_gate(record: Record, typed: str) -> None:
    told, answer = said_to(record, typed, "y")
    assert answer is None
    assert "nothing was decided" in told


@pytest.mark.parametrize(
    ("record", "typed", "told"),
    [
        (PLAN, "approve all", "approve: it takes no more than this: approve"),
        (PLAN, "reject", "reject: WHY is missing: write reject WHY"),
        (PLAN, "retry", "'retry' is no answer here"),
        (PLAN, "skip", "skip: AGENT is missing: write skip AGENT ..."),
        (PLAN, "skip eve", "'eve' is no agent, and nothing was decided: there are Gmail, accounts payable"),
        (PLAN, "skip gmail and crm", "'and' is no agent"),
        (PLAN, "skip gmailx", "'gmailx' is no agent"),
        (PLAN, "order analysis gmail", "analysis compares what the others found: put it last"),
        (PLAN, "order gmail gmail", "is there twice: each agent runs once"),
        (
            PLAN,
            "skip gmail, crm, accounts payable",
            "nothing would be read: leave one of Gmail",
        ),
        (PLAN, "tell gmail", "tell: WORDS is missing: write tell AGENT WORDS"),
        (PLAN, "tell eve look", "'eve' is no agent"),
        (PLAN, "side-by-side maybe", "side-by-side: write side-by-side on|off"),
        (PLAN, "side-by-side off", "it changes nothing: approve the plan without it"),
        (
            plan("gmail", "analysis"),
            "skip crm",
            "CRM is not in this plan, and nothing was decided",
        ),
        (plan("gmail", "analysis"), "tell crm x", "CRM is not in this plan"),
        (FAILED, "approve", "'approve' is no answer here"),
        (FAILED, "answer account=1", "'answer' is no answer here"),
        (FAILED, "skip gmail", "skip: it takes no more than this: skip"),
        (FAILED, "undo", "'undo' is no answer here"),
        (ASKS, "retry", "'retry' is no answer here"),
        (ASKS, "answer account", "'account' gives nothing: write NAME=VALUE"),
        (ASKS, "answer acount=1", "'acount' is not asked for: did you mean account"),
        (ASKS, "answer amount=lots", "amount: 'lots' is not a number, and nothing was decided"),
        (ASKS, "answer count=1.5", "count: '1.5' is not a whole number"),
        (ASKS, "answer sure=yes", "sure: 'yes' is not true or false"),
        (ASKS, "answer count=1 count=2", "count is given twice"),
        (ASKS, "answer account='a", "a quotation mark is open"),
        (REVIEW, "revise", "revise: WHY is missing: write revise WHY"),
        (REVIEW, "approve", "'approve' is no answer here"),
        (RESULTS, "reject too thin", "'reject' is no answer here"),
        (RESULTS, "accept", "'accept' is no answer here"),
        (RESULTS, "revise", "revise: write revise full WHY; revise AGENT,... WHY; revise analysis WHY"),
        (RESULTS, "revise full", "revise: write revise full WHY"),
        (RESULTS, "revise gmail", "revise: write revise full WHY"),
        (RESULTS, "revise the numbers are old", "revise: write revise full WHY"),
        (RESULTS, "revise crm look", "CRM is not in the plan that ran (Gmail, accounts payable, analysis)"),
        (RESULTS, "revise gmail,gmail look", "Gmail is there twice: name each agent once"),
        (WRITES, "approve", "'approve' is no answer here"),
        (UNKNOWN, "accept", "'accept' is no answer here"),
    ],
)
def test_what_is_no_answer_decides_nothing_and_says_why(record: Record, typed: str, told: str) -> None:
    back, answer = said_to(record, typed, "y")
    assert told in back
    assert answer is None


class TestChangesOfAPlan:
    def test_they_are_collected_shown_taken_back_and_sent_with_the_approval(self) -> None:
        told, answer = said_to(
            PLAN,
            "skip crm",
            "tell gmail look at June",
            "tell accounts payable and at July",
            "side-by-side on",
            "undo",
            "show",
            "approve",
            "y",
        )
        assert answer == {
            "approved": True,
            "digest": waiting(PLAN).digest,
            "modified_plan": {
                "skip_agents": ["crm"],
                "instructions": {"gmail": "look at June", "accounts_payable": "and at July"},
            },
        }
        assert "order Gmail, accounts payable, analysis; one after the other" in told
        assert "without CRM" in told
        assert "plan Without crm: Look for Northgate's invoices." in told
        assert "is told accounts payable: and at July" in told
        assert told.count("decide on the plan") == 1

    def test_the_last_word_about_an_agent_holds(self) -> None:
        _, answer = said_to(PLAN, "skip crm", "order crm gmail", "approve", "y")
        assert answer["modified_plan"] == {"agent_sequence": ["crm", "gmail"], "skip_agents": []}
        _, answer = said_to(PLAN, "order accounts_payable gmail analysis", "skip gmail", "approve", "y")
        assert answer["modified_plan"] == {
            "agent_sequence": ["accounts_payable", "gmail", "analysis"],
            "skip_agents": ["gmail"],
        }

    def test_what_can_not_be_made_is_not_kept(self) -> None:
        told, answer = said_to(PLAN, "tell crm look", "skip crm", "approve", "y")
        assert "CRM does not run: leave it in, or say nothing" in told
        assert answer["modified_plan"] == {"instructions": {"crm": "look"}}

    def test_all_changes_taken_back_is_the_plan_as_it_is(self) -> None:
        told, answer = said_to(PLAN, "skip crm", "undo", "undo", "approve", "y")
        assert "modified_plan" not in answer
        assert "you have changed nothing" in told

    def test_changes_are_no_part_of_a_no(self) -> None:
        told, answer = said_to(PLAN, "skip crm", "reject look at June", "y")
        assert answer == {"approved": False, "digest": waiting(PLAN).digest, "feedback": "look at June"}
        assert told.count("without CRM") == 1


@pytest.mark.parametrize(
    ("record", "forms"),
    [
        (PLAN, ("approve what is shown", "reject WHY", "skip AGENT ...", "side-by-side on|off", "undo take")),
        (FAILED, ("retry the agent", "skip go on without it")),
        (ASKS, ("answer NAME=VALUE ... give", "decline tell its server that it is given nothing")),
        (UNKNOWN, ("retry send it once more: it may be done twice",)),
        (WRITES, ("accept send exactly this, once", "skip send nothing")),
        (REVIEW, ("accept take what it found", "revise WHY")),
        (RESULTS, ("revise full WHY", "revise AGENT,... WHY", "revise analysis WHY")),
    ],
)
def test_help_lists_what_can_be_typed_here(record: Record, forms: tuple[str, ...]) -> None:
    told, answer = said_to(record, "help")
    assert all(form in told for form in (*forms, "later decide nothing now"))
    assert ("undo" in told) == (record is PLAN)
    assert answer is None


def test_a_gate_of_another_kind_takes_no_answer() -> None:
    at = OPERATIONS.at_gate(gate_of({"plan": "x"}, "another"))
    for answer in ("approve", "accept", "skip"):
        with pytest.raises(InputInvalid, match="decided elsewhere"):
            at.reply(Wish(answer), at.nothing)


def test_a_plan_of_another_shape_is_approved_as_it_is_and_not_changed() -> None:
    shown = gate_of({**PLAN.model_dump(mode="json"), "small_print": "x"}, "operation_plan")
    _, answer = said_at(OPERATIONS, shown, "skip crm", "approve", "y")
    assert answer == {"approved": True, "digest": shown.digest}


def test_agents_are_typed_as_people_read_them() -> None:
    every = ("gmail", "accounts_payable", "crm", "analysis")
    for typed in ("gmail accounts_payable crm analysis", "Gmail, accounts payable,CRM, analysis"):
        assert only_agents(typed) == every
    assert only_agents("accounts-payable") == ("accounts_payable",)
