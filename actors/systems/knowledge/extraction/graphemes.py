"""What a reader takes for one character: clusters that no chunk and no quotation cuts through.

After UAX #29, on the safe side: where that has a boundary, there may be none here, but never the other way
round. Called by chunks and spans. Takes time linear in the text.
"""

import unicodedata
from collections.abc import Iterator
from functools import lru_cache

_ZWJ = "\u200d"
_FIRST_WIDE = "\u0300"
# Joiners, marks of width and vowels that Unicode counts among letters, skin tones, and the tags of flags.
_EXTENDING = frozenset("\u200c\u200d\u0e33\u0eb3\uff9e\uff9f")
_TONES = ("\U0001f3fb", "\U0001f3ff")
_TAGS = ("\U000e0020", "\U000e007f")
_REGIONS = ("\U0001f1e6", "\U0001f1ff")
# Signs that stand before what they belong to (Prepend).
_PREPENDED = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e\U000110bd\U000110cd"
    "\U000111c2\U000111c3\U00011941\U00011a3f\U00011a84\U00011d46"
)
_VIRAMA = 9


def clusters(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where each cluster of `text[start:end]` begins and ends, in order and without gaps."""
    begun, regions = start, 0
    for place in range(start, end):
        after = text[place]
        is_region = _REGIONS[0] <= after <= _REGIONS[1]
        if place > start and not _joined(text[place - 1], after) and not (is_region and regions % 2):
            yield begun, place
            begun = place
        regions = regions + 1 if is_region else 0
    if begun < end:
        yield begun, end


def _joined(before: str, after: str) -> bool:
    if before < _FIRST_WIDE and after < _FIRST_WIDE:
        return before == "\r" and after == "\n"
    return _joins(before, after)


@lru_cache(maxsize=16384)
def _joins(before: str, after: str) -> bool:
    if unicodedata.category(before) in ("Cc", "Zl", "Zp"):
        return False
    if _extends(after):
        return True
    if unicodedata.category(after) in ("Cc", "Zl", "Zp"):
        return False
    if before == _ZWJ or before in _PREPENDED:
        return not after.isspace()
    if unicodedata.combining(before) == _VIRAMA:
        return after.isalpha()
    return _same_syllable(before, after)


def _extends(character: str) -> bool:
    return (
        unicodedata.category(character) in ("Mn", "Me", "Mc")
        or character in _EXTENDING
        or _TONES[0] <= character <= _TONES[1]
        or _TAGS[0] <= character <= _TAGS[1]
    )


def _same_syllable(before: str, after: str) -> bool:
    """Whether two letters are parts of one Korean syllable (GB6 to GB8)."""
    first, second = _jamo(before), _jamo(after)
    if first == "L":
        return second in ("L", "V", "LV", "LVT")
    if first in ("V", "LV"):
        return second in ("V", "T")
    return first in ("T", "LVT") and second == "T"


def _jamo(character: str) -> str:
    if "\u1100" <= character <= "\u115f" or "\ua960" <= character <= "\ua97c":
        return "L"
    if "\u1160" <= character <= "\u11a7" or "\ud7b0" <= character <= "\ud7c6":
        return "V"
    if "\u11a8" <= character <= "\u11ff" or "\ud7cb" <= character <= "\ud7fb":
        return "T"
    if "\uac00" <= character <= "\ud7a3":
        return "LVT" if (ord(character) - 0xAC00) % 28 else "LV"
    return ""
