"""What an item says of invoices: how they stand, what they amount to, when they are due, whether to be paid.

Called by `link`. Said of a number in the same clause or object; of the item's only one where none is near; of
none where that is not clear. What an item says in two ways it does not say, but where one is later.
"""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from actors.platform.text.numbers.dates import days
from actors.systems.operations.recognition import fields
from actors.systems.operations.recognition.claim import ClaimKind, InvoiceClaim
from actors.systems.operations.recognition.context import UNNUMBERED, Context
from actors.systems.operations.recognition.json_fields import JsonField
from actors.systems.operations.recognition.money_claims import amount_claims, due_claims, sums_within
from actors.systems.operations.recognition.payment_holds import release_of, releases_in
from actors.systems.operations.recognition.statuses import answer_of, names_others, state_of, states_in

_NO_TEXT = ("vendor", "currency", "invoice", "total", "open_amount", "paid_amount", "amount")


class ItemClaims(NamedTuple):
    """What an item says: one claim at most of a kind and an invoice, and all that was understood for it."""

    clear: list[InvoiceClaim]
    understood: list[InvoiceClaim]


def claims_of(context: Context) -> ItemClaims:
    """What is clear of what an item says of invoices."""
    found = [*_states(context), *_releases(context), *amount_claims(context), *due_claims(context)]
    by_key: dict[tuple[ClaimKind, str], list[InvoiceClaim]] = {}
    for claim in found:
        by_key.setdefault((claim.kind, claim.invoice), []).append(claim)
    claims = ItemClaims([], [])
    for same in by_key.values():
        if (clear := _clear(same)) is not None:
            claims.clear.append(clear)
            claims.understood.extend(one for one in same if _is_understood(one, clear))
    return claims


def _clear(same: list[InvoiceClaim]) -> InvoiceClaim | None:
    # What a field says goes before what a note says, and what is later before what was.
    same = [claim for claim in same if claim.stated] or same
    latest = max(claim.when for claim in same)
    same = [claim for claim in same if claim.when in (latest, "")]
    values = {claim.value for claim in same}
    if values == {"hold", "disputed"}:
        return next(claim for claim in same if claim.value == "disputed")
    if len(values) != 1:
        return None
    # The one with a day of its own tells more.
    return next((claim for claim in same if claim.when), same[0]) if same[0].stated else same[0]


def _is_understood(one: InvoiceClaim, clear: InvoiceClaim) -> bool:
    """Whether it says the same as what is compared, a hold under dispute, or what was before that."""
    is_held = (one.value, clear.value) == ("hold", "disputed")
    return one.value == clear.value or is_held or (one.stated == clear.stated and one.when < clear.when)


def _states(context: Context) -> Iterable[InvoiceClaim]:
    read = context.read
    roles = {read.role(leaf) for leaf in read.leaves}
    of_payments = bool(context.stated or roles & {"total", "open_amount"}) and not context.is_case
    paid_on = {
        leaf.parent: day
        for leaf in read.leaves
        if leaf.value is None and fields.is_paid_on(leaf.names) and (day := _day(leaf))
    }
    for leaf in read.leaves:
        if fields.is_credit(read.about, leaf.names):
            continue
        if (state := _stated(leaf, read.role(leaf), of_payments=of_payments)) is not None:
            words = leaf.words(0, len(leaf.text))
            invoice = context.by_object(leaf)
            if words and invoice is not None and not fields.is_of_deal(leaf.names):
                when = paid_on.get(leaf.parent, "") if state == "paid" else ""
                yield InvoiceClaim("status", invoice, state, leaf, words, True, read.item.agent, when)
        elif leaf.value is None and read.role(leaf) not in _NO_TEXT and not context.is_closed:
            yield from _said_states(leaf, context)


def _stated(leaf: JsonField, role: fields.Role | None, *, of_payments: bool) -> str | None:
    if isinstance(leaf.value, bool):
        return ("paid" if leaf.value else "open") if fields.says_paid(leaf.names) else None
    # Nothing of it is left to be paid.
    if leaf.value == 0 and of_payments and role == "open_amount":
        return "paid"
    if leaf.value is not None:
        return None
    if fields.says_paid(leaf.names) and (answer := answer_of(leaf.text)) is not None:
        return "paid" if answer else "open"
    if not fields.is_status(leaf.names):
        return None
    return state_of(leaf.text.strip(), of_payment=of_payments or fields.is_of_payment(leaf.names))


