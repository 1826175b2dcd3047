"""Invoices that one system has twice, and those that others speak of and accounts payable does not have.

Called by `conflicts`. A number that a mail gives in short is no other one, and what was cancelled, replaced
or paid long ago need not be there.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from actors.platform.text.lexicon import WHOLE, pattern
from actors.systems.operations.linking.evidence_text import Contradiction, place_of, short, side
from actors.systems.operations.linking.vendor_groups import VendorGroups
from actors.systems.operations.recognition import fields
from actors.systems.operations.recognition.claim import InvoiceClaim
from actors.systems.operations.recognition.context import Context
from actors.systems.operations.recognition.invoices import invoice_number
from actors.systems.operations.recognition.item import ReadItem, Sighting

_MOST_OF_KEY = 20
_MOST_TOLD = 200
_YEAR = re.compile(r"20\d\d")
# In names of fields that say which object it is.
_IDS = frozenset(
    [("id",), ("uuid",), ("guid",), ("record", "id"), ("bill", "id"), ("invoice", "id"), ("key",)]
)
# A server may give an object alone, or within one of its kind's name.
_AROUND = frozenset(((name,),) for name in ("bill", "invoice", "data", "record", "item", "result"))
_NO_BILL = pattern("invoices", "no_bill", WHOLE)


def duplicates(
    contexts: Sequence[Context], claims: Sequence[Sequence[InvoiceClaim]], groups: VendorGroups
) -> Iterator[Contradiction]:
    """Invoices that one system has twice: two objects with one number and one vendor."""
    by_number: dict[tuple[str, str], list[tuple[int, Sighting]]] = defaultdict(list)
    for place, context in enumerate(contexts):
        read, numbers = context.read, context.stated
        void = any(claim.kind == "status" and claim.value == "void" for claim in claims[place])
        none = void or context.is_case or fields.is_credit(read.about) or fields.is_deal(read.about)
        if read.item.agent != "gmail" and len({found.normal for found in numbers}) == 1 and not none:
            by_number[read.item.agent, numbers[0].normal].append((place, numbers[0]))
    for some in by_number.values():
        for at, (first, number) in enumerate(some[:_MOST_OF_KEY]):
            for second, again in some[at + 1 : _MOST_OF_KEY]:
                one, other = contexts[first].read, contexts[second].read
                if not _is_one_object(one, other) and groups.of(first) & groups.of(second):
                    about = short(number.words)
                    said = f"“{about}” is in {place_of(one)} twice: as {one.item.id} and as {other.item.id}."
                    left, right = side(one, number).evidence, side(other, again).evidence
                    yield Contradiction("duplicate", about, left, right, said)
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
        if leaf.names and leaf.names[-1] in _IDS and (leaf.path.count("/") == 1 or leaf.names[:-1] in _AROUND)
    }


def missing(
    contexts: Sequence[Context], claims: Sequence[Sequence[InvoiceClaim]], groups: VendorGroups
) -> Iterator[Contradiction]:
    """Invoices of a vendor of whom bills are known, named elsewhere, that are no bill."""
    known: dict[str, set[str]] = defaultdict(set)
    bills: dict[str, tuple[ReadItem, Sighting]] = {}
    everywhere: set[str] = set()
    for place, context in enumerate(contexts):
        read = context.read
        if read.item.agent != "accounts_payable":
            continue
        # By whatever name a field has it.
        everywhere |= {normal for leaf in read.leaves if (normal := invoice_number(leaf.text))}
        if not (numbers := read.of("invoice")):
            continue
        everywhere |= {found.normal for found in numbers}
        for group in groups.of(place):
            known[group] |= {part for found in numbers for part in _in_short(found.normal)}
            if vendors := read.stated("vendor"):
                bills.setdefault(group, (read, vendors[0]))
    told: set[tuple[str, str]] = set()
    for place, context in enumerate(contexts):
        of = groups.of(place)
        if context.read.item.agent == "accounts_payable" or len(of) != 1 or context.is_closed:
            continue
        group = next(iter(of))
        over = {c.invoice for c in claims[place] if c.kind == "status" and c.value in ("paid", "void")}
        for number in context.numbers:
            there = number.normal in everywhere or number.normal in known[group]
            there = there or not everywhere.isdisjoint(_in_short(number.normal))
            if group not in bills or there or number.normal in over or (group, number.normal) in told:
                continue
            if len(told) < _MOST_TOLD and _is_a_bill(context, number):
                told.add((group, number.normal))
                bill, vendor = bills[group]
                about = short(number.words)
                said = (
                    f"“{about}” is named in {place_of(context.read)}, but accounts payable, "
                    f"which has bills of “{short(vendor.words)}”, gave none with that number."
                )
                left, right = side(context.read, number).evidence, side(bill, vendor).evidence
                yield Contradiction("missing", about, left, right, said)


def _in_short(number: str) -> set[str]:
    """What a number may be in short: `131` of `2026-4-131` or `131-4-2026`; no years and no months."""
    parts = number.split("-")
    ends = {parts[0], parts[-1]} if len(parts) > 1 else set()
    return {end for end in ends if end.isdecimal() and len(end) > 2 and not _YEAR.fullmatch(end)}


def _is_a_bill(context: Context, number: Sighting) -> bool:
    """Whether what is named there is to be found among bills: no offer, and nothing that was cancelled."""
    if fields.is_credit(context.read.about, number.leaf.names):
        return False
    sentence = context.sentence_at(number.leaf, number.start)
    return sentence is None or not _NO_BILL.search(number.leaf.text, sentence.start, sentence.end)
