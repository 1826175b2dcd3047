"""What the chat tells of an operation's results: plain text, some of many conflicts, what is not in them."""

from actors.systems.chat.agents.operations import findings_told
from actors.systems.chat.turn.messages import site_text
from models.operations.evidence import Conflict, CorrelationFigures, Evidence
from models.operations.following import IterationResults
from models.operations.plans import AgentStep, OperationPlan
from models.operations.results import Analysis, ComprehensiveResults

PLAN = OperationPlan(
    description="Read mail",
    agent_sequence=("gmail",),
    estimated_duration=1.0,
    data_sources=("email",),
    complexity="low",
    steps=(AgentStep(agent="gmail", why="It is asked for"),),
)


def conflict(number: int) -> Conflict:
    """One whose words come from a mail that would be a picture and a link."""
    words = Evidence(item="gmail/1", path="/body", words="late")
    said = f"Invoice {number} is “late <img src=//evil.example>” [here](https://evil.example/{number})."
    return Conflict(number=number, kind="status", about="1", left=words, right=words, explanation=said)


def results(conflicts: int, *, approved_by: str | None) -> IterationResults:
    """An iteration with conflicts."""
    return IterationResults(
        operation_id=7,
        iteration=2,
        approved=approved_by is not None,
        approved_by=approved_by,
        results=ComprehensiveResults(
            plan_id="p",
            question="Why?",
            iteration=2,
            plan=PLAN,
            results=(),
            analysis=Analysis(status="completed"),
            correlations=CorrelationFigures(),
            conflicts=tuple(conflict(number + 1) for number in range(conflicts)),
            mocked=("accounts_payable",),
            missing=("crm: <b>it could not be reached</b>",),
        ),
    )


def told(one: IterationResults) -> str:
    """The answer to how it stands."""
    return site_text(
        "operation_stands",
        "en",
        OPERATION_ID=7,
        NAME="Why?",
        TOPIC="macro",
        STATUS="awaiting_approval",
        OVER=False,
        OUTCOME=None,
        STAGE="final_approval",
        ITERATION=2,
        DONE=("gmail", "accounts_payable"),
        PENDING=(),
        GATE="operation_write",
        TITLE="A write",
        MAY_DECIDE=False,
        WAITS_FOR=None,
        REASON=None,
        FOUND=findings_told(one),
    )


def test_what_systems_say_is_text_and_nothing_else() -> None:
    text = told(results(2, approved_by=None))
    assert "Invoice 2 is" in text
    assert not any(live in text for live in ("<img", "<b>", " [here]", "https://evil"))


def test_some_of_many_are_told_and_how_many_there_are() -> None:
    text = told(results(11, approved_by=None))
    assert "(nobody has approved it): 11 conflicts, and 0 pairs" in text
    assert (text.count("\n- "), "And 3 more." in text) == (8, True)
    one = told(results(1, approved_by="ann"))
    assert "(approved by ann): 1 conflict, and 0 pairs" in one
    assert "more." not in one


def test_what_is_not_in_them_is_said() -> None:
    text = told(results(0, approved_by=None))
    assert "Not in it: crm: " in text
    assert "Of accounts payable, some or all is a stand-in's data." in text


def test_who_may_not_decide_is_told_where_others_do() -> None:
    text = told(results(0, approved_by=None))
    assert "You may not make it; whoever may does so with `signoff operations follow 7`" in text
    assert "`POST /api/operations/7/agent`" in text
