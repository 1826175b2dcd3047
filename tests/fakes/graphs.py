"""Small kinds of workflow for the runtime's tests. Their steps report to a Barrier (`input.barrier`)."""

import operator
import os
from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send
from pydantic import BaseModel

from actors.platform.runtime import gate
from actors.platform.runtime.run import Run
from actors.platform.runtime.workflow_graph import WorkflowGraph
from models.llm import Answer
from models.runtime.approvals import GateRequest
from tests.fakes.barrier import report

KINDS = {
    "steps": "tests.fakes.graphs:STEPS",
    "gated": "tests.fakes.graphs:GATED",
    "gates": "tests.fakes.graphs:GATES",
    "fan": "tests.fakes.graphs:FAN",
    "asking": "tests.fakes.graphs:ASKING",
}


class Done(BaseModel):
    """A step's outcome."""

    said: str


class Context(BaseModel):
    """What the nodes get."""

    model_config = {"arbitrary_types_allowed": True}

    run: Run

    async def report(self, step: str) -> None:
        """Tell the barrier."""
        await report(self.run.input["barrier"], workflow=self.run.workflow_id, step=step, pid=os.getpid())

    async def step(self, name: str) -> str:
        """Do a step once: report it, and fail where `input.fail` names it."""

        async def make() -> Answer[Done]:
            await self.report(name)
            if self.run.input.get("fail") == name:
                raise RuntimeError(f"step {name} was told to fail")
            if self.run.input.get("kill") == name:
                os._exit(9)
            return Answer(value=Done(said=name))

        return (await self.run.once(name, Done, make)).said


class State(TypedDict, total=False):
    """What the steps did."""

    done: Annotated[list[str], operator.add]
    decision: dict[str, Any]


async def begin(run: Run) -> tuple[dict[str, Any], Context]:
    """Start with nothing done."""
    return {"done": []}, Context(run=run)


def _step(name: str) -> Any:
    async def step(state: State, runtime: Runtime[Context]) -> State:
        return {"done": [await runtime.context.step(name)]}

    return step


def build_steps() -> StateGraph[Any, Any, Any, Any]:
    """one, two, three, four; a step named in `input.fail` raises, one named in `input.kill` kills."""
    graph = StateGraph(State, context_schema=Context)
    previous = START
    for name in ("one", "two", "three", "four"):
        graph.add_node(name, _step(name))
        graph.add_edge(previous, name)
        previous = name
    graph.add_edge(previous, END)
    return graph


def plan(*steps: str) -> GateRequest:
    """What the gates here ask for."""
    return GateRequest(
        kind="plan",
        content={"plan": list(steps)},
        required_scope="global:editor",
        four_eyes=True,
        expires_in_seconds=3600,
    )


async def _gate(state: State) -> State:
    decision = gate.decide("plan", plan("send the letter", "pay the bill"))
    return {"decision": decision.model_dump()}


def build_gated() -> StateGraph[Any, Any, Any, Any]:
    """prepare, a gate, act (only when approved), close."""
    graph = StateGraph(State, context_schema=Context)
    graph.add_node("prepare", _step("prepare"))
    graph.add_node("gate", _gate)
    graph.add_node("act", _step("act"))
    graph.add_node("close", _step("close"))
    graph.add_edge(START, "prepare")
    graph.add_edge("prepare", "gate")
    graph.add_conditional_edges(
        "gate",
        lambda state: "act" if state["decision"]["status"] == "approved" else "close",
        ["act", "close"],
    )
    graph.add_edge("act", "close")
    graph.add_edge("close", END)
    return graph


def _side_gate(name: str) -> Any:
    async def stop(state: State) -> State:
        return {"done": [f"{name}: {gate.decide(name, plan(name)).status}"]}

    return stop


def build_gates() -> StateGraph[Any, Any, Any, Any]:
    """Two gates and a step side by side, then join."""
    graph = StateGraph(State, context_schema=Context)
    graph.add_node("left", _side_gate("left"))
    graph.add_node("right", _side_gate("right"))
    graph.add_node("beside", _step("beside"))
    graph.add_node("join", _step("join"))
    for side in ("left", "right", "beside"):
        graph.add_edge(START, side)
    graph.add_edge(["left", "right", "beside"], "join")
    graph.add_edge("join", END)
    return graph


class Branch(TypedDict):
    """One of several at the same time."""

    number: int


async def _branch(state: Branch, runtime: Runtime[Context]) -> State:
    return {"done": [await runtime.context.step(f"branch {state['number']}")]}


def build_fan() -> StateGraph[Any, Any, Any, Any]:
    """Three branches at once, then join."""
    graph = StateGraph(State, context_schema=Context)
    graph.add_node("branch", _branch, input_schema=Branch)
    graph.add_node("join", _step("join"))
    graph.add_conditional_edges(
        START, lambda _: [Send("branch", Branch(number=n)) for n in (1, 2, 3)], ["branch"]
    )
    graph.add_edge("branch", "join")
    graph.add_edge("join", END)
    return graph


async def _ask(state: State, runtime: Runtime[Context]) -> State:
    context = runtime.context

    async def make() -> Answer[Done]:
        answer = await context.run.agent("oracle").answer(context.run.input["question"])
        await context.report("asked")
        return Answer(value=Done(said=str(answer)))

    return {"done": [(await context.run.once("ask", Done, make)).said]}


def build_asking() -> StateGraph[Any, Any, Any, Any]:
    """Ask an agent, then finish."""
    graph = StateGraph(State, context_schema=Context)
    graph.add_node("ask", _ask)
    graph.add_node("after", _step("after"))
    graph.add_edge(START, "ask")
    graph.add_edge("ask", "after")
    graph.add_edge("after", END)
    return graph


def _result(state: dict[str, Any]) -> dict[str, Any]:
    return {"done": state["done"], "decision": state.get("decision")}


STEPS = WorkflowGraph(build=build_steps, begin=begin, result=_result)
GATED = WorkflowGraph(build=build_gated, begin=begin, result=_result, gates=frozenset({"plan"}))
GATES = WorkflowGraph(build=build_gates, begin=begin, result=_result, gates=frozenset({"left", "right"}))
FAN = WorkflowGraph(build=build_fan, begin=begin, result=_result)
ASKING = WorkflowGraph(build=build_asking, begin=begin, result=_result)
