"""Telephone numbers: international ones by their country's code and length, national ones by their form.

What a form alone can't tell from an amount (`601 234 567`) or a date needs a label beside it, such as `tel.`.
Forms that are taken as they stand: Poland's with an area code, or a mobile's with dashes; those with a
leading 0 as Germany, the United Kingdom, France and the Netherlands write them; North America's with dashes,
dots or parentheses. Codes: ITU-T E.164; areas: the UKE's plan for Poland.
"""

import re
from collections.abc import Iterator

from actors.systems.knowledge.redaction.finding import Judge, Recogniser

_DIGITS = re.compile(r"[0-9]+")
# Digits that follow the country's code, least and most; of others it is `_ANY`.
_LENGTHS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("1",), (10, 10)),
    **dict.fromkeys(("7", "90", "91", "92"), (10, 10)),
    **dict.fromkeys(
        ("33", "34", "31", "48", "61", "66", "84", "420", "421", "380", "375", "212", "351"), (9, 9)
    ),
    **dict.fromkeys(("41", "27", "40", "82", "81"), (9, 10)),
    **dict.fromkeys(("30", "57", "52", "54", "55", "86", "20"), (10, 11)),
    **dict.fromkeys(("45", "47", "65", "852", "371", "370"), (8, 8)),
    **dict.fromkeys(("44",), (9, 10)),
    **dict.fromkeys(("32", "36", "359", "385", "386", "381", "972", "971"), (8, 9)),
    **dict.fromkeys(("49", "43"), (7, 12)),
    **dict.fromkeys(("39",), (7, 11)),
    **dict.fromkeys(("46", "353", "358", "372"), (7, 10)),
}
_ANY = (7, 12)
# Codes of one and of two digits; all others have three (E.164, annex).
_ONE = frozenset("17")
_OF_TWO = (
    "20 27 28 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65 66 "
    "81 82 84 86 90 91 92 93 94 95 98"
)
_TWO = frozenset(_OF_TWO.split())
_AREA = r"(?:1[2-8]|2[2-59]|3[2-4]|4[1-46]|48|5[24-689]|6[1-35-8]|7[14-7]|8[1-79]|9[145])"  # of Poland
_MOBILE = r"(?:45|5[0137]|6[069]|7[2389]|88)"  # of Poland
_FEW = 2  # different digits: nobody has the number 0000000


def _international(known_only: bool) -> Judge:
    """The longest beginning of a candidate, up to the end of a group, that its country could have given."""

    def judge(match: re.Match[str]) -> int | None:
        best = None
        for digits, end in _beginnings(match, match.start("number")):
            if _given(digits, known_only):
                best = end
        return best and _closed(match, best)

    return judge


def _beginnings(match: re.Match[str], start: int) -> Iterator[tuple[str, int]]:
    """Digits from the start to the end of each group, and that end."""
    digits = ""
    for group in _DIGITS.finditer(match.string, start, _limit(match)):
        digits += group.group()
        yield digits, group.end()


def _limit(match: re.Match[str]) -> int:
    """Where a candidate meets a parenthesis that closes none of its own, such as a link's."""
    depth = 0
    for place in range(match.start(), match.end()):
        depth += {"(": 1, ")": -1}.get(match.string[place], 0)
        if depth < 0:
            return place
    return match.end()


def _closed(match: re.Match[str], end: int) -> int:
    """The end, with the parenthesis that closes one of its own just behind it."""
    opened = match.string.count("(", match.start(), end) > match.string.count(")", match.start(), end)
    return end + 1 if opened and match.string.startswith(")", end) else end


def _given(digits: str, known_only: bool) -> bool:
    size = 1 if digits[0] in _ONE else 2 if digits[:2] in _TWO else 3
    code, national = digits[:size], digits[size:]
    if known_only and code not in _LENGTHS:
        return False
    least, most = _LENGTHS.get(code, _ANY)
    # The 0 of calls at home is often left in: +49 (0)30, 0044 (0)20.
    # Italy's is dialled from abroad too.
    national = national[1:] if national[:1] == "0" else national
    if code == "1" and not re.fullmatch(r"[2-9][0-9]{2}[2-9][0-9]{6}", national):
        return False
    return least <= len(national) <= most and national[:1] != "0" and not national.endswith("000000")


def _national(least: int, most: int) -> Judge:
    """The whole of a candidate of so many digits that is no date and no row of one digit."""

    def judge(match: re.Match[str]) -> int | None:
        digits, end = "", match.start()
        for digits, end in _beginnings(match, match.start()):  # noqa: B007  # the last of them
            pass
        fits = least <= len(digits) <= most and not _DATE.match(match.group())
        return _closed(match, end) if fits and len(set(digits)) > _FEW else None

    return judge


