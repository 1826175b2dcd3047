"""Properties 9 to 12 of seed 003 ("Correctness Properties"), against the real graph on a real Postgres.

What the browser shows of them is tried with the browser; here it is what it is given to show. Whatever else
happens in an example is held against `laws` at each stop.
"""

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from actors.systems.operations.clarification import is_yes
from models.errors import ApprovalNotFound
from models.operations.items import SourceAgent
from models.operations.results import ComprehensiveResults
from tests.integration.operations.operations_desk import QUESTION
from tests.integration.operations.properties import drawn
from tests.integration.operations.properties.drawn import AGAIN, EVERYBODY, plays
from tests.integration.operations.properties.played_operation import House, PlayedOperation
from tests.integration.operations.properties.staged_agents import PlanShape, behave


@plays
@given(
    query=drawn.questions,
    notes=st.lists(drawn.wishes, max_size=1),
    again=AGAIN,
    deaths=drawn.deaths,
)
def test_property_9_context_preservation_across_iterations(
    house: House,
    query: str,
    notes: Sequence[str],
    again: Sequence[tuple[str, SourceAgent, str]],
    deaths: Sequence[int],
) -> None:
    """The task stays as it was asked for, all that was said and found is kept, and each agent knows of it."""

    async def work() -> None:
        play = PlayedOperation(house, shapes=[EVERYBODY])
        await play.begin(query)
        await play.carry(deaths)
        for text in notes:
            await play.decide("decide_operation_plan", approved=False, feedback=text)
            await play.carry()
            assert (play.ledger.plans[-1].question, play.ledger.plans[-1].feedback) == (query, text)
            assert play.ledger.plans[-1].previous is not None
        compiled = []
        facts = await play.say_yes("operation_results")
        for kind, agent, text in again:
            compiled.append(facts.pending["content"])  # type: ignore[index]
            target = {"target_agents": [agent]} if kind == "specific_agents" else {}
            await play.decide(
                "decide_operation_results", approved=False, revision_type=kind, feedback=text, **target
            )
            facts = await play.say_yes("operation_results", deaths)
        compiled.append(facts.pending["content"])  # type: ignore[index]
        await play.say_yes()
        assert {task.question for task in play.ledger.readings} == {query}
        assert {task.question for task in play.ledger.comparisons} == {query}
        told = await play.call("read_operation_history")
        assert (told.original_task, told.workflow_type) == (query, "comprehensive")
        rejected = [one.feedback for one in told.plan_approvals if not one.approved]
        assert rejected == list(notes)
        said = [(one.revision_type, one.feedback) for one in told.final_approvals]
        assert said == [*((kind, text) for kind, _, text in again), ("none", None)]
        assert [one.iteration for one in told.final_approvals] == list(range(1, len(again) + 2))
        for number, content in enumerate(compiled, 1):
            read = await play.call("read_operation_results", iteration=number)
            assert read.results.model_dump(mode="json") == content
            assert read.approved == (number == len(compiled))

    house.run(work())


@plays
@given(query=drawn.questions, task_type=drawn.task_types, shape=drawn.shapes, deaths=drawn.deaths)
def test_property_10_configurable_hitl_behavior(
    house: House, query: str, task_type: str, shape: PlanShape, deaths: Sequence[int]
) -> None:
    """A type of task stops where the site's settings say and nowhere else; without gates it completes."""

    async def work() -> None:
        play = PlayedOperation(house, shapes=[shape])
        await play.begin(query, task_type)
        facts = await play.say_yes(None, deaths)
        gates = play.gates
        expected = [
            *(["operation_plan"] if "plan" in gates else []),
            *(["operation_review"] * len(shape.order) if "agents" in gates else []),
            *(["operation_results"] if "results" in gates else []),
        ]
        assert [one["kind"] for one in facts.approvals] == expected
        assert {one["status"] for one in facts.approvals} <= {"approved"}
        assert [one["content"]["agent"] for one in facts.asked("operation_review")] == (
            list(shape.order) if "agents" in gates else []
        )
        assert facts.outcome == "completed"
        read = await play.call("read_operation_results")
        assert read.approved == ("results" in gates), "nobody has approved these results"

    house.run(work())


