"""Acts of the chat that wait for a yes, by person, conversation and what exactly was asked.

A yes takes one, once; the same request may take it again, for its answer may have been lost. Any other
message drops it. In a chat that an OpenAI client keeps, the question that its history ends with finds it.
"""

import uuid
from typing import Literal

from psycopg.types.json import Jsonb

from models.chat_acts import Act, Confirmed, question_digest
from models.store.database import Connection

_KEPT = "1 day"


async def ask(
    connection: Connection,
    person: str,
    conversation_id: str | None,
    *,
    question: str,
    act: Act,
    lasts_seconds: float,
) -> None:
    """Note that a person was asked; the same question again is a new one."""
    await connection.execute(
        "DELETE FROM chat_acts WHERE expires_at < now() - %s::interval",
        (_KEPT,),
    )
    await connection.execute(
        """INSERT INTO chat_acts AS a (id, person, conversation_id, question_digest, act, expires_at)
           VALUES (%s, %s, %s, %s, %s, now() + make_interval(secs => %s))
           ON CONFLICT (person, conversation_id, question_digest) DO UPDATE
           SET id = excluded.id, act = excluded.act, created_at = now(), expires_at = excluded.expires_at,
               taken_by = NULL""",
        (
            uuid.uuid4().hex,
            person,
            conversation_id or "",
            question_digest(question),
            Jsonb({"act": act.model_dump(mode="json"), "question": question}),
            lasts_seconds,
        ),
    )


async def take(
    connection: Connection, person: str, conversation_id: str | None, question: str, *, by: str
) -> Confirmed | Literal["over"] | None:
    """The act that a person says yes to with the request `by`.

    None: they were not asked that. `over`: they were, and said yes already, or too late.
    """
    key = (person, conversation_id or "", question_digest(question))
    cursor = await connection.execute(
        """UPDATE chat_acts SET taken_by = %s
           WHERE person = %s AND conversation_id = %s AND question_digest = %s
             AND (taken_by = %s OR (taken_by IS NULL AND expires_at > now())) RETURNING id, act""",
        (by, *key, by),
    )
    if (row := await cursor.fetchone()) is not None:
        return Confirmed(id=row["id"], **row["act"])
    cursor = await connection.execute(
        "SELECT 1 FROM chat_acts WHERE person = %s AND conversation_id = %s AND question_digest = %s", key
    )
    return None if await cursor.fetchone() is None else "over"


async def drop(connection: Connection, person: str, conversation_id: str | None, question: str) -> None:
    """Forget what a person was asked, for they said something else."""
    await connection.execute(
        "DELETE FROM chat_acts WHERE person = %s AND conversation_id = %s AND question_digest = %s",
        (person, conversation_id or "", question_digest(question)),
    )
