"""What is searched for, and which of several searches' hits come first. Called by the agents that look up."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from actors.platform.text.relevance import content_words
from models.chat.messages import Turn
from models.content.search import fuse
from models.text import shortened

# What the search tools take, and more than anybody types.
_QUERY = 1000
# With fewer words of its own, a message goes on from the one before: "and in Poland?"
_ENOUGH = 2


class ToolHit(Protocol):
    """A hit of a search tool."""

    @property
    def id(self) -> int:
        """Its number."""
        ...

    @property
    def similarity_score(self) -> float | None:
        """The cosine of its best passage, if it was found by one."""
        ...


H = TypeVar("H", bound=ToolHit)


def search_words(turn: Turn) -> str:
    """What to search for: the message, with the person's last one where it says too little by itself."""
    words = shortened(turn.message, _QUERY)
    if len(content_words(words)) < _ENOUGH:
        before = [message.content for message in turn.history if message.role == "user"]
        if before:
            words = shortened(f"{before[-1]} {words}", _QUERY)
    return words


def best_of(rankings: Sequence[Sequence[H]]) -> list[H]:
    """The hits of several searches in one order, each once: by their ranks, and by how near they are."""
    hits = {hit.id: hit for ranking in rankings for hit in ranking}
    near = sorted(
        (hit for hit in hits.values() if hit.similarity_score is not None),
        key=lambda hit: -(hit.similarity_score or 0.0),
    )
    order = [[hit.id for hit in ranking] for ranking in (*rankings, near)]
    return [hits[number] for number, _ in fuse(order)]