_DATE = re.compile(
    r"[0-3]?[0-9]([./-])[01]?[0-9]\1(?:19|20)?[0-9]{2}(?![0-9])|(?:19|20)[0-9]{2}([./-])[01][0-9]\2[0-3][0-9]"
)
# A number that goes on is another one.
_END = r"(?![0-9]|[ -][0-9]{2,}|[./][0-9])"
_NO_TARGET = r"(?!(?<=\])\()"  # the parenthesis of a link is no number's
_START = rf"(?<![0-9])(?<![0-9][ .,/-]){_NO_TARGET}"


# What needs no label; of nine to twelve digits.
_FORMS = (
    # Poland: (22) 123 45 67, 0-22 123 45 67, (0 22) 123-45-67, 22/123 45 67, 601-234-567.
    rf"(?:\((?:0[ -]?)?{_AREA}\)[ -]?|(?:0[ -])?{_AREA}[ /-]) ?"
    r"[1-9][0-9]{2}([ -])[0-9]{2}\1[0-9]{2}",
    rf"\((?:0[ -]?)?{_AREA}\)[ -]?[1-9][0-9]{{2}}[ -]?[0-9]{{4}}",
    rf"{_MOBILE}[0-9]-[0-9]{{3}}-[0-9]{{3}}",
    # France: 01 23 45 67 89. The Netherlands: 06-12345678.
    r"0[1-9](?:([ .-])[0-9]{2})(?:\1[0-9]{2}){3}|06[ -][1-9][0-9]{7}",
    # Germany, the United Kingdom, Austria: (030) 123 45 67, 030/1234567, 0211 / 123 45-0, 0161-496 0000.
    r"\(0 ?[1-9][0-9 ]{1,5}\)[ /-]{0,3}[0-9](?:[ /-]?[0-9]){3,8}",
    r"0[1-9][0-9]{1,4}(?: ?/ ?|-)[1-9][0-9]{1,7}(?:[ -][0-9]{1,5}){0,3}",
    # With blanks alone only where no amount has such a form: its last part is long, or the prefix a mobile's.
    r"0[1-9][0-9] [0-9]{6,8}|0[1-9][0-9]{3} [0-9]{6,8}|0[1-9][0-9]{2} [0-9]{7,8}",
    r"01[567][0-9]{1,2} [0-9]{3,8}(?: [0-9]{2,5}){0,2}|07[0-9]{3} [0-9]{3} ?[0-9]{3}",
    r"02[0-9] [0-9]{4} [0-9]{4}|01(?:1[0-9]|[2-9]1) [0-9]{3} [0-9]{4}",
    # North America: (212) 555-0123, 212-555-0123, 1-800-555-0199, 212.555.0123.
    r"(?:\+?1[ .-])?(?:\([2-9][0-9]{2}\) ?[2-9][0-9]{2}[ .-]|[2-9][0-9]{2}([.-])[2-9][0-9]{2}\1)[0-9]{4}",
)
RECOGNISERS: tuple[Recogniser, ...] = (
    Recogniser(
        "phone",
        re.compile(
            r"(?<![0-9+])(?:(?<!\])\((?=\+[0-9]{1,3}\)))?(?:\+|%2B) ?\(?"
            r"(?P<number>[1-9](?:[ ./()-]{0,4}[0-9]){7,17})(?![0-9])",
            re.IGNORECASE,
        ),
        _international(known_only=False),
    ),
    Recogniser(
        "phone",
        re.compile(
            r"(?<![\w.,+-])(?<![0-9] )(?:\(00\)|00)[ -]?\(?"
            r"(?P<number>[1-9](?:[ ./()-]{0,4}[0-9]){7,17})(?![0-9])"
        ),
        _international(known_only=True),
    ),
    *(Recogniser("phone", re.compile(f"{_START}(?:{form}){_END}"), _national(9, 12)) for form in _FORMS),
    # Any other, where it is said to be one.
    Recogniser(
        "phone",
        re.compile(
            rf"(?<![0-9]){_NO_TARGET}"
            r"(?:[0-9]{3}([ .-])[0-9]{3}\1[0-9]{3}(?![0-9])"
            r"|\(?[0-9](?:[ .-]?[0-9]|(?: ?[/()-] ?| ?[()]{1,2} ?)[0-9]){6,16}(?![0-9]))"
        ),
        _national(7, 17),
        stands_alone=False,
    ),
)
