"""Conversations: what a person and the assistant said, kept until the person deletes it. Seed 000 §2.2.

A message is kept before it is answered; its answer names it. Both are shown to their owner alone.
"""

from datetime import datetime
from typing import Any, Literal

from models.chat.messages import AgentType, ChatStatus, Usage, WorkflowState
from models.record import Record
from models.text import shortened

TITLE_LENGTH = 80


class Conversation(Record):
    """A row of `conversations`. `title` is its first message, shortened."""

    id: str
    title: str
    created_at: datetime
    updated_at: datetime


class Message(Record):
    """One message as its owner reads it. The fields after `created_at` are an answer's, absent of a question.

    `answers` is the id of the message that it answers; `request_id` is what the client called a question.
    """

    id: int
    role: Literal["user", "assistant"]
    content: str
    created_at: datetime
    request_id: str | None = None
    answers: int | None = None
    status: ChatStatus | None = None
    agent_type: AgentType | None = None
    topic: str | None = None
    tools_used: tuple[str, ...] = ()
    task_id: str | None = None
    workflow_state: WorkflowState | None = None
    usage: Usage | None = None


class Dialogue(Record):
    """A conversation with a page of its messages, in order; `has_more`: there are earlier ones."""

    conversation: Conversation
    messages: tuple[Message, ...]
    has_more: bool


class ChatAnswer(Record):
    """An answer as the door gives it (seed 000 §2.2, §1.5).

    `message_id` is the kept answer's. `status` `processing`: `task_id` goes on, see `GET /api/tasks`;
    `interrupted` and `failed`: `response` is what there was by then. `workflow_state` is the task's as it
    was begun. `took_as`, where it was a guess what the message asks for, says in one line what it was taken
    for, and how to say otherwise; it is told once, not kept.
    """

    response: str
    agent_type: AgentType
    tools_used: tuple[str, ...]
    workflow_state: WorkflowState | None
    task_id: str | None
    status: ChatStatus
    conversation_id: str
    message_id: int
    topic: str | None
    usage: Usage
    took_as: str | None = None


class Question(Record):
    """A message that was kept and is to be answered, or is answered already."""

    conversation_id: str
    message_id: int
    answer: ChatAnswer | None = None


def title_of(message: str) -> str:
    """A conversation's title: its first message on one line, shortened."""
    return shortened(message, TITLE_LENGTH)


def answer_of(row: dict[str, Any]) -> ChatAnswer:
    """The answer that a row of `messages` holds."""
    return ChatAnswer(
        response=row["content"],
        agent_type=row["agent_type"],
        tools_used=tuple(row["tools_used"]),
        workflow_state=row["workflow_state"],
        task_id=row["task_id"],
        status=row["status"],
        conversation_id=row["conversation_id"],
        message_id=row["id"],
        topic=row["topic"],
        usage=Usage(prompt_tokens=row["prompt_tokens"], completion_tokens=row["completion_tokens"]),
    )
