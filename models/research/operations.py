"""What a research is doing now, in a sentence for people. Pure."""

from collections.abc import Mapping

from models.research.agent_workflows import AgentWorkflowStatus, ResearchOutcome, Step

_DOES: Mapping[Step, str] = {
    "classify_intent": "It tells what is asked for.",
    "create_plan": "It plans its steps.",
    "discover_urls": "It looks for pages.",
    "await_user_review": "It goes by what was decided on its pages.",
    "scrape_urls": "It reads the approved pages: {done} of {approved} done.",
    "await_unreadable_review": "It deals with pages that could not be read.",
    "extract_knowledge": "It finds out what the pages say.",
    "await_category_review": "It puts what the pages say in categories.",
    "build_tree": "It builds the tree of knowledge.",
    "synthesize_results": "It writes what it has come to.",
    "await_final_review": "It goes by what was decided on its result.",
}
_ASKS: Mapping[Step, str] = {
    "await_user_review": "It waits for a person to say which pages may be read.",
    "await_unreadable_review": "It waits for a person to say what to do about pages that can't be read.",
    "await_category_review": "It waits for a person to look at the categories.",
    "await_final_review": "It waits for a person to look at the result.",
}


def operation(
    status: AgentWorkflowStatus,
    step: Step,
    *,
    outcome: ResearchOutcome | None,
    reason: str | None,
    waits_for: str | None,
    done: int,
    approved: int,
) -> str:
    """The sentence.

    Args:
        outcome: how it ended, where it ended well.
        reason: why it ended without what was asked for.
        waits_for: what a parked one waits for.
        done: how many of the `approved` addresses are read, or can't be.
    """
    match status:
        case "pending":
            return "It waits for its turn."
        case "parked":
            return f"It waits for {waits_for or 'something that is away'}."
        case "awaiting_approval":
            return _ASKS.get(step, "It waits for a person.")
        case "in_progress":
            return _DOES[step].format(done=done, approved=approved)
        case "completed" if outcome in (None, "done"):
            return "It is done."
        case "completed":
            return _because("It has ended", reason)
        case "failed":
            return _because("It has failed", reason)
        case "stopped":
            return _because("It was stopped", reason)


def _because(told: str, reason: str | None) -> str:
    """With the reason's own words, on one line."""
    why = " ".join((reason or "").split())
    return f"{told}: {why}".rstrip(" :.") + "."
