"""What an item says that invoices are over, and when they are due.

Called by `claims`. Amounts of lines, deals, credit notes, taxes, discounts, parts and payments are none of an
invoice as a whole.
"""

from collections.abc import Iterable

from actors.platform.text.lexicon import WHOLE, pattern
from actors.platform.text.sentences.mail_sentences import SentenceSpan
from actors.systems.operations.recognition import fields
from actors.systems.operations.recognition.amount_roles import (
    is_beside,
    is_called_total,
    is_of_a_payment,
    is_of_something_else,
    is_part,
)
from actors.systems.operations.recognition.claim import ClaimKind, InvoiceClaim
from actors.systems.operations.recognition.context import UNNUMBERED, Context
from actors.systems.operations.recognition.item import Sighting
from actors.systems.operations.recognition.json_fields import JsonField

_DUE = pattern("amount_roles", "due", WHOLE)
_DUE_BEHIND = pattern("amount_roles", "due_behind", r"\s{}(?![^\W_])")
# Between the word for it and the day, these make it another day.
_ANOTHER = pattern("amount_roles", "another_day", WHOLE)
_LOOKED_BACK = 60


def amount_claims(context: Context) -> Iterable[InvoiceClaim]:
    """What invoices are over."""
    read = context.read
    by_sentence: dict[tuple[str, int], list[Sighting]] = {}
    for found in read.of("amount"):
        if fields.is_credit(read.about, found.leaf.names) or found.normal.startswith(("-", "0 ")):
            continue
        if found.stated:
            invoice = context.by_title(found.leaf)
            of_deal = fields.is_of_deal(found.leaf.names) or (
                fields.is_deal(read.about) and not context.stated
            )
            if read.role(found.leaf) == "total" and invoice is not None and not of_deal:
                agent = read.item.agent
                yield InvoiceClaim("amount", invoice, found.normal, found.leaf, found.words, True, agent)
        elif (sentence := context.sentence_at(found.leaf, found.start)) is not None and sentence.mark != "?":
            by_sentence.setdefault((found.leaf.path, sentence.start), []).append(found)
    for some in by_sentence.values():
        leaf = some[0].leaf
        sentence = context.sentence_at(leaf, some[0].start)
        if sentence is not None and not is_of_something_else(leaf.text, sentence.start, sentence.end):
            yield from _said_amounts(context, leaf, sentence, some)


def _said_amounts(
    context: Context, leaf: JsonField, sentence: SentenceSpan, some: list[Sighting]
) -> Iterable[InvoiceClaim]:
    text, (start, end, _) = leaf.text, sentence
    numbers = context.within(leaf, start, end)
    whole = [one for one in some if not is_part(text, one.start, one.end, start, end)]
    paying = is_of_a_payment(text, start, end)
    taken: set[int] = set()
    for number in numbers:
        beside = [one for one in whole if is_beside(text, number.end, one.start, strictly=paying)]
        if beside:
            taken.add(beside[0].start)
            yield _said(context, beside[0], number.normal)
    if taken or paying or len({one.normal for one in whole}) != 1:
        return
    named = {number.normal for number in numbers}
    if not named and is_called_total(text, whole[0].start):
        named = context.numbers_of(leaf)
    if len(named) == 1 and not context.is_of_unknown(leaf, start, end, whole[0].start):
        yield _said(context, whole[0], next(iter(named)))


def sums_within(context: Context, leaf: JsonField, start: int, end: int) -> frozenset[str]:
    """The amounts that stand there."""
    return frozenset(
        found.normal
        for found in context.read.of("amount")
        if found.leaf is leaf and start <= found.start < end
    )


def due_claims(context: Context) -> Iterable[InvoiceClaim]:
    """When invoices are due."""
    read, last = context.read, ("", -1)
    for found in read.of("date"):
        leaf, text = found.leaf, found.leaf.text
        before = last[1] if last[0] == leaf.path else -1
        last = (leaf.path, found.end)
        if "|" in found.normal or fields.is_of_deal(leaf.names):
            continue
        if fields.is_due(leaf.names):
            invoice = context.by_object(leaf)
            if invoice is not None:
                yield InvoiceClaim(
                    "due_date", invoice, found.normal, leaf, found.words, True, read.item.agent
                )
            continue
        sentence = context.sentence_at(leaf, found.start)
        if sentence is None or sentence.mark == "?" or context.is_closed:
            continue
        head = text[max(sentence.start, before, found.start - _LOOKED_BACK) : found.start]
        *_, called = (None, *_DUE.finditer(head))
        if called is None and not _DUE_BEHIND.match(text, found.end):
            continue
        if called is not None and _ANOTHER.search(head, called.end()):
            continue
        near = {number.normal for number in context.within(leaf, sentence.start, sentence.end)}
        near = near or context.numbers_of(leaf) or ({UNNUMBERED} if not context.numbers else set())
        unknown = context.is_of_unknown(leaf, sentence.start, sentence.end, found.start)
        if len(near) == 1 and not unknown:
            yield _said(context, found, next(iter(near)))


def _said(context: Context, found: Sighting, invoice: str) -> InvoiceClaim:
    who, when = context.sayings.who, context.when_of(found.leaf)
    kind: ClaimKind = "amount" if found.kind == "amount" else "due_date"
    return InvoiceClaim(kind, invoice, found.normal, found.leaf, found.words, False, who, when)
