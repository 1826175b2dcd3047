"""Acts of the chat that write something: asked about in one line, and done on the next message's yes.

The question is the record's key: what is carried out is what exactly was asked, and nothing else.
"""

from typing import Literal

from models.approvals import content_digest
from models.articles import Record

ActIntent = Literal["research", "submit", "changes", "publish"]


class Act(Record):
    """What would be done: with which article, on which topic, in whose words."""

    intent: ActIntent
    article_id: int | None = None
    topic: str | None = None
    words: str | None = None


class Confirmed(Record):
    """An act that its person has said yes to, as it was asked. The same `id` is never done twice."""

    id: str
    act: Act
    question: str


def question_digest(question: str) -> str:
    """By what a question is found again: clients may break its lines in another way."""
    return content_digest(" ".join(question.split()))
