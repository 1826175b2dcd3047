"""Payment cards and bank accounts.

Cards: ISO/IEC 7812, by issuer, length and Luhn. Accounts: ISO 13616 (IBAN), by the country's length and form
and modulo 97; a Polish account without its country too, which is how it is written at home.
"""

import re
from functools import cache

import stdnum.iban
import stdnum.luhn
import stdnum.numdb

from actors.systems.knowledge.redaction.finding import Recogniser

_SEPARATORS = re.compile(r"[ .-]")
# Issuers by the first digits, and the lengths of their numbers.
_USUAL = re.compile(
    r"4[0-9]{15}"  # Visa
    r"|5[1-5][0-9]{14}|2(?:22[1-9]|2[3-9][0-9]|[3-6][0-9]{2}|7[01][0-9]|720)[0-9]{12}"  # Mastercard
    r"|3[47][0-9]{13}"  # American Express
    r"|3(?:0[0-5]|[689][0-9])[0-9]{11}"  # Diners
    r"|(?:6011|64[4-9][0-9]|65[0-9]{2})[0-9]{12}"  # Discover
    r"|35(?:2[89]|[3-8][0-9])[0-9]{12}"  # JCB
    r"|62[0-9]{14}"  # UnionPay
)
# These begin and last as much else does, so they need a label.
_OTHERS = re.compile(
    r"4(?:[0-9]{12}|[0-9]{18})|220[0-4][0-9]{12,15}|62[0-9]{15,17}|(?:50|5[6-8]|6[0-9])[0-9]{10,17}"
)
_BLOCKS_AND_CODE = 19  # digits of four blocks, and of the security code that may stand after them


def _is_card(number: str, *issued: re.Pattern[str]) -> bool:
    return (
        any(pattern.fullmatch(number) for pattern in issued)
        and len(set(number)) > 1
        and stdnum.luhn.is_valid(number)
    )


def _usual_card(match: re.Match[str]) -> int | None:
    number = _SEPARATORS.sub("", match.group())
    # Three digits after the blocks go with them, whatever they are.
    number = number[:16] if len(number) == _BLOCKS_AND_CODE else number
    return match.end() if _is_card(number, _USUAL) else None


def _any_card(match: re.Match[str]) -> int | None:
    return match.end() if _is_card(_SEPARATORS.sub("", match.group()), _USUAL, _OTHERS) else None


def _account(match: re.Match[str]) -> int | None:
    """The end of an IBAN that begins here: its country says how long it is."""
    text, start = match.string, match.start(1)
    country = match.group(1).upper()
    left = _length(country)
    if not left:
        return None
    signs: list[str] = []
    place = start
    while len(signs) < left and place < len(text):
        sign = text[place]
        if sign.isalnum():
            signs.append(sign)
        elif sign not in " .-" or not text[place - 1].isalnum():
            return None
        place += 1
    after = text[place : place + 1]
    if len(signs) != left or after.isalnum():
        return None
    return place if stdnum.iban.is_valid("".join(signs), check_country=False) else None


@cache
def _length(country: str) -> int:
    """How many signs an IBAN of the country has; 0 where there are none of it."""
    told = stdnum.numdb.get("iban").info(country + "00")
    form = told[0][1].get("bban", "")
    return 4 + sum(int(count) for count in re.findall(r"[0-9]+", form)) if form else 0


def _polish_account(match: re.Match[str]) -> int | None:
    return match.end() if stdnum.iban.is_valid("PL" + match.group(), check_country=False) else None


RECOGNISERS: tuple[Recogniser, ...] = (
    Recogniser(
        "iban",
        # Looked at from every place where one could begin: what is no account may hide one's beginning.
        re.compile(r"(?:(?<=IBAN)|(?<![^\W_]))([A-Za-z]{2})(?=[ -]?[0-9]{2}(?:[ .-]?[A-Za-z0-9]){11})"),
        _account,
        anywhere=True,
    ),
    Recogniser(
        "iban",
        re.compile(r"(?<![^\W_])[0-9]{2}(?:[ -]?[0-9]{4}){6}(?![^\W_])"),
        _polish_account,
        anywhere=True,
    ),
    Recogniser(
        "card",
        # Four blocks of four digits, and no fifth: that would be a row of a table.
        re.compile(
            r"(?<![0-9])(?<![0-9]{4}[ .-])[0-9]{4}([ .-])[0-9]{4}\1[0-9]{4}\1[0-9]{4}(?:\1[0-9]{3})?"
            r"(?![0-9]|[ .-][0-9]{4}(?![0-9]))"
            r"|(?<![0-9])3[0-9]{3}([ .-])[0-9]{6}\2[0-9]{4,5}(?![0-9])"
        ),
        _usual_card,
    ),
    Recogniser("card", re.compile(r"(?<![0-9])[0-9]{15,16}(?![0-9])"), _usual_card),
    Recogniser(
        "card", re.compile(r"(?<![0-9])[0-9](?:[ .-]?[0-9]){11,18}(?![0-9])"), _any_card, stands_alone=False
    ),
)
