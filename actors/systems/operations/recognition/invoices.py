"""Numbers of invoices in a text, in the many forms in which they are written, and their normal form.

Called by `reading.item`. `INV-2041`, `Invoice #2041`, `faktura nr 2041` and `Rechnung 02041` are one number;
`INV-2041`, `INV-2014` and `INV-20410` are three, and `2041/06/2026` is another one. What stands before a
number to say that it is one goes; other letters are part of it: `NGL-2041` is not `2041`.
"""

import re
from collections.abc import Iterator

from actors.platform.text.lexicon import WHOLE, alternatives, pattern, words_of_all

_LONGEST = 40
_LEAST_BARE = 3
_LEAST_DIGITS = 5
_FILE = "invoices"
# What says "invoice" before a number, and says nothing more.
_PREFIXES = words_of_all(_FILE, "prefixes")
_KEYWORD = pattern(_FILE, "keywords", WHOLE)
_MARK = pattern(
    _FILE,
    "between",
    r"(?P<said>[\s:.=(\[\"'*_]{0,4}(?:vat\s)?(?:{}(?![^\W_])[\s:.=(\[\"'*_]{0,4}){0,2}(?:[#№]\s?)?)",
)
_TOKEN = re.compile(r"[^\W_][^\W_]{0,24}(?:[-/_][^\W_]{1,24}){0,6}")
_CODE = re.compile(r"(?<![\w/-])(?:[^\W\d_]{1,12}[-/_]?){0,3}\d[^\W_]{0,24}(?:[-/_][^\W_]{1,24}){0,6}")
_PREFIXED = re.compile(
    rf"(?<![\w/-])(?:(?i:{alternatives(_FILE, 'prefixed')})|{alternatives(_FILE, 'capitals')})"
    r"(?:[ ]?[#№]?[ ]?(?=\d)|[-_/#]{1,2}(?=[^\W_]))"
    r"[^\W_]{1,24}(?:[-/_][^\W_]{1,24}){0,6}"
)
_ALSO = pattern(_FILE, "also", r"(?:\s?[,;]\s?|\s)(?:(?:{}|&)\s)?(?:(?:nr|no)\.?\s)?#?(?=\d)")
_DAY = re.compile(r"\d{4}-\d\d-\d\d\Z|\d{1,2}[-/]\d{1,2}[-/]\d{4}\Z")
_PARTS = re.compile(r"[^\W\d_]+|\d+")
# What a number is followed by if it counts money, days or shares: `invoice 500 EUR`.
_NO_NUMBER = pattern(_FILE, "counted", r"[.,:]\d|\s?(?:[%€$£]|{}(?![^\W_]))")


def invoice_number(written: str) -> str | None:
    """The normal form of an invoice's number; None of what has no digit, or is too long for a number."""
    if len(written) > _LONGEST:
        return None
    parts = _PARTS.findall(written.casefold())
    while parts and parts[0] in _PREFIXES:
        parts = parts[1:]
    plain = [str(int(part)) if part.isdecimal() else part for part in parts]
    return "-".join(plain) if any(part.isdecimal() for part in plain) else None


def invoice_numbers(text: str) -> Iterator[tuple[int, int, str]]:
    """The numbers that a text calls invoices: from where to where, and the normal form."""
    taken = -1
    for start, end, normal in sorted({*_prefixed(text), *_called(text)}):
        if start >= taken:
            yield start, end, normal
            taken = end


def numbers_like(text: str) -> Iterator[tuple[int, int, str]]:
    """What may be a number of an invoice where another item says that it is one: `NGL/2041`, `900417`."""
    for found in _CODE.finditer(text):
        token = found[0]
        if _DAY.match(token) or _NO_NUMBER.match(text, found.end()):
            continue
        if token.isdecimal() and len(token) < 5:
            continue
        if (normal := invoice_number(token)) is not None:
            yield found.start(), found.end(), normal


def number_like_tokens(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """What may be a number of something, known or not: `KR-7`, `76/26`, `invoice 76`; no days, no sums."""
    found = {one.span() for one in _CODE.finditer(text, start, end) if _may_be_one(one[0])}
    for keyword in _KEYWORD.finditer(text, start, end):
        mark = _MARK.match(text, keyword.end(), end)
        token = _TOKEN.match(text, mark.end() if mark else keyword.end(), end)
        if token and token[0][0].isdecimal():
            found.add(token.span())
    return iter(sorted(one for one in found if not _NO_NUMBER.match(text, one[1])))


def _may_be_one(token: str) -> bool:
    digits = sum(map(str.isdecimal, token))
    if _DAY.match(token) or token.isdecimal():
        return token.isdecimal() and digits >= _LEAST_DIGITS
    parted = not token.isalnum()
    if token[0].isdecimal():
        return digits >= _LEAST_DIGITS or (parted and "/" in token and digits >= _LEAST_BARE)
    return parted or digits > 1


def _prefixed(text: str) -> Iterator[tuple[int, int, str]]:
    for found in _PREFIXED.finditer(text):
        normal = invoice_number(found[0])
        bare = normal is not None and normal.isdecimal() and "-" not in found[0] and " " in found[0]
        if normal is None or (bare and _NO_NUMBER.match(text, found.end())):
            continue
        yield found.start(), found.end(), normal
        yield from _listed(text, found.end())


def _called(text: str) -> Iterator[tuple[int, int, str]]:
    for keyword in _KEYWORD.finditer(text):
        mark = _MARK.match(text, keyword.end())
        at = mark.end() if mark else keyword.end()
        token = _TOKEN.match(text, at)
        if token is None or at == keyword.end():
            continue
        marked = (mark is not None and any(map(str.isalnum, mark["said"]))) or "#" in text[keyword.end() : at]
        if _is_number(text, token, marked=marked):
            normal = invoice_number(token[0])
            if normal is not None:
                yield token.start(), token.end(), normal
                yield from _listed(text, token.end())


def _is_number(text: str, token: re.Match[str], *, marked: bool) -> bool:
    """Whether what stands behind `invoice` is its number."""
    written = token[0]
    if not any(map(str.isdecimal, written)) or (_DAY.match(written) and not marked):
        return False
    # `invoice 4th`, `bill 2nd`: words with a digit; a number with letters has them before its digits.
    if written[0].isdecimal() and written.isalnum() and not written.isdecimal() and not marked:
        return False
    if written.isdecimal() and _NO_NUMBER.match(text, token.end()):
        return False
    return marked or not written.isdecimal() or len(written) >= _LEAST_BARE


def _listed(text: str, end: int) -> Iterator[tuple[int, int, str]]:
    """Further numbers of a list: `INV-2041, 2042 and 2043`."""
    while (also := _ALSO.match(text, end)) is not None and also[0].strip():
        token = _TOKEN.match(text, also.end())
        if token is None or not token[0].isdecimal() or len(token[0]) < _LEAST_BARE:
            return
        if _NO_NUMBER.match(text, token.end()):
            return
        yield token.start(), token.end(), invoice_number(token[0]) or token[0]
        end = token.end()
