"""Deep researches in the campaign: what is asked for, and how people decide at each gate."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tests.faults.site.pages import NAMES, UNAPPROVED

AT = "/api/v1/agent-workflows"
GATES = frozenset({"research_urls", "research_unreadable", "research_tree", "research_result"})
How = Literal["approve", "reject", "modify"]

# The second and the third share a project: what one of them has read is not fetched by the other.
_TYPES = ("scrape", "full_pipeline", "scrape")
_PROJECTS = ("alone", "shared", "shared")


@dataclass(frozen=True)
class DeepResearch:
    """A research that was begun: its number, and its workflow."""

    number: int
    workflow_id: str


def request_id(run: int, number: int) -> str:
    """What a research of a run is called by whoever asks for it, so that it is never begun twice."""
    return f"run-{run}-{number}"


def asked(run: int, number: int, origin: str) -> dict[str, Any]:
    """What is asked for: the pages of this run, on a site at `origin`."""
    kind, project = _TYPES[number % len(_TYPES)], _PROJECTS[number % len(_PROJECTS)]
    return {
        "task_type": kind,
        "user_query": f"How do watermills turn in winter, and who runs them? Run {run}, {project}",
        "topic": "macro",
        "config": {"language": "any"},
        "urls": [f"{origin}/{run}/{name}" for name in NAMES],
        "request_id": request_id(run, number),
    }


def decision(kind: str, rng: random.Random) -> How:
    """What somebody makes of a gate. Nobody lets in all pages that are shown."""
    if kind == "research_urls":
        return rng.choice(("modify", "modify", "modify", "modify", "reject"))
    return "reject" if rng.random() < 0.1 else "approve"


def changes(how: How, shown: Mapping[str, Any]) -> dict[str, Any]:
    """What goes with it: a list is approved without the page that nobody wants."""
    if how != "modify":
        return {}
    unwanted = [url["number"] for url in shown["urls"] if url["url"].endswith(f"/{UNAPPROVED}")]
    return {"modifications": {"remove_urls": unwanted}}
