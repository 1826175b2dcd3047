"""Whole days in a text, in the forms of any of the languages, and their normal form.

`2026-06-30`, `30.06.2026`, `June 30th, 2026` and `30 czerwca 2026` are one day. `03/04/2026` is the third of
April or the fourth of March, and stays both: `2026-03-04|2026-04-03`. One within a longer number is none.
"""

import re
from collections.abc import Iterator

from actors.platform.text.numbers.number_readings import Reader

_FOUR_DIGITS = re.compile(r"\d{4}")
_YEAR = re.compile(r"19|20|21")
_GOES_ON = re.compile(r"[/-]\d|\.\d")
_DAY = "day:"
_LENGTH = len("2026-06-30")


def days(text: str) -> Iterator[tuple[int, int, str]]:
    """The days of a text: from where to where, and the normal form, which may have two readings."""
    if not _FOUR_DIGITS.search(text):
        return
    # Of whole days, the forms of all languages are read in English.
    for found in Reader(text, "en").found():
        if not found.readings[0].startswith(_DAY):
            continue
        ways = sorted(one.removeprefix(_DAY) for one in found.readings)
        # What of a time stands behind a day is none of it.
        end = found.start + _LENGTH if found.text[:4].isdecimal() else found.end
        goes_on = "." not in found.text and _GOES_ON.match(text, end)
        within = goes_on or text[found.start - 1 : found.start] in ("/", ".", "-")
        if not within and _YEAR.match(ways[0]):
            yield found.start, end, "|".join(ways)
