"""Search: what was found, who may see it, and how two rankings become one.

The doors turn scopes into a `Reach`; the store and the search index both ask it, so they can't differ. A
caller sees published text in the topics he reads; working text, and resources that no published
article shows, take editor in their topic. Pure.
"""

import math
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Generic, Literal, TypeVar

from models.people.scopes import ROLES, Role, Scope
from models.record import Record

FoundKind = Literal["article", "resource", "passage"]
# What one search gives at most.
MOST_FOUND = 50
# What is looked in; a resource is a text or a table.
Source = Literal["article", "text", "table"]
RRF_K = 60

Key = TypeVar("Key", int, str)
Item = TypeVar("Item")


class Hit(Record):
    """Something one way of searching found; `passage_id` is the passage it was found by, if by one.

    `score` compares only with others of the same way: a cosine, or the weight of the words.
    """

    kind: FoundKind
    id: int
    version: int | None
    score: float
    passage_id: int | None = None


class Reach(Record):
    """The topics a caller sees published text of, and those he sees working text of; None is all."""

    published: frozenset[str] | None
    working: frozenset[str] | None


class Place(Record):
    """Who may see an indexed text: editors of its topic, and readers of the topics it is published in.

    An article's published text is published in its own topic; a resource in those of the published
    articles it is attached to.
    """

    source: Source
    topic: str
    published_in: frozenset[str]

    def visible_to(self, reach: Reach, *, include_drafts: bool) -> bool:
        """Whether the caller may see it; `include_drafts` asks for working text of articles too."""
        if self.published_in and (reach.published is None or self.published_in & reach.published):
            return True
        if self.source == "article" and not include_drafts:
            return False
        return reach.working is None or self.topic in reach.working


class FoundArticle(Record):
    """An article as search shows it: headline and status are of the version that was found.

    `similarity_score` is the cosine of its best passage; absent where it was found by words only.
    """

    id: int
    headline: str
    topic: str
    status: str
    author: str
    created_at: datetime
    similarity_score: float | None


class FoundResource(Record):
    """A resource as search shows it; `snippet` is of its best passage, or around the words."""

    id: int
    kind: Literal["text", "table"]
    name: str
    description: str | None
    topic: str
    snippet: str
    created_at: datetime
    similarity_score: float | None


class Found(Record, Generic[Item]):
    """What a search found, best first.

    `total` is how many different ones were found before the limit; each way of searching looks at a
    bounded number. `note` says what kept the search from being whole.
    """

    items: tuple[Item, ...]
    total: int
    note: str | None


class IndexStats(Record):
    """What the search index holds; `problem` is why indexing or following waits now."""

    passages: int
    items: int
    waiting: int
    problem: str | None


def reach_of(scopes: Iterable[Scope]) -> Reach:
    """What the bearer of scopes may see; as `check_permission`, where a `global:` scope is on every topic."""
    scopes = tuple(scopes)
    return Reach(published=_topics(scopes, "reader"), working=_topics(scopes, "editor"))


def _topics(scopes: Sequence[Scope], role: Role) -> frozenset[str] | None:
    enough = [scope for scope in scopes if scope.rank >= ROLES.index(role)]
    return None if any(scope.is_global for scope in enough) else frozenset(scope.topic for scope in enough)


def fuse(rankings: Sequence[Sequence[Key]], k: int = RRF_K) -> list[tuple[Key, float]]:
    """One ranking of several, best first: each gives a key 1 / (k + its rank from 1).

    Reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009). The order of the rankings does not
    matter. Where sums are equal, the better single rank goes first, then the greater key: the newer.
    """
    ranks: dict[Key, list[int]] = {}
    for ranking in rankings:
        for rank, key in enumerate(dict.fromkeys(ranking), start=1):
            ranks.setdefault(key, []).append(rank)
    fused = [(key, math.fsum(1 / (k + rank) for rank in found)) for key, found in ranks.items()]
    fused.sort(key=lambda entry: entry[0], reverse=True)
    fused.sort(key=lambda entry: (-entry[1], min(ranks[entry[0]])))
    return fused
