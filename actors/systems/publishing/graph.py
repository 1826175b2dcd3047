"""Publishing: wait for the decision, then publish or give back, then tell the people. Seed 000 §8.1.

The approval was written together with the workflow. The state is one id and one word; what is decided
on stands in the approval. Side effects are steps, each done once.
"""

from typing import Any, Literal, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from actors.platform.runtime.gate import decide
from actors.platform.runtime.run import Run
from actors.platform.runtime.workflow_graph import WorkflowGraph
from actors.systems.publishing.steps import PublishingSteps
from models.store.content.publishing import GATE
from models.store.database import Connection


class State(TypedDict, total=False):
    """Where a publication is."""

    approval_id: str
    decision: Literal["approved", "rejected", "expired", "void"]


async def gate(state: State) -> State:
    decision = decide(GATE)
    return {"decision": decision.status}


async def publish(state: State, runtime: Runtime[PublishingSteps]) -> State:
    await runtime.context.publish()
    return {}


async def give_back(state: State, runtime: Runtime[PublishingSteps]) -> State:
    await runtime.context.give_back(state["decision"])
    return {}


async def notify(state: State, runtime: Runtime[PublishingSteps]) -> State:
    await runtime.context.notify()
    return {}


def after_decision(state: State) -> Literal["publish", "give_back"]:
    return "publish" if state["decision"] == "approved" else "give_back"


def build_graph() -> StateGraph[State, PublishingSteps, State, State]:
    graph = StateGraph(State, context_schema=PublishingSteps)
    graph.add_node("gate", gate)
    graph.add_node("publish", publish)
    graph.add_node("give_back", give_back)
    graph.add_node("notify", notify)
    graph.add_edge(START, "gate")
    graph.add_conditional_edges("gate", after_decision)
    graph.add_edge("publish", "notify")
    graph.add_edge("give_back", "notify")
    graph.add_edge("notify", END)
    return graph


async def begin(run: Run) -> tuple[dict[str, Any], PublishingSteps]:
    """The steps for the article."""
    steps = await PublishingSteps.load(run)
    return {"approval_id": steps.approval_id}, steps


def result(state: dict[str, Any]) -> dict[str, Any]:
    """What the workflow came to."""
    return {"decision": state["decision"], "approval_id": state["approval_id"]}


async def failed(connection: Connection, run: Run, reason: str) -> None:
    """An approved article that can't be published goes back to its editor, and its people are told."""
    # On the connection that is given: one that waited for a second would hold up all that do the same.
    await (await PublishingSteps.load_in(connection, run)).fail(connection, reason)


PUBLISH_ARTICLE = WorkflowGraph(
    build=build_graph,
    begin=begin,
    result=result,
    gates=frozenset({GATE}),
    failed=failed,
    forgotten=frozenset({"fail"}),
)