def _day(leaf: JsonField) -> str:
    return next((day for _, _, day in days(leaf.text[:40]) if "|" not in day), "")


def _said_states(leaf: JsonField, context: Context) -> Iterable[InvoiceClaim]:
    names = context.names_in(leaf)
    for said in states_in(leaf.text, names):
        words = leaf.words(said.start, said.end)
        sums = sums_within(context, leaf, *said.sentence)
        for invoice in sorted(_meant(context, leaf, said.clause, said.sentence)):
            if words:
                yield _text_claim(context, leaf, words, "status", invoice, said.state, sums)


def _meant(
    context: Context, leaf: JsonField, clause: tuple[int, int], sentence: tuple[int, int]
) -> Collection[str]:
    """The invoices that a clause is about; none where it may be about another thing."""
    if context.starts_unknown(leaf, *clause):
        return ()
    if near := {found.normal for found in context.within(leaf, *clause)}:
        return near
    around = context.within(leaf, *sentence)
    if names_others(leaf.text[slice(*sentence)]) or (not around and context.starts_unknown(leaf, *sentence)):
        return ()
    # `As to INV-2041, it was paid`, `paid: INV-2041`; but not `the first one was paid, INV-2041 was not`.
    if around:
        is_label = leaf.text[clause[1] : around[0].start].lstrip()[:1] in (":", "-", "–", "—")
        known = around[0].start < clause[0] or is_label
        unknown = context.starts_unknown(leaf, *sentence) or context.goes_on_about_unknown(leaf, clause[0])
        return _only({found.normal for found in around}) if known and not unknown else ()
    if context.goes_on_about_unknown(leaf, clause[0]):
        return ()
    return _only(context.numbers_of(leaf)) or ({UNNUMBERED} if not context.numbers else ())


def _releases(context: Context) -> Iterable[InvoiceClaim]:
    read = context.read
    for leaf in read.leaves:
        if isinstance(leaf.value, bool):
            if leaf.value and fields.is_hold(leaf.names):
                yield from _stated_release(context, leaf, "hold")
        elif leaf.value is None and (fields.is_status(leaf.names) or fields.is_of_standing(leaf.names)):
            if release := release_of(leaf.text):
                yield from _stated_release(context, leaf, release)
        elif leaf.value is None and read.role(leaf) not in _NO_TEXT and not context.is_closed:
            yield from _said_releases(leaf, context)


def _stated_release(context: Context, leaf: JsonField, release: str) -> Iterable[InvoiceClaim]:
    about, of_deal = context.read.about, fields.is_of_deal(leaf.names)
    if of_deal or fields.is_deal(about) or (release == "approved" and not context.stated):
        return
    # A matter that waits holds no payment.
    if context.is_case and release != "disputed":
        return
    # Somebody's standing is that of a whole account, whatever its notes name.
    invoice = context.by_title(leaf) if context.stated or context.is_case else UNNUMBERED
    words = leaf.words(0, len(leaf.text))
    if words and invoice is not None:
        yield InvoiceClaim("release", invoice, release, leaf, words, True, context.read.item.agent, "")


def _said_releases(leaf: JsonField, context: Context) -> Iterable[InvoiceClaim]:
    for said in releases_in(leaf.text):
        words = leaf.words(said.start, said.end)
        place = (said.sentence.start, said.sentence.end)
        for invoice in sorted(_meant(context, leaf, place, place)):
            if words and invoice != UNNUMBERED:
                yield _text_claim(context, leaf, words, "release", invoice, said.release)


def _text_claim(
    context: Context,
    leaf: JsonField,
    words: str,
    kind: ClaimKind,
    invoice: str,
    value: str,
    sums: frozenset[str] = frozenset(),
) -> InvoiceClaim:
    who, when = context.sayings.who, context.when_of(leaf)
    return InvoiceClaim(kind, invoice, value, leaf, words, False, who, when, sums)


def _only(some: set[str]) -> set[str]:
    return some if len(some) == 1 else set()
