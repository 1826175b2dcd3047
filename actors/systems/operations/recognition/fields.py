"""What the names of fields hint at: whose name a value is, whose number, which amount, which day.

Called by `reading.item`. Servers name their fields as they like: a name is taken as a hint where all its
words are known, in English, German or Polish, and what a value says goes first.
"""

from typing import Literal

from actors.platform.text.normal_form import without_accents
from models.text import word_list

Role = Literal["vendor", "invoice", "reference", "total", "open_amount", "paid_amount", "amount", "currency"]
DayRole = Literal["due", "other"]


def _known(words: str) -> frozenset[str]:
    """Words as they are written, and without their accents."""
    return frozenset(each for word in word_list(words) for each in (word, without_accents(word)))


_VENDOR = _known(
    "vendor vendors supplier suppliers company account accounts payee merchant customer client "
    "organization organisation business biller seller creditor contractor counterparty beneficiary "
    "partner lieferant lieferanten kreditor firma firmen unternehmen kunde kunden empfänger empfaenger "
    "zahlungsempfänger rechnungssteller dostawca dostawcy kontrahent kontrahenta sprzedawca sprzedawcy "
    "klient klienta wystawca odbiorca vendorname suppliername companyname accountname"
)
_OF_NAMES = _known("name names title display legal full official trading label nazwa firma company business")
_INVOICE = _known(
    "invoice inv bill faktura faktury fv rechnung rechnungs invoicenumber invoiceno billnumber "
    "rechnungsnummer rechnungsnr rechnungsnumer belegnummer belegnr"
)
_OF_NUMBERS = _known("number no nr num nummer numer code")
_DOCUMENT = _known("doc document beleg dokument dokumentu")
_REFERENCE = _known("reference ref referenz referencja subject memo description id key")
_TOTAL = _known("amount total sum value price betrag gesamtbetrag rechnungsbetrag summe kwota brutto gross")
_OF_TOTALS = _known(
    "total invoice bill amount gross grand original full brutto faktury rechnung wartość kwota value"
)
_OPEN = _known("due open outstanding remaining unpaid balance offen offener restbetrag saldo pozostało")
_PAID = _known("paid payment payments settled received bezahlt gezahlt zapłacono zapłacona wpłata")
_IS_PAID = _known("paid settled bezahlt beglichen zapłacona zapłacono opłacona opłacono uregulowana")
_OTHER_AMOUNT = _known("net netto subtotal tax vat discount fee shipping unit line item wartość")
_CURRENCY = _known("currency currencycode währung waehrung waluta")
_DUE = _known(
    "due deadline maturity fällig faellig fälligkeit fälligkeitsdatum faelligkeitsdatum zahlbar płatności"
)
_DAY = _known("date day on by at until datum bis am data dnia termin duedate")
_STATUS = _known(
    "status state zahlungsstatus rechnungsstatus statuspłatności stan paymentstatus invoicestatus"
)
_OF_STATUS = _known(
    "payment invoice bill paid approval płatności faktury zahlung rechnung current is has been"
)
_MAIL = _known("email mail emailaddress")
_OF_CONTACTS = _known(
    "e address primary contact billing main vendor supplier accounts payable remittance company adres kontakt"
)
_BANK = _known("iban kontonummer bankaccount accountnumber rachunek konto")
_OF_BANKS = _known("bank account number no nr iban routing numer konta rachunku nummer konto")
# Objects in which a plain `name` or `number` is a vendor's or an invoice's.
_OF_PEOPLE = _known("contact contacts user users person people owner employee lead leads kontakt")
_WRAPPERS = _known("data fields record attributes properties result item object")
_OF_INVOICES = _known("invoice invoices bill bills faktura faktury rechnung rechnungen")
_TIME = _known(
    "date at on when sent received written created opened time timestamp updated datum data am czas kiedy"
)
_NO_TIME = _known(
    "due paid payment pay closed close end start birth invoice bill scheduled delivery expiry fällig "
    "płatności"
)
_SENDER = _known("from sender von absender od nadawca")
_OUR_PEOPLE = _known(
    "owner user users author assignee assigned created modified updated manager rep opiekun bearbeiter "
    "our wir buyer requester reporter"
)
_DEALS = _known(
    "opportunity opportunities deal deals quote quotes pipeline lead leads contract contracts angebot "
    "angebote szansa szanse oferta oferty umowa umowy vertrag order orders line lines items positionen "
    "pozycje payments"
)
_CREDITS = _known("credit creditnote gutschrift korekta refund")
_HOLD = _known("hold blocked block zahlungssperre gesperrt sperre wstrzymana zablokowana blokada")
_TITLES = _known("subject title betreff temat titel tytuł name number")
_TEXTS = _known("description beschreibung opis details text body")
_CASES = _known(
    "case cases ticket tickets vorgang vorgänge zgłoszenie zgłoszenia sprawa sprawy issue complaint task"
)

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
    return bool(words & _IS_PAID) and words <= _PAID | _IS_PAID | _OF_STATUS | {"fully"}


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


