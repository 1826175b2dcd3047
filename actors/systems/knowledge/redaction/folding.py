"""A text as recognisers read it: odd digits, spaces and dashes made plain, and what is not seen left out.

Pages hold `+48 601 234 567` with no-break spaces, full-width digits, soft hyphens, and the backslashes that
Markdown puts before `_`. Recognisers see none of these; `place` leads back into the text as it is.
"""

import re
import sys
import unicodedata
from bisect import bisect_right
from functools import cache

# A blank other than the plain ones; what is no character to a reader; and a backslash that escapes.
_UNSEEN = re.compile(r"[\u00ad\u200b-\u200f\u2060\u2061-\u2064\ufeff\u202a-\u202e]|\\(?=[!-/:-@\[-`{-~])")
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\ufe58\ufe63\uff0d"


class Folded:
    """A text made plain. `text` has no unseen characters, so places in it are not those of the original."""

    def __init__(self, original: str) -> None:
        plain = original if original.isascii() else original.translate(_plain_characters())
        # What is left out, as pairs: where the plain text goes on, and how much is gone by then.
        left_out = [match.start() for match in _UNSEEN.finditer(plain)]
        self._gone = [place - count for count, place in enumerate(left_out)]
        self.text = _UNSEEN.sub("", plain) if left_out else plain
        self._addresses: tuple[list[int], list[int]] | None = None
        self._dense: list[tuple[int, int]] | None = None

    def place(self, start: int, end: int) -> tuple[int, int]:
        """The span of the original for one of `text`, with the unseen characters just before it."""
        from_ = 0 if start == 0 else start - 1 + bisect_right(self._gone, start - 1) + 1
        return from_, end - 1 + bisect_right(self._gone, end - 1) + 1

    def dense(self) -> list[tuple[int, int]]:
        """Spans of `text` with many digits close together, and somewhat more around each, in order.

        No number, account or card is elsewhere; most of a text in prose is.
        """
        if self._dense is None:
            self._dense = []
            for match in _DENSE.finditer(self.text):
                start, end = max(match.start() - _AROUND, 0), match.end() + _AROUND
                if self._dense and start <= self._dense[-1][1]:
                    start = self._dense.pop()[0]
                self._dense.append((start, end))
        return self._dense

    def in_address(self, place: int) -> bool:
        """Whether a place of `text` is within a URL or the target of a link, where numbers are mostly ids."""
        if self._addresses is None:
            spans = [match.span() for match in _ADDRESS.finditer(self.text)]
            self._addresses = [start for start, _ in spans], [end for _, end in spans]
        starts, ends = self._addresses
        before = bisect_right(starts, place) - 1
        return before >= 0 and place < ends[before]


_DENSE = re.compile(r"(?:[0-9][^0-9\n]{0,6}+){6,}+")
_AROUND = 20
_ADDRESS = re.compile(r"(?:://|\bwww\.|\]\()[^\s<>\"]*")


@cache
def _plain_characters() -> dict[int, str]:
    """One plain character for each odd one; lengths stay as they are."""
    plain = {
        code: str(unicodedata.decimal(chr(code)))
        for code in range(128, sys.maxunicode + 1)
        if unicodedata.category(chr(code)) == "Nd"
    }
    plain.update({code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)})
    plain.update({code: " " for code in (0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000)})
    plain.update({ord(dash): "-" for dash in _DASHES})
    return plain
