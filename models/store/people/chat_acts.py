"""Acts of the chat that wait for a yes, by person, conversation and what exactly was asked.

A yes takes one, once; the same request may take it again, for its answer may have been lost. A question is
found by its own words: in a chat that an OpenAI client keeps, those that its history ends with.
"""

from typing import Literal

from psycopg.types.json import Jsonb

from models.chat.acts import Act, Confirmed, OpenQuestion, Unclear, question_digest, reference_of
from models.store.database import Connection

_KEPT = "1 day"
# Questions that one is told of, when it is not plain which was answered.
_MOST = 5
_OPEN = "taken_by IS NULL AND expires_at > now()"
# What stands before the request that took an act, once it is used up; nobody else can guess an id.
_SPENT = "(id || ':')"

Taken = Confirmed | Unclear | Literal["over"] | None


async def ask(
    connection: Connection,
    person: str,
    conversation_id: str | None,
    *,
    act_id: str,
    question: str,
    act: Act,
    lasts_seconds: float,
) -> None:
    """Note what a person was asked, beside whatever else they were.

    In a conversation that is kept here it takes the place of an open question about the same: the answer that
    asked it may have been lost, and one yes would be unclear between the two.
    """
    await connection.execute(
        "DELETE FROM chat_acts WHERE expires_at < now() - %s::interval",
        (_KEPT,),
    )
    await connection.execute(
        f"""UPDATE chat_acts SET expires_at = now()
            WHERE person = %s AND conversation_id = %s AND act->'act' = %s AND {_OPEN}""",
        (person, conversation_id, Jsonb(act.model_dump(mode="json", exclude_defaults=True))),
    )
    await connection.execute(
        """INSERT INTO chat_acts (id, person, conversation_id, question_digest, act, expires_at)
           VALUES (%s, %s, %s, %s, %s, now() + make_interval(secs => %s))""",
        (
            act_id,
            person,
            conversation_id or "",
            question_digest(question),
            # Without what an agent of the last release does not know, where it needn't.
            Jsonb({"act": act.model_dump(mode="json", exclude_defaults=True), "question": question}),
            lasts_seconds,
        ),
    )


async def take(
    connection: Connection,
    person: str,
    conversation_id: str | None,
    question: str,
    *,
    by: str,
    alone: bool,
) -> Taken:
    """The act that a person says yes to with the request `by`.

    None: they were not asked that. `over`: they were, and said yes already, or too late. `alone`: it counts
    only where no other question of the conversation is open; else it is unclear which was meant.
    """
    key = (person, conversation_id or "", question_digest(question))
    cursor = await connection.execute(
        f"""UPDATE chat_acts a SET taken_by = coalesce(taken_by, %s)
            WHERE person = %s AND conversation_id = %s AND question_digest = %s
              AND (taken_by IN (%s, {_SPENT} || %s) OR ({_OPEN} AND NOT (%s AND EXISTS
                   (SELECT FROM chat_acts WHERE person = a.person AND conversation_id = a.conversation_id
                                            AND id <> a.id AND {_OPEN}))))
            RETURNING id, act, starts_with(taken_by, {_SPENT}) AS spent""",
        (by, *key, by, by, alone),
    )
    if (row := await cursor.fetchone()) is not None:
        return Confirmed(id=row["id"], spent=row["spent"], **row["act"])
    cursor = await connection.execute(
        f"""SELECT {_OPEN} AS open FROM chat_acts
            WHERE person = %s AND conversation_id = %s AND question_digest = %s""",
        key,
    )
    if (row := await cursor.fetchone()) is None:
        return None
    return await _unclear(connection, *key[:2]) if row["open"] else "over"


async def take_named(
    connection: Connection, person: str, conversation_id: str | None, reference: str, *, by: str
) -> Taken:
    """As `take`, by the reference that a question gives itself."""
    cursor = await connection.execute(
        "SELECT id, act FROM chat_acts WHERE person = %s AND conversation_id = %s",
        (person, conversation_id or ""),
    )
    for row in await cursor.fetchall():
        if reference_of(row["id"]) == reference:
            question = row["act"]["question"]
            return await take(connection, person, conversation_id, question, by=by, alone=False)
    return None


async def spend(connection: Connection, act_id: str) -> bool:
    """Use up an act that was taken, so that not even the same request does it again; False if it was."""
    cursor = await connection.execute(
        f"""UPDATE chat_acts SET taken_by = {_SPENT} || taken_by
            WHERE id = %s AND NOT starts_with(taken_by, {_SPENT})""",
        (act_id,),
    )
    return cursor.rowcount == 1


async def drop(connection: Connection, person: str, conversation_id: str | None, question: str) -> None:
    """Forget what a person was asked, for they said something else."""
    await connection.execute(
        "DELETE FROM chat_acts WHERE person = %s AND conversation_id = %s AND question_digest = %s",
        (person, conversation_id or "", question_digest(question)),
    )


async def _unclear(connection: Connection, person: str, conversation_id: str) -> Unclear:
    cursor = await connection.execute(
        f"""SELECT id, act FROM chat_acts WHERE person = %s AND conversation_id = %s AND {_OPEN}
            ORDER BY created_at DESC LIMIT %s""",
        (person, conversation_id, _MOST),
    )
    return Unclear(
        questions=tuple(
            OpenQuestion(reference=reference_of(row["id"]), question=row["act"]["question"])
            for row in reversed(await cursor.fetchall())
        )
    )
