"""What a research may use up, and what is left undone where that or a failure is in the way. Seed 002 §10.1.

The bounds are the site's (`research.limits`). Which one was reached is told in its name there.
"""

from typing import Literal, get_args

from models.record import Record

Limit = Literal["max_urls", "max_tool_calls", "max_duration_seconds", "max_llm_tokens"]
LIMITS: tuple[Limit, ...] = get_args(Limit)


class LeftUndone(Record):
    """Work that was not done: a source that was not read for knowledge, or a section that was not written.

    `id` is the source's, or the node's in the tree; `name` is for people. Without `limit` it failed.
    """

    what: Literal["source", "section"]
    id: str
    name: str
    limit: Limit | None = None
    reason: str


class ReachedLimit(Record):
    """A limit that was reached, in its name and in words."""

    limit: Limit
    reason: str


class SpentSoFar(Record):
    """What a research has used: tokens, and seconds that its tools and models worked, added up."""

    tokens: int
    seconds: float
