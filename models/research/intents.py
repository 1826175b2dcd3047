"""Intents of research: what work a message asks for, how much of it, and with which tools. Seed 002, FR1."""

from typing import Annotated, Literal, get_args

from pydantic import Field

from models.record import Record

# `research` finds and answers; `scrape` fetches what is named, and keeps it; `analyze` works on what is kept
# already; `full_pipeline` finds or fetches, keeps, takes facts out, and puts them in order.
ResearchTask = Literal["research", "scrape", "analyze", "full_pipeline"]
Complexity = Literal["low", "medium", "high"]
ResearchTool = Literal[
    "search_web", "scrape_urls", "query_knowledge_base", "save_to_database", "create_knowledge_tree"
]
TASKS: tuple[ResearchTask, ...] = get_args(ResearchTask)
COMPLEXITIES: tuple[Complexity, ...] = get_args(Complexity)

LONGEST_MESSAGE = 2000


class ResearchIntent(Record):
    """What a message was taken for.

    `score` is the probability of the task type, 0 to 1; `why` says in words what was noticed that speaks for
    it, the strongest first, and is empty where nothing by name does.
    """

    task_type: ResearchTask
    complexity: Complexity
    tools: tuple[ResearchTool, ...]
    score: float = Field(ge=0, le=1)
    why: tuple[str, ...] = ()


class AskedResearch(Record):
    """A message as somebody types it, and what it asks for. `borderline`: a careful person might differ."""

    text: Annotated[str, Field(min_length=1)]
    language: Annotated[str, Field(pattern=r"^[a-z]{2}$")]
    task_type: ResearchTask
    complexity: Complexity
    tools: tuple[ResearchTool, ...]
    person: str = ""
    borderline: bool = False
