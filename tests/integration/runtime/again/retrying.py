"""Retries by a command, and a topic to retry."""

from models.content.editorial import TopicInput
from models.runtime.workflows import WorkflowRequest
from models.store.database import Database
from pipelines.topics import TopicRow


async def execute(database: Database, query: str, *values: object) -> None:
    """One statement."""
    async with database.connection() as connection:
        await connection.execute(query.encode(), values or None)


def topic(text: str, slug: str = "s") -> WorkflowRequest:
    """What a topic file asks for; all of one slug are of one key."""
    source = {
        "source_file": "f",
        "channel_name": "c",
        "video_id": "v",
        "video_title": "t",
        "publish_date": None,
        "topic_slug": slug,
        "topic_title": "t",
    }
    read = TopicInput.model_validate(
        {
            "source_text": text,
            "source_metadata": source,
            "style_mode": "NATURE_NEWS",
            "target_length_words": "9",
            "optional_angle": None,
        }
    )
    row = TopicRow(path="p", topic=read, error=None, channel="c", slug=slug)
    return WorkflowRequest(
        kind="editorial",
        key=row.key,
        input=read.model_dump(mode="json"),
        input_digest=row.digest,
        requested_by="ann",
    )
