"""The text of a page of a PDF in the order in which it is read: column by column, its words whole.

Called by `pdf_reader`, which loads it by its path: it imports nothing of ours. PDFium says where each
character stands. What stands side by side with a wide gap is two pieces; where such gaps are above each other
between lines of prose, what is left of them is read before what is right. A table's short cells stay in their
row.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

_MOST_CHARACTERS = 200_000
# Of a letter's height: a gap that parts two pieces, and one that parts paragraphs, from line to line.
_PIECES, _PARAGRAPHS = 1.3, 1.6
_LINES, _PROSE = 3, 15
_SPACED, _FEWEST_SPACED = 0.7, 6
# As PDFium gives a hyphen at the end of a line, and as fonts have it.
_HYPHENS = frozenset("\x02\xad\u2010\u2011\ufffe")
# Of the usual gap between the letters of such a line.
_WORD_GAP = 1.7
# A line at the edge of a page that is so much shorter than others, and ends no sentence, is none of them.
_SHORT = 0.6
_ENDS = (".", "!", "?", ":", "”", '"', "…")
_NUMBER = re.compile(r"\W{0,3}(?:[^\W\d_]{1,12}\.?\s)?\d{1,4}(?:\s?(?:[^\W\d_]{1,6}|/)\s?\d{1,4})?\W{0,3}")


@dataclass(slots=True)
class _Sign:
    """A character and where it stands."""

    text: str
    left: float
    right: float


@dataclass(slots=True)
class TextPiece:
    """What stands in one line without a wide gap. Ordinates go down from the top of the page."""

    top: float
    bottom: float
    signs: list[_Sign] = field(default_factory=list)

    @property
    def left(self) -> float:
        """Where it begins."""
        return self.signs[0].left

    @property
    def right(self) -> float:
        """Where it ends."""
        return max(sign.right for sign in self.signs)

    @property
    def height(self) -> float:
        """Of its letters."""
        return max(self.bottom - self.top, 1.0)

    @property
    def text(self) -> str:
        """Its words; those that are set with a space between all letters without it."""
        told = " ".join("".join(sign.text for sign in self.signs).split())
        return self._closed_up() if is_spaced_out(told) else told

    def _closed_up(self) -> str:
        letters = [sign for sign in self.signs if not sign.text.isspace()]
        gaps = [after.left - before.right for before, after in pairwise(letters)]
        usual = max(sorted(gaps)[len(gaps) // 2], 0.5) if gaps else 0.0
        told = letters[0].text if letters else ""
        for gap, letter in zip(gaps, letters[1:], strict=True):
            told += (" " if gap > _WORD_GAP * usual else "") + letter.text
        return told


def is_spaced_out(text: str) -> bool:
    """Whether nearly all words of a line are single letters, as those of a line that is set wide are."""
    words = text.split()
    singles = sum(len(word) == 1 for word in words)
    return len(words) >= _FEWEST_SPACED and singles >= _SPACED * len(words)


def page_text(page: Any) -> str:
    """The text of a page of PDFium, with an empty line between paragraphs as far as they are set apart."""
    return "\n".join(lines_of(page))


def lines_of(page: Any) -> list[str]:
    """The lines of a page in their order; "" between paragraphs."""
    lines = _lines(_pieces(page))
    return _apart(list(_ordered(lines)))


def _pieces(page: Any) -> list[TextPiece]:
    """What stands together, in the order of the document."""
    from pypdfium2 import raw

    text = page.get_textpage()
    height = page.get_height()
    box = raw.FS_RECTF()
    found: list[TextPiece] = []
    last: TextPiece | None = None
    for place in range(min(text.count_chars(), _MOST_CHARACTERS)):
        sign = chr(raw.FPDFText_GetUnicode(text.raw, place) or 32)
        if sign in "\r\n":
            last = None
            continue
        if sign in _HYPHENS:
            sign = "-"
        # As high as the font, not the letter; as wide as it takes up.
        raw.FPDFText_GetLooseCharBox(text.raw, place, box)
        left, right, bottom, top = box.left, box.right, box.bottom, box.top
        if sign.isspace():
            if last is not None:
                end = last.signs[-1].right
                last.signs.append(_Sign(" ", end, end))
            continue
        top, bottom = height - top, height - bottom
        if last is None or not _goes_on(last, left, top, bottom):
            last = TextPiece(top=top, bottom=bottom)
            found.append(last)
        last.top, last.bottom = min(last.top, top), max(last.bottom, bottom)
        last.signs.append(_Sign(sign, left, right))
    return found


def _goes_on(piece: TextPiece, left: float, top: float, bottom: float) -> bool:
    overlap = min(piece.bottom, bottom) - max(piece.top, top)
    is_beside = overlap > 0 or (
        top < piece.bottom + piece.height / 2 and bottom > piece.top - piece.height / 2
    )
    gap = left - piece.signs[-1].right
    return is_beside and -2 * piece.height < gap <= _PIECES * max(piece.height, 6.0)


def _lines(pieces: Sequence[TextPiece]) -> list[list[TextPiece]]:
    """The pieces by lines, from the top, each from the left."""
    lines: list[list[TextPiece]] = []
    for piece in sorted(pieces, key=lambda one: ((one.top + one.bottom) / 2, one.left)):
        middle = (piece.top + piece.bottom) / 2
        if lines and lines[-1][0].top <= middle <= lines[-1][0].bottom:
            lines[-1].append(piece)
        else:
            lines.append([piece])
    return [_joined(sorted(line, key=lambda one: one.left)) for line in lines]


def _joined(line: list[TextPiece]) -> list[TextPiece]:
    """A line whose letters are set wide apart is one piece: its gaps part words."""
    if len(line) < 2 or not is_spaced_out(
        " ".join("".join(sign.text for sign in piece.signs) for piece in line)
    ):
        return line
    whole = TextPiece(top=min(one.top for one in line), bottom=max(one.bottom for one in line))
    whole.signs = [sign for piece in line for sign in piece.signs]
    return [whole]


def _ordered(lines: list[list[TextPiece]]) -> Iterator[list[TextPiece]]:
    """The lines in the order in which they are read: of columns, the left one first."""
    gutter = _gutter(lines)
    if gutter is None:
        yield from lines
        return
    band: list[list[TextPiece]] = []
    for line in lines:
        if any(piece.left < gutter < piece.right for piece in line):
            yield from _columns(band, gutter)
            band = []
            yield line
        else:
            band.append(line)
    yield from _columns(band, gutter)


def _columns(band: list[list[TextPiece]], gutter: float) -> Iterator[list[TextPiece]]:
    for is_left in (True, False):
        column = [[piece for piece in line if (piece.left < gutter) is is_left] for line in band]
        yield from _ordered([line for line in column if line])


def _gutter(lines: Sequence[Sequence[TextPiece]]) -> float | None:
    """Where most gaps between two pieces of prose are above each other; None where there is no such place."""
    gaps = [
        (left.right, right.left)
        for line in lines
        for left, right in pairwise(line)
        if right.left > left.right
    ]
    best, most = None, _LINES - 1
    for start in sorted({begun for begun, _ in gaps}):
        at = start + 0.5
        through = sum(begun < at < end for begun, end in gaps)
        if through > most:
            best, most = at, through
    if best is None:
        return None
    sides = [[], []]  # type: list[list[int]]
    for line in lines:
        if len(line) > 1 and not any(piece.left < best < piece.right for piece in line):
            for piece in line:
                sides[piece.left > best].append(len(piece.text))
    is_prose = all(len(side) >= _LINES and sum(side) >= _PROSE * len(side) for side in sides)
    return best if is_prose else None


def _apart(lines: list[list[TextPiece]]) -> list[str]:
    told: list[str] = []
    width = max((line[-1].right - line[0].left for line in lines), default=0.0)
    before: list[TextPiece] | None = None
    for place, line in enumerate(lines):
        text = " ".join(piece.text for piece in line)
        if before is not None and _is_set_apart(before, line, width, is_edge=place in (1, len(lines) - 1)):
            told.append("")
        if text:
            told.append(text)
            before = line
    return told


def _is_set_apart(
    above: Sequence[TextPiece], line: Sequence[TextPiece], width: float, *, is_edge: bool
) -> bool:
    gap = line[0].top - above[0].bottom
    if gap > _PARAGRAPHS * max(line[0].height, above[0].height):
        return True
    # The next column: a sentence may go on in it.
    if gap < -3 * line[0].height:
        return above[-1].text.endswith(_ENDS)
    if not is_edge:
        return False
    texts = [" ".join(piece.text for piece in one) for one in (above, line)]
    is_short = above[-1].right - above[0].left < _SHORT * width
    return _NUMBER.fullmatch(texts[1]) is not None or (
        is_short and not texts[0].endswith(_ENDS) and texts[1][:1].isupper()
    )
