"""Sentences about an invoice and a payment of which nothing was read: they are shown to whoever decides.

Called by `link`. What cannot be told with certainty is in no comparison; a person reads it for himself.
"""

from collections.abc import Sequence

from actors.operations.linking.reading import fields
from actors.operations.linking.reading.claim import InvoiceClaim
from actors.operations.linking.reading.context import Context
from actors.operations.linking.reading.statuses import unclear_in
from models.operations.evidence import Evidence
from models.text import one_line

_LONGEST = 300
_MOST = 20


def unread_of(context: Context, claims: Sequence[InvoiceClaim]) -> list[Evidence]:
    """What an item says of payments and nobody understood, at most 20 sentences, each with its place."""
    found: list[Evidence] = []
    for leaf in context.read.leaves:
        if leaf.value is not None or context.is_closed or fields.is_status(leaf.names):
            continue
        for start, end in unclear_in(leaf.text):
            words = leaf.words(start, end)
            is_named = context.within(leaf, start, end) or context.numbers_of(leaf)
            is_read = words and any(one.leaf is leaf and one.words in words for one in claims)
            if words and is_named and not is_read and len(found) < _MOST:
                shown = one_line(words)[:_LONGEST]
                found.append(Evidence(item=context.read.item.id, path=leaf.path, words=shown))
    return found
