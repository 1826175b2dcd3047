"""How long a text of quotations is to be, and which sentences make it that long.

Called by whoever writes in quotations to a length that is told in words: `900-1200`, `about 300`.
"""

import re
from collections.abc import Sequence

from actors.platform.extractive.candidates import Candidate
from models.record import Record

_NUMBER = re.compile(r"\d{1,6}")
_AROUND = 0.2
_UNTOLD = (150, 300)


class Length(Record):
    """A length in words: at least `least`, at most `most`."""

    least: int
    most: int

    @property
    def middle(self) -> int:
        """What is aimed at."""
        return (self.least + self.most) // 2


def length_of(told: str) -> Length:
    """A length as people tell it; 150 to 300 words where there is no number in it."""
    numbers = [int(found) for found in _NUMBER.findall(told.replace(",", ""))][:2]
    if not numbers:
        return Length(least=_UNTOLD[0], most=_UNTOLD[1])
    if len(numbers) == 1:
        least, most = round(numbers[0] * (1 - _AROUND)), round(numbers[0] * (1 + _AROUND))
    else:
        least, most = sorted(numbers)
    return Length(least=max(1, least), most=max(1, most))


def words_of(one: Candidate) -> int:
    """How many words a sentence has."""
    return len(one.text.split())


def count_for(found: Sequence[Candidate], length: Length) -> int:
    """How many of the sentences, from the best on, come to about the length."""
    words = count = 0
    for one in found:
        if count and words + words_of(one) / 2 > length.middle:
            break
        words += words_of(one)
        count += 1
    return count


def fitted(chosen: Sequence[Candidate], found: Sequence[Candidate], length: Length) -> list[Candidate]:
    """What was chosen: without its least where it is too long, with the best of the rest where too short.

    Args:
        chosen: some of `found`.
        found: all there are, best first.
    """
    kept: list[Candidate] = []
    words = 0
    taken = [one for one in found if one in chosen]
    for one in [*taken, *(one for one in found if one not in chosen)]:
        more = words_of(one)
        if words >= length.least and (one not in taken or words + more > length.most):
            continue
        if kept and words + more > length.most:
            continue
        kept.append(one)
        words += more
    return kept
