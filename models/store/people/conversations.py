"""Conversations and their messages. Nobody but their owner sees that they exist.

A message is written before it is answered, and answered once: the answer is unique by `answers`. One that
was interrupted or failed gives way to a better one, when the client sends its request again.
"""

import uuid
from typing import Any

from psycopg.types.json import Jsonb

from models.chat.conversations import (
    ChatAnswer,
    Conversation,
    Dialogue,
    Message,
    Question,
    answer_of,
    title_of,
)
from models.chat.messages import ChatMessage, Done, Usage
from models.errors import ConversationNotFound, InputInvalid, RequestConflict
from models.store.database import Connection
from models.store.runtime import model_calls

_COLUMNS = "id, title, created_at, updated_at"
_MESSAGE = (
    "id, conversation_id, role, content, request_id, answers, status, agent_type, topic, tools_used, "
    "task_id, workflow_state, prompt_tokens, completion_tokens, created_at"
)
# An answer stands right after its question, also when another message was sent meanwhile.
_PLACE = "coalesce(answers, id)"
# What a client that asks again is given something better for.
_UNFINISHED = ("interrupted", "failed")


async def ask(
    connection: Connection,
    owner: str,
    message: str,
    *,
    conversation_id: str | None = None,
    request_id: str | None = None,
) -> Question:
    """Write a person's message, in their conversation or in a new one.

    The same `request_id` again is the same question: nothing is written, and its answer comes along if
    there is a whole one.

    Raises:
        ConversationNotFound: it is not `owner`'s.
        RequestConflict: `request_id` was another message's, or another conversation's.
    """
    if request_id is not None:
        # The same request at the same moment, here or on another replica, waits for this one.
        await connection.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"chat:{owner}\n{request_id}",)
        )
        if (asked := await _asked(connection, owner, message, conversation_id, request_id)) is not None:
            return asked
    if conversation_id is None:
        conversation_id = uuid.uuid4().hex
        await connection.execute(
            "INSERT INTO conversations (id, owner, title) VALUES (%s, %s, %s)",
            (conversation_id, owner, title_of(message)),
        )
    else:
        await _touch(connection, owner, conversation_id)
    cursor = await connection.execute(
        """INSERT INTO messages (conversation_id, owner, role, content, request_id)
           VALUES (%s, %s, 'user', %s, %s) RETURNING id""",
        (conversation_id, owner, message, request_id),
    )
    row = await cursor.fetchone()
    assert row is not None
    return Question(conversation_id=conversation_id, message_id=row["id"])


async def history(connection: Connection, question: Question, *, limit: int) -> tuple[ChatMessage, ...]:
    """What was said before a question: the newest `limit` messages, oldest first."""
    cursor = await connection.execute(
        f"""SELECT role, content FROM messages WHERE conversation_id = %s AND {_PLACE} < %s
            ORDER BY {_PLACE} DESC, id DESC LIMIT %s""",
        (question.conversation_id, question.message_id, limit),
    )
    return tuple(ChatMessage.model_validate(row) for row in reversed(await cursor.fetchall()))


async def asked_in(connection: Connection, question: Question, message_id: int) -> str:
    """What the assistant asked a yes for with a message of the same conversation.

    Raises:
        InputInvalid: it is no such message.
    """
    cursor = await connection.execute(
        "SELECT content FROM messages WHERE id = %s AND conversation_id = %s AND status = 'asks'",
        (message_id, question.conversation_id),
    )
    if (row := await cursor.fetchone()) is None:
        raise InputInvalid(
            f"answers: {message_id} asks for nothing in this conversation: give the message_id of an answer "
            "with status asks, with its conversation_id, or leave it out"
        )
    return str(row["content"])


async def keep(connection: Connection, owner: str, question: Question, done: Done) -> ChatAnswer:
    """Write what came of a question, with the model calls it took; returns the answer that there is now.

    A whole answer that is there already stays, whoever wrote it.

    Raises:
        ConversationNotFound: it was deleted meanwhile.
    """
    await _touch(connection, owner, question.conversation_id)
    cursor = await connection.execute(
        f"""INSERT INTO messages AS m (conversation_id, owner, role, content, answers, status, agent_type,
                                       topic, tools_used, task_id, workflow_state, prompt_tokens,
                                       completion_tokens)
            VALUES (%(conversation)s, %(owner)s, 'assistant', %(content)s, %(answers)s, %(status)s,
                    %(agent_type)s, %(topic)s, %(tools_used)s, %(task_id)s, %(workflow_state)s,
                    %(prompt_tokens)s, %(completion_tokens)s)
            ON CONFLICT (answers) DO UPDATE SET content = excluded.content, status = excluded.status,
                agent_type = excluded.agent_type, topic = excluded.topic, tools_used = excluded.tools_used,
                task_id = excluded.task_id, workflow_state = excluded.workflow_state,
                prompt_tokens = excluded.prompt_tokens, completion_tokens = excluded.completion_tokens,
                created_at = now()
            WHERE m.status = ANY(%(unfinished)s)
            RETURNING {_MESSAGE}""",
        {
            "conversation": question.conversation_id,
            "owner": owner,
            "content": done.response,
            "answers": question.message_id,
            "status": done.status,
            "agent_type": done.agent_type,
            "topic": done.topic,
            "tools_used": list(done.tools_used),
            "task_id": done.task_id,
            "workflow_state": Jsonb(done.workflow_state.model_dump(mode="json"))
            if done.workflow_state
            else None,
            "prompt_tokens": done.usage.prompt_tokens,
            "completion_tokens": done.usage.completion_tokens,
            "unfinished": list(_UNFINISHED),
        },
    )
    written = await cursor.fetchone()
    if written is None:
        kept = await _answer(connection, question.message_id)
        assert kept is not None, "what is in the way of an answer is an answer"
        return answer_of(kept)
    await model_calls.put(connection, done.calls, step="answer", message_id=written["id"])
    return answer_of(written)


