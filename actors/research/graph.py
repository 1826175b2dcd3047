"""Research: find pages, ask which may be read, read them, and have what they say extracted. Seed 002 §5.

Each gate binds to exactly what is shown there. The steps do the work and keep every outcome.
"""

from typing import Any, Literal, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from actors.research.reading import read_ones
from actors.research.steps import ResearchSteps
from actors.runtime.gate import decide
from actors.runtime.run import Run
from actors.runtime.workflow_graph import WorkflowGraph
from models.research.agent_workflows import AgentWorkflow
from models.research.intents import IntentReading
from models.research.plans import ResearchPlan
from models.research.results import ResearchOutcome, ResearchResult
from models.research.url_lists import ApprovedUrls, PageOutcome, UrlList
from models.runtime.approvals import GateDecision
from models.store.research import agent_workflows

URLS, UNREADABLE = "urls", "unreadable"


class State(TypedDict, total=False):
    """Where a research is."""

    intent: IntentReading
    plan: ResearchPlan
    shown: UrlList
    decision: GateDecision
    approved: ApprovedUrls
    read: int
    unreadable: tuple[PageOutcome, ...]
    round: int
    points: int
    result: ResearchResult


async def classify(state: State, runtime: Runtime[ResearchSteps]) -> State:
    return {"intent": await runtime.context.classify()}


async def plan(state: State, runtime: Runtime[ResearchSteps]) -> State:
    return {"plan": await runtime.context.plan(state["intent"])}


async def discover(state: State, runtime: Runtime[ResearchSteps]) -> State:
    return {"shown": await runtime.context.discover()}


async def urls_gate(state: State, runtime: Runtime[ResearchSteps]) -> State:
    return {"decision": decide(URLS, runtime.context.request_for_urls(state["shown"]))}


async def admit(state: State, runtime: Runtime[ResearchSteps]) -> State:
    return {"approved": await runtime.context.admit(state["shown"], state.get("decision"))}


async def scrape(state: State, runtime: Runtime[ResearchSteps]) -> State:
    outcomes = await runtime.context.scrape(state["approved"])
    return {**_settled(state, outcomes), "round": 1}


async def unreadable_gate(state: State, runtime: Runtime[ResearchSteps]) -> State:
    request = runtime.context.request_for_unreadable(state["unreadable"], state["read"])
    return {"decision": decide(f"{UNREADABLE}/{state['round']}", request)}


async def replace(state: State, runtime: Runtime[ResearchSteps]) -> State:
    outcomes = await runtime.context.replace(state["decision"], state["round"])
    return {**_settled(state, outcomes), "round": state["round"] + 1}


async def extract(state: State, runtime: Runtime[ResearchSteps]) -> State:
    return {"points": await runtime.context.extract()}


async def conclude(state: State, runtime: Runtime[ResearchSteps]) -> State:
    return {"result": await runtime.context.conclude(_outcome(state), points_found=state.get("points", 0))}


def after_plan(state: State) -> Literal["discover", "extract"]:
    return "discover" if state["plan"].has("discover_urls") else "extract"


def after_discovery(state: State) -> Literal["urls_gate", "admit", "conclude"]:
    if not state["shown"].urls:
        return "conclude"
    return "urls_gate" if state["plan"].has("await_user_review") else "admit"


def after_admission(state: State) -> Literal["scrape", "conclude"]:
    return "scrape" if state["approved"].urls else "conclude"


def after_reading(state: State) -> Literal["unreadable_gate", "extract", "conclude"]:
    asks = state["plan"].has("await_unreadable_review") and state["approved"].config.require_approval
    if state["unreadable"] and asks:
        return "unreadable_gate"
    return "extract" if state["read"] else "conclude"


def build_graph() -> StateGraph[State, ResearchSteps, State, State]:
    graph = StateGraph(State, context_schema=ResearchSteps)
    graph.add_node("classify", classify)
    graph.add_node("plan", plan)
    graph.add_node("discover", discover)
    graph.add_node("urls_gate", urls_gate)
    graph.add_node("admit", admit)
    graph.add_node("scrape", scrape)
    graph.add_node("unreadable_gate", unreadable_gate)
    graph.add_node("replace", replace)
    graph.add_node("extract", extract)
    graph.add_node("conclude", conclude)
    graph.add_edge(START, "classify")
    graph.add_edge("classify", "plan")
    graph.add_conditional_edges("plan", after_plan)
    graph.add_conditional_edges("discover", after_discovery)
    graph.add_edge("urls_gate", "admit")
    graph.add_conditional_edges("admit", after_admission)
    graph.add_conditional_edges("scrape", after_reading)
    graph.add_edge("unreadable_gate", "replace")
    graph.add_conditional_edges("replace", after_reading)
    graph.add_edge("extract", "conclude")
    graph.add_edge("conclude", END)
    return graph


async def begin(run: Run) -> tuple[dict[str, Any], ResearchSteps]:
    """The steps of the research that the workflow runs."""

    async def look() -> AgentWorkflow:
        async with run.database.connection() as connection:
            return await agent_workflows.of_workflow(connection, run.workflow_id)

    return {}, ResearchSteps(run=run, research=await run.database.steadily(look))


def result(state: dict[str, Any]) -> dict[str, Any]:
    """What the workflow came to."""
    found: ResearchResult = state["result"]
    return found.model_dump(mode="json")


def _settled(state: State, outcomes: tuple[PageOutcome, ...]) -> State:
    return {
        "read": state.get("read", 0) + len(read_ones(outcomes)),
        "unreadable": tuple(outcome for outcome in outcomes if outcome.source_id is None),
    }


def _outcome(state: State) -> ResearchOutcome:
    if "points" in state:
        return "done"
    if not state["shown"].urls:
        return "nothing_found"
    if not state["approved"].urls:
        return "expired" if state["decision"].status == "expired" else "rejected"
    return "nothing_read"


RESEARCH = WorkflowGraph(build=build_graph, begin=begin, result=result, gates=frozenset({URLS, UNREADABLE}))
