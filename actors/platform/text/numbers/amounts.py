"""Amounts of money in a text, in American and European forms, and their normal form.

`$4,300.00`, `4.300,00 €` and `4 300 EUR` are read; a number is money by its currency, or by its two decimals.
The normal form is the value, with its currency where one is said: `4300 EUR`.
"""

import re
from collections.abc import Iterator
from functools import cache

from actors.platform.text.lexicon import languages, pattern, words_of_all
from actors.platform.text.numbers.number_forms import times, values
from actors.platform.text.numbers.number_words import number_words

_FILE = "amounts"

_SPACE = " \u00a0\u2009\u202f"
_NUMBER = re.compile(
    rf"(?<![\d.,])(?:\d{{1,3}}(?P<group>[.,'’{_SPACE}])\d{{3}}(?:(?P=group)\d{{3}}){{0,4}}(?:[.,]\d{{1,2}})?|\d{{1,15}}(?:[.,]\d{{1,4}})?)"
    r"(?![\d]|[.,]\d)"
)
_CODES = (
    "USD|EUR|GBP|PLN|CHF|CZK|SEK|NOK|DKK|HUF|RON|CAD|AUD|NZD|JPY|CNY|INR|BRL|MXN|SGD|HKD|ZAR|TRY|UAH|BGN"
    "|ILS|AED"
)
_BEFORE = re.compile(
    rf"(?:(?<![^\W_])(?P<code>{_CODES})"
    rf"|(?P<mark>(?:US|A|C|CA|AU|NZ|HK|S)?\$|€|£|¥|(?<![^\W_])zł))[{_SPACE}]?(?P<sign>[-−]?)\Z"
)
_BEHIND_BARE = pattern(_FILE, "behind", rf"[{_SPACE}]?(?:[%:/°]|{{}}|h\b|km|kg|[ap]\.?m\b)|[-–][^\W_]")
_MARKS = {"$": "USD", "US$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "zł": "PLN"}
_MARKS |= {"A$": "AUD", "AU$": "AUD", "C$": "CAD", "CA$": "CAD", "NZ$": "NZD", "HK$": "HKD", "S$": "SGD"}
_WORDED = ("EUR", "USD", "GBP", "PLN", "CHF")
_CURRENCIES = frozenset(_CODES.split("|"))
_LOOKED_BACK = 8
_LEAST_WHOLE = 3
_LEAST_SCALE = 10**3


@cache
def _words() -> dict[str, str]:
    """The currencies by their names."""
    return {word: code for code in _WORDED for word in words_of_all(_FILE, code.casefold())}


@cache
def _scales() -> dict[str, int]:
    """What multiplies a number; not what languages differ in, as in a billion."""
    some = [number_words(language).scales for language in languages()]
    found = {word: value for scales in some for word, value in scales.items() if value >= _LEAST_SCALE}
    same = {word for word, value in found.items() if all(one.get(word, value) == value for one in some)}
    return {word: found[word] for word in same} | {"k": 10**3, "m": 10**6}


@cache
def _after() -> re.Pattern[str]:
    """What may stand behind an amount: its scale, and its currency."""
    scale, word = (
        "|".join(sorted(map(re.escape, some), key=len, reverse=True)) for some in (_scales(), _words())
    )
    return re.compile(
        rf"[{_SPACE}]?(?P<scale>(?:{scale})(?![^\W_])\.?)?[{_SPACE}]?"
        rf"(?:(?P<code>(?:{_CODES})(?![^\W_]))|(?P<mark>[$€£¥])|(?P<word>(?:{word})(?![^\W_])))?",
        re.IGNORECASE,
    )


def amounts(text: str) -> Iterator[tuple[int, int, str]]:
    """The amounts of a text: from where to where, and the normal form."""
    for found in _NUMBER.finditer(text):
        start, end = found.span()
        head = text[max(0, start - _LOOKED_BACK) : start]
        before = _BEFORE.search(head)
        after = _after().match(text, end)
        currency, sign, factor = None, "", 1
        if before:
            currency = before["code"] or _MARKS[before["mark"]]
            start -= len(before[0])
            sign = "-" if before["sign"] or head[: before.start()].endswith(("-", "−")) else ""
        elif head and (head[-1].isalnum() or head[-1] in "_/#"):
            continue
        if after and (after["scale"] or (not before and (after["code"] or after["mark"] or after["word"]))):
            ended = currency or _currency(after)
            # `5 m` are metres, and `300 k` of what is not said.
            if ended:
                factor = _scales()[after["scale"].rstrip(".").lower()] if after["scale"] else 1
                end = after.end() if not currency else after.end("scale")
                currency = ended
        if currency is None and not _is_bare(text, found, head):
            continue
        if (
            not before
            and head.endswith(("-", "−"))
            and head[:-1].endswith((" ", ""))
            and not head[-2:-1].strip()
        ):
            sign, start = "-", start - 1
        yield start, end, _normal(sign + found[0], factor, currency)


def amount_said(text: str, currency: str | None) -> str | None:
    """The normal form of a value that is an amount and nothing else: `4300.00`, `$4,300`."""
    line = text.strip()
    found = next(iter(amounts(line)), None)
    if found and found[0] == 0 and found[1] == len(line):
        normal = found[2]
    else:
        number = _NUMBER.fullmatch(line.removeprefix("-"))
        if number is None:
            return None
        normal = _normal(line, 1, None)
    return normal if " " in normal or not currency else f"{normal} {currency}"


def currency_said(text: str) -> str | None:
    """The code of a currency that a value names."""
    code = text.strip()
    return code.upper() if code.upper() in _CURRENCIES else _MARKS.get(code)


def amount_of(value: float, currency: str | None) -> str | None:
    """The normal form of a number as JSON has it; None of what is not written out: 1e300."""
    written = repr(value)
    if "e" in written:
        return None
    whole, _, decimals = written.partition(".")
    normal = f"{whole}.{decimals.rstrip('0')}".rstrip(".")
    return f"{normal} {currency}" if currency else normal


def _currency(after: re.Match[str]) -> str | None:
    if after["code"]:
        return after["code"].upper()
    if after["mark"]:
        return _MARKS[after["mark"]]
    return _words()[after["word"].lower()] if after["word"] else None


def _is_bare(text: str, found: re.Match[str], head: str) -> bool:
    """Whether a number without a currency is money: two decimals say so, where no unit stands behind them."""
    number = found[0]
    if len(number) < 3 or number[-3] not in ".," or not number[:-3][-1:].isdecimal():
        return False
    whole = sum(map(str.isdecimal, number[:-3]))
    return (
        whole >= _LEAST_WHOLE and not _BEHIND_BARE.match(text, found.end()) and not head.endswith(("v", "V"))
    )


def _normal(number: str, factor: int, currency: str | None) -> str:
    # Three digits behind one mark are thousands: nobody writes money with three decimals.
    value = times(values(number.replace("−", "-"), "en")[0], factor)
    return f"{value} {currency}" if currency else value
