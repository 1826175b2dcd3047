"""What people may change about prompts: their tonality, and the prompt of a topic. Seed 000 §3.2, §4.1."""

from datetime import datetime

from models.record import Record


class Tonality(Record):
    """A way of writing that users may choose."""

    id: int
    name: str
    text: str


class TopicPrompt(Record):
    """What agents are told about a topic. Version 0 is the file's text, which nobody has edited."""

    topic: str
    version: int
    text: str
    edited_by: str | None
    edited_at: datetime | None
