"""Which amount of a text an invoice is over; others are a discount, a tax, a part or a payment.

Called by `claims`. An amount is an invoice's where the same sentence names that invoice alone, or where a
text that names one invoice calls it the total.
"""

import re

_PART = re.compile(
    r"(?<![^\W_])(?:sub-?total|net|netto\w{0,10}|vat|tax|ust|mwst|mehrwertsteuer|umsatzsteuer|steuer|podatek"
    r"|discount\w{0,3}|rebate|rabatt|treuerabatt|skonto|nachlass|rabat\w{0,3}|zniżk\w{1,3}|upust\w{0,2}|credit"
    r"|deposit|instal?lments?|part|partial|partly|anzahlung|teilzahlung|teilbetrag|rate|abschlag|zaliczk\w{1,3}"
    r"|rat[aęy]|częściow\w{1,4}|fee|fees|shipping|freight|gebühr\w{0,2}"
    r"|versand|porto|mahngebühr\w{0,2}|opłat\w{1,3}"
    r"|przesyłk\w{1,3}|interest|zinsen|verzugszinsen|odset\w{1,4}|each|per|je|pro|za sztukę|po)(?![^\W_])",
    re.IGNORECASE,
)
_NOT_IT = re.compile(
    r"(?<![^\W_])(?:instead of|rather than|not|statt|anstatt"
    r"|anstelle von|nicht|zamiast|a nie|nie|was|war|było|from"
    r"|about|around|approximately|approx\.?|roughly|circa|ca\.?|etwa|rund|ungefähr|około|ok\."
    r"|noch|still|remaining"
    r"|remainder of|balance of|restliche|pozostało"
    r"|jeszcze|further|another|weitere|kolejne)"
    r"[\s(]{1,3}(?:the |die |den )?\Z",
    re.IGNORECASE,
)
# Of sentences that are about something else than what an invoice is over.
_OTHER = re.compile(
    r"(?<![^\W_])(?:credit notes?|credited|refund\w{0,3}|gutschrift\w{0,2}|erstattung"
    r"|korekt\w{1,3}|koryguj\w{1,4}|zwrot\w{0,2}"
    r"|offer\w{0,3}|quote|quotation|estimate|angebot\w{0,2}|ofert\w{1,3}|wycen\w{1,3}|next order"
    r"|would|could|might|würden?|könnten?|byłoby"
    r"|limit|budget"
    r"|deposit|anzahlung|teilzahlung|zaliczk\w{1,3}|częściow\w{1,4})(?![^\W_])",
    re.IGNORECASE,
)
_PAYING = re.compile(
    r"(?<![^\W_])(?:receiv\w{1,3}|receipt|paid|payments?|arrived|landed"
    r"|remitt\w{1,5}|transferr\w{1,3}|erhalten|eingang"
    r"|eingegangen|zahlung\w{0,2}|überwiesen|gezahlt|otrzyma\w{1,6}"
    r"|wpłat\w{1,2}|wpłyn\w{1,4}|przela\w{1,6}|przelew\w{0,2})"
    r"(?![^\W_])",
    re.IGNORECASE,
)
_OVER = re.compile(
    r"[\s,:(\"”–-]{0,4}(?:(?:over|for|of|is|amounts to|totals|über|beträgt|lautet auf|na kwotę|opiewa na"
    r"|wynosi|na)\s)?"
    r"[\s(]{0,3}\Z",
    re.IGNORECASE,
)
_STRICTLY_OVER = re.compile(
    r"\b(?:over|über|na kwotę|opiewa na|amounts to|beträgt|wynosi)\s\Z|\(\Z", re.IGNORECASE
)
_TOTAL = re.compile(
    r"(?<![^\W_-])(?:(?:grand |invoice |gross )?total|amount(?: due| payable| to pay)?|invoice amount"
    r"|balance due"
    r"|to be paid"
    r"|gesamt(?:betrag|summe)?|rechnungs(?:betrag|summe)|endbetrag|summe|brutto(?:betrag)?"
    r"|betrag|zu zahlen"
    r"|zahlbetrag|razem|suma|kwota(?: brutto| do zapłaty)?|do zapłaty|należność|wartość(?: brutto)?)"
    r"(?: (?:due|payable|is|ist|of|von|to|wynosi|amount|eur|usd|pln|gbp)){0,3}[\s:*.=]{0,6}\Z",
    re.IGNORECASE,
)
_BEFORE, _BEHIND, _GAP = 32, 26, 32


def is_of_something_else(text: str, start: int, end: int) -> bool:
    """Whether a sentence is about a credit, an offer or a part: its amounts are no invoice's."""
    return _OTHER.search(text, start, end) is not None


def is_of_a_payment(text: str, start: int, end: int) -> bool:
    """Whether a sentence says what came or went: that may be a part of what an invoice is over."""
    return _PAYING.search(text, start, end) is not None


def is_part(text: str, start: int, end: int, first: int, last: int) -> bool:
    """Whether an amount is a discount, a tax, or one that is not meant. `first`, `last`: of its sentence."""
    head = text[max(first, start - _BEFORE) : start]
    # A comma, or another amount, parts what belongs to this one from what does not.
    head = re.split(r"[,;(]\s|\n", head)[-1]
    tail = re.split(r"[,;.)\n](?:\s|\Z)", text[end : min(last, end + _BEHIND)])[0]
    if _NOT_IT.search(head):
        return True
    return _PART.search(head) is not None or (_PART.search(tail) is not None and "(" not in tail)


def is_called_total(text: str, start: int) -> bool:
    """Whether the words before an amount call it what is to be paid."""
    return _TOTAL.search(text[max(0, start - _GAP) : start]) is not None


def is_beside(text: str, number_end: int, start: int, *, strictly: bool) -> bool:
    """Whether an amount stands right behind a number: `INV-2041 over $4,310.00`, `HF-2 ($960.00)`."""
    if not 0 <= start - number_end <= _GAP:
        return False
    between = text[number_end:start]
    return bool(_OVER.match(between) and (not strictly or _STRICTLY_OVER.search(between)))
