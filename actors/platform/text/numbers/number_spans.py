"""Where the numbers of a normal form stand, each with its sign and its currency.

No quotation has a part of one. A blank may part thousands: `1 500` is one number, `2019 500` is two. Where
that can't be told, it is one: a refused quotation does less harm than a wrong figure.
"""

import re
from collections.abc import Iterator

# Scripts that are written without blanks between words, and Korean, which glues its particles to them.
UNSPACED = (
    r"\u0e00-\u0eff\u0f00-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u30ff\u3100-\u31ff\u3400-\u9fff\ua000-\ua4cf"
    r"\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U0001b000-\U0001b2ff\U00020000-\U0003ffff"
)
# What parts thousands beside `.` and `,`; those, and what an Arab and a full-width text have for them, part
# fractions, too.
_THOUSANDS, _POINTS = " '\u066c\uff0c", ".,\u066b\uff0e"
_CURRENCY = r"$\u00a2-\u00a5\u058f\u060b\u09f2\u09f3\u0e3f\u17db\u20a0-\u20cf\ufdfc\ufe69\uff04\uffe0-\uffe6"
_DIGITS = rf"(?:(?<!\d)\d{{1,3}}(?:[{_THOUSANDS}]\d{{3}}(?!\d))+|\d+)"
# A minus stands behind what is no word, no bracket that is closed, and no other figure: else it is `3-15`.
_SIGN = rf"(?:(?<![\w)\]}}%‰°{_CURRENCY}-])|(?<=[{UNSPACED}]))-"
_NUMBER = re.compile(
    rf"(?:{_SIGN}(?: ?(?:[A-Z]{{1,3}})?[{_CURRENCY}] ?|[A-Z]{{3}} ?| )?)?{_DIGITS}(?:[{_POINTS}]{_DIGITS})*"
)
_JOINING = frozenset(_THOUSANDS + _POINTS + "-")
_MONEY = re.compile(rf"[{_CURRENCY}]")
# So much of a text around a place says whether it is in a number.
AROUND = 24


def numbers(form: str) -> Iterator[tuple[int, int]]:
    """Where each number begins and ends in a normal form, in order."""
    return (found.span() for found in _NUMBER.finditer(form))


def may_join(before: str, after: str) -> bool:
    """Whether two characters, side by side, may be of one number: a digit and what goes with it, or `-$`."""
    if after.isdigit():
        return before.isdigit() or before in _JOINING or before.isspace() or bool(_MONEY.match(before))
    if before == "-" and _MONEY.match(after):
        return True
    return before.isdigit() and (after in _JOINING or after.isspace())
