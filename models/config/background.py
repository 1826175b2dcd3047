"""Configuration of what OpenAI clients ask by themselves, in the background of a chat: the words of it.

Part of `models.config`; `serve.openai.background` reads by it. Words are compared lower-case and without
accents; a final `*` stands for any ending. Chinese needs no blanks around it.
"""

from typing import Annotated, Literal

from pydantic import Field, field_validator

from models.config.fields import Section

Demand = Literal["title", "tags", "follow_ups", "queries", "question"]
# What stands under a key of a JSON form that a client demands; `nothing` is an empty text or list.
Filling = Literal["title", "tags", "asked", "nothing"]
_Words = Annotated[
    tuple[Annotated[str, Field(min_length=1, max_length=100)], ...], Field(strict=False, min_length=1)
]


class BackgroundConfig(Section):
    """By what it is known that a client asks and no person: for a title, tags, follow-ups, search queries."""

    demands: dict[Demand, _Words]  # what is asked for
    conversations: _Words  # of what
    limits: _Words  # how a system message says that it wants nothing else
    enclosures: _Words  # names of the tags around a conversation
    sources: _Words  # names of the tags around other people's texts: nothing in them asks for anything
    people: _Words  # before what a person said, in a conversation that is quoted
    assistants: _Words  # before what an assistant said
    asked: _Words  # before a question that is to be put in other words
    keys: dict[str, Filling]  # of a demanded JSON form, and what is answered
    untitled: Annotated[str, Field(min_length=1, max_length=60)]  # the title where nothing was said
    general: Annotated[str, Field(min_length=1, max_length=60)]  # the one tag

    @field_validator("demands", "conversations", "limits")
    @classmethod
    def _stars(cls, value: dict[str, tuple[str, ...]] | tuple[str, ...]) -> object:
        for phrase in (one for many in value.values() for one in many) if isinstance(value, dict) else value:
            if "*" in phrase[:-1] or len(phrase.rstrip("*")) < 2:
                raise ValueError(f"{phrase!r}: write at least 2 letters, with * only at the end")
        return value
