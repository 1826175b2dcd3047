"""What people may change about prompts: their tonality, and the prompt of a topic. Seed 000 §3.2, §4.1."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict


class Tonality(BaseModel):
    """A way of writing that users may choose."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: int
    name: str
    text: str


class TopicPrompt(BaseModel):
    """What agents are told about a topic. Version 0 is the file's text, which nobody has edited."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    topic: str
    version: int
    text: str
    edited_by: str | None
    edited_at: datetime | None
