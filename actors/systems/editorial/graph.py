"""The chief editor: write, review, consult specialists, revise, until the article passes or rounds end.

The edges say what comes next; the steps do the work and keep every outcome. The state is counts, ids and
the outcome. Seed 004 §6.1.
"""

from typing import Any, Literal, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from actors.platform.runtime.run import Run
from actors.platform.runtime.workflow_graph import WorkflowGraph
from actors.systems.editorial.files import files
from actors.systems.editorial.steps import EditorialSteps
from models.content.editorial import Outcome


class State(TypedDict, total=False):
    """Where a topic is."""

    round: int
    rounds: int
    concerns: list[int]
    blocking: int
    outcome: Outcome


class Consultation(TypedDict):
    """One concern on its way to its specialist."""

    round: int
    concern_id: int


async def draft(state: State, runtime: Runtime[EditorialSteps]) -> State:
    rounds = await runtime.context.settle_terms()
    await runtime.context.draft()
    return {"round": 1, "rounds": rounds}


async def review(state: State, runtime: Runtime[EditorialSteps]) -> State:
    return {"concerns": await runtime.context.review(state["round"]), "blocking": 0}


async def assign(state: State, runtime: Runtime[EditorialSteps]) -> State:
    await runtime.context.assign(state["round"])
    return {}


async def consult(state: Consultation, runtime: Runtime[EditorialSteps]) -> State:
    await runtime.context.consult(state["round"], state["concern_id"])
    return {}


async def tally(state: State, runtime: Runtime[EditorialSteps]) -> State:
    return {"blocking": runtime.context.blocking(state["round"])}


async def revise(state: State, runtime: Runtime[EditorialSteps]) -> State:
    await runtime.context.revise(state["round"])
    return {"round": state["round"] + 1}


async def conclude(state: State, runtime: Runtime[EditorialSteps]) -> State:
    return {"outcome": await runtime.context.conclude(state["round"], blocking=state["blocking"])}


def after_review(state: State) -> Literal["assign", "conclude"]:
    return "assign" if state["concerns"] else "conclude"


def to_specialists(state: State) -> list[Send]:
    return [Send("consult", Consultation(round=state["round"], concern_id=i)) for i in state["concerns"]]


def after_tally(state: State) -> Literal["revise", "conclude"]:
    last = state["round"] >= state["rounds"]
    return "revise" if state["blocking"] and not last else "conclude"


def build_graph() -> StateGraph[State, EditorialSteps, State, State]:
    graph = StateGraph(State, context_schema=EditorialSteps)
    graph.add_node("draft", draft)
    graph.add_node("review", review)
    graph.add_node("assign", assign)
    graph.add_node("consult", consult, input_schema=Consultation)
    graph.add_node("tally", tally)
    graph.add_node("revise", revise)
    graph.add_node("conclude", conclude)
    graph.add_edge(START, "draft")
    graph.add_edge("draft", "review")
    graph.add_conditional_edges("review", after_review)
    graph.add_conditional_edges("assign", to_specialists, ["consult"])
    graph.add_edge("consult", "tally")
    graph.add_conditional_edges("tally", after_tally)
    graph.add_edge("revise", "review")
    graph.add_edge("conclude", END)
    return graph


async def begin(run: Run) -> tuple[dict[str, Any], EditorialSteps]:
    """The first state, and the steps, which each node finds as `runtime.context`.

    The execution calls it each time it runs the graph; the knowledge base is up to date with its files then.
    """
    await run.agent("knowledge_base").refresh()
    return {"round": 0, "blocking": 0}, EditorialSteps(run=run)


def result(state: dict[str, Any]) -> dict[str, Any]:
    """What the workflow came to."""
    return {"outcome": state["outcome"], "rounds": state["round"], "blocking": state["blocking"]}


EDITORIAL = WorkflowGraph(
    build=build_graph,
    begin=begin,
    result=result,
    project=files,
    added=frozenset({"terms"}),  # not kept by release 0.1.0
)
