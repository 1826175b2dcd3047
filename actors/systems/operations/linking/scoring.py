"""Two items: what they have in common, and how probable that makes it that they are about the same.

Called by `pairing`. Each kind of identifier counts once, by what is rarest of it: the number of an invoice
says much, a round amount or a day next to nothing, an address that stands in most items nothing at all.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from actors.platform.linkage.weights import probability, weight
from actors.systems.operations.recognition.item import ReadItem, Sighting
from actors.systems.operations.recognition.vendors import vendor_keys, vendor_likeness
from models.operations.evidence import Evidence, IdentifierKind, Match

# Of two items, before anything is known of them.
_PRIOR = -8.0
# Among items that are about the same: how many have an identifier of a kind in common.
_MATCHING: dict[IdentifierKind, float] = {
    "vendor": 0.95,
    "invoice": 0.95,
    "amount": 0.8,
    "email": 0.8,
    "date": 0.5,
}
# By chance: a name among vendors, an address, a day of what is discussed at a time.
_RANDOM_VENDOR, _RANDOM_SHORT_VENDOR = 1 / 1_000, 1 / 300
_RANDOM_EMAIL, _RANDOM_DAY = 1 / 2_000, 1 / 12
# Of an amount, by its digits that are no zeros at the end: one digit, two, and so on.
_RANDOM_AMOUNTS = (0.5, 0.3, 0.03, 0.01, 0.004, 1 / 400)
_RANDOM_INVOICES = (1.0, 0.3, 0.1, 1 / 500, 1 / 5_000)
_RANDOM_LONG_INVOICE = 1 / 20_000
# What it says against two items if both name such a thing, and no common one.
_DISAGREEING: dict[IdentifierKind, float] = {"vendor": -8.0, "invoice": -8.0, "amount": -1.0}
# Identifiers of a common kind, in others than the two items, count as if there were so many items more.
_SMOOTHING = 50
_SHORT_NAME = 5
_MOST_MATCHES = 5
_OTHER_CURRENCY_UNSAID = 0.9


@dataclass(frozen=True)
class Rarity:
    """In how many of the items an identifier stands."""

    items: int
    counts: Counter[tuple[str, str]]

    def random(self, kind: IdentifierKind, normal: str) -> float:
        """The share of items that have an identifier by chance: by its looks, and those that do."""
        others = max(self.counts[kind, value_of(kind, normal)] - 2, 0)
        return min(_by_looks(kind, normal) + others / (self.items + _SMOOTHING), 1.0)


def value_of(kind: IdentifierKind, normal: str) -> str:
    """By what identifiers are counted and found: an amount by its value, in whatever currency."""
    return normal.partition(" ")[0] if kind == "amount" else normal


def likeness(kind: IdentifierKind, left: Sighting, right: Sighting) -> float:
    """How alike two identifiers of a kind are: 1 for the same, 0 for others."""
    if kind == "vendor":
        return (
            vendor_likeness(left.words, right.words)
            if left.normal != right.normal
            else _same_vendor(left, right)
        )
    if kind != "amount" or left.normal == right.normal:
        return float(left.normal == right.normal)
    one, _, currency = left.normal.partition(" ")
    other, _, second = right.normal.partition(" ")
    return _OTHER_CURRENCY_UNSAID if one == other and not (currency and second) else 0.0


class Comparable:
    """An item's identifiers in the order in which they are compared: each value once, stated ones first."""

    def __init__(self, read: ReadItem) -> None:
        self.read = read
        self.keys: dict[tuple[IdentifierKind, str], list[Sighting]] = {}
        self.decisive: dict[IdentifierKind, list[Sighting]] = {}
        for kind in _MATCHING:
            distinct = _distinct(read.of(kind))
            for found in distinct:
                for key in dict.fromkeys(_keys(found)):
                    self.keys.setdefault((kind, key), []).append(found)
            # Of vendors and amounts a field says which it is; texts name others besides.
            stated = [found for found in distinct if found.stated]
            self.decisive[kind] = (
                (stated if kind == "amount" else stated or distinct) if kind != "invoice" else distinct
            )


