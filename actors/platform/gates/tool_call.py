"""One call of a tool: a person sees exactly what is called, and after a yes it is called, once.

A no, or nobody's decision, calls nothing. Whoever asked must still have the right to it then.
"""

from dataclasses import dataclass
from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from actors.platform import systems
from actors.platform.runtime.gate import decide
from actors.platform.runtime.run import Run
from actors.platform.runtime.workflow_graph import WorkflowGraph
from actors.platform.search.hybrid import HybridSearch
from actors.platform.tools.registry import Registry
from models.runtime.approvals import GateRequest
from models.runtime.tool_calls import KIND, CallAsked, CallDecision, CallResult
from models.store.database import Connection
from models.store.people import users

GATE = "call"


@dataclass(frozen=True)
class CallSteps:
    """The call, in its run."""

    run: Run
    asked: CallAsked


class State(TypedDict, total=False):
    """What was decided, and what came of it."""

    decision: CallDecision
    result: CallResult


async def gate(state: State, runtime: Runtime[CallSteps]) -> State:
    call, publishing = runtime.context.asked.call, runtime.context.run.config.publishing
    policy = publishing.approval if call.topic is None else publishing.policy(call.topic)
    request = GateRequest(
        kind=KIND,
        title=f"{call.tool}: {call.description.partition(chr(10))[0]}",
        content=call.model_dump(mode="json"),
        required_scope=f"{call.topic or 'global'}:{policy.role}",
        four_eyes=policy.four_eyes,
        quorum=policy.quorum,
        expires_in_seconds=policy.expires_in_seconds,
    )
    return {"decision": decide(GATE, request).status}


async def make_call(state: State, runtime: Runtime[CallSteps]) -> State:
    run, asked = runtime.context.run, runtime.context.asked
    if state["decision"] != "approved":
        return {"result": CallResult(decision=state["decision"])}
    search = HybridSearch(database=run.database, semantic=None, settings=run.config.search)
    registry = Registry(systems.tools(), config=run.config, database=run.database, search=search)

    async def called(connection: Connection) -> CallResult:
        answer = await registry.call(
            asked.call.tool,
            asked.call.arguments,
            caller=await users.context_of(connection, run.requested_by),
            door=asked.door,
            connection=connection,
            approved=True,
        )
        return CallResult(decision="approved", answer=answer.model_dump(mode="json")["answer"])

    return {"result": await run.effect("call", CallResult, called)}


def build_graph() -> StateGraph[State, CallSteps, State, State]:
    graph = StateGraph(State, context_schema=CallSteps)
    graph.add_node("gate", gate)
    graph.add_node("make_call", make_call)
    graph.add_edge(START, "gate")
    graph.add_edge("gate", "make_call")
    graph.add_edge("make_call", END)
    return graph


async def begin(run: Run) -> tuple[dict[str, Any], CallSteps]:
    """The call that was asked for."""
    return {}, CallSteps(run=run, asked=CallAsked.model_validate(run.input))


def result(state: dict[str, Any]) -> dict[str, Any]:
    """What became of the call."""
    made: CallResult = state["result"]
    return made.model_dump(mode="json")


TOOL_CALL = WorkflowGraph(build=build_graph, begin=begin, result=result, gates=frozenset({GATE}))
