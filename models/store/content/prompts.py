"""Tonalities, and the prompts of topics. Files give the first text; an edit is a version of its own."""

from pathlib import Path

from psycopg.errors import ForeignKeyViolation

from models.content.prompts import Tonality, TopicPrompt
from models.errors import InputInvalid, PromptConflict
from models.runtime.event_catalogue import PromptEdited
from models.store import events
from models.store.database import Connection


async def take_in_tonalities(connection: Connection, folder: Path) -> None:
    """Make the tonalities what `folder/*.md` says, by name; one whose file is gone stays for its users."""
    for file in sorted(folder.glob("*.md")):
        await connection.execute(
            """INSERT INTO tonalities (name, text) VALUES (%s, %s)
               ON CONFLICT (name) DO UPDATE SET text = EXCLUDED.text
               WHERE tonalities.text <> EXCLUDED.text""",
            (file.stem, file.read_text(encoding="utf-8").strip()),
        )


async def tonalities(connection: Connection) -> list[Tonality]:
    """All tonalities, by name."""
    cursor = await connection.execute("SELECT id, name, text FROM tonalities ORDER BY name")
    return [Tonality.model_validate(row) for row in await cursor.fetchall()]


async def choose(
    connection: Connection, user_id: int, *, chat_tonality_id: int | None, content_tonality_id: int | None
) -> None:
    """Set a user's tonalities; None takes one away.

    Raises:
        InputInvalid: there is no such tonality.
    """
    try:
        await connection.execute(
            "UPDATE users SET chat_tonality_id = %s, content_tonality_id = %s WHERE id = %s",
            (chat_tonality_id, content_tonality_id, user_id),
        )
    except ForeignKeyViolation as error:
        field = "chat_tonality_id" if "chat_" in str(error) else "content_tonality_id"
        raise InputInvalid(f"{field}: there is no such tonality: see get_tonalities") from error


async def topic_prompt(connection: Connection, topic: str, folder: Path) -> TopicPrompt:
    """A topic's prompt: its newest edit, or else version 0, the text of `folder/{topic}.md`."""
    cursor = await connection.execute(
        """SELECT topic, version, text, edited_by, edited_at FROM topic_prompts WHERE topic = %s
           ORDER BY version DESC LIMIT 1""",
        (topic,),
    )
    if (row := await cursor.fetchone()) is not None:
        return TopicPrompt.model_validate(row)
    file = folder / f"{topic}.md"
    text = file.read_text(encoding="utf-8").strip() if file.is_file() else ""
    return TopicPrompt(topic=topic, version=0, text=text, edited_by=None, edited_at=None)


async def edit_topic_prompt(connection: Connection, topic: str, *, text: str, version: int, by: str) -> None:
    """Write version `version` + 1 of a topic's prompt.

    Raises:
        PromptConflict: `version` is not the newest any more.
    """
    cursor = await connection.execute(
        """INSERT INTO topic_prompts (topic, version, text, edited_by)
           SELECT %(topic)s, %(version)s + 1, %(text)s, %(by)s
           WHERE (SELECT coalesce(max(version), 0) FROM topic_prompts WHERE topic = %(topic)s) = %(version)s
           ON CONFLICT DO NOTHING""",
        {"topic": topic, "version": version, "text": text, "by": by},
    )
    if cursor.rowcount != 1:
        raise PromptConflict(f"the prompt of {topic} is not at version {version} any more: read it again")
    edited = PromptEdited(topic=topic, version=version + 1, by=by)
    await events.tell(connection, edited, topic=topic, role="admin")