class InCommon(NamedTuple):
    """An identifier of each of two items, how alike these are, and the bits that this says."""

    kind: IdentifierKind
    left: Sighting
    right: Sighting
    score: float
    bits: float


def in_common(left: Comparable, right: Comparable, rarity: Rarity) -> list[InCommon]:
    """What two items have in common, the best of each value, the rarest first."""
    best: dict[tuple[IdentifierKind, str], InCommon] = {}
    for kind, key in sorted(left.keys.keys() & right.keys.keys()):
        for one in left.keys[kind, key]:
            for other in right.keys[kind, key]:
                score = likeness(kind, one, other)
                known = best.get((kind, one.normal))
                if score > (known.score if known else 0.0):
                    bits = score * weight(_MATCHING[kind], rarity.random(kind, one.normal))
                    best[kind, one.normal] = InCommon(kind, one, other, score, bits)
    return sorted(best.values(), key=lambda each: -each.bits)


def correlated(left: Comparable, right: Comparable, rarity: Rarity) -> tuple[float, list[InCommon]]:
    """The probability that two items are about the same, and what they have in common, the rarest first."""
    common = in_common(left, right, rarity)
    bits = _PRIOR
    kept: list[InCommon] = []
    for kind in _MATCHING:
        own = [each for each in common if each.kind == kind]
        if own and own[0].bits > 0:
            bits += own[0].bits
        elif not own and kind in _DISAGREEING and _disagree(kind, left, right):
            bits += _DISAGREEING[kind]
        kept += own[:_MOST_MATCHES]
    return probability(bits), sorted(kept, key=lambda each: -each.bits)


def match_of(left: ReadItem, right: ReadItem, common: InCommon) -> Match:
    """The record of it."""
    return Match(
        kind=common.kind,
        left=_evidence(left, common.left),
        right=_evidence(right, common.right),
        score=round(common.score, 4),
    )


def _disagree(kind: IdentifierKind, left: Comparable, right: Comparable) -> bool:
    """Whether both say which one it is; asked where they have none in common."""
    return bool(left.decisive[kind] and right.decisive[kind])


def _same_vendor(left: Sighting, right: Sighting) -> float:
    # A domain, or a name in a text, has no legal form to differ by.
    return vendor_likeness(left.words, right.words) if left.stated and right.stated else 1.0


def _by_looks(kind: IdentifierKind, normal: str) -> float:
    if kind == "vendor":
        return _RANDOM_SHORT_VENDOR if len(normal) < _SHORT_NAME else _RANDOM_VENDOR
    if kind == "email":
        return _RANDOM_EMAIL
    if kind == "date":
        return _RANDOM_DAY
    digits = "".join(filter(str.isdecimal, normal))
    if kind == "amount":
        significant = len(digits.strip("0"))
        return _RANDOM_AMOUNTS[min(significant, len(_RANDOM_AMOUNTS) - 1)]
    size = len(normal.replace("-", ""))
    return _RANDOM_INVOICES[size] if size < len(_RANDOM_INVOICES) else _RANDOM_LONG_INVOICE


def _keys(found: Sighting) -> Iterator[str]:
    if found.kind == "vendor":
        yield from vendor_keys(found.words if found.stated else found.normal)
    else:
        yield value_of(found.kind, found.normal)


def _distinct(found: Iterable[Sighting]) -> list[Sighting]:
    """One of each normal form: where a field says it, else the first."""
    by_normal: dict[str, Sighting] = {}
    for each in found:
        if each.normal not in by_normal or (each.stated and not by_normal[each.normal].stated):
            by_normal[each.normal] = each
    return list(by_normal.values())


def _evidence(read: ReadItem, found: Sighting) -> Evidence:
    return Evidence(item=read.item.id, path=found.leaf.path, words=found.words)
