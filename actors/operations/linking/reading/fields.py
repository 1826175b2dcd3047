"""What the names of fields hint at: whose name a value is, whose number, which amount, which day.

Called by `reading.item`. Servers name their fields as they like: a name is taken as a hint where all its
words are known, in English, German or Polish, and what a value says goes first.
"""

from typing import Literal

from models.text import word_list

Role = Literal["vendor", "invoice", "reference", "total", "open_amount", "paid_amount", "amount", "currency"]
DayRole = Literal["due", "other"]

_VENDOR = frozenset(
    word_list(
        "vendor vendors supplier suppliers company account accounts payee merchant customer client "
        "organization organisation business biller seller creditor contractor counterparty beneficiary "
        "partner lieferant lieferanten kreditor firma firmen unternehmen kunde kunden empfänger empfaenger "
        "zahlungsempfänger rechnungssteller dostawca dostawcy kontrahent kontrahenta sprzedawca sprzedawcy "
        "klient klienta wystawca odbiorca vendorname suppliername companyname accountname"
    )
)
_OF_NAMES = frozenset(
    word_list("name names title display legal full official trading label nazwa firma company business")
)
_INVOICE = frozenset(
    word_list(
        "invoice inv bill faktura faktury fv rechnung rechnungs invoicenumber invoiceno billnumber "
        "rechnungsnummer rechnungsnr rechnungsnumer belegnummer belegnr"
    )
)
_OF_NUMBERS = frozenset(word_list("number no nr num nummer numer code"))
_DOCUMENT = frozenset(word_list("doc document beleg dokument dokumentu"))
_REFERENCE = frozenset(word_list("reference ref referenz referencja subject memo description id key"))
_TOTAL = frozenset(
    word_list("amount total sum value price betrag gesamtbetrag rechnungsbetrag summe kwota brutto gross")
)
_OF_TOTALS = frozenset(
    word_list(
        "total invoice bill amount gross grand original full brutto faktury rechnung wartość kwota value"
    )
)
_OPEN = frozenset(
    word_list("due open outstanding remaining unpaid balance offen offener restbetrag saldo pozostało")
)
_PAID = frozenset(
    word_list("paid payment payments settled received bezahlt gezahlt zapłacono zapłacona wpłata")
)
_OTHER_AMOUNT = frozenset(
    word_list("net netto subtotal tax vat discount fee shipping unit line item wartość")
)
_CURRENCY = frozenset(word_list("currency currencycode währung waehrung waluta"))
_DUE = frozenset(
    word_list(
        "due deadline maturity fällig faellig fälligkeit fälligkeitsdatum faelligkeitsdatum zahlbar płatności"
    )
)
_DAY = frozenset(word_list("date day on by at until datum bis am data dnia termin duedate"))
_STATUS = frozenset(
    word_list("status state zahlungsstatus rechnungsstatus statuspłatności stan paymentstatus invoicestatus")
)
_OF_STATUS = frozenset(
    word_list("payment invoice bill paid approval płatności faktury zahlung rechnung current is has been")
)
_MAIL = frozenset(word_list("email mail emailaddress"))
_OF_CONTACTS = frozenset(
    word_list(
        "e address primary contact billing main vendor supplier accounts payable remittance company adres "
        "kontakt"
    )
)
_BANK = frozenset(word_list("iban kontonummer bankaccount accountnumber rachunek konto"))
_OF_BANKS = frozenset(word_list("bank account number no nr iban routing numer konta rachunku nummer konto"))
# Objects in which a plain `name` or `number` is a vendor's or an invoice's.
_OF_PEOPLE = frozenset(
    word_list("contact contacts user users person people owner employee lead leads kontakt")
)
_WRAPPERS = frozenset(word_list("data fields record attributes properties result item object"))
_OF_INVOICES = frozenset(word_list("invoice invoices bill bills faktura faktury rechnung rechnungen"))

_Names = tuple[tuple[str, ...], ...]


def role_of(names: _Names, about: frozenset[str]) -> Role | None:
    """What a value is by the names that lead to it. `about` are words of the tool and the object's kind."""
    if not names or not (words := frozenset(names[-1])):
        return None
    around = frozenset(names[-2]) if len(names) > 1 else about
    around = around | about if around <= _WRAPPERS else around
    if words <= {"name", "nazwa"}:
        return "vendor" if around & _VENDOR and not around & _OF_PEOPLE else None
    if words & _VENDOR and words <= _VENDOR | _OF_NAMES:
        return "vendor"
    if words <= _CURRENCY | {"code", "iso"} and words & _CURRENCY:
        return "currency"
    if words & _INVOICE and words <= _INVOICE | _OF_NUMBERS:
        return "invoice"
    if words & _DOCUMENT and words & _OF_NUMBERS and words <= _DOCUMENT | _OF_NUMBERS:
        return "invoice"
    if words <= _OF_NUMBERS and around & _OF_INVOICES:
        return "invoice"
    if words & _REFERENCE and words <= _REFERENCE | _OF_NUMBERS | _INVOICE | {"payment"}:
        return "reference"
    return _amount(words, around)


def _amount(words: frozenset[str], around: frozenset[str]) -> Role | None:
    if words <= {"value"} and around & _TOTAL:
        words = around
    if not words & (_TOTAL | _OPEN) or words & (_DAY - {"on"}):
        return None
    if words & _OTHER_AMOUNT - {"wartość"}:
        return "amount" if words & (_TOTAL | _OTHER_AMOUNT) else None
    if words & _PAID and words & _TOTAL:
        return "paid_amount"
    if words & _OPEN and (words & _TOTAL or (words <= _OPEN and words & {"balance", "saldo", "restbetrag"})):
        return "open_amount"
    return "total" if words & _TOTAL and words <= _TOTAL | _OF_TOTALS else None


def is_status(names: _Names) -> bool:
    """Whether a value says how something stands."""
    words = frozenset(names[-1]) if names else frozenset()
    return bool(words & _STATUS) and words <= _STATUS | _OF_STATUS


def says_paid(names: _Names) -> bool:
    """Whether a truth value says whether something is paid: `paid`, `is_paid`."""
    words = frozenset(names[-1]) if names else frozenset()
    return bool(
        words & {"paid", "settled", "bezahlt", "zapłacona", "opłacona"}
    ) and words <= _PAID | _OF_STATUS | {
        "opłacona",
        "fully",
    }


def is_of_payment(names: _Names) -> bool:
    """Whether a status is one of a payment by its own name: `payment_status`, not `status`."""
    words = frozenset(names[-1]) if names else frozenset()
    return bool(words & (_PAID | _OF_INVOICES | {"płatności", "zahlung", "zahlungsstatus", "paymentstatus"}))


def is_due(names: _Names) -> bool:
    """Whether a day is the one by which something is to be paid."""
    words = frozenset(names[-1]) if names else frozenset()
    if words & {"duedate", "fälligkeitsdatum", "faelligkeitsdatum"}:
        return True
    return bool(words & _DUE) and words <= _DUE | _DAY | _OF_STATUS | {"zahlung"}


def is_contact(names: _Names) -> bool:
    """Whether an address is where a vendor is written to."""
    words = frozenset(names[-1]) if names else frozenset()
    return bool(words & _MAIL) and words <= _MAIL | _OF_CONTACTS


def is_bank_account(names: _Names) -> bool:
    """Whether a value is the number of an account at a bank."""
    words = frozenset(names[-1]) if names else frozenset()
    return bool(words & _BANK) or (
        bool(words & {"account", "konta", "rachunku"}) and len(words & _OF_BANKS) > 1 and words <= _OF_BANKS
    )
