"""Which letters of a PDF's line make a word: those that are set wide have gaps between them, too.

Called by `pdf_reader`, which loads it by its path: it imports nothing of ours. Single letters in a row, as
far apart as each other, are a word. Where they stand as far apart as words do, it isn't certain: a hole
stands before them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from actors.platform.pdf.pdf_signs import Sign

# Of a letter's size: what is a gap at all, what parts words, how far a baseline may be off.
_TOUCH, _WORD, _LEVEL = 0.08, 0.16, 0.2
# Of the narrowest gap between single letters: up to where others are alike, from where on they part words.
_ALIKE, _OTHER = 1.25, 1.5
# Of the usual gap between words: by how much others that are about as wide differ.
_ABOUT = 0.25
_FEWEST = 3
# Letters that are words by themselves.
_WORDS = frozenset("AIOaiouwzUWZ")


def set_words(signs: Sequence[Sign]) -> None:
    """Mark which characters go on with the word before them, and before which that isn't certain."""
    for line in _lines(signs):
        gaps = [after.left - before.right for before, after in pairwise(line)]
        # Of a line that is set wide, what is between all its letters.
        base = _middle(gaps) if _middle(gaps) > _TOUCH * line[0].size else 0.0
        cuts = [place for place, after in enumerate(line[1:]) if _parts(gaps, place, base, after)]
        for place, (gap, after) in enumerate(zip(gaps, line[1:], strict=True)):
            after.is_close = place not in cuts
            after.slack = min(2 * base, gap) if gap > 0 else 0.0
        words = [(start + 1, end + 1) for start, end in pairwise([-1, *cuts, len(gaps)])]
        for start, end in words:
            line[start].is_doubtful = any(map(_is_backward, line[start:end]))
        usual = _middle([gaps[end - 1] for _, end in words[:-1]])
        for singles in _single_letters(line, words):
            _look_at(line, gaps, singles, usual)


def _is_backward(sign: Sign) -> bool:
    """Whether it is of a script that is written from the right: its words aren't read in their order."""
    return unicodedata.bidirectional(sign.text[:1]) in ("R", "AL")


def _lines(signs: Sequence[Sign]) -> Iterator[list[Sign]]:
    """What is written one after the other in one line."""
    line: list[Sign] = []
    space: Sign | None = None
    for sign in signs:
        if not sign.size:
            space = sign if space is None or space.is_supposed else space
            continue
        sign.is_after_written = space is not None and not space.is_supposed
        sign.is_after_supposed, space = space is not None, None
        size = max(line[-1].size, sign.size) if line else 0.0
        if line and not (
            abs(line[-1].base - sign.base) < _LEVEL * size and -size < sign.left - line[-1].right < 2 * size
        ):
            yield line
            line = []
        line.append(sign)
    if line:
        yield line


def _middle(gaps: Sequence[float]) -> float:
    return sorted(gaps)[len(gaps) // 2] if gaps else 0.0


def _parts(gaps: Sequence[float], place: int, base: float, after: Sign) -> bool:
    """Whether a gap parts words: a space is written there, or it is wider than that between letters."""
    gap = gaps[place]
    if after.is_after_written or gap - base > _WORD * after.size:
        return True
    near = max((gaps[at] for at in (place - 1, place + 1) if 0 <= at < len(gaps)), default=0.0)
    return after.is_after_supposed and gap > _TOUCH * after.size and near < gap / 2


def _single_letters(line: Sequence[Sign], words: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """From where to where words have one letter each, two or more in a row."""
    start: int | None = None
    for begins, ends in [*words, (len(line), len(line))]:
        if ends - begins == 1 and line[begins].text.isalpha():
            start = begins if start is None else start
            continue
        # A comma behind the last letter is of its word.
        if (
            start is not None
            and ends - begins > 1
            and line[begins].text.isalpha()
            and not any(sign.text.isalnum() for sign in line[begins + 1 : ends])
        ):
            begins += 1
        if start is not None and begins - start > 1:
            yield start, begins
        start = None


def _look_at(line: Sequence[Sign], gaps: Sequence[float], singles: tuple[int, int], usual: float) -> None:
    """Put letters together that are set wide, as far as that is certain."""
    start, end = singles
    letters, inner = line[start:end], gaps[start : end - 1]
    told = "".join(sign.text for sign in letters)
    least = min(inner)
    is_written = any(sign.is_after_written for sign in letters[1:])
    is_as_words = abs(least - usual) <= _ABOUT * usual or is_written
    if is_as_words and all(letter in _WORDS for letter in told):
        return
    is_word = len(told) >= _FEWEST and told[1:].islower()
    is_clear = all(gap <= _ALIKE * least or gap >= _OTHER * least for gap in inner)
    if is_written or not is_clear or (is_as_words and not is_word):
        letters[0].is_doubtful = True
        return
    for gap, letter in zip(inner, letters[1:], strict=True):
        letter.is_close = gap <= _ALIKE * least
        letter.slack = 2 * least
    # What stands behind the last one has its gap, too.
    if end < len(line):
        line[end].slack = least
