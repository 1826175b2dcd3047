"""Sentences about an invoice and a payment of which nothing was read: they are shown to whoever decides.

Called by `link`. What cannot be told with certainty is in no comparison; a person reads it for himself.
"""

from collections.abc import Sequence

from actors.systems.operations.recognition import fields
from actors.systems.operations.recognition.beside import Places
from actors.systems.operations.recognition.claim import InvoiceClaim
from actors.systems.operations.recognition.context import Context
from actors.systems.operations.recognition.json_fields import JsonField
from actors.systems.operations.recognition.statuses import is_on_payments, unclear_in
from models.operations.evidence import Evidence
from models.text import one_line

_LONGEST = 300
_MOST = 20


def unread_of(context: Context, understood: Sequence[InvoiceClaim], *, is_linked: bool) -> list[Evidence]:
    """What an item says of payments and nobody understood, at most 20 sentences, each with its place.

    Args:
        understood: what was read of it with certainty, compared or made out of date by what is later.
        is_linked: it is about the same as another item, whether or not it names an invoice.
    """
    found: list[Evidence] = []
    if context.is_closed or not (context.numbers or is_linked):
        return found
    for leaf in context.read.leaves:
        if leaf.value is not None:
            continue
        read = [one for one in understood if one.leaf is leaf]
        names = context.names_in(leaf)
        for start, end in _unread_in(leaf, read, names):
            words = leaf.words(start, end)
            if words and len(found) < _MOST:
                shown = one_line(words)[:_LONGEST]
                found.append(Evidence(item=context.read.item.id, path=leaf.path, words=shown))
    return found


def _unread_in(leaf: JsonField, read: Sequence[InvoiceClaim], names: Places) -> list[tuple[int, int]]:
    if fields.is_status(leaf.names) or fields.says_paid(leaf.names):
        of_payment = fields.says_paid(leaf.names) or is_on_payments(leaf.text)
        return [(0, len(leaf.text))] if of_payment and not read else []
    return [
        (one.start, one.end)
        for one in unclear_in(leaf.text, names)
        for places in [((one.start, one.end), *one.clauses)]
        if not all(_is_read(leaf, place, read, says=one.says) for place in places)
    ]


def _is_read(leaf: JsonField, place: tuple[int, int], read: Sequence[InvoiceClaim], *, says: bool) -> bool:
    words = leaf.words(*place)
    # A sum or a day does not tell how a payment stands.
    told = [one.words for one in read if not says or one.kind in ("status", "release")]
    return not words or any(one in words for one in told)
