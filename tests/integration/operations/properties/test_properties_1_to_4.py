"""Properties 1 to 4 of seed 003 ("Correctness Properties"), against the real graph on a real Postgres.

What the browser shows of them is tried with the browser; here it is what it is given to show. Whatever else
happens in an example is held against `laws` at each stop.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.errors import SignoffError
from models.operations.items import SourceAgent
from models.operations.plans import SOURCE_AGENTS
from models.operations.results import ComprehensiveResults
from models.runtime.approvals import content_digest
from tests.integration.operations.operations_desk import QUESTION
from tests.integration.operations.properties import drawn
from tests.integration.operations.properties.drawn import plays
from tests.integration.operations.properties.operation_facts import OperationFacts
from tests.integration.operations.properties.played_operation import REFUSALS, House, PlayedOperation
from tests.integration.operations.properties.staged_agents import PlanShape, behave

PLANNED = st.sampled_from(("comprehensive", "reviewed", "planned", "planned_stepwise"))
BAD_REQUESTS: tuple[dict[str, Any], ...] = (
    {"query": ""},
    {"query": "ab"},
    {"query": "x" * 4001},
    {"query": None},
    {"query": "a\x00bc"},
    {"topic": "nowhere"},
    {"topic": "equity"},
    {"task_type": "no such"},
    {"task_type": "comprehensiv"},
    {"approved": True},
    {"request_id": ""},
)


@plays
@given(query=drawn.questions, task_type=drawn.task_types, bad=st.sampled_from(BAD_REQUESTS))
def test_property_1_frontend_workflow_initiation(
    house: House, query: str, task_type: str, bad: dict[str, Any]
) -> None:
    """Any query is taken and begins one operation: the planner gets it as it is, and progress is told."""

    async def work() -> None:
        play = PlayedOperation(house)
        refused = PlayedOperation(house)
        with pytest.raises(SignoffError) as error:
            await refused.begin(**{"query": query, "task_type": task_type} | bad)
        assert error.value.http_status in REFUSALS
        begun = await play.begin(query, task_type, request_id=f"r{house.lives}/{query}"[:200])
        again = await play.begin(query, task_type, request_id=f"r{house.lives}/{query}"[:200])
        assert (begun.status, again.operation_id, again.plan_id) == (
            "pending",
            begun.operation_id,
            begun.plan_id,
        )
        assert play.ledger.length == 0
        shown = await play.call("get_operation")
        assert (shown.query, shown.status, shown.approval) == (query, "pending", None)
        assert (shown.progress.current_stage, shown.progress.current_agent) == ("plan_creation", "planner")
        facts = await play.carry()
        assert [request.question for request in play.ledger.plans] == [query]
        told = [one["data"] for one in facts.rows["events"] if one["type"] == "workflow_progress_update"]
        assert (told[0]["plan_id"], told[0]["current_stage"]) == (play.plan_id, "plan_approval")
        if "plan" in play.gates:
            shown = await play.call("get_operation")
            assert (shown.status, shown.progress.current_stage) == ("awaiting_approval", "plan_approval")
            assert 0 < shown.progress.progress_percentage < 100

    house.run(work())


@plays
@given(
    query=drawn.questions,
    shape=drawn.shapes,
    task_type=PLANNED,
    away=st.none() | drawn.agents,
    deaths=drawn.deaths,
)
def test_property_2_plan_display_completeness(
    house: House,
    query: str,
    shape: PlanShape,
    task_type: str,
    away: SourceAgent | None,
    deaths: Sequence[int],
) -> None:
    """All that will run is shown: agents in their order, why, with which tools, on what, and how long."""

    async def work() -> None:
        play = PlayedOperation(house, shapes=[shape])
        if away is not None:
            behave(play.servers[away], "is away")
        await play.begin(query, task_type)
        facts = await play.carry(deaths)
        kind, data = await play.message()
        assert kind == "plan_approval_request"
        assert data["plan_id"] == play.plan_id
        assert datetime.fromisoformat(data["timestamp"])
        plan = data["plan"]
        # What can't be read is left out, and told of.
        readable = [agent for agent in SOURCE_AGENTS if agent != away]
        order = [agent for agent in shape.order if agent in readable] or readable
        sequence = [*order, *(["analysis"] if shape.analysis else [])]
        assert plan["agent_sequence"] == sequence == [step["agent"] for step in plan["steps"]]
        assert plan["side_by_side"] == shape.side_by_side
        assert plan["data_sources"] == [house.config.operations.sources[agent].source for agent in order]
        assert plan["estimated_duration"] > 0
        assert plan["complexity"] in ("low", "medium", "high")
        assert plan["description"].strip()
        for step in plan["steps"]:
            assert step["why"].strip()
            served = play.servers.get(step["agent"])
            tools = [] if served is None else [(served.name, "search", served.digest)]
            assert [(tool["server"], tool["tool"], tool["digest"]) for tool in step["tools"]] == tools
        assert away is None or any(away in note for note in plan["notes"]), "nobody is told who is away"
        # What is shown is what is decided on, what is kept, and what the history has.
        gate = (await play.call("get_operation")).approval
        assert (gate.digest, gate.content["plan"]) == (data["digest"], plan)
        assert content_digest(gate.content) == gate.digest
        assert [one["result"] for one in facts.told("plan_creation")] == [plan]

    house.run(work())


@plays
@given(data=st.data(), task_type=PLANNED, shape=drawn.shapes, deaths=drawn.deaths, end=st.booleans())
def test_property_3_plan_approval_gating(
    house: House,
    data: st.DataObject,
    task_type: str,
    shape: PlanShape,
    deaths: Sequence[int],
    end: bool,
) -> None:
    """No agent reads before a person has approved this very plan: nothing unclear, late or foreign is a yes.

    The seed takes a malformed answer for an approval; here it is refused, and silence ends the operation.
    """

    async def work() -> None:
        play = PlayedOperation(house, shapes=[shape])
        await play.begin(QUESTION, task_type)
        facts = await play.carry(deaths)
        for _ in range(data.draw(st.integers(1, 3), "how many")):
            assert facts.pending is not None
            digest, approval_id = facts.pending["digest"], facts.pending["id"]
            match data.draw(
                st.sampled_from(("malformed", "words", "no", "a reader's", "for a model")), "answer"
            ):
                case "malformed":
                    answer = data.draw(drawn.malformed_plan_answers(digest), "malformed")
                    await play.refuses("decide_operation_plan", **answer)
                case "words":
                    text = data.draw(drawn.wishes, "text")
                    await play.call("clarify_operation", request_id=approval_id, answer=text)
                case "no":
                    await play.decide("decide_operation_plan", approved=False, feedback="otherwise")
                case "a reader's":
                    rita = await house.person("rita", "macro:reader")
                    await play.refuses("decide_operation_plan", as_=rita, approved=True, digest=digest)
                case _:
                    agent = (await house.person("ann", "macro:analyst")).model_copy(update={"decides": False})
                    await play.refuses("decide_operation_plan", as_=agent, approved=True, digest=digest)
            facts = await play.carry()
            assert play.ledger.readings == []
            assert play.ledger.calls == []
        if end:
            await play.expire()
            facts = await play.carry(deaths)
            assert (facts.outcome, play.ledger.readings) == ("expired", [])
            return
        await play.decide("decide_operation_plan", approved=True)
        await play.carry(deaths)
        assert {task.agent for task in play.ledger.readings} <= set(shape.order)
        assert play.ledger.readings

    house.run(work())


@plays
@given(
    shape=drawn.shapes,
    doings=st.dictionaries(
        drawn.agents, st.sampled_from(("fails", "is slow", "is away", "asks")), max_size=2
    ),
    retry=st.booleans(),
    deaths=drawn.deaths,
)
def test_property_4_sequential_multi_agent_execution(
    house: House, shape: PlanShape, doings: Mapping[SourceAgent, str], retry: bool, deaths: Sequence[int]
) -> None:
    """Agents run in the plan's order, each once the one before is done; of one that can't, a person is asked.

    With `side_by_side` those that read a system run at once. A server that is away is waited for first.
    """

    async def work() -> None:
        play = PlayedOperation(house, shapes=[shape])
        await play.begin(QUESTION, "planned")
        await play.carry()
        for agent, doing in doings.items():
            behave(play.servers[agent], doing)
        await play.decide("decide_operation_plan", approved=True)
        facts = await play.carry(deaths)
        asked: list[str] = []
        while facts.pending is not None:
            agent = facts.pending["content"]["agent"]
            assert agent in doings
            assert asked.count(agent) == 0, f"{agent} was asked about twice"
            asked.append(agent)
            last = facts.readings(agent)[-1][1]
            assert last.result is None or last.result.status == "error"
            behave(play.servers[agent], "is well")
            on = "decline" if facts.pending["content"]["kind"] == "server_asks" else "retry"
            await play.decide("decide_operation_agent", answer=on if retry else "skip")
            facts = await play.carry()
        for agent in shape.order:
            assert len(facts.readings(agent)) == 1 + (retry and agent in asked)
        assert set(asked) == set(doings) & set(shape.order)
        first = list(dict.fromkeys(task.agent for task in play.ledger.readings))
        assert first == list(shape.order)
        if not shape.side_by_side:
            ends = [facts.readings(agent) for agent in shape.order]
            assert all(before[-1][0] <= after[0][0] for before, after in pairwise(ends))
        _check_progress(facts, shape)
        [iteration] = facts.iterations
        results = ComprehensiveResults.model_validate(iteration["results"])
        status = {one.agent: one.status for one in results.results}
        gone = {agent for agent in shape.order if agent in doings and not retry}
        assert status == {agent: "skipped" if agent in gone else "completed" for agent in shape.order}
        assert all(any(agent in told for told in results.missing) for agent in gone)
        assert facts.outcome == "completed"

    house.run(work())


def _check_progress(facts: OperationFacts, shape: PlanShape) -> None:
    """It was told after each agent, and never went back."""
    told = [one["data"] for one in facts.rows["events"] if one["type"] == "workflow_progress_update"]
    over = [one["progress_percentage"] for one in told]
    assert over == sorted(over), over
    assert (over[-1], told[-1]["current_stage"]) == (100.0, "completed")
    stages = {one["current_stage"] for one in told}
    here = {"gmail": "gmail_execution", "accounts_payable": "ap_execution", "crm": "crm_execution"}
    assert {here[agent] for agent in shape.order} <= stages
    done = [set(one["completed_agents"]) for one in told]
    assert all(before <= after for before, after in pairwise(done))
    assert all(set(one["completed_agents"]).isdisjoint(one["pending_agents"]) for one in told)
