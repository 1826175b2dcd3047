"""Properties 5 to 8 of seed 003 ("Correctness Properties"), against the real graph on a real Postgres.

What the browser shows of them is tried with the browser; here it is what it is given to show. Whatever else
happens in an example is held against `laws` at each stop.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from models.operations.items import SourceAgent
from models.operations.messages import message_of_results
from models.operations.plans import SOURCE_AGENTS
from models.operations.results import ComprehensiveResults
from tests.integration.operations.operations_desk import ACCOUNT, BILL, MAIL, QUESTION
from tests.integration.operations.properties import drawn
from tests.integration.operations.properties.drawn import AGAIN, EVERYBODY, plays
from tests.integration.operations.properties.operation_facts import moment
from tests.integration.operations.properties.played_operation import House, PlayedOperation
from tests.integration.operations.properties.staged_agents import PlanShape, behave

CHECKED = st.sampled_from(("comprehensive", "comprehensive", "checked", "reviewed"))
THINGS = st.fixed_dictionaries(
    {
        "gmail": st.lists(st.sampled_from((MAIL, MAIL | {"id": "m2", "subject": "INV-3077"})), max_size=2),
        "accounts_payable": st.lists(
            st.sampled_from(
                (BILL, BILL | {"id": "b2", "amount": "9.00"}, BILL | {"id": "b3", "status": "open"})
            ),
            max_size=3,
        ),
        "crm": st.lists(
            st.sampled_from((ACCOUNT, ACCOUNT | {"id": "a2", "email": "x@y.example"})), max_size=2
        ),
    }
)


@plays
@given(
    things=THINGS,
    shape=drawn.shapes,
    failing=st.none() | drawn.agents,
    mocked=st.none() | drawn.agents,
    query=st.sampled_from((QUESTION, "what is open")),
)
def test_property_5_comprehensive_results_compilation(
    house: House,
    things: Mapping[SourceAgent, list[Mapping[str, Any]]],
    shape: PlanShape,
    failing: SourceAgent | None,
    mocked: SourceAgent | None,
    query: str,
) -> None:
    """All that was found is in the results, each claim with its evidence, and what is not in them is said."""
    assume(failing is None or failing != mocked)

    async def work() -> None:
        play = PlayedOperation(house, shapes=[shape])
        for agent in SOURCE_AGENTS:
            play.servers[agent].things = list(things[agent])
            play.servers[agent].mock = agent == mocked
        if failing is not None:
            behave(play.servers[failing], "fails")
        await play.begin(query, "unattended")
        facts = await play.carry()
        if facts.pending is not None:
            await play.decide("decide_operation_agent", answer="skip")
            facts = await play.carry()
        [row] = facts.iterations
        results = ComprehensiveResults.model_validate(row["results"])
        _, data = message_of_results(results, at=moment(row["created_at"]))
        agents = [*shape.order, *(["analysis"] if shape.analysis else [])]
        assert list(data["results"]) == agents
        found: dict[str, Mapping[str, Any]] = {}
        for one in results.results:
            assert one.metadata.data_quality in ("high", "medium", "low")
            assert one.metadata.execution_time >= 0
            assert one.metadata.tool_calls, "it has not said what it called"
            if one.agent == failing:
                assert (data["results"][one.agent]["status"], one.status) == ("error", "skipped")
                assert any(failing in told for told in results.missing)
                continue
            assert one.result is not None
            mine = {item.id: item.data for item in one.result.items}
            assert all(thing in things[one.agent] for thing in mine.values())  # type: ignore[index]
            if query != QUESTION:  # nothing is named, so all is read
                assert all(thing in mine.values() for thing in things[one.agent])  # type: ignore[index]
            assert one.metadata.service_used == (
                "mock" if one.agent == mocked and mine else house.config.operations.sources[one.agent].service  # type: ignore[index]
            ) or (one.agent == mocked and one.metadata.service_used == "mock")
            found |= mine
        assert results.mocked == tuple(agent for agent in shape.order if agent == mocked and agent != failing)
        figures = results.correlations
        assert figures.cross_references == len(results.matches)
        assert all(0 <= rate <= 1 for rate in (figures.data_consistency, figures.quality_score))
        for match in results.matches:
            assert {match.left, match.right} <= found.keys()
        for conflict in results.conflicts:
            assert {conflict.left.item, conflict.right.item} <= found.keys()
            assert conflict.left.words in conflict.explanation
        marks = {f"C{one.number}" for one in results.matches} | {
            f"K{one.number}" for one in results.conflicts
        }
        said = [*results.analysis.executive_summary, *results.analysis.recommendations]
        assert all(one.evidence and set(one.evidence) <= marks for one in said)
        assert not shape.analysis or not results.conflicts or said, "contradictions were found, and not said"
        left_out = {agent for agent in SOURCE_AGENTS if agent not in shape.order}
        assert all(any(agent in told for told in results.missing) for agent in left_out)
        assert {"executive_summary", "recommendations", "correlations", "timestamp", "plan_id"} <= data.keys()

    house.run(work())


@plays
@given(data=st.data(), task_type=CHECKED, shape=drawn.shapes, deaths=drawn.deaths, end=st.booleans())
def test_property_6_final_approval_gating(
    house: House,
    data: st.DataObject,
    task_type: str,
    shape: PlanShape,
    deaths: Sequence[int],
    end: bool,
) -> None:
    """Results wait for a person, whole, and can be sent back until he has approved exactly them.

    The seed takes a malformed answer for an approval; here it is refused, and silence completes nothing.
    """

    async def work() -> None:
        play = PlayedOperation(house, shapes=[shape])
        await play.begin(QUESTION, task_type)
        facts = await play.say_yes("operation_results", deaths)
        for _ in range(data.draw(st.integers(1, 2), "how many")):
            assert facts.pending is not None
            kind, told = await play.message()
            assert kind == "final_results_approval_request"
            assert (
                list(told["comprehensive_results"]["results"]) == told["revision_options"]["specific_agents"]
            )
            assert facts.pending["content"] == facts.iterations[-1]["results"]
            digest = facts.pending["digest"]
            answer = data.draw(drawn.malformed_results_answers(digest), "malformed")
            await play.refuses("decide_operation_results", **answer)
            assert (await play.facts()).status == "waiting"
            if data.draw(st.booleans(), "revised"):
                again = {"revision_type": "specific_agents", "target_agents": [shape.order[0]]}
                await play.decide("decide_operation_results", approved=False, feedback="look again", **again)
                facts = await play.say_yes("operation_results")
                await play.refuses("decide_operation_results", approved=True, digest=digest)
        if end:
            await play.expire()
            facts = await play.carry(deaths)
            assert facts.outcome == "expired"
            assert not any(
                one.approved for one in (await play.call("read_operation_history")).final_approvals
            )
            return
        wanted = data.draw(st.booleans(), "exported")
        told = await play.decide("decide_operation_results", approved=True, export_results=wanted)
        assert bool(told.exports) == wanted
        facts = await play.carry(deaths)
        assert facts.outcome == "completed"
        read = await play.call("read_operation_results")
        assert (read.approved, read.approved_by) == (True, "ann")
        await play.refuses("decide_operation_results", approved=True, digest=digest)

    house.run(work())


@plays
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


@plays
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
            kind, told = await play.message()
            agent = told["agent"]
            assert kind == "user_clarification_request"
            assert (told["request_id"], told["plan_id"]) == (facts.pending["id"], play.plan_id)
            kept = facts.readings(agent)[-1][1].result
            assert kept is not None
            assert told["agent_result"] == kept.model_dump(mode="json")
            assert told["question"]
            yes = sent_back >= 2 or data.draw(st.booleans(), "yes")
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
