"""Acts of the chat that write something: asked about in one line, and done on the next message's yes.

The question is the record's key: what is carried out is what exactly was asked, and nothing else. Each has
a reference of its own in its words, so that no two questions are the same, whatever they are about.
"""

from typing import Literal

from models.record import Record
from models.runtime.approvals import content_digest

ActIntent = Literal[
    "research",
    "deep_research",
    "stop_research",
    "operation",
    "cancel_operation",
    "submit",
    "changes",
    "publish",
    "download",
]
_REFERENCE = 12


class Act(Record):
    """What would be done: with which article, on which topic, in whose words, with which documents.

    `research_id` is the deep research that would be stopped, `operation_id` the operation that would be
    cancelled; `task_type` is of the one that would begin.
    """

    intent: ActIntent
    article_id: int | None = None
    research_id: int | None = None
    operation_id: int | None = None
    task_type: str | None = None
    topic: str | None = None
    words: str | None = None
    urls: tuple[str, ...] = ()


class Confirmed(Record):
    """An act that its person has said yes to, as it was asked. `spent`: it was done; it is not done twice."""

    id: str
    act: Act
    question: str
    spent: bool = False


class OpenQuestion(Record):
    """A question that waits for its yes."""

    reference: str
    question: str


class Unclear(Record):
    """A yes that may be meant for any of several questions: nothing is done."""

    questions: tuple[OpenQuestion, ...]


def reference_of(act_id: str) -> str:
    """By what a question names itself, and a yes may name it."""
    return act_id[:_REFERENCE]


def question_digest(question: str) -> str:
    """By what a question is found again: clients may break its lines in another way."""
    return content_digest(" ".join(question.split()))
