"""How the sample servers search: any word of the query will do, and what has most of them comes first.

Case, accents, order and punctuation don't count, `INV-2041`, `inv 2041` and `Invoice #2041` are one number,
and `$4,310.00` and `4.310,00` one amount. Words are alike from five letters on: `Supply` finds `Supplies`.
"""

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from actors.platform.text.normal_form import words
from models.errors import InputInvalid

MOST = 50  # on a page
_Item = TypeVar("_Item")
# Thousands that are set apart; with blanks only before cents, for other numbers stand side by side, too.
_GROUPED = re.compile(
    r"(?<![\d.,])\d{1,3}(?:(?:[.,]\d{3}){1,3}(?:[.,]\d{2})?|(?:[\u00a0 ]\d{3}){1,3},\d{2})(?!\d)"
)
_CENTS = re.compile(r"[.,]\d{2}$")
_PARTS = re.compile(r"\d+|[^\W\d]+")
_INVOICE = frozenset({"inv", "invoices", "invoice", "faktura", "fakture", "faktury", "rechnung", "facture"})
_ALIKE_LETTERS = 5
# As German writes them where there are no umlauts.
_UMLAUTS = re.compile(r"([aou])e")


def terms(text: str) -> frozenset[str]:
    """What a text is found by."""
    joined = _GROUPED.sub(_ungrouped, text)
    return frozenset(_term(part) for part in _PARTS.findall(words(joined)))


def number_terms(number: str) -> frozenset[str]:
    """What tells an invoice number from another: all but words such as `Invoice`."""
    return terms(number) - {"invoice", "no", "nr"}


def ranked(query: str, items: Sequence[_Item], text_of: Callable[[_Item], str]) -> list[_Item]:
    """The items that have a word of the query, first those with most of them; all of them where it has none.

    Equal ones stay in their order.
    """
    asked = terms(query)
    if not asked:
        return list(items)
    counted = [(_found(asked, terms(text_of(item))), item) for item in items]
    return [item for count, item in sorted(counted, key=lambda pair: -pair[0]) if count]


def mostly(query: str, text: str) -> bool:
    """Whether the text has more than half of the query's words."""
    asked = terms(query)
    return 2 * _found(asked, terms(text)) > len(asked)


def page(items: Sequence[_Item], limit: int, cursor: str | None) -> tuple[tuple[_Item, ...], str | None]:
    """A page, and the cursor of the next one where there is more.

    Raises:
        InputInvalid: no answer has given this cursor.
    """
    if cursor is not None and not (cursor.isascii() and cursor.isdigit() and len(cursor) <= 6):
        raise InputInvalid(
            "cursor: is none that was given: leave it out, or pass next_cursor of the last answer"
        )
    begin = int(cursor or 0)
    end = begin + limit
    return tuple(items[begin:end]), str(end) if end < len(items) else None


def _found(asked: frozenset[str], there: frozenset[str]) -> int:
    starts = {term[:_ALIKE_LETTERS] for term in there if _has_start(term)}
    return sum(term in there or (_has_start(term) and term[:_ALIKE_LETTERS] in starts) for term in asked)


def _has_start(term: str) -> bool:
    return len(term) >= _ALIKE_LETTERS and term.isalpha()


def _term(part: str) -> str:
    if part.isdecimal():
        return part.lstrip("0") or "0"
    return "invoice" if part in _INVOICE else _UMLAUTS.sub(r"\1", part)


def _ungrouped(amount: re.Match[str]) -> str:
    return re.sub(r"\D", "", _CENTS.sub("", amount[0]))
