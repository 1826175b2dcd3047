"""Operations: plan, ask, have the agents read, compare, ask again, and do over what a person wants done over.

Each gate binds to exactly what is shown there. A yes to the plan is a yes to that plan alone: nothing
rewrites it, and where a tool is not what was approved any more, another plan is asked about. Seed 003.
"""

from collections.abc import Mapping
from typing import Any, Literal, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from actors.platform.runtime.gate import decide
from actors.platform.runtime.run import Run
from actors.platform.runtime.workflow_graph import WorkflowGraph
from actors.systems.operations.answers import (
    sent_already,
    unreviewed,
    with_answer,
    without_last_write,
    writes_elsewhere,
)
from actors.systems.operations.approved_writes import next_proposed
from actors.systems.operations.steps import OperationSteps
from models.operations.plans import ANALYSIS, OperationAgent, OperationPlan
from models.operations.questions import AgentQuestion
from models.operations.results import (
    AgentResult,
    ComprehensiveResults,
    OperationOutcome,
    OperationResult,
    WriteOutcome,
)
from models.operations.revisions import Revision
from models.operations.tasks import AnsweredCall, ReadingOutcome
from models.runtime.approvals import GateDecision
from models.store.operations import operations

PLAN, QUESTION, WRITE, REVIEW, RESULTS = "plan", "question", "write", "review", "results"
AfterWork = Literal["plan", "question_gate", "write_gate", "review_gate", "work", "compile"]


class State(TypedDict, total=False):
    """Where an operation is.

    `readings` counts each agent's, and `reviewed` says up to which of them a person has looked. `prior` are
    results that stand where nothing of their task is otherwise; `said` is what people want of each agent.
    `answered` is what was given to a server for an agent's reading under way; `written` are all calls that
    were sent, or perhaps, and those that were refused.
    """

    iteration: int
    plans: int
    plan: OperationPlan
    feedback: str | None
    voided: str | None
    readings: Mapping[OperationAgent, int]
    prior: Mapping[OperationAgent, AgentResult]
    results: Mapping[OperationAgent, AgentResult]
    reviewed: Mapping[OperationAgent, int]
    said: Mapping[OperationAgent, str]
    answered: Mapping[OperationAgent, tuple[AnsweredCall, ...]]
    written: tuple[WriteOutcome, ...]
    asked: Mapping[OperationAgent, ReadingOutcome | WriteOutcome]
    question: AgentQuestion
    questions: int
    reviews: int
    writes: int
    gate: str
    decision: GateDecision | None
    compiled: ComprehensiveResults | None
    revision: Revision | None
    result: OperationResult


async def plan(state: State, runtime: Runtime[OperationSteps]) -> State:
    number = state["plans"] + 1
    made = await runtime.context.plan(
        number,
        state["iteration"],
        feedback=state.get("feedback"),
        voided=state.get("voided"),
        previous=state.get("plan"),
    )
    return {"plans": number, "plan": made, "decision": None}


async def plan_gate(state: State, runtime: Runtime[OperationSteps]) -> State:
    number, feedback = state["plans"], state.get("voided") or state.get("feedback")
    request = runtime.context.gates.plan(state["plan"], state["iteration"], number=number, feedback=feedback)
    return {"gate": PLAN, "decision": decide(f"{PLAN}/{number}", request)}


async def settle_plan(state: State, runtime: Runtime[OperationSteps]) -> State:
    decision = state["decision"]
    settled = await runtime.context.settle_plan(state["plans"], state["iteration"], state["plan"], decision)
    if decision is not None and decision.status != "approved":
        return {"plan": settled, "feedback": decision.notes, "voided": None}
    # What was read under the plan before stands where nothing of its task is otherwise.
    prior = {**state["prior"], **state["results"]}
    told: State = {"plan": settled, "feedback": None, "voided": None}
    return {**told, "prior": prior, "results": {}, "asked": {}, "answered": {}}


