"""E-mail addresses and numbers of bank accounts in a text, and their normal form.

Called by `reading.item`. An address counts in small letters; an account by its digits, where they add up.
"""

import re
from collections.abc import Iterator

from stdnum import iban

from actors.platform.text.lexicon import alternatives, pattern

_EMAIL = re.compile(
    r"(?<![\w.+%&'*=^~-])[\w.+%&'*=^~-]{1,64}@((?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,6}[^\W\d_]{2,24})(?![\w@-])"
)
_IBAN = re.compile(r"(?<![^\W_])[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,3})?(?![^\W_])")
_LEAST_ACCOUNT, _LEAST_BBAN = 6, 8
_ENDING = pattern(
    "invoices",
    "account",
    r"(?<![^\W_]){}\b[^.\d\n]{0,40}(?:\n[^.\d\n]{0,20})?"
    rf"(?<![^\W_])(?:{alternatives('invoices', 'ending')})\b[^\d\n]{{0,12}}(?P<digits>\d{{3,6}})(?![\w])",
)
_FROM_OURS = pattern("invoices", "from_ours", r"(?<![^\W_]){} (?:\w{1,12} )?\Z")
_LOOKED_BACK = 30
_MASKED = re.compile(r"[\w ]{0,8}[*xX•.…]{2,24}[ -]?(?P<digits>\d{3,6})")
# Whoever writes from there may be anyone.
_ANYONES = frozenset(
    ["gmail", "googlemail", "outlook", "hotmail", "yahoo", "gmx", "web", "icloud", "proton", "wp", "onet"]
)


def emails(text: str) -> Iterator[tuple[int, int, str]]:
    """The addresses of a text: from where to where, and the normal form."""
    if "@" not in text:
        return
    for found in _EMAIL.finditer(text):
        start = found.start() + len(found[0]) - len(found[0].lstrip("'.&*=^~-"))
        if not found[0].lstrip("'.&*=^~-").startswith("@"):
            yield start, found.end(), text[start : found.end()].casefold()


def company_label(email: str) -> str | None:
    """The name that an address's domain is registered by, without hyphens; None of a provider of mail."""
    labels = email.rpartition("@")[2].split(".")
    label = labels[-3] if len(labels) > 2 and labels[-2] in ("co", "com", "org") else labels[-2]
    return None if label in _ANYONES else label.replace("-", "")


def domain_of(email: str) -> str:
    """The domain by which an address was registered: `mail.acme.co.uk` is `acme.co.uk`."""
    labels = email.rpartition("@")[2].casefold().split(".")
    return ".".join(labels[-3:] if len(labels) > 2 and labels[-2] in ("co", "com", "org") else labels[-2:])


def is_anyones(domain: str) -> bool:
    """Whether a domain is of a provider of mail: whoever writes from there may be anyone."""
    return domain.partition(".")[0] in _ANYONES


def account_ends(text: str) -> Iterator[tuple[int, int, str]]:
    """The last digits of accounts as texts tell them: `account ending 4471` gives `*4471`."""
    for found in _ENDING.finditer(text):
        # What was paid from is ours.
        if _FROM_OURS.search(text[max(0, found.start() - _LOOKED_BACK) : found.start()]):
            continue
        yield found.start("digits"), found.end("digits"), f"*{found['digits']}"


def masked_account(written: str) -> str | None:
    """The last digits of an account whose others are not shown: `****4471` gives `*4471`."""
    found = _MASKED.fullmatch(written.strip())
    return f"*{found['digits']}" if found else None


def is_same_account(one: str, other: str) -> bool:
    """Whether two accounts may be one: the same, or one whose last digits are all that is told."""
    if one.startswith("*") or other.startswith("*"):
        short, long = sorted((one.lstrip("*"), other.lstrip("*")), key=len)
        return long.endswith(short)
    return one == other or (
        min(len(one), len(other)) >= _LEAST_BBAN and (one.endswith(other) or other.endswith(one))
    )


def ibans(text: str) -> Iterator[tuple[int, int, str]]:
    """The international numbers of accounts whose check digits are right."""
    for found in _IBAN.finditer(text):
        # Words in capitals behind it are none of it.
        written = found[0]
        while written:
            if iban.is_valid(written):
                yield found.start(), found.start() + len(written), iban.compact(written)
                break
            written = written.rpartition(" ")[0]


def account_number(written: str) -> str | None:
    """The normal form of what a field calls an account at a bank; None where it has too few digits."""
    compact = "".join(char for char in written if char.isalnum()).upper()
    return compact if sum(map(str.isdecimal, compact)) >= _LEAST_ACCOUNT and len(compact) <= 40 else None
