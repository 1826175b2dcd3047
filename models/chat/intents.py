"""Intents: examples of what people type for each thing that they may want, by which messages are routed."""

from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field, field_validator

from models.chat.messages import Intent
from models.record import Record


def _quoted(value: object) -> object:
    """YAML takes `yes`, `no` and `12` for something else than texts."""
    if isinstance(value, (bool, int, float)):
        raise ValueError(f"YAML reads this as {value!r}: put it in quotes")
    return value


Phrase = Annotated[str, BeforeValidator(_quoted), Field(min_length=1, max_length=500)]


class Voiced(Record):
    """A message as one person writes, what it asks for, and in which language."""

    text: Phrase
    intent: Intent
    language: Annotated[str, Field(min_length=2, max_length=2)]


class Intents(Record):
    """The file `configs/intents.yaml`: examples by intent, and words that name topics in any language.

    `voices` is a folder of more examples, a file for each person who wrote them (`Voiced`); `weights` the
    file that `make train-intents` makes of all. In YAML both are relative to the file itself.

    `trained_on` is the digest of what the weights were made of, once that is checked. `topics` are by slug:
    `{"macro": ("inflation*", "PKB", …)}`; slugs that the site has not are ignored. A
    word that ends in `*` stands for all that begin so, which is how endings are covered.
    """

    voices: Path
    weights: Path
    trained_on: str = ""
    examples: dict[Intent, tuple[Phrase, ...]] = Field(min_length=1)
    topics: dict[str, tuple[Phrase, ...]] = Field(default_factory=dict)

    @field_validator("topics")
    @classmethod
    def _stars(cls, topics: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        for slug, phrases in topics.items():
            for phrase in phrases:
                for word in phrase.split():
                    if len(word.rstrip("*")) < 2 or "*" in word.rstrip("*"):
                        raise ValueError(
                            f"{slug}: {phrase!r}: write words of at least 2 letters, with * only at their end"
                        )
        return topics