async def work(state: State, runtime: Runtime[OperationSteps]) -> State:
    steps = runtime.context
    came = await steps.working.round(
        state["plan"],
        iteration=state["iteration"],
        results=state["results"],
        prior=state["prior"],
        readings=state["readings"],
        said=state["said"],
        answered=state["answered"],
    )
    # What was given to a server is for one reading: whoever reads again is asked again.
    answered = {agent: one for agent, one in state["answered"].items() if agent not in came.results}
    asked = {**state["asked"], **came.asked}
    return {
        "results": came.results,
        "readings": came.readings,
        "voided": came.voided,
        "asked": asked,
        "answered": answered,
    }


async def question_gate(state: State, runtime: Runtime[OperationSteps]) -> State:
    gates, number, iteration = runtime.context.gates, state["questions"] + 1, state["iteration"]
    agent, waiting = next(iter(state["asked"].items()), (None, None))
    if agent is None or waiting is None:
        asked = gates.about_failed(state["results"], iteration, number=number)
    else:
        asked = gates.about_waiting(agent, waiting, iteration, number=number)
    decision = decide(f"{QUESTION}/{number}", gates.question(asked))
    return {"gate": QUESTION, "questions": number, "question": asked, "decision": decision}


async def answer_question(state: State, runtime: Runtime[OperationSteps]) -> State:
    question, decision, steps = state["question"], state["decision"], runtime.context
    assert decision is not None, "the gate has asked"
    agent, results, answered = question.agent, dict(state["results"]), dict(state["answered"])
    await steps.settle_answer(f"{QUESTION}/{state['questions']}", state["iteration"], agent, decision)
    if decision.status not in ("approved", "rejected"):
        return {}
    yes, said = decision.status == "approved", state["said"]
    if question.kind in ("write_unknown", "write_not_sent"):
        results[agent] = without_last_write(results[agent]) if yes else results[agent]
    elif not yes:
        results[agent] = await steps.working.left_out(
            state["questions"],
            question,
            state["plan"],
            results,
            said=state["said"],
            iteration=state["iteration"],
        )
        answered.pop(agent, None)
    elif question.kind == "server_asks":
        answered[agent] = with_answer(answered.get(agent, ()), question, decision)
    else:
        del results[agent]
        said = {**said, agent: decision.notes} if decision.notes else said
    asked = {other: one for other, one in state["asked"].items() if other != agent}
    prior = {other: one for other, one in state["prior"].items() if other != agent}
    return {"results": results, "answered": answered, "asked": asked, "prior": prior, "said": said}


async def write_gate(state: State, runtime: Runtime[OperationSteps]) -> State:
    number, proposed = state["writes"] + 1, next_proposed(state["results"])
    assert proposed is not None, "there is one, or it would not come here"
    sent_before = sent_already(state["written"], proposed[1])
    request = runtime.context.gates.write(
        *proposed, state["iteration"], number=number, sent_before=sent_before
    )
    return {"gate": WRITE, "writes": number, "decision": decide(f"{WRITE}/{number}", request)}


async def write(state: State, runtime: Runtime[OperationSteps]) -> State:
    proposed, decision = next_proposed(state["results"]), state["decision"]
    assert proposed is not None, "the gate has asked"
    assert decision is not None, "it was decided"
    agent, call = proposed
    outcome = await runtime.context.writing.settle(
        agent, call, decision, number=state["writes"], iteration=state["iteration"]
    )
    one = state["results"][agent]
    results = {**state["results"], agent: one.model_copy(update={"writes": (*one.writes, outcome)})}
    told: State = {"results": results, "voided": outcome.told if outcome.voids_plan else None}
    if outcome.status in ("done", "unknown", "failed"):
        told["written"] = (*state["written"], outcome)
    if outcome.status in ("unknown", "not_sent") and not outcome.voids_plan:
        told["asked"] = {**state["asked"], agent: outcome}
    return told