async def recent(
    connection: Connection, owner: str, *, limit: int, before: str | None = None
) -> list[Conversation]:
    """A person's conversations, the one with the newest message first; `before`: those after that one.

    Raises:
        InputInvalid: `before` is none of theirs.
    """
    if before is not None and await _found(connection, owner, before) is None:
        raise InputInvalid(f"before: you have no conversation {before!r}: start from the newest again")
    cursor = await connection.execute(
        f"""SELECT {_COLUMNS} FROM conversations
            WHERE owner = %(owner)s AND (%(before)s::text IS NULL OR (updated_at, id) <
                  (SELECT c.updated_at, c.id FROM conversations c WHERE c.id = %(before)s))
            ORDER BY updated_at DESC, id DESC LIMIT %(limit)s""",
        {"owner": owner, "before": before, "limit": limit},
    )
    return [Conversation.model_validate(row) for row in await cursor.fetchall()]


async def dialogue(
    connection: Connection, owner: str, conversation_id: str, *, limit: int, before: int | None = None
) -> Dialogue:
    """A conversation with its newest `limit` messages, or those before the message `before`.

    Raises:
        ConversationNotFound: it is not `owner`'s.
        InputInvalid: `before` is no message of it.
    """
    found = await _found(connection, owner, conversation_id)
    if found is None:
        raise ConversationNotFound(f"you have no conversation {conversation_id!r}")
    place: tuple[int | None, int | None] = (None, None)
    if before is not None:
        cursor = await connection.execute(
            f"SELECT {_PLACE} AS place, id FROM messages WHERE id = %s AND conversation_id = %s",
            (before, conversation_id),
        )
        if (row := await cursor.fetchone()) is None:
            raise InputInvalid(f"before: {before} is no message of this conversation")
        place = (row["place"], row["id"])
    cursor = await connection.execute(
        f"""SELECT {_MESSAGE} FROM messages
            WHERE conversation_id = %s
              AND (%s::bigint IS NULL OR ({_PLACE}, id) < (%s::bigint, %s::bigint))
            ORDER BY {_PLACE} DESC, id DESC LIMIT %s""",
        (conversation_id, place[0], *place, limit + 1),
    )
    rows = await cursor.fetchall()
    shown = tuple(_message(row) for row in reversed(rows[:limit]))
    return Dialogue(conversation=found, messages=shown, has_more=len(rows) > limit)


async def delete(connection: Connection, owner: str, conversation_id: str) -> None:
    """Delete a conversation with its messages. The tasks that it began go on. Raises ConversationNotFound."""
    cursor = await connection.execute(
        "DELETE FROM conversations WHERE id = %s AND owner = %s", (conversation_id, owner)
    )
    if cursor.rowcount == 0:
        raise ConversationNotFound(f"you have no conversation {conversation_id!r}")


async def _asked(
    connection: Connection, owner: str, message: str, conversation_id: str | None, request_id: str
) -> Question | None:
    cursor = await connection.execute(
        "SELECT id, conversation_id, content FROM messages WHERE owner = %s AND request_id = %s",
        (owner, request_id),
    )
    row = await cursor.fetchone()
    if row is None:
        return None
    for field, same in (
        ("message", row["content"] == message),
        ("conversation_id", conversation_id in (None, row["conversation_id"])),
    ):
        if not same:
            raise RequestConflict(
                f"request_id: {request_id!r} was sent before with another {field}: "
                "give each message a request_id of its own"
            )
    kept = await _answer(connection, row["id"])
    whole = kept is not None and kept["status"] not in _UNFINISHED
    return Question(
        conversation_id=row["conversation_id"],
        message_id=row["id"],
        answer=answer_of(kept) if kept is not None and whole else None,
    )


async def _answer(connection: Connection, message_id: int) -> dict[str, Any] | None:
    cursor = await connection.execute(f"SELECT {_MESSAGE} FROM messages WHERE answers = %s", (message_id,))
    return await cursor.fetchone()


async def _found(connection: Connection, owner: str, conversation_id: str) -> Conversation | None:
    cursor = await connection.execute(
        f"SELECT {_COLUMNS} FROM conversations WHERE id = %s AND owner = %s", (conversation_id, owner)
    )
    row = await cursor.fetchone()
    return Conversation.model_validate(row) if row else None


async def _touch(connection: Connection, owner: str, conversation_id: str) -> None:
    cursor = await connection.execute(
        "UPDATE conversations SET updated_at = now() WHERE id = %s AND owner = %s", (conversation_id, owner)
    )
    if cursor.rowcount == 0:
        raise ConversationNotFound(f"you have no conversation {conversation_id!r}")


def _message(row: dict[str, Any]) -> Message:
    usage = Usage(prompt_tokens=row["prompt_tokens"], completion_tokens=row["completion_tokens"])
    facts = {name: row[name] for name in Message.model_fields if name != "usage"}
    return Message(**facts, usage=usage if row["role"] == "assistant" else None)
