"""Which steps a research takes: what was asked for decides, and whether people are asked. Seed 002 §5.

Called by the steps, once for each research. It names the steps that the graph takes, and no others. Pure.
"""

from collections.abc import Mapping

from models.research.agent_workflows import AgentType, ResearchOptions, Step
from models.research.intents import TaskType
from models.research.plans import PlannedStep, ResearchPlan

_FROM_PAGES: tuple[Step, ...] = (
    "discover_urls",
    "await_user_review",
    "scrape_urls",
    "await_unreadable_review",
    "extract_knowledge",
)
_TO_RESULT: tuple[Step, ...] = (
    "await_category_review",
    "build_tree",
    "synthesize_results",
    "await_final_review",
)
_PATHS: Mapping[TaskType, tuple[Step, ...]] = {
    "research": (*_FROM_PAGES, "build_tree", "synthesize_results"),
    "scrape": _FROM_PAGES,
    "analyze": ("extract_knowledge", *_TO_RESULT),
    "full_pipeline": (*_FROM_PAGES, *_TO_RESULT),
}
_STEPS: Mapping[Step, tuple[str, AgentType | None]] = {
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
# The seed's guess, before anything is known of the pages.
_MINUTES_PER_STEP = 5


def plan_of(task_type: TaskType, options: ResearchOptions) -> ResearchPlan:
    """The plan; without `require_approval` no gate stands."""
    steps = [
        PlannedStep(step=step, description=_STEPS[step][0], agent=_STEPS[step][1])
        for step in ("create_plan", *_PATHS[task_type])
        if options.require_approval or _STEPS[step][1] is not None
    ]
    worked = sum(planned.agent is not None for planned in steps[1:])
    return ResearchPlan(steps=tuple(steps), estimated_minutes=worked * _MINUTES_PER_STEP)
