"""Which steps a research takes: what was asked for decides, and whether people are asked. Seed 002 §5.

Called by the steps, once for each research. Pure.
"""

from collections.abc import Mapping

from models.research.agent_workflows import AgentType, Complexity, ResearchOptions, Step, TaskType
from models.research.plans import PlannedStep, ResearchPlan

_PATHS: Mapping[TaskType, tuple[Step, ...]] = {
    "research": (
        "discover_urls",
        "await_user_review",
        "scrape_urls",
        "await_unreadable_review",
        "extract_knowledge",
        "build_tree",
        "synthesize_results",
    ),
    "scrape": (
        "discover_urls",
        "await_user_review",
        "scrape_urls",
        "await_unreadable_review",
        "extract_knowledge",
    ),
    "analyze": (
        "extract_knowledge",
        "await_category_review",
        "build_tree",
        "synthesize_results",
        "await_final_review",
    ),
    "full_pipeline": (
        "discover_urls",
        "await_user_review",
        "scrape_urls",
        "await_unreadable_review",
        "extract_knowledge",
        "await_category_review",
        "build_tree",
        "synthesize_results",
        "await_final_review",
    ),
}
GATES: frozenset[Step] = frozenset(
    ("await_user_review", "await_unreadable_review", "await_category_review", "await_final_review")
)
_STEPS: Mapping[Step, tuple[str, AgentType | None]] = {
    "classify_intent": ("Say what is asked for", "researcher"),
    "create_plan": ("Plan the steps", "researcher"),
    "discover_urls": ("Find pages about it", "researcher"),
    "await_user_review": ("A person says which pages may be read", None),
    "scrape_urls": ("Read the approved pages", "scraper"),
    "await_unreadable_review": ("A person says what to do about pages that can't be read", None),
    "extract_knowledge": ("Find what the pages say", "analyzer"),
    "await_category_review": ("A person looks at the tree's categories", None),
    "build_tree": ("Build the tree of knowledge", "organizer"),
    "synthesize_results": ("Write what it comes to", "organizer"),
    "await_final_review": ("A person looks at the result", None),
}
_MINUTES_PER_STEP: Mapping[Complexity, int] = {"low": 2, "medium": 5, "high": 10}


def plan_of(task_type: TaskType, options: ResearchOptions, complexity: Complexity) -> ResearchPlan:
    """The plan; without `require_approval` no gate stands.

    Before anything is known of the pages, each step is taken to last as long (seed 002 §5).
    """
    steps = ("classify_intent", "create_plan", *_PATHS[task_type])
    if not options.require_approval:
        steps = tuple(step for step in steps if step not in GATES)
    planned = tuple(
        PlannedStep(step=step, description=_STEPS[step][0], agent=_STEPS[step][1]) for step in steps
    )
    worked = sum(step not in GATES for step in _PATHS[task_type])
    return ResearchPlan(steps=planned, estimated_minutes=worked * _MINUTES_PER_STEP[complexity])
