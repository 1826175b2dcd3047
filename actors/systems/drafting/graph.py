"""Drafting: three branches look for sources at once, then an article is written from them. Seed 000 §1.4.

Nodes say what happens next; the steps do the work and keep every outcome. The state is ids and words
only. A branch that fails is named in the draft; where nothing was found, nothing is written.
"""

from typing import Any, Literal, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from actors.platform.runtime.run import Run
from actors.platform.runtime.workflow_graph import WorkflowGraph
from actors.systems.drafting.steps import DraftingSteps
from models.content.drafting import DraftingResult
from models.store.database import Connection


class State(TypedDict, total=False):
    """Where the work is."""

    article_id: int | None
    outcome: DraftingResult


async def web_search(state: State, runtime: Runtime[DraftingSteps]) -> State:
    await runtime.context.search("web_search")
    return {}


async def data_download(state: State, runtime: Runtime[DraftingSteps]) -> State:
    await runtime.context.search("data_download")
    return {}


async def resource_query(state: State, runtime: Runtime[DraftingSteps]) -> State:
    await runtime.context.search("resource_query")
    return {}


async def gather(state: State, runtime: Runtime[DraftingSteps]) -> State:
    return {"article_id": await runtime.context.gather()}


async def write(state: State, runtime: Runtime[DraftingSteps]) -> State:
    await runtime.context.write()
    return {}


async def file(state: State, runtime: Runtime[DraftingSteps]) -> State:
    return {"outcome": await runtime.context.file()}


async def give_up(state: State, runtime: Runtime[DraftingSteps]) -> State:
    return {"outcome": await runtime.context.give_up()}


def after_gathering(state: State) -> Literal["write", "give_up"]:
    return "give_up" if state["article_id"] is None else "write"


def build_graph() -> StateGraph[State, DraftingSteps, State, State]:
    graph = StateGraph(State, context_schema=DraftingSteps)
    graph.add_node("web_search", web_search)
    graph.add_node("data_download", data_download)
    graph.add_node("resource_query", resource_query)
    graph.add_node("gather", gather)
    graph.add_node("write", write)
    graph.add_node("file", file)
    graph.add_node("give_up", give_up)
    graph.add_edge(START, "web_search")
    graph.add_edge(START, "data_download")
    graph.add_edge(START, "resource_query")
    graph.add_edge(["web_search", "data_download", "resource_query"], "gather")
    graph.add_conditional_edges("gather", after_gathering)
    graph.add_edge("write", "file")
    graph.add_edge("file", END)
    graph.add_edge("give_up", END)
    return graph


async def begin(run: Run) -> tuple[dict[str, Any], DraftingSteps]:
    """The steps of what was asked for."""
    return {}, DraftingSteps(run=run)


def result(state: dict[str, Any]) -> dict[str, Any]:
    """What the workflow came to (seed 000 §1.5, `analyst_research_task`)."""
    outcome: DraftingResult = state["outcome"]
    return outcome.model_dump(mode="json")


async def failed(connection: Connection, run: Run, reason: str) -> None:
    """Whoever asked is told why there is no text."""
    await DraftingSteps(run=run).fail(connection, reason)


RESEARCH_ARTICLE = WorkflowGraph(
    build=build_graph,
    begin=begin,
    result=result,
    failed=failed,
    forgotten=frozenset({"failed"}),
    added=frozenset({"enough"}),  # not kept by releases up to 0.2.0
)
