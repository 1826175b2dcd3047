"""Research: find pages, ask which may be read, read them, extract what they say, and put it together.

Each gate binds to exactly what is shown there. The steps do the work and keep every outcome. Where a limit
(`research.limits`) is reached it goes on to its gates with what it has. Seed 002 §5.
"""

from typing import Any, Literal, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from actors.platform.runtime.gate import decide
from actors.platform.runtime.run import Run
from actors.platform.runtime.workflow_graph import WorkflowGraph
from actors.systems.research.extraction_step import PointsKept
from actors.systems.research.page_fetching import read_ones
from actors.systems.research.steps import ResearchSteps
from actors.systems.research.tree_steps import numbered
from models.research.agent_workflows import ResearchOptions, ResearchOutcome, Step
from models.research.intents import IntentReading
from models.research.limits import LeftUndone
from models.research.plans import ResearchPlan
from models.research.results import ResearchResult
from models.research.synthesis import Synthesis
from models.research.trees import Tree
from models.research.url_lists import ApprovedUrls, PageOutcome, UrlList
from models.runtime.approvals import GateDecision, GateRequest
from models.store.research import agent_workflows

Gate = Literal["urls", "unreadable", "tree", "result"]
URLS: Gate = "urls"
UNREADABLE: Gate = "unreadable"
TREE: Gate = "tree"
RESULT: Gate = "result"


class State(TypedDict, total=False):
    """Where a research is."""

    intent: IntentReading
    plan: ResearchPlan
    shown: UrlList
    gate: Gate
    decision: GateDecision
    approved: ApprovedUrls
    read: int
    unreadable: tuple[PageOutcome, ...]
    round: int
    extraction: PointsKept
    layout: int
    tree: Tree
    review: GateRequest
    kept_tree: Tree
    synthesis: Synthesis
    result: ResearchResult


async def classify(state: State, runtime: Runtime[ResearchSteps]) -> State:
    return {"intent": await runtime.context.classify()}


async def plan(state: State, runtime: Runtime[ResearchSteps]) -> State:
    return {"plan": await runtime.context.plan(state["intent"])}


async def discover(state: State, runtime: Runtime[ResearchSteps]) -> State:
    return {"shown": await runtime.context.discover()}


async def urls_gate(state: State, runtime: Runtime[ResearchSteps]) -> State:
    return {"gate": URLS, "decision": decide(URLS, runtime.context.request_for_urls(state["shown"]))}


async def admit(state: State, runtime: Runtime[ResearchSteps]) -> State:
    return {"approved": await runtime.context.admission.admit(state["shown"], state.get("decision"))}


async def scrape(state: State, runtime: Runtime[ResearchSteps]) -> State:
    outcomes = await runtime.context.admission.scrape(state["approved"])
    return {**_settled(state, outcomes), "round": 1}


async def unreadable_gate(state: State, runtime: Runtime[ResearchSteps]) -> State:
    request = runtime.context.request_for_unreadable(state["unreadable"], state["read"])
    return {"gate": UNREADABLE, "decision": decide(f"{UNREADABLE}/{state['round']}", request)}


async def replace(state: State, runtime: Runtime[ResearchSteps]) -> State:
    options = _options(state, runtime.context)
    outcomes = await runtime.context.admission.replace(state["decision"], state["round"], options)
    return {**_settled(state, outcomes), "round": state["round"] + 1}


async def extract(state: State, runtime: Runtime[ResearchSteps]) -> State:
    return {"extraction": await runtime.context.extract()}


async def lay_out(state: State, runtime: Runtime[ResearchSteps]) -> State:
    layout = state.get("layout", 0) + 1
    tree = await runtime.context.organizing.tree(_options(state, runtime.context), layout)
    return {"layout": layout, "tree": tree, "review": await runtime.context.request_for_tree(tree, layout)}


async def tree_gate(state: State, runtime: Runtime[ResearchSteps]) -> State:
    return {"gate": TREE, "decision": decide(numbered(TREE, state["layout"]), state["review"])}


async def build_tree(state: State, runtime: Runtime[ResearchSteps]) -> State:
    decision = state["decision"] if _asks(state, "await_category_review") else None
    kept = await runtime.context.organizing.keep_tree(state["tree"], decision, state["layout"])
    return {} if kept is None else {"kept_tree": kept}


async def synthesize(state: State, runtime: Runtime[ResearchSteps]) -> State:
    made = await runtime.context.organizing.synthesis(state["kept_tree"])
    if not _asks(state, "await_final_review"):
        return {"synthesis": made}
    return {"synthesis": made, "review": await runtime.context.request_for_result(state["kept_tree"], made)}


async def final_gate(state: State, runtime: Runtime[ResearchSteps]) -> State:
    return {"gate": RESULT, "decision": decide(RESULT, state["review"])}


async def conclude(state: State, runtime: Runtime[ResearchSteps]) -> State:
    result = await runtime.context.conclude(
        _outcome(state),
        points_found=state["extraction"].count if "extraction" in state else 0,
        tree_id=state["kept_tree"].id if "kept_tree" in state else None,
        sentences=state["synthesis"].counts.all if "synthesis" in state else 0,
        left=_left(state),
        ended_at=_ended_at(state),
        gate=state.get("gate"),
        decision=state.get("decision"),
    )
    return {"result": result}


