"""One item, read: what it may be known by, and what it says of invoices.

Called by `link`. It is read in two goes: what fields call vendors and invoices must be known of all items
before texts are looked through for them.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal, NamedTuple

from actors.platform.text.numbers.amounts import amount_of, amount_said, amounts, currency_said
from actors.platform.text.numbers.dates import days
from actors.systems.operations.recognition import fields
from actors.systems.operations.recognition.addresses import (
    account_ends,
    account_number,
    company_label,
    emails,
    ibans,
    masked_account,
)
from actors.systems.operations.recognition.invoices import invoice_number, invoice_numbers, numbers_like
from actors.systems.operations.recognition.json_fields import JsonField, leaves, name_words
from actors.systems.operations.recognition.vendors import (
    KnownVendors,
    is_vendor_name,
    vendor_name,
    vendors_said,
)
from models.operations.evidence import IdentifierKind
from models.operations.items import SourceItem

# Of one item and kind.
_MOST_FOUND = 60
_KINDS_OF_OBJECTS = ("type", "object", "record_type", "object_type", "kind", "attributes")
_AMOUNT_ROLES = frozenset(["total", "open_amount", "paid_amount", "amount"])


class Sighting(NamedTuple):
    """An identifier, and where it stands in what was read of its leaf. `stated`: a field says what it is."""

    kind: IdentifierKind
    leaf: JsonField
    start: int
    end: int
    words: str
    normal: str
    stated: bool


class Detail(NamedTuple):
    """What an item has besides: an account at a bank, or an address for writing to a vendor."""

    kind: Literal["bank", "contact"]
    leaf: JsonField
    words: str
    normal: str


@dataclass
class ReadItem:
    """An item, its values, and what was found in them."""

    item: SourceItem
    leaves: list[JsonField]
    about: frozenset[str]
    findings: list[Sighting] = field(default_factory=list)
    details: list[Detail] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def of(self, kind: IdentifierKind) -> list[Sighting]:
        """Its identifiers of a kind."""
        return [found for found in self.findings if found.kind == kind]

    def stated(self, kind: IdentifierKind) -> list[Sighting]:
        """Those of a kind that fields say."""
        return [found for found in self.findings if found.kind == kind and found.stated]

    def role(self, leaf: JsonField) -> fields.Role | None:
        """What a value is by its field's name."""
        return fields.role_of(leaf.names, self.about)


def read_fields(item: SourceItem) -> ReadItem:
    """An item with the vendors and the invoices that its fields, or labels in its texts, say."""
    read = ReadItem(item, list(leaves(item.data)), _about(item))
    for leaf in read.leaves:
        role = read.role(leaf)
        text = leaf.text.strip()
        start = leaf.text.find(text)
        if role == "vendor" and leaf.value is None and is_vendor_name(text):
            _add(read, "vendor", leaf, start, start + len(text), vendor_name(text), stated=True)
        elif role == "invoice" and not isinstance(leaf.value, bool | float):
            if normal := invoice_number(text):
                _add(read, "invoice", leaf, start, start + len(text), normal, stated=True)
        elif leaf.value is None:
            for begun, ended in vendors_said(leaf.text):
                name = leaf.text[begun:ended]
                if is_vendor_name(name):
                    _add(read, "vendor", leaf, begun, ended, vendor_name(name), stated=False)
    if item.agent == "accounts_payable" and not read.stated("vendor"):
        _add_contact(read)
    return read


def read_texts(read: ReadItem, vendors: KnownVendors, invoices: Collection[str]) -> None:
    """Find the rest: what texts say, and what is known from other items."""
    currencies = {leaf.parent: leaf.text for leaf in read.leaves if read.role(leaf) == "currency"}
    for leaf in read.leaves:
        role = read.role(leaf)
        if leaf.value is not None:
            is_amount = role in _AMOUNT_ROLES and not isinstance(leaf.value, bool)
            if is_amount and (normal := amount_of(leaf.value, _currency(leaf, currencies))):
                _add(read, "amount", leaf, 0, len(leaf.text), normal, stated=True)
            _add_account(read, leaf)
            continue
        if role == "currency":
            continue
        if role in _AMOUNT_ROLES and (normal := amount_said(leaf.text, _currency(leaf, currencies))):
            start = len(leaf.text) - len(leaf.text.lstrip())
            _add(read, "amount", leaf, start, len(leaf.text.rstrip()), normal, stated=True)
            continue
        _read_text(read, leaf, vendors, invoices)