async def review_gate(state: State, runtime: Runtime[OperationSteps]) -> State:
    number = state["reviews"] + 1
    agent = unreviewed(state["results"], state["readings"], state["reviewed"])[0]
    request = runtime.context.gates.review(state["results"][agent], state["iteration"], number=number)
    decision = decide(f"{REVIEW}/{number}", request)
    return {"gate": REVIEW, "reviews": number, "decision": decision}


async def answer_review(state: State, runtime: Runtime[OperationSteps]) -> State:
    agent = unreviewed(state["results"], state["readings"], state["reviewed"])[0]
    decision = state["decision"]
    assert decision is not None, "the gate has asked"
    await runtime.context.settle_answer(f"{REVIEW}/{state['reviews']}", state["iteration"], agent, decision)
    if decision.status == "approved":
        return {"reviewed": {**state["reviewed"], agent: state["readings"][agent]}}
    if decision.status != "rejected":
        return {}
    results = {other: one for other, one in state["results"].items() if other != agent}
    prior = {other: one for other, one in state["prior"].items() if other != agent}
    return {"results": results, "prior": prior, "said": {**state["said"], agent: decision.notes or ""}}


async def compile_results(state: State, runtime: Runtime[OperationSteps]) -> State:
    compiled = await runtime.context.compiling.compile(
        state["iteration"],
        state["plan"],
        state["results"],
        said=state["said"],
        written_before=writes_elsewhere(state["written"], state["results"]),
        previous=state.get("compiled"),
        asks=runtime.context.stops_at(RESULTS),
    )
    return {"compiled": compiled}


async def results_gate(state: State, runtime: Runtime[OperationSteps]) -> State:
    compiled = state["compiled"]
    assert compiled is not None, "they were compiled"
    request = runtime.context.gates.results(compiled)
    return {"gate": RESULTS, "decision": decide(f"{RESULTS}/{state['iteration']}", request)}


async def settle_results(state: State, runtime: Runtime[OperationSteps]) -> State:
    decision = state["decision"]
    assert decision is not None, "the gate has asked"
    revision = await runtime.context.settle_results(state["iteration"], decision)
    if revision is None:
        return {"revision": None}
    again = state["iteration"] + 1
    if revision.revision_type == "full_replan":
        fresh: State = {"results": {}, "prior": {}, "said": {}, "feedback": revision.feedback}
        return {"revision": revision, "iteration": again, **fresh}
    targets = revision.target_agents or (ANALYSIS,)
    prior = {agent: one for agent, one in state["results"].items() if agent not in targets}
    said = {**state["said"], **dict.fromkeys(targets, revision.feedback)}
    return {"revision": revision, "iteration": again, "results": {}, "prior": prior, "said": said}


async def conclude(state: State, runtime: Runtime[OperationSteps]) -> State:
    decision, compiled = state.get("decision"), state.get("compiled")
    # A no ends nothing: where it was the last that anybody said, it was to an agent, and the rest went on.
    unfinished = decision is not None and decision.status not in ("approved", "rejected")
    outcome: OperationOutcome = "expired" if unfinished else "completed"
    result = await runtime.context.conclude(
        outcome,
        state["iteration"],
        # Of the iteration that it ended in, where that came to any.
        compiled if compiled is not None and compiled.iteration == state["iteration"] else None,
        approval=decision if state.get("gate") == RESULTS else None,
        ended_at=state.get("gate") if unfinished else None,
    )
    return {"result": result}


def after_plan(state: State, runtime: Runtime[OperationSteps]) -> Literal["plan_gate", "settle_plan"]:
    # A type that stops at no plan goes by its first one. Each other is made because a person wants it, or
    # because a tool is not what it was: that one nobody has let pass.
    return "plan_gate" if runtime.context.stops_at(PLAN) or state["plans"] > 1 else "settle_plan"


def after_plan_settled(state: State) -> Literal["work", "plan", "conclude"]:
    decision = state["decision"]
    if decision is None or decision.status == "approved":
        return "work"
    return "plan" if decision.status == "rejected" else "conclude"


