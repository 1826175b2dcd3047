"""Which amount of a text an invoice is over; others are a discount, a tax, a part or a payment.

Called by `claims`. An amount is an invoice's where the same sentence names that invoice alone, or where a
text that names one invoice calls it the total.
"""

import re

from actors.platform.text.lexicon import WHOLE, alternatives, pattern

_FILE = "amount_roles"
_PART, _PAYING = pattern(_FILE, "part", WHOLE), pattern(_FILE, "paying", WHOLE)
# Of sentences that are about something else than what an invoice is over.
_OTHER = pattern(_FILE, "other", WHOLE)
_NOT_IT = pattern(
    _FILE, "not_it", rf"(?<![^\W_]){{}}[\s(]{{1,3}}(?:(?:{alternatives(_FILE, 'articles')}) )?\Z"
)
_OVER = pattern(_FILE, "over", r"[\s,:(\"”–-]{0,4}(?:{}\s)?[\s(]{0,3}\Z")
_STRICTLY_OVER = pattern(_FILE, "strictly_over", r"\b{}\s\Z|\(\Z")
_TOTAL = pattern(
    _FILE,
    "total",
    rf"(?<![^\W_-]){{}}(?: (?:{alternatives(_FILE, 'total_behind')})){{0,3}}[\s:*.=]{{0,6}}\Z",
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
