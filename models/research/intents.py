"""Intents of research: what work a message asks for, how much of it, and with which tools. Seed 002, FR1."""

from typing import Annotated, Literal, get_args

from pydantic import Field

from models.record import Record

# `research` finds and answers; `scrape` fetches what is named, and keeps it; `analyze` works on what is kept
# already; `full_pipeline` finds or fetches, keeps, takes facts out, and puts them in order.
TaskType = Literal["research", "scrape", "analyze", "full_pipeline"]
Complexity = Literal["low", "medium", "high"]
ResearchTool = Literal[
    "search_web", "scrape_urls", "query_knowledge_base", "save_to_database", "create_knowledge_tree"
]
TASKS: tuple[TaskType, ...] = get_args(TaskType)
COMPLEXITIES: tuple[Complexity, ...] = get_args(Complexity)

LONGEST_MESSAGE = 2000


class ResearchIntent(Record):
    """What the classifier takes a message for.

    `score` is the probability of the task type, 0 to 1; `why` says in words what was noticed that speaks for
    it, the strongest first, and is empty where nothing by name does.
    """

    task_type: TaskType
    complexity: Complexity
    tools: tuple[ResearchTool, ...]
    score: float = Field(ge=0, le=1)
    why: tuple[str, ...] = ()


class IntentReading(Record):
    """What a research is taken to ask for, and how that was found.

    `found`: the task type was `given` by the request, `measured` by the classifier, or told by a `model`
    where the score was low. `score` is the probability that the classifier gives that task type, 0 to 1,
    however it was found. `is_guess`: the score was low, and no model told. `reasoning` is for people, on one
    line.
    """

    task_type: TaskType
    complexity: Complexity
    tools: tuple[ResearchTool, ...]
    score: float = Field(ge=0, le=1)
    found: Literal["given", "measured", "model"]
    is_guess: bool = False
    reasoning: str = Field(min_length=1)


class AskedResearch(Record):
    """A message as somebody types it, and what it asks for. `borderline`: a careful person might differ."""

    text: Annotated[str, Field(min_length=1)]
    language: Annotated[str, Field(pattern=r"^[a-z]{2}$")]
    task_type: TaskType
    complexity: Complexity
    tools: tuple[ResearchTool, ...]
    person: str = ""
    borderline: bool = False