def after_work(state: State, runtime: Runtime[OperationSteps]) -> AfterWork:
    if state.get("voided"):
        return "plan"
    if state["asked"] or any(one.status == "error" for one in state["results"].values()):
        return "question_gate"
    if next_proposed(state["results"]) is not None:
        return "write_gate"
    left = unreviewed(state["results"], state["readings"], state["reviewed"])
    if left and runtime.context.stops_at("agents"):
        return "review_gate"
    due = [agent for agent in state["plan"].sources if agent not in state["results"]]
    return "work" if due else "compile"


def after_answer(state: State, runtime: Runtime[OperationSteps]) -> AfterWork | Literal["conclude"]:
    decision = state["decision"]
    assert decision is not None, "the gate has asked"
    return after_work(state, runtime) if decision.status in ("approved", "rejected") else "conclude"


def after_compiling(state: State, runtime: Runtime[OperationSteps]) -> Literal["results_gate", "conclude"]:
    return "results_gate" if runtime.context.stops_at(RESULTS) else "conclude"


def after_results_settled(state: State) -> Literal["plan", "work", "conclude"]:
    revision = state["revision"]
    if revision is None:
        return "conclude"
    return "plan" if revision.revision_type == "full_replan" else "work"


def build_graph() -> StateGraph[State, OperationSteps, Any, Any]:
    graph = StateGraph(State, context_schema=OperationSteps)
    graph.add_node("plan", plan)
    graph.add_node("plan_gate", plan_gate)
    graph.add_node("settle_plan", settle_plan)
    graph.add_node("work", work)
    graph.add_node("question_gate", question_gate)
    graph.add_node("answer_question", answer_question)
    graph.add_node("write_gate", write_gate)
    graph.add_node("write", write)
    graph.add_node("review_gate", review_gate)
    graph.add_node("answer_review", answer_review)
    graph.add_node("compile", compile_results)
    graph.add_node("results_gate", results_gate)
    graph.add_node("settle_results", settle_results)
    graph.add_node("conclude", conclude)
    graph.add_edge(START, "plan")
    graph.add_conditional_edges("plan", after_plan)
    graph.add_edge("plan_gate", "settle_plan")
    graph.add_conditional_edges("settle_plan", after_plan_settled)
    graph.add_conditional_edges("work", after_work)
    graph.add_edge("question_gate", "answer_question")
    graph.add_conditional_edges("answer_question", after_answer)
    graph.add_edge("write_gate", "write")
    graph.add_conditional_edges("write", after_answer)
    graph.add_edge("review_gate", "answer_review")
    graph.add_conditional_edges("answer_review", after_answer)
    graph.add_conditional_edges("compile", after_compiling)
    graph.add_edge("results_gate", "settle_results")
    graph.add_conditional_edges("settle_results", after_results_settled)
    graph.add_edge("conclude", END)
    return graph


async def begin(run: Run) -> tuple[dict[str, Any], OperationSteps]:
    """The steps of the operation that the workflow runs.

    Raises:
        PermissionMissing: whoever asked for it has no right to it any more.
    """
    operation = await run.database.read(
        lambda connection: operations.of_workflow(connection, run.workflow_id)
    )
    steps = OperationSteps(run=run, operation=operation)
    await steps.check_right()
    counts: State = {"iteration": 1, "plans": 0, "questions": 0, "reviews": 0, "writes": 0}
    nothing: State = {"readings": {}, "prior": {}, "results": {}, "reviewed": {}, "said": {}}
    return {**counts, **nothing, "asked": {}, "answered": {}, "written": ()}, steps


def result(state: dict[str, Any]) -> dict[str, Any]:
    """What the workflow came to."""
    found: OperationResult = state["result"]
    return found.model_dump(mode="json")


OPERATION = WorkflowGraph(
    build=build_graph, begin=begin, result=result, gates=frozenset({PLAN, QUESTION, WRITE, REVIEW, RESULTS})
)