def after_plan(state: State) -> Literal["discover", "extract"]:
    return "discover" if state["plan"].has("discover_urls") else "extract"


def after_discovery(state: State) -> Literal["urls_gate", "admit", "conclude"]:
    if not state["shown"].urls:
        return "conclude"
    return "urls_gate" if state["plan"].has("await_user_review") else "admit"


def after_admission(state: State) -> Literal["scrape", "conclude"]:
    return "scrape" if state["approved"].urls else "conclude"


def after_reading(state: State) -> Literal["unreadable_gate", "extract", "conclude"]:
    if state["unreadable"] and _asks(state, "await_unreadable_review"):
        return "unreadable_gate"
    return "extract" if state["read"] else "conclude"


def after_extraction(state: State) -> Literal["lay_out", "conclude"]:
    return "lay_out" if state["plan"].has("build_tree") and state["extraction"].count else "conclude"


def after_layout(state: State) -> Literal["tree_gate", "build_tree"]:
    return "tree_gate" if _asks(state, "await_category_review") else "build_tree"


def after_tree_gate(state: State) -> Literal["build_tree", "conclude"]:
    return "build_tree" if state["decision"].status == "approved" else "conclude"


def after_keeping(state: State) -> Literal["synthesize", "lay_out"]:
    return "synthesize" if "kept_tree" in state else "lay_out"


def after_synthesis(state: State) -> Literal["final_gate", "conclude"]:
    return "final_gate" if _asks(state, "await_final_review") else "conclude"


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
    graph.add_node("lay_out", lay_out)
    graph.add_node("tree_gate", tree_gate)
    graph.add_node("build_tree", build_tree)
    graph.add_node("synthesize", synthesize)
    graph.add_node("final_gate", final_gate)
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
    graph.add_conditional_edges("extract", after_extraction)
    graph.add_conditional_edges("lay_out", after_layout)
    graph.add_conditional_edges("tree_gate", after_tree_gate)
    graph.add_conditional_edges("build_tree", after_keeping)
    graph.add_conditional_edges("synthesize", after_synthesis)
    graph.add_edge("final_gate", "conclude")
    graph.add_edge("conclude", END)
    return graph


async def begin(run: Run) -> tuple[dict[str, Any], ResearchSteps]:
    """The steps of the research that the workflow runs.

    Raises:
        PermissionMissing: whoever asked for it has no right to it any more.
    """
    research = await run.database.read(
        lambda connection: agent_workflows.of_workflow(connection, run.workflow_id)
    )
    steps = ResearchSteps(run=run, research=research)
    await steps.check_right()
    return {}, steps


def result(state: dict[str, Any]) -> dict[str, Any]:
    """What the workflow came to."""
    found: ResearchResult = state["result"]
    return found.model_dump(mode="json")


def _settled(state: State, outcomes: tuple[PageOutcome, ...]) -> State:
    return {
        "read": state.get("read", 0) + len(read_ones(outcomes)),
        # Nobody is asked about what a limit left: no answer would make room for it.
        "unreadable": tuple(
            outcome for outcome in outcomes if outcome.source_id is None and outcome.limit is None
        ),
    }


def _options(state: State, steps: ResearchSteps) -> ResearchOptions:
    """How it is done: as the list of pages was approved, which may have changed what was asked for."""
    return state["approved"].config if "approved" in state else steps.task.config


def _asks(state: State, step: Step) -> bool:
    """Whether a gate stands: it was planned, and nobody has said since that no more is to be asked."""
    approved = state.get("approved")
    return state["plan"].has(step) and (approved is None or approved.config.require_approval)


def _outcome(state: State) -> ResearchOutcome:
    if _ended_at(state) is not None:
        return "expired" if state["decision"].status == "expired" else "rejected"
    if "extraction" in state:
        return _extracted(state["plan"], state["extraction"], state.get("synthesis"))
    return "nothing_read" if state["shown"].urls else "nothing_found"


def _extracted(plan: ResearchPlan, extraction: PointsKept, synthesis: Synthesis | None) -> ResearchOutcome:
    if not extraction.count and (len(extraction.left) or plan.has("build_tree")):
        return "nothing_extracted" if extraction.sources else "nothing_found"
    return "nothing_written" if synthesis is not None and not synthesis.counts.all else "done"


def _left(state: State) -> tuple[LeftUndone, ...]:
    """Sources and sections that it did without, in their order."""
    sources = state["extraction"].left if "extraction" in state else ()
    sections = state["synthesis"].sections if "synthesis" in state else ()
    return (*sources, *(section.left for section in sections if section.left is not None))


def _ended_at(state: State) -> Gate | None:
    """The last gate, where that said no or nobody decided; pages that can't be read end nothing."""
    gate = state.get("gate", UNREADABLE)
    return None if gate == UNREADABLE or state["decision"].status == "approved" else gate


RESEARCH = WorkflowGraph(
    build=build_graph, begin=begin, result=result, gates=frozenset({URLS, UNREADABLE, TREE, RESULT})
)