def _read_text(read: ReadItem, leaf: JsonField, vendors: KnownVendors, invoices: Collection[str]) -> None:
    text = leaf.text
    stated = [found for found in read.findings if found.leaf is leaf and found.stated]
    taken = [(found.start, found.end) for found in stated if found.kind == "invoice"]
    for start, end, normal in islice(emails(text), _MOST_FOUND):
        _add(read, "email", leaf, start, end, normal, stated=False)
        taken.append((start, end))
        if fields.is_contact(leaf.names) and (words := leaf.words(start, end)):
            read.details.append(Detail("contact", leaf, words, normal))
        if named := vendors.by_domain(company_label(normal)):
            _add(read, "vendor", leaf, text.index("@", start) + 1, end, named, stated=False)
    for start, end, normal in islice(ibans(text), _MOST_FOUND):
        taken.append((start, end))
        if words := leaf.words(start, end):
            read.details.append(Detail("bank", leaf, words, normal))
    for start, end, normal in islice(account_ends(text), _MOST_FOUND):
        if words := leaf.words(start, end):
            read.details.append(Detail("bank", leaf, words, normal))
    _add_account(read, leaf)
    numbers = [*islice(invoice_numbers(text), _MOST_FOUND)]
    if invoices:
        numbers += islice((found for found in numbers_like(text) if found[2] in invoices), _MOST_FOUND)
    every: tuple[tuple[IdentifierKind, Iterable[tuple[int, int, str]]], ...] = (
        ("invoice", numbers),
        ("date", days(text)),
        ("amount", amounts(text)),
    )
    for kind, found in every:
        for start, end, normal in _free(islice(found, _MOST_FOUND), taken):
            taken.append((start, end))
            _add(read, kind, leaf, start, end, normal, stated=False)
    if not any(found.kind == "vendor" for found in stated):
        for start, end, normal in _free(islice(vendors.in_text(text), _MOST_FOUND), taken):
            _add(read, "vendor", leaf, start, end, normal, stated=False)


def _add_contact(read: ReadItem) -> None:
    """Of a bill that names no vendor, whose contact it is."""
    for leaf in read.leaves:
        if leaf.names == (("contact",), ("name",)) and leaf.value is None and is_vendor_name(leaf.text):
            _add(read, "vendor", leaf, 0, len(leaf.text), vendor_name(leaf.text), stated=True)


def _free(
    found: Iterable[tuple[int, int, str]], taken: Iterable[tuple[int, int]]
) -> Iterator[tuple[int, int, str]]:
    """Those that no other one overlaps, which was there before."""
    spans = sorted(taken)
    at, reached = 0, -1
    for start, end, normal in sorted(found):
        while at < len(spans) and spans[at][0] < end:
            reached, at = max(reached, spans[at][1]), at + 1
        if reached <= start:
            reached = end
            yield start, end, normal


def _add(
    read: ReadItem, kind: IdentifierKind, leaf: JsonField, start: int, end: int, normal: str, *, stated: bool
) -> None:
    words = leaf.words(start, end)
    if words and read.counts[kind] < _MOST_FOUND:
        read.counts[kind] += 1
        read.findings.append(Sighting(kind, leaf, start, end, words, normal, stated))


def _add_account(read: ReadItem, leaf: JsonField) -> None:
    number = None
    if fields.is_bank_account(leaf.names):
        number = masked_account(leaf.text) or account_number(leaf.text)
    words = leaf.words(0, len(leaf.text)) if number else None
    known = {(detail.leaf.path, detail.normal) for detail in read.details}
    if number and words and (leaf.path, number) not in known:
        read.details.append(Detail("bank", leaf, words, number))


def _currency(leaf: JsonField, currencies: dict[str, str]) -> str | None:
    """The currency of an amount: that of its object, else of the objects around it."""
    place = leaf.parent
    while True:
        if place in currencies:
            return currency_said(currencies[place])
        if not place:
            return None
        place = place.rpartition("/")[0]


def _about(item: SourceItem) -> frozenset[str]:
    """Words that say what kind of object it is."""
    words = set(name_words(item.tool))
    for key in _KINDS_OF_OBJECTS:
        value = item.data.get(key)
        value = value.get("type") if isinstance(value, dict) else value
        if isinstance(value, str):
            words.update(name_words(value))
    # What accounts payable has with a day on which it is due is a bill, however its tool is called.
    if item.agent == "accounts_payable" and any(fields.is_due((name_words(key),)) for key in item.data):
        words.add("bill")
    # Who has contacts, or an account to be paid on, is a company.
    elif item.agent != "gmail" and any(fields.is_of_company(name_words(key)) for key in item.data):
        words.add("company")
    return frozenset(words | {word.removesuffix("s") for word in words})
