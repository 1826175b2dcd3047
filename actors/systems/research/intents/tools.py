"""The tools that a message asks for: rules over its task type and its signs. Seed 002, FR1."""

from actors.systems.research.intents.cues import Noticed
from models.research.intents import ResearchTool, TaskType


def required_tools(task: TaskType, noticed: Noticed) -> tuple[ResearchTool, ...]:
    """The tools in the order in which they are used.

    A question about a page that is named needs no search; what is fetched is kept unless told otherwise; what
    is found from named pages alone is not searched for.
    """
    named = noticed.addresses > 0
    if task == "research":
        looks_further = noticed.has("seek") or noticed.has("web")
        return ("scrape_urls",) if named and not looks_further else ("search_web", "scrape_urls")
    if task == "scrape":
        kept = "do_not_keep" not in noticed.counts
        return ("scrape_urls", "save_to_database") if kept else ("scrape_urls",)
    if task == "analyze":
        return ("create_knowledge_tree",) if noticed.has("tree") else ("query_knowledge_base",)
    found: tuple[ResearchTool, ...] = () if named else ("search_web",)
    return (*found, "scrape_urls", "save_to_database", "create_knowledge_tree")
