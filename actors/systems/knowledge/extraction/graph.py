"""Extraction of a source: its text is cut, every chunk is read, and what was found is kept.

Chunks are read side by side, each once. The state is a count and the outcome. Seed 002 §5, node 6.
"""

from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from actors.platform.runtime.run import Run
from actors.platform.runtime.workflow_graph import WorkflowGraph
from actors.systems.knowledge.extraction.steps import ExtractionSteps
from models.knowledge.extraction import ExtractionResult


class State(TypedDict, total=False):
    """Where a source is."""

    chunks: int
    outcome: ExtractionResult


class ChunkToRead(TypedDict):
    """One chunk on its way to the model."""

    number: int


async def cut(state: State, runtime: Runtime[ExtractionSteps]) -> State:
    return {"chunks": await runtime.context.cut()}


async def read(state: ChunkToRead, runtime: Runtime[ExtractionSteps]) -> State:
    await runtime.context.read(state["number"])
    return {}


async def keep(state: State, runtime: Runtime[ExtractionSteps]) -> State:
    return {"outcome": await runtime.context.keep()}


def to_model(state: State) -> list[Send] | str:
    return [Send("read", ChunkToRead(number=number)) for number in range(state["chunks"])] or "keep"


def build_graph() -> StateGraph[State, ExtractionSteps, State, State]:
    graph = StateGraph(State, context_schema=ExtractionSteps)
    graph.add_node("cut", cut)
    graph.add_node("read", read, input_schema=ChunkToRead)
    graph.add_node("keep", keep)
    graph.add_edge(START, "cut")
    graph.add_conditional_edges("cut", to_model, ["read", "keep"])
    graph.add_edge("read", "keep")
    graph.add_edge("keep", END)
    return graph


async def begin(run: Run) -> tuple[dict[str, Any], ExtractionSteps]:
    """The steps of what was asked for."""
    return {}, ExtractionSteps(run=run)


def result(state: dict[str, Any]) -> dict[str, Any]:
    """What the workflow came to."""
    outcome: ExtractionResult = state["outcome"]
    return outcome.model_dump(mode="json")


EXTRACTION = WorkflowGraph(build=build_graph, begin=begin, result=result)
