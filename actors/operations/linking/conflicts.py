"""Where items contradict each other, or one lacks what another has: each with both sides' words.

Called by `link`. Nothing is a conflict that may be read in two ways, and nothing is judged: who is right is
for whoever approves the results to say.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from actors.operations.linking.pairing import LinkedPairOfItems
from actors.operations.linking.reading.claims import UNNUMBERED, InvoiceClaim
from actors.operations.linking.reading.item import Detail, ReadItem, Sighting
from actors.operations.linking.reading.vendors import vendor_keys, vendor_likeness
from models.operations.evidence import Conflict, ConflictKind, Evidence, IdentifierKind
from models.text import shortened

_SHOWN = 80
_MOST_OF_KEY = 20
_SAID = {"paid": "paid", "partly": "paid in part", "open": "not paid", "void": "cancelled"}
# States that may be said of one and the same invoice.
_AGREEING = ({"open", "partly"},)
_AGENTS = {"gmail": "the mail", "accounts_payable": "accounts payable", "crm": "the CRM"}
# In names of fields that say which object it is.
_IDS = frozenset(
    [("id",), ("uuid",), ("guid",), ("record", "id"), ("bill", "id"), ("invoice", "id"), ("key",)]
)


class Contradiction(NamedTuple):
    """A conflict that has no number yet."""

    kind: ConflictKind
    about: str
    left: Evidence
    right: Evidence
    explanation: str


def conflicts_of(
    items: Sequence[ReadItem], claims: Sequence[Sequence[InvoiceClaim]], pairs: Sequence[LinkedPairOfItems]
) -> list[Conflict]:
    """All conflicts, in the order of their items, numbered from 1."""
    found: dict[tuple[str, ...], Contradiction] = {}
    for pair in pairs:
        for one in _between(items, claims, pair):
            found.setdefault((one.kind, one.left.item, one.right.item, one.about), one)
    for one in (*_duplicates(items), *_missing(items)):
        found.setdefault((one.kind, one.left.item, one.right.item, one.about), one)
    return [Conflict(number=number, **one._asdict()) for number, one in enumerate(found.values(), 1)]


def _between(
    items: Sequence[ReadItem], claims: Sequence[Sequence[InvoiceClaim]], pair: LinkedPairOfItems
) -> Iterator[Contradiction]:
    left, right = items[pair.left], items[pair.right]
    kinds = {match.kind for match in pair.matches}
    common = {found.normal for found in left.of("invoice")} & {found.normal for found in right.of("invoice")}
    for one in claims[pair.left]:
        for other in claims[pair.right]:
            if one.kind == other.kind and _is_of_one(one, other, common, kinds) and _differ(one, other):
                yield _contradiction(left, right, one, other, pair)
    if "vendor" in kinds:
        yield from _other_details(left, right)


def _is_of_one(one: InvoiceClaim, other: InvoiceClaim, common: set[str], kinds: set[IdentifierKind]) -> bool:
    """Whether two claims are of one invoice: by its number, or because vendor and amount agree."""
    if one.invoice and other.invoice:
        return one.invoice == other.invoice and one.invoice in common
    return (
        {"vendor", "amount"} <= kinds and one.kind != "amount" and UNNUMBERED in (one.invoice, other.invoice)
    )


def _differ(one: InvoiceClaim, other: InvoiceClaim) -> bool:
    if one.value == other.value or {one.value, other.value} in _AGREEING:
        return False
    if one.kind == "amount":
        value, _, currency = one.value.partition(" ")
        second, _, others = other.value.partition(" ")
        return value.lstrip("-") != second.lstrip("-") or bool(currency and others)
    return True


def _contradiction(
    left: ReadItem, right: ReadItem, one: InvoiceClaim, other: InvoiceClaim, pair: LinkedPairOfItems
) -> Contradiction:
    about = _about(left, right, one.invoice or other.invoice, pair)
    said = {"amount": "amounts to", "due_date": "is due on", "status": "is"}[one.kind]
    words = [f"{_SAID.get(claim.value, '')} (“{_short(claim.words)}”)".strip() for claim in (one, other)]
    if one.kind != "status":
        words = [f"“{_short(claim.words)}”" for claim in (one, other)]
    explanation = f"{about} {said} {words[0]} in {_place(left)}, but {words[1]} in {_place(right)}."
    return Contradiction(one.kind, about, _claimed(left, one), _claimed(right, other), explanation)


def _about(left: ReadItem, right: ReadItem, invoice: str, pair: LinkedPairOfItems) -> str:
    if invoice:
        named = [found for read in (left, right) for found in read.of("invoice") if found.normal == invoice]
        words = next((found.words for found in named if found.stated), named[0].words)
        return f"Invoice {_short(words)}" if words[0].isdigit() else _short(words)
    vendor = next((match.left.words for match in pair.matches if match.kind == "vendor"), "")
    amount = next((match.left.words for match in pair.matches if match.kind == "amount"), "")
    return f"What {_short(vendor)} is owed, {_short(amount)},"


def _other_details(left: ReadItem, right: ReadItem) -> Iterator[Contradiction]:
    """Accounts at banks, or addresses of contacts, of one vendor that have nothing in common."""
    common = _common_vendor(left, right)
    if common is None:
        return
    name = _short(common[0].words)
    for kind, said in (("bank", "is paid to the account"), ("contact", "is written to at")):
        ours = [detail for detail in left.details if detail.kind == kind]
        theirs = [detail for detail in right.details if detail.kind == kind]
        if not ours or not theirs or {one.normal for one in ours} & {other.normal for other in theirs}:
            continue
        one, other = ours[0], theirs[0]
        explanation = (
            f"{name} {said} “{_short(one.words)}” in {_place(left)}, "
            f"but “{_short(other.words)}” in {_place(right)}."
        )
        yield Contradiction(
            "bank_details" if kind == "bank" else "contact",
            name,
            _detail(left, one),
            _detail(right, other),
            explanation,
        )


def _common_vendor(left: ReadItem, right: ReadItem) -> tuple[Sighting, Sighting] | None:
    """The vendor that both are about: the only one that a field, or else a text, names on each side."""
    sides = [read.stated("vendor") or read.of("vendor") for read in (left, right)]
    if any(len({found.normal for found in side}) != 1 for side in sides):
        return None
    one, other = sides[0][0], sides[1][0]
    same = one.normal == other.normal or vendor_likeness(one.words, other.words) > 0
    return (one, other) if same else None


def _duplicates(items: Sequence[ReadItem]) -> Iterator[Contradiction]:
    """Invoices that one system has twice: two objects with one number and one vendor."""
    by_number: dict[tuple[str, str], list[tuple[ReadItem, Sighting]]] = defaultdict(list)
    for read in items:
        numbers = read.stated("invoice")
        if read.item.agent != "gmail" and len({found.normal for found in numbers}) == 1:
            by_number[read.item.agent, numbers[0].normal].append((read, numbers[0]))
    for some in by_number.values():
        for at, (one, number) in enumerate(some[:_MOST_OF_KEY]):
            for other, again in some[at + 1 : _MOST_OF_KEY]:
                if not _is_one_object(one, other) and _of_one_vendor(one, other):
                    about = _short(number.words)
                    explanation = (
                        f"“{about}” is in {_place(one)} twice: as {one.item.id} and as {other.item.id}."
                    )
                    yield Contradiction(
                        "duplicate", about, _said(one, number), _said(other, again), explanation
                    )
                    break


def _is_one_object(one: ReadItem, other: ReadItem) -> bool:
    """Whether a system was asked twice for the same object, as far as that can be told."""
    if [(leaf.path, leaf.text) for leaf in one.leaves] == [(leaf.path, leaf.text) for leaf in other.leaves]:
        return True
    ours, theirs = _ids(one), _ids(other)
    if ours and theirs:
        return bool(ours & theirs)
    return one.item.tool != other.item.tool or one.item.call != other.item.call


def _ids(read: ReadItem) -> set[str]:
    return {
        leaf.text
        for leaf in read.leaves
        if leaf.names and leaf.names[-1] in _IDS and leaf.path.count("/") == 1
    }


def _of_one_vendor(one: ReadItem, other: ReadItem) -> bool:
    ours, theirs = one.stated("vendor"), other.stated("vendor")
    if not ours or not theirs:
        return False
    return any(vendor_likeness(first.words, second.words) > 0 for first in ours[:5] for second in theirs[:5])


def _missing(items: Sequence[ReadItem]) -> Iterator[Contradiction]:
    """Invoices of a vendor of whom bills are known, named elsewhere, that are no bill."""
    bills = [read for read in items if read.item.agent == "accounts_payable"]
    known = {found.normal for read in bills for found in read.of("invoice")}
    by_vendor: dict[str, tuple[ReadItem, Sighting]] = {}
    for read in bills:
        if read.of("invoice"):
            for found in read.stated("vendor"):
                for key in vendor_keys(found.words):
                    by_vendor.setdefault(key, (read, found))
    told = set[str]()
    for read in items:
        vendors = {found.normal: found for found in read.of("vendor") if found.normal in by_vendor}
        if read.item.agent == "accounts_payable" or len(vendors) != 1:
            continue
        bill, vendor = by_vendor[next(iter(vendors))]
        for number in read.of("invoice"):
            if number.normal not in known and number.normal not in told and len(told) < 200:
                told.add(number.normal)
                about = _short(number.words)
                explanation = (
                    f"“{about}” is named in {_place(read)}, but accounts payable, which has bills of "
                    f"“{_short(vendor.words)}”, gave none with that number."
                )
                yield Contradiction("missing", about, _said(read, number), _said(bill, vendor), explanation)


def _short(words: str) -> str:
    return shortened(words, _SHOWN)


def _place(read: ReadItem) -> str:
    return f"{_AGENTS[read.item.agent]} ({read.item.id})"


def _said(read: ReadItem, found: Sighting) -> Evidence:
    return Evidence(item=read.item.id, path=found.leaf.path, words=found.words)


def _claimed(read: ReadItem, claim: InvoiceClaim) -> Evidence:
    return Evidence(item=read.item.id, path=claim.path, words=claim.words)


def _detail(read: ReadItem, detail: Detail) -> Evidence:
    return Evidence(item=read.item.id, path=detail.path, words=detail.words)