def is_time(names: _Names) -> bool:
    """Whether a value says when its object was written."""
    words = frozenset(names[-1]) if names else frozenset()
    return bool(words & _TIME) and not words & (_NO_TIME - {"received"}) and len(words) <= 3


def is_paid_on(names: _Names) -> bool:
    """Whether a day is the one of the payment: `paid_on`, `bezahlt_am`."""
    words = frozenset(names[-1]) if names else frozenset()
    paid = words & (_PAID - {"payments", "received"})
    return bool(paid and words & (_DAY | {"date"}) and words <= paid | _DAY)


def is_sender(names: _Names) -> bool:
    """Whether a value says who wrote a mail."""
    words = frozenset(word for name in names for word in name)
    return bool(words & _SENDER) and words <= _SENDER | _MAIL | {"address", "name", "value", "headers"}


def is_of_deal(names: _Names) -> bool:
    """Whether a value is of something within an item that is no invoice: a deal, an order, a line."""
    return any(_DEALS & frozenset(name) for name in names[:-1])


def is_title(names: _Names) -> bool:
    """Whether a text says in short what its object is about."""
    return bool(names) and bool(frozenset(names[-1]) & _TITLES)


def is_case(about: frozenset[str], names: frozenset[str]) -> bool:
    """Whether an object is a matter that somebody works on. `names`: words of its fields' names."""
    return bool((about | names) & _CASES) or bool(names & (_TITLES - {"name", "number"}) and names & _TEXTS)


def is_deal(about: frozenset[str]) -> bool:
    """Whether an object is a deal, an order or another thing that is no invoice."""
    return bool(about & _DEALS)


def is_of_company(name: tuple[str, ...]) -> bool:
    """Whether a field is one that companies have, and no people, deals or bills."""
    return name in (("contacts",), ("kontakte",), ("kontakty",), ("opportunities",)) or is_bank_account(
        (name,)
    )


def is_website(names: _Names) -> bool:
    """Whether a value is the address of somebody's pages."""
    words = frozenset(names[-1]) if names else frozenset()
    return bool(words & {"website", "url", "homepage", "domain", "web", "www", "strona"}) and len(words) <= 2


def is_name(names: _Names) -> bool:
    """Whether a value is somebody's name."""
    words = frozenset(names[-1]) if names else frozenset()
    return words <= {"name", "full", "contact", "person", "display", "nazwa", "ansprechpartner", "osoba"}


def names_another(names: _Names) -> bool:
    """Whether a value is the id of another object: `account_id`, `vendorId`."""
    return bool(names) and len(names[-1]) > 1 and names[-1][-1] == "id"


def is_correspondent(names: _Names) -> bool:
    """Whether a value says who wrote a mail, or to whom it went."""
    return is_sender(names) or bool(names and frozenset(names[-1]) & {"to", "cc", "an", "do", "empfänger"})


def is_credit(about: frozenset[str], names: _Names = ()) -> bool:
    """Whether an object is a credit note."""
    return bool(about & _CREDITS) or any(_CREDITS & frozenset(name) for name in names)


def is_hold(names: _Names) -> bool:
    """Whether a truth value says that payments are held back: `on_hold`, `payment_block`."""
    words = frozenset(names[-1]) if names else frozenset()
    said = words & _HOLD
    return bool(said) and words <= said | _OF_STATUS | {"on", "payments"}


def is_of_standing(names: _Names) -> bool:
    """Whether a status is of somebody as a whole: `status`, `account_status`, `vendor_status`."""
    words = frozenset(names[-1]) if names else frozenset()
    return bool(words & _STATUS) and words <= _STATUS | _VENDOR


def is_contact(names: _Names) -> bool:
    """Whether an address is where a vendor is written to."""
    words = frozenset(names[-1]) if names else frozenset()
    if any(_OUR_PEOPLE & frozenset(name) for name in names):
        return False
    return bool(words & _MAIL) and words <= _MAIL | _OF_CONTACTS


def is_bank_account(names: _Names) -> bool:
    """Whether a value is the number of an account at a bank."""
    words = frozenset(names[-1]) if names else frozenset()
    return bool(words & _BANK) or (
        bool(words & {"account", "konta", "rachunku"}) and len(words & _OF_BANKS) > 1 and words <= _OF_BANKS
    )