@plays
@given(
    data=st.data(),
    kind=st.sampled_from(("operation_plan", "operation_review", "operation_results")),
    text=drawn.yeses | drawn.wishes,
    said=st.sampled_from((None, True, False)),
    word=st.text(st.characters(categories=("L", "N")), min_size=1, max_size=12),
)
def test_property_11_clarification_ui_functionality(
    house: House, data: st.DataObject, kind: str, text: str, said: bool | None, word: str
) -> None:
    """A whole answer that says yes is one; all else is kept word for word as what is to be done otherwise.

    The seed looks for keywords. Here "ok but redo CRM" and "no change needed" approve nothing, and an answer
    that contradicts itself is refused.
    """
    yes = data.draw(drawn.yeses, "yes")
    assert is_yes(yes)
    assert not is_yes(f"{yes} but {word}")
    assert not is_yes(f"{word} not {yes}")

    async def work() -> None:
        play = PlayedOperation(house, shapes=[PlanShape(("gmail",))])
        behave(play.servers["gmail"], "fails")
        await play.begin(QUESTION, "reviewed")
        facts = await play.carry()
        if kind != "operation_plan":
            await play.decide("decide_operation_plan", approved=True)
            facts = await play.carry()
            # What failed is shown with its reason; the button tries again.
            _, told = await play.message()
            assert "no such mailbox" in told["agent_result"]
            await play.refuses("clarify_operation", request_id=told["request_id"], answer="OK")
            behave(play.servers["gmail"], "is well")
            await play.decide("decide_operation_agent", answer="retry")
            facts = await play.say_yes(kind)
        assert facts.pending is not None
        approval = facts.pending["id"]
        error = await play.refuses("clarify_operation", request_id="999999999", answer=text)
        assert isinstance(error, ApprovalNotFound)
        given: dict[str, Any] = {"request_id": approval, "answer": text, "is_approval": said}
        if said is not None and said != is_yes(text):
            await play.refuses("clarify_operation", **given)
            return
        await play.call("clarify_operation", **given)
        [decided] = [one for one in (await play.facts()).approvals if one["id"] == approval]
        assert decided["status"] == ("approved" if is_yes(text) else "rejected")
        assert decided["notes"] == text
        facts = await play.carry()
        if not is_yes(text):
            heard = play.ledger.readings[-1].feedback if kind == "operation_review" else None
            assert (heard or play.ledger.plans[-1].feedback) == text
            assert facts.pending is not None
            assert facts.pending["kind"] == ("operation_plan" if kind != "operation_review" else kind)
        await play.refuses("clarify_operation", **given)

    house.run(work())


@plays
@given(
    data=st.data(),
    notes=st.lists(drawn.wishes, min_size=1, max_size=2),
    end=st.sampled_from(("edit", "cancel", "approve")),
    deaths=drawn.deaths,
)
def test_property_12_plan_rejection_handling(
    house: House, data: st.DataObject, notes: Sequence[str], end: str, deaths: Sequence[int]
) -> None:
    """A rejected plan never runs: another is made by what was said, edited, approved, or all is cancelled."""

    async def work() -> None:
        play = PlayedOperation(
            house, shapes=data.draw(st.lists(drawn.shapes, min_size=1, max_size=3), "plans")
        )
        await play.begin(QUESTION)
        facts = await play.carry(deaths)
        for text in notes:
            assert facts.pending is not None
            old = facts.pending
            await play.decide("decide_operation_plan", approved=False, feedback=text)
            facts = await play.carry(deaths)
            assert facts.pending is not None
            assert facts.pending["content"]["feedback"] == text
            await play.refuses("decide_operation_plan", approved=True, digest=old["digest"])
            await play.refuses("clarify_operation", request_id=old["id"], answer="OK")
        assert play.ledger.readings == []
        assert facts.pending is not None
        plan = facts.pending["content"]["plan"]
        sources = [agent for agent in plan["agent_sequence"] if agent != "analysis"]
        if end == "cancel":
            await play.call("cancel_operation", reason="not wanted")
            before = await play.facts()
            assert (await play.carry()) == before
            assert (before.status, play.ledger.calls) == ("cancelled", [])
            await play.refuses("decide_operation_plan", approved=True, digest=facts.pending["digest"])
            return
        runs = sources
        if end == "edit":
            runs = data.draw(st.lists(st.sampled_from(sources), min_size=1, unique=True), "runs")
            edit = {
                "agent_sequence": sources,
                "skip_agents": [agent for agent in sources if agent not in runs],
                "side_by_side": not plan["side_by_side"],
                "instructions": {runs[0]: "Look at invoice 3077 as well."},
            }
            told = await play.decide("decide_operation_plan", approved=True, modified_plan=edit)
            runs = [agent for agent in sources if agent in runs]
            assert "as you changed it" in told.message
        else:
            await play.decide("decide_operation_plan", approved=True)
        facts = await play.carry()
        assert facts.pending is not None
        results = ComprehensiveResults.model_validate(facts.pending["content"])
        assert [one.agent for one in results.results] == runs
        assert {task.agent for task in play.ledger.readings} == set(runs)
        if end == "edit":
            assert results.plan.side_by_side != plan["side_by_side"]
            first = next(
                task for task in play.ledger.readings if task.agent == results.plan.step(runs[0]).agent
            )
            given = {task.agent: task.instructions for task in play.ledger.readings}
            assert first.tools == results.plan.step(first.agent).tools
            assert "Look at invoice 3077 as well." in given.values()
            assert any("3077" in lead for task in play.ledger.readings for lead in task.leads)

    house.run(work())
