"""What an item says of invoices: how they stand, what they amount to, and when they are due.

Called by `link`. Said of a number in the same clause or object; of the item's only one where none is near; of
none where that is not clear. What an item says in two ways it does not say.
"""

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple

from actors.operations.linking.reading import fields
from actors.operations.linking.reading.item import ReadItem, Sighting
from actors.operations.linking.reading.leaves import Leaf
from actors.operations.linking.reading.statuses import state_of, states_in

ClaimKind = Literal["status", "amount", "due_date"]
# Of the item as a whole, where it has no number.
UNNUMBERED = ""
_DUE = re.compile(
    r"(?<![^\W_])(?:due(?: date| on| by)?|payable (?:by|on|until)|pay by|fällig|fälligkeit|zahlbar bis"
    r"|termin(?:em)? płatności|płatn[aey] do|zapłaty do)(?![^\W_])",
    re.IGNORECASE,
)
_LOOKED_BACK = 40
_STOPS = re.compile(r"[.!?;\n](?=\s|\Z)")


class InvoiceClaim(NamedTuple):
    """What is said of an invoice, by its normal form. `stated`: by a field."""

    kind: ClaimKind
    invoice: str
    value: str
    path: str
    words: str
    stated: bool


def claims_of(read: ReadItem) -> list[InvoiceClaim]:
    """What is clear of what an item says of invoices: one claim at most of a kind and an invoice."""
    numbers = read.of("invoice")
    found = [*_states(read, numbers), *_amounts(read, numbers), *_due_days(read, numbers)]
    clear: dict[tuple[ClaimKind, str], InvoiceClaim] = {}
    for key in dict.fromkeys((claim.kind, claim.invoice) for claim in found):
        same = [claim for claim in found if (claim.kind, claim.invoice) == key]
        # What a field says goes before what a note says.
        same = [claim for claim in same if claim.stated] or same
        if len({claim.value for claim in same}) == 1:
            clear[key] = same[0]
    return list(clear.values())


def _states(read: ReadItem, numbers: list[Sighting]) -> Iterable[InvoiceClaim]:
    of_payments = bool(
        read.stated("invoice") or any(read.role(leaf) in ("total", "open_amount") for leaf in read.leaves)
    )
    for leaf in read.leaves:
        invoice = _by_object(leaf, read, numbers)
        if fields.is_status(leaf.names) and leaf.value is None:
            of_payment = of_payments or fields.is_of_payment(leaf.names)
            state = state_of(leaf.text.strip(), of_payment=of_payment)
            words = leaf.words(0, len(leaf.text))
            if state and words and invoice is not None:
                yield InvoiceClaim("status", invoice, state, leaf.path, words, True)
        elif isinstance(leaf.value, bool) and fields.says_paid(leaf.names):
            if invoice is not None:
                yield InvoiceClaim(
                    "status", invoice, "paid" if leaf.value else "open", leaf.path, leaf.text, True
                )
        elif leaf.value is None and read.role(leaf) not in ("vendor", "currency"):
            yield from _said_states(leaf, numbers)


def _said_states(leaf: Leaf, numbers: list[Sighting]) -> Iterable[InvoiceClaim]:
    for said in states_in(leaf.text):
        words = leaf.words(said.start, said.end)
        near = _within(leaf, numbers, *said.clause) or _only(_within(leaf, numbers, *said.sentence))
        for invoice in near or _only({found.normal for found in numbers}, UNNUMBERED):
            if words:
                yield InvoiceClaim("status", invoice, said.state, leaf.path, words, False)


def _amounts(read: ReadItem, numbers: list[Sighting]) -> Iterable[InvoiceClaim]:
    sums = read.of("amount")
    for found in sums:
        if found.stated:
            invoice = _by_object(found.leaf, read, numbers)
            if read.role(found.leaf) == "total" and invoice is not None:
                yield InvoiceClaim("amount", invoice, found.normal, found.leaf.path, found.words, True)
            continue
        start, end = _sentence(found)
        near = _within(found.leaf, numbers, start, end)
        others = {other.normal for other in sums if other.leaf is found.leaf and start <= other.start < end}
        if len(others) == 1 and len(near) == 1:
            yield InvoiceClaim("amount", next(iter(near)), found.normal, found.leaf.path, found.words, False)


def _due_days(read: ReadItem, numbers: list[Sighting]) -> Iterable[InvoiceClaim]:
    for found in read.of("date"):
        if "|" in found.normal:
            continue
        text = found.leaf.text
        head = text[max(0, found.start - _LOOKED_BACK) : found.start]
        if fields.is_due(found.leaf.names):
            invoice = _by_object(found.leaf, read, numbers)
            if invoice is not None:
                yield InvoiceClaim("due_date", invoice, found.normal, found.leaf.path, found.words, True)
        elif (due := _DUE.search(head)) and not _STOPS.search(head, due.end()):
            near = _within(found.leaf, numbers, *_sentence(found))
            for invoice in _only(near) or _only({number.normal for number in numbers}, UNNUMBERED):
                yield InvoiceClaim("due_date", invoice, found.normal, found.leaf.path, found.words, False)


def _by_object(leaf: Leaf, read: ReadItem, numbers: list[Sighting]) -> str | None:
    """The number of the invoice that an object's field is about; None where that is not clear."""
    own = {found.normal for found in numbers if found.stated and found.leaf.parent == leaf.parent}
    own = own or {found.normal for found in numbers if found.stated}
    own = own or {found.normal for found in numbers}
    return next(iter(_only(own, UNNUMBERED)), None)


def _only(some: set[str], without: str | None = None) -> set[str]:
    """Those, if it is one; of none, what is said of things without a number."""
    if not some and without is not None:
        return {without}
    return some if len(some) == 1 else set()


def _within(leaf: Leaf, numbers: list[Sighting], start: int, end: int) -> set[str]:
    return {found.normal for found in numbers if found.leaf is leaf and start <= found.start < end}


def _sentence(found: Sighting) -> tuple[int, int]:
    """From where to where the sentence goes that something stands in."""
    text = found.leaf.text
    stop = _STOPS.search(text, found.end)
    before = max((text.rfind(mark, 0, found.start) for mark in (". ", "! ", "? ", "\n", "; ")), default=-1)
    return before + 1, stop.start() if stop else len(text)
