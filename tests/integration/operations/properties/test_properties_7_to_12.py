"""Properties 7 to 12 of seed 003 ("Correctness Properties"), against the real graph on a real Postgres.

The rest of `test_properties_1_to_6`. Whatever else happens in an example is held against `laws` at each stop.
"""

from collections.abc import Sequence
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from actors.operations.clarification import is_yes
from models.errors import ApprovalNotFound
from models.operations.items import SourceAgent
from models.operations.plans import SOURCE_AGENTS
from models.operations.results import ComprehensiveResults
from tests.integration.operations.operations_desk import QUESTION
from tests.integration.operations.properties import drawn
from tests.integration.operations.properties.played_operation import House, PlayedOperation
from tests.integration.operations.properties.staged_agents import PlanShape, behave
from tests.integration.operations.properties.test_properties_1_to_6 import message

examples = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
REVISIONS = st.sampled_from(("full_replan", "specific_agents", "analysis_only"))
AGAIN = st.lists(st.tuples(REVISIONS, drawn.agents, drawn.wishes), min_size=1, max_size=3)
EVERYBODY = PlanShape(SOURCE_AGENTS)


@examples
@given(
    again=AGAIN,
    task_type=st.sampled_from(("comprehensive", "checked")),
    finder=drawn.agents,
    partners=drawn.partners,
    deaths=drawn.deaths,
)
def test_property_7_revision_loop_capability(
    house: House,
    again: Sequence[tuple[str, SourceAgent, str]],
    task_type: str,
    finder: SourceAgent,
    partners: Sequence[str],
    deaths: Sequence[int],
) -> None:
    """Each revision has the right agents do it over, with what was said, as often as a person wants.

    An agent that was not named runs again only where what it is given has changed: by what others found.
    """

    async def work() -> None:
        play = PlayedOperation(house, shapes=[EVERYBODY])
        await play.begin(QUESTION, task_type)
        facts = await play.say_yes("operation_results")
        for number, (kind, agent, text) in enumerate(again, 2):
            play.readers[finder].partners = partners
            read, planned = len(play.ledger.readings), len(facts.numbered("plan"))
            target = {"target_agents": [agent]} if kind == "specific_agents" else {}
            await play.decide(
                "decide_operation_results", approved=False, revision_type=kind, feedback=text, **target
            )
            facts = await play.carry(deaths)
            assert facts.pending is not None
            if kind == "full_replan":
                assert facts.pending["kind"] == "operation_plan", "another plan runs without a yes"
                assert facts.pending["content"]["feedback"] == text
                assert play.ledger.plans[-1].feedback == text
                assert len(play.ledger.readings) == read
                facts = await play.say_yes("operation_results")
            assert facts.pending is not None
            assert facts.pending["kind"] == "operation_results"
            assert facts.pending["content"]["iteration"] == number
            assert len(facts.numbered("plan")) == planned + (kind == "full_replan")
            ran = {task.agent for task in play.ledger.readings[read:]}
            if kind == "full_replan":
                assert ran == set(SOURCE_AGENTS)
            elif kind == "analysis_only":
                assert ran == set()
                assert play.ledger.comparisons[-1].feedback == text
            else:
                later = SOURCE_AGENTS[SOURCE_AGENTS.index(agent) + 1 :]
                assert agent in ran
                assert ran <= {agent, *(later if agent == finder or finder in ran else ())}
                told = [task.feedback for task in play.ledger.readings[read:] if task.agent == agent]
                assert set(told) == {text}
            results = ComprehensiveResults.model_validate(facts.pending["content"])
            assert set(results.reused) == set(SOURCE_AGENTS) - ran
            assert results.changes is not None
        await play.decide("decide_operation_results", approved=True)
        facts = await play.carry()
        assert (facts.outcome, len(facts.iterations)) == ("completed", len(again) + 1)

    house.run(work())


@examples
@given(
    data=st.data(),
    shape=drawn.shapes,
    task_type=st.sampled_from(("stepwise", "checked_stepwise")),
    deaths=drawn.deaths,
)
def test_property_8_legacy_hitl_routing(
    house: House, data: st.DataObject, shape: PlanShape, task_type: str, deaths: Sequence[int]
) -> None:
    """Each agent's result goes to a person, who takes it or says what to do otherwise; the agent hears that.

    The seed's HITL agent is a gate here: no agent's failure lets a result pass that nobody has seen.
    """

    async def work() -> None:
        play = PlayedOperation(house, shapes=[shape])
        await play.begin(QUESTION, task_type)
        facts, reviewed, sent_back = await play.carry(deaths), [], 0
        while facts.pending is not None and facts.pending["kind"] == "operation_review":
            kind, told = await message(play, facts)
            agent = told["agent"]
            assert kind == "user_clarification_request"
            assert (told["request_id"], told["plan_id"]) == (facts.pending["id"], play.plan_id)
            kept = facts.readings(agent)[-1][1].result
            assert kept is not None
            assert told["agent_result"] == kept.model_dump(mode="json")
            assert told["question"]
            yes = sent_back >= 3 or data.draw(st.booleans(), "yes")
            text = data.draw(drawn.yeses if yes else drawn.wishes, "text")
            read = len(play.ledger.readings)
            await play.call("clarify_operation", request_id=facts.pending["id"], answer=text)
            facts = await play.carry(deaths)
            if yes:
                reviewed.append(agent)
                assert agent not in {task.agent for task in play.ledger.readings[read:]}
            else:
                sent_back += 1
                again = [task for task in play.ledger.readings[read:] if task.agent == agent]
                assert {(task.question, task.feedback) for task in again} <= {(QUESTION, text)}
                assert again or shape.side_by_side  # there the others are looked at first
        assert sorted(reviewed) == sorted(shape.order)
        assert (facts.pending is None) == (task_type == "stepwise")
        facts = await play.say_yes()
        assert facts.outcome == "completed"

    house.run(work())


@examples
@given(
    query=drawn.questions,
    notes=st.lists(drawn.wishes, max_size=2),
    again=st.lists(st.tuples(REVISIONS, drawn.agents, drawn.wishes), max_size=2),
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


@examples
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


@examples
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
            _, told = await message(play, facts)
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


@examples
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
