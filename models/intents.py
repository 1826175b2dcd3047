"""Intents: examples of what people type for each thing that they may want, by which messages are routed."""

from pydantic import Field

from models.articles import Record
from models.chat import Intent


class Intents(Record):
    """The file `configs/intents.yaml`: examples by intent, and words that name topics in any language.

    `topics` are by slug: `{"macro": ("inflation", "PKB", …)}`; slugs that the site has not are ignored.
    """

    examples: dict[Intent, tuple[str, ...]] = Field(min_length=1)
    topics: dict[str, tuple[str, ...]] = Field(default_factory=dict)
