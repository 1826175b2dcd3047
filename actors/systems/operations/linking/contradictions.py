"""Claims of two systems about one invoice that can't both be true.

Called by `conflicts`. Of an invoice and a pair of systems one contradiction of each kind is told. What is
unclear is none: a part that was paid, a reminder from before the payment, a hold of what nobody pays.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import NamedTuple

from actors.systems.operations.linking.evidence_text import Contradiction, Side, place_of, short
from actors.systems.operations.linking.pairing import LinkedPairOfItems
from actors.systems.operations.linking.vendor_groups import VendorGroups
from actors.systems.operations.recognition.claim import InvoiceClaim
from actors.systems.operations.recognition.context import UNNUMBERED, Context
from models.operations.evidence import ConflictKind

_MOST_OF_KEY = 12
_MOST_OF_HOLD = 3
_SAID = {
    "paid": "paid",
    "partly": "paid in part",
    "open": "not paid",
    "void": "cancelled",
    "hold": "not to be paid",
    "disputed": "disputed",
    "approved": "to be paid",
}
_AGREEING = ({"open", "partly"},)
_HELD = ("hold", "disputed")


class ClaimAt(NamedTuple):
    """A claim, and the place of its item."""

    place: int
    claim: InvoiceClaim


class StandingClaims:
    """What is claimed by items, without what its own party took back."""

    def __init__(
        self,
        contexts: Sequence[Context],
        claims: Sequence[Sequence[InvoiceClaim]],
        groups: VendorGroups,
        pairs: Sequence[LinkedPairOfItems],
    ) -> None:
        self._contexts = contexts
        self._groups = groups
        self._pairs = {(pair.left, pair.right): pair for pair in pairs}
        some = [ClaimAt(place, claim) for place, own in enumerate(claims) for claim in own]
        self._claims = _still_said(some)
        self._totals = {
            (each.place, each.claim.invoice): each.claim.value.partition(" ")[0]
            for each in some
            if each.claim.kind == "amount" and each.claim.stated
        }

    def of_numbers(self) -> Iterator[Contradiction]:
        """Contradictions about invoices that both sides name."""
        by_key: dict[tuple[str, str], dict[str, list[ClaimAt]]] = defaultdict(lambda: defaultdict(list))
        for each in self._claims:
            if each.claim.invoice != UNNUMBERED:
                agent = self._contexts[each.place].read.item.agent
                by_key[each.claim.kind, each.claim.invoice][agent].append(each)
        held: set[str] = set()
        for (kind, invoice), by_agent in by_key.items():
            for first, second in combinations(sorted(by_agent), 2):
                if kind == "release" and invoice in held:
                    continue
                found = self._first(by_agent[first], by_agent[second])
                if found is not None:
                    held |= {invoice} if kind == "release" else set()
                    yield self._contradiction(*found, self._about(invoice, *found))
        yield from self._of_whole_vendors(held)

    def _first(self, some: list[ClaimAt], others: list[ClaimAt]) -> tuple[ClaimAt, ClaimAt] | None:
        for one in _best(some):
            for other in _best(others):
                if self._differ(one, other) and self._is_of_one_vendor(one.place, other.place):
                    return one, other
        return None

    def _is_of_one_vendor(self, one: int, other: int) -> bool:
        ours, theirs = self._groups.of(one), self._groups.of(other)
        if ours and theirs:
            return bool(ours & theirs)
        return (min(one, other), max(one, other)) in self._pairs

    def _differ(self, one: ClaimAt, other: ClaimAt) -> bool:
        kind, values = one.claim.kind, {one.claim.value, other.claim.value}
        if len(values) == 1 or values in _AGREEING:
            return False
        if kind == "amount":
            first, _, currency = one.claim.value.partition(" ")
            second, _, others = other.claim.value.partition(" ")
            return first.lstrip("-") != second.lstrip("-") or bool(currency and others)
        if kind == "release":
            return "approved" in values and bool(values & set(_HELD))
        if kind == "status":
            return not (_was_before(one, other) or self._is_part(one, other) or self._is_part(other, one))
        return True

    def _is_part(self, paid: ClaimAt, other: ClaimAt) -> bool:
        """Whether what came is less than what the other side has the invoice over."""
        total = self._totals.get((other.place, other.claim.invoice))
        sums = {one.partition(" ")[0] for one in paid.claim.sums}
        return paid.claim.value == "paid" and bool(total and sums) and total not in sums

    def _about(self, invoice: str, one: ClaimAt, other: ClaimAt) -> str:
        named = [
            found
            for each in (one, other)
            for found in self._contexts[each.place].numbers
            if found.normal == invoice
        ]
        words = next((found.words for found in named if found.stated), named[0].words)
        return f"Invoice {short(words)}" if words[0].isdigit() else short(words)

    def _contradiction(self, one: ClaimAt, other: ClaimAt, about: str) -> Contradiction:
        left, right = (one, other) if one.place < other.place else (other, one)
        kind: ConflictKind
        if left.claim.kind == "release":
            values = {left.claim.value, right.claim.value}
            kind = "dispute" if "disputed" in values else "hold"
        else:
            kind = left.claim.kind
        said = {"amount": "amounts to", "due_date": "is due on"}.get(left.claim.kind, "is")
        words = [f"“{short(each.claim.words)}”" for each in (left, right)]
        if said == "is":
            words = [
                f"{_SAID[each.claim.value]} ({quoted})"
                for each, quoted in zip((left, right), words, strict=True)
            ]
        sides = self._side(left), self._side(right)
        explanation = (
            f"{about} {said} {words[0]} in {place_of(sides[0].read)}, "
            f"but {words[1]} in {place_of(sides[1].read)}."
        )
        return Contradiction(kind, about, sides[0].evidence, sides[1].evidence, explanation)

    def _side(self, each: ClaimAt) -> Side:
        return Side(self._contexts[each.place].read, each.claim.leaf, each.claim.words)

    def _of_whole_vendors(self, held: set[str]) -> Iterator[Contradiction]:
        """Vendors on hold in one system, and what another one is about to pay them."""
        approved: dict[str, list[ClaimAt]] = defaultdict(list)
        for each in self._claims:
            if each.claim.value == "approved" and each.claim.invoice not in (UNNUMBERED, *held):
                for group in self._groups.of(each.place):
                    approved[group].append(each)
        for each in self._claims:
            groups = self._groups.of(each.place)
            if each.claim.value not in _HELD or each.claim.invoice != UNNUMBERED or len(groups) != 1:
                continue
            left, agent = self._side(each), self._contexts[each.place].read.item.agent
            count = 0
            for other in approved[next(iter(groups))]:
                right = self._side(other)
                if count == _MOST_OF_HOLD or right.read.item.agent == agent or other.claim.invoice in held:
                    continue
                count += 1
                held.add(other.claim.invoice)
                about = self._about(other.claim.invoice, other, other)
                yield Contradiction(
                    "hold",
                    about,
                    left.evidence,
                    right.evidence,
                    f"{about} is to be paid (“{short(right.words)}”) in {place_of(right.read)}, "
                    f"but its vendor is “{short(left.words)}” in {place_of(left.read)}.",
                )

    def without_number(self) -> Iterator[Contradiction]:
        """Contradictions about the only thing of a vendor and an amount that both sides have."""
        by_place: dict[int, list[ClaimAt]] = defaultdict(list)
        for each in self._claims:
            if each.claim.kind in ("status", "due_date"):
                by_place[each.place].append(each)
        alike = [
            pair
            for pair in self._pairs.values()
            if {"vendor", "amount"} <= {match.kind for match in pair.matches}
        ]
        partners: dict[tuple[int, str], int] = defaultdict(int)
        for pair in alike:
            for own, beside in ((pair.left, pair.right), (pair.right, pair.left)):
                partners[own, self._contexts[beside].read.item.agent] += 1
        for pair in alike:
            for one, other in product(by_place[pair.left], by_place[pair.right]):
                if not self._is_unnumbered(one, other, partners) or one.claim.kind != other.claim.kind:
                    continue
                if self._differ(one, other):
                    yield self._contradiction(one, other, self._owed(one, other, pair))

    def _is_unnumbered(self, one: ClaimAt, other: ClaimAt, partners: Mapping[tuple[int, str], int]) -> bool:
        """Whether a side has no number, and nothing else may be meant than what the other one is about."""
        sides = ((one, other), (other, one))
        unsaid = [(each, beside) for each, beside in sides if each.claim.invoice == UNNUMBERED]
        return bool(unsaid) and all(
            partners[each.place, self._contexts[beside.place].read.item.agent] == 1 for each, beside in unsaid
        )

    def _owed(self, one: ClaimAt, other: ClaimAt, pair: LinkedPairOfItems) -> str:
        for each in (one, other):
            if each.claim.invoice != UNNUMBERED:
                return self._about(each.claim.invoice, each, each)
        vendor = next(match.left.words for match in pair.matches if match.kind == "vendor")
        amount = next(match.left.words for match in pair.matches if match.kind == "amount")
        return f"What {short(vendor)} is owed, {short(amount)},"


def _was_before(one: ClaimAt, other: ClaimAt) -> bool:
    """Whether one says that something was open before the other one says that it was paid."""
    paid, unpaid = (one.claim, other.claim) if one.claim.value == "paid" else (other.claim, one.claim)
    return bool(
        paid.value == "paid"
        and unpaid.value in ("open", "partly")
        and unpaid.when
        and paid.when
        and unpaid.when[:10] < paid.when[:10]
    )


def _best(some: list[ClaimAt]) -> list[ClaimAt]:
    """What fields say first, then what holds until now, then what was said once."""
    return sorted(some, key=lambda each: (not each.claim.stated, each.claim.when != "", each.place))[
        :_MOST_OF_KEY
    ]


def _still_said(some: list[ClaimAt]) -> list[ClaimAt]:
    """Without what the same party said before of the same thing."""
    latest: dict[tuple[str, str, str], str] = {}
    for _, claim in some:
        if claim.who and not claim.stated and claim.invoice != UNNUMBERED:
            key = (claim.who, claim.kind, claim.invoice)
            latest[key] = max(latest.get(key, ""), claim.when)
    return [
        each
        for each in some
        if each.claim.stated
        or not each.claim.when
        or each.claim.when >= latest.get((each.claim.who, each.claim.kind, each.claim.invoice), "")
    ]
