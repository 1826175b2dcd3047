"""Which pairs of items are looked at, and which of them are about the same.

Called by `link`. Only pairs that share an identifier which says something are looked at. One that too many
items share is no reason to look: so the number of pairs grows with the items, not with their square.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import combinations, product
from typing import NamedTuple

from actors.systems.operations.linking.scoring import Comparable, Rarity, correlated, match_of, value_of
from actors.systems.operations.recognition.item import ReadItem
from models.operations.evidence import Match

_LEAST_SCORE = 0.5
# Pairs of one key, and in all.
_MOST_OF_KEY = 2_500
_MOST_PAIRS = 20_000


class LinkedPairOfItems(NamedTuple):
    """Two items of different agents that are about the same; places in the items' order."""

    left: int
    right: int
    score: float
    matches: tuple[Match, ...]


def pairs_of(items: Sequence[ReadItem]) -> list[LinkedPairOfItems]:
    """The pairs that are about the same, the surest first."""
    rarity = Rarity(len(items), _counts(items))
    comparable = [Comparable(read) for read in items]
    found = []
    for left, right in _candidates(comparable):
        score, common = correlated(comparable[left], comparable[right], rarity)
        if score > _LEAST_SCORE and common:
            matches = tuple(match_of(items[left], items[right], each) for each in common)
            found.append(LinkedPairOfItems(left, right, round(score, 4), matches))
    return sorted(found, key=lambda pair: (-pair.score, pair.left, pair.right))


def _counts(items: Sequence[ReadItem]) -> Counter[tuple[str, str]]:
    """In how many items each identifier stands."""
    counts: Counter[tuple[str, str]] = Counter()
    for read in items:
        counts.update({(found.kind, value_of(found.kind, found.normal)) for found in read.findings})
    return counts


def _candidates(items: Sequence[Comparable]) -> list[tuple[int, int]]:
    holders: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, item in enumerate(items):
        for key in item.keys:
            if key[0] != "date":
                holders[key].append(place)
    pairs: set[tuple[int, int]] = set()
    # The rarest first: if there are too many, those that say least are left out.
    for _, places in sorted(holders.items(), key=lambda each: (len(each[1]), each[0])):
        by_agent: dict[str, list[int]] = defaultdict(list)
        for place in places:
            by_agent[items[place].read.item.agent].append(place)
        sizes = [len(some) for some in by_agent.values()]
        if (sum(sizes) ** 2 - sum(size**2 for size in sizes)) // 2 > _MOST_OF_KEY:
            continue
        for some, others in combinations(by_agent.values(), 2):
            pairs.update((min(pair), max(pair)) for pair in product(some, others))
        if len(pairs) >= _MOST_PAIRS:
            break
    return sorted(pairs)
