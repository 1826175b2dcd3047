"""A toy: planned, asked about, and built where somebody said yes."""

from dataclasses import dataclass
from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from actors.platform.runtime.gate import decide
from actors.platform.runtime.run import Run
from actors.platform.runtime.workflow_graph import WorkflowGraph
from models.runtime.approvals import GateDecision, GateRequest
from models.store.database import Connection
from tests.fakes.workshop.records import Part, Toy, ToyChange, ToyOrder, ToyPlan


@dataclass(frozen=True)
class Workbench:
    """An order, in its run."""

    run: Run
    order: ToyOrder


class State(TypedDict, total=False):
    """The plan, and what became of it."""

    plan: ToyPlan
    decision: GateDecision
    toy: Toy


async def plan(state: State, runtime: Runtime[Workbench]) -> State:
    """Think of one."""
    return {
        "plan": ToyPlan(wish=runtime.context.order.wish, wood="pine", parts=(Part(name="wheel", count=4),))
    }


async def gate(state: State, runtime: Runtime[Workbench]) -> State:
    """Ask."""
    request = GateRequest(
        kind="toy_plan",
        title=f"A toy: {state['plan'].wish}",
        content=state["plan"].model_dump(mode="json"),
        required_scope=f"{runtime.context.order.topic}:editor",
        four_eyes=False,
        expires_in_seconds=3600,
    )
    return {"decision": decide("plan", request)}


async def build(state: State, runtime: Runtime[Workbench]) -> State:
    """Build exactly what was approved, once."""
    decision = state["decision"]
    if decision.status != "approved":
        return {"toy": Toy(decision=decision.status)}
    approved = ToyPlan.model_validate(decision.amended or state["plan"].model_dump())

    async def built(connection: Connection) -> Toy:
        return Toy(decision="approved", toy=f"{approved.wish} of {approved.wood}")

    return {"toy": await runtime.context.run.effect("build", Toy, built)}


def changed(plan: ToyPlan, change: ToyChange) -> ToyPlan:
    """The plan as a person changes it."""
    return plan.model_copy(update={"wood": change.wood})


def build_graph() -> StateGraph[State, Workbench, State, State]:
    """The graph."""
    graph = StateGraph(State, context_schema=Workbench)
    graph.add_node("plan", plan)
    graph.add_node("gate", gate)
    graph.add_node("build", build)
    graph.add_edge(START, "plan")
    graph.add_edge("plan", "gate")
    graph.add_edge("gate", "build")
    graph.add_edge("build", END)
    return graph


async def begin(run: Run) -> tuple[dict[str, Any], Workbench]:
    """The order."""
    return {}, Workbench(run=run, order=ToyOrder.model_validate(run.input))


def came_to(state: dict[str, Any]) -> dict[str, Any]:
    """What was built."""
    toy: Toy = state["toy"]
    return toy.model_dump(mode="json")


ORDER_TOY = WorkflowGraph(build=build_graph, begin=begin, result=came_to, gates=frozenset({"plan"}))
