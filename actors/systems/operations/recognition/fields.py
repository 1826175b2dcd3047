"""What the names of fields hint at: whose name a value is, whose number, which amount, which day.

Called by `reading.item`. Servers name their fields as they like: a name is taken as a hint where all its
words are known, in English, German or Polish, and what a value says goes first.
"""

from typing import Literal

from actors.platform.text.lexicon import words_of_all
from actors.platform.text.normal_form import without_accents

Role = Literal["vendor", "invoice", "reference", "total", "open_amount", "paid_amount", "amount", "currency"]


def _known(key: str) -> frozenset[str]:
    """Words of all languages as they are written, and without their accents."""
    return frozenset(each for word in words_of_all("fields", key) for each in (word, without_accents(word)))


_VENDOR = _known("vendor")
_OF_NAMES = _known("of_names")
_INVOICE = _known("invoice")
_OF_NUMBERS = _known("of_numbers")
_DOCUMENT = _known("document")
_REFERENCE = _known("reference")
_TOTAL = _known("total")
_OF_TOTALS = _known("of_totals")
_OPEN = _known("open")
_PAID = _known("paid")
_IS_PAID = _known("is_paid")
_OTHER_AMOUNT = _known("other_amount")
_CURRENCY = _known("currency")
_DUE = _known("due")
_DAY = _known("day")
_STATUS = _known("status")
_OF_STATUS = _known("of_status")
_MAIL = _known("mail")
_OF_CONTACTS = _known("of_contacts")
_BANK = _known("bank")
_OF_BANKS = _known("of_banks")
# Objects in which a plain `name` or `number` is a vendor's or an invoice's.
_OF_PEOPLE = _known("of_people")
_WRAPPERS = _known("wrappers")
_OF_INVOICES = _known("of_invoices")
_TIME = _known("time")
_NO_TIME = _known("no_time")
_SENDER = _known("sender")
_OUR_PEOPLE = _known("our_people")
_DEALS = _known("deals")
_CREDITS = _known("credits")
_HOLD = _known("hold")
_TITLES = _known("titles")
_TEXTS = _known("texts")
_CASES = _known("cases")
_PLAIN_NAMES, _IS_NAME = words_of_all("fields", "plain_names"), words_of_all("fields", "is_name")
_BALANCES, _OTHER_TOTALS = words_of_all("fields", "balances"), words_of_all("fields", "other_totals")
_DUE_DAYS, _IS_OF_PAYMENT = words_of_all("fields", "due_days"), words_of_all("fields", "is_of_payment")
_WEBSITES, _RECEIVERS = words_of_all("fields", "websites"), words_of_all("fields", "receivers")
_OF_COMPANIES, _ACCOUNTS = words_of_all("fields", "of_companies"), words_of_all("fields", "accounts")

_Names = tuple[tuple[str, ...], ...]


def role_of(names: _Names, about: frozenset[str]) -> Role | None:
    """What a value is by the names that lead to it. `about` are words of the tool and the object's kind."""
    if not names or not (words := frozenset(names[-1])):
        return None
    around = frozenset(names[-2]) if len(names) > 1 else about
    around = around | about if around <= _WRAPPERS else around
    if words <= _PLAIN_NAMES:
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
    if words & _OTHER_AMOUNT - _OTHER_TOTALS:
        return "amount" if words & (_TOTAL | _OTHER_AMOUNT) else None
    if words & _PAID and words & _TOTAL:
        return "paid_amount"
    if words & _OPEN and (words & _TOTAL or (words <= _OPEN and words & _BALANCES)):
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
    return bool(words & (_PAID | _OF_INVOICES | _IS_OF_PAYMENT))


def is_due(names: _Names) -> bool:
    """Whether a day is the one by which something is to be paid."""
    words = frozenset(names[-1]) if names else frozenset()
    if words & _DUE_DAYS:
        return True
    return bool(words & _DUE) and words <= _DUE | _DAY | _OF_STATUS


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
    return (len(name) == 1 and name[0] in _OF_COMPANIES) or is_bank_account((name,))


def is_website(names: _Names) -> bool:
    """Whether a value is the address of somebody's pages."""
    words = frozenset(names[-1]) if names else frozenset()
    return bool(words & _WEBSITES) and len(words) <= 2


def is_name(names: _Names) -> bool:
    """Whether a value is somebody's name."""
    words = frozenset(names[-1]) if names else frozenset()
    return words <= _IS_NAME


def names_another(names: _Names) -> bool:
    """Whether a value is the id of another object: `account_id`, `vendorId`."""
    return bool(names) and len(names[-1]) > 1 and names[-1][-1] == "id"


def is_correspondent(names: _Names) -> bool:
    """Whether a value says who wrote a mail, or to whom it went."""
    return is_sender(names) or bool(names and frozenset(names[-1]) & _RECEIVERS)


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
        bool(words & _ACCOUNTS) and len(words & _OF_BANKS) > 1 and words <= _OF_BANKS
    )
