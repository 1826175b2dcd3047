"""The text of a page of a PDF in the order in which it is read: column by column, its words whole.

Called by `pdf_reader`, which loads it by its path: it imports nothing of ours. What stands side by side
is read one after the other where one of it is prose, else row by row, as a table. Where it isn't certain what
goes on where, U+FFFC stands between: no sentence goes across it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, repeat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from actors.platform.pdf.pdf_rows import TextPiece

# Of a letter's size: a gap that parts paragraphs, from baseline to baseline; a gap between columns.
_PARAGRAPHS, _GAP = 1.9, 0.4
_EDGE = 2.0
_CANDIDATES = 40
_PROSE, _LONG_LINE, _FLOWS = 12, 40, 0.25
_OTHER_SIZE, _SURE = 0.12, 2
# Of a column's width, and of its lines; words of a line of prose; letters' sizes without a line.
_FULL, _WORDS, _EMPTY = 0.75, 4, 3.0
# Steps between lines that tell what is usual; what is no more than that; digits of a number of a line.
_STEPS, _USUAL, _LONG = 4, 1.25, 5
# A line at the edge of a page that is so much shorter than others, and ends no sentence, is none of them.
_SHORT = 0.6
_ENDS = (".", "!", "?", ":", "”", '"', "…")
_HOLE = "\ufffc"
# The number of a footnote, whose letters are smaller than the page's.
_NOTE = re.compile(r"(?:\d{1,3}|[*†‡]{1,3}|[⁰¹²³⁴-⁹]{1,3})\s?(?=[^\W\d_])")
_SMALL = 0.92
_NUMBER = re.compile(r"\W{0,3}(?:[^\W\d_]{1,12}\.?\s)?\d{1,4}(?:\s?(?:[^\W\d_]{1,6}|/)\s?\d{1,4})?\W{0,3}")


@dataclass(slots=True)
class _Stretch:
    """Rows that are read one after the other.

    What is sure goes on from the block before; what is torn, from any before it.
    """

    rows: list[list[TextPiece]]
    is_sure: bool = False
    is_torn: bool = False


def lines_of(rows: Sequence[list[TextPiece]]) -> list[str]:
    """The lines of rows of pieces in their order; "" between paragraphs, U+FFFC where they may not go on."""
    pieces = [piece for row in rows for piece in row]
    sizes = sorted(piece.size for piece in pieces)
    usual = sizes[len(sizes) // 2] if sizes else 0.0
    blocks = [block for block in _blocks(pieces, 0) if block.rows]
    blocks = [
        replace(block, rows=list(map(_with_number_apart, block.rows, repeat(usual)))) for block in blocks
    ]
    told: list[str] = []
    is_open = was_ever_open = False
    for place, block in enumerate(blocks):
        flows = _flows(block.rows, usual)
        is_doubtful = is_open or (block.is_torn and was_ever_open)
        if told and not (is_open and block.is_sure):
            told.append(_HOLE if is_doubtful and (flows or _is_usual(block.rows[0][0], usual)) else "")
        told.extend(_apart(block.rows, (place == 0, place == len(blocks) - 1)))
        is_title = place == 0 and len(block.rows) == 1
        is_unfinished = flows and not is_title and not _text(block.rows[-1]).endswith(_ENDS)
        is_open = is_unfinished or (is_open and not flows)
        was_ever_open |= is_unfinished
    return told


def _with_number_apart(row: list[TextPiece], usual: float) -> list[TextPiece]:
    """A line of small letters with a hole behind the number that it begins with, as a footnote does."""
    number = _NOTE.match(row[0].text)
    if number is None or row[0].size > _SMALL * usual:
        return row
    text = row[0].text
    return [replace(row[0], text=f"{text[: number.end()]}{_HOLE} {text[number.end() :]}"), *row[1:]]


def _flows(rows: Sequence[list[TextPiece]], usual: float) -> bool:
    """Whether a block is of the page's prose: what it breaks off may go on elsewhere."""
    longest = max(len(_text(row)) for row in rows)
    is_prose = longest > _PROSE if len(rows) > 1 else longest > _LONG_LINE and not rows[0][0].is_bold
    return is_prose and _is_usual(rows[-1][0], usual)


def _is_usual(piece: TextPiece, usual: float) -> bool:
    return abs(piece.size - usual) <= _OTHER_SIZE * usual


def _rows(pieces: Sequence[TextPiece]) -> list[list[TextPiece]]:
    rows: list[list[TextPiece]] = []
    for piece in sorted(pieces, key=lambda one: (one.base, one.left)):
        if rows and abs(piece.base - rows[-1][0].base) <= 0.2 * min(piece.size, rows[-1][0].size):
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return [sorted(row, key=lambda one: one.left) for row in rows]


def _blocks(pieces: Sequence[TextPiece], depth: int) -> Iterator[_Stretch]:
    """The pieces by what is read together: of columns, the left one first."""
    found = _best_bands(pieces) if depth < 8 else None
    if found is None:
        yield _Stretch(_rows(pieces))
        return
    several = sum(len(band) > 1 for band in found) > 1
    for band in found:
        before: _Stretch | None = None
        for side in band:
            inner = list(_blocks(side, depth + 1)) if len(band) > 1 else [_Stretch(_rows(side))]
            inner[0].is_torn = several
            inner[0].is_sure = before is not None and not several and _are_alike(before.rows, inner[0].rows)
            before = inner[-1]
            yield from inner


def _are_alike(left: Sequence[list[TextPiece]], right: Sequence[list[TextPiece]]) -> bool:
    """Whether both are columns of one text: prose of one size, begun at one height, as wide or less."""
    size = left[-1][0].size
    sides = [[row for row in side if abs(row[0].size - size) < _OTHER_SIZE * size] for side in (left, right)]
    if len(sides[1]) < len(right) or min(map(len, sides)) < _SURE:
        return False
    widths = [max(row[-1].right for row in side) - min(row[0].left for row in side) for side in sides]
    return (
        all(len(row) == 1 for side in sides for row in side)
        and all(_is_prose([row[0] for row in side]) for side in sides)
        and abs(sides[0][0][0].base - sides[1][0][0].base) < 0.2 * size
        and widths[1] < 1.25 * widths[0]
    )


def _best_bands(pieces: Sequence[TextPiece]) -> list[list[list[TextPiece]]] | None:
    """The pieces in bands, from the top: of one part, or of two that stand side by side."""
    ordered = sorted(pieces, key=lambda one: (one.base, one.left))
    lefts = Counter(round(piece.left) for piece in pieces)
    best, most = None, 0
    for at, _ in sorted(lefts.most_common(_CANDIDATES)):
        bands = list(_bands(ordered, at))
        count = sum(len(side) for band in bands if len(band) > 1 for side in band)
        if count > most:
            best, most = bands, count
    return best


def _bands(ordered: Sequence[TextPiece], at: float) -> Iterator[list[list[TextPiece]]]:
    whole: list[TextPiece] = []
    sides: tuple[list[TextPiece], list[TextPiece]] = ([], [])
    for piece in [*ordered, None]:
        if piece is not None and not piece.left < at - _EDGE < piece.right - _EDGE:
            sides[piece.left >= at - _EDGE].append(piece)
            continue
        if any(sides):
            if _are_columns(*sides):
                if whole:
                    yield [whole]
                yield from _at_gaps(*_with_holes(*sides))
                whole = []
            else:
                whole += [*sides[0], *sides[1]]
            sides = ([], [])
        if piece is not None:
            whole.append(piece)
    if whole:
        yield [whole]


def _are_columns(left: Sequence[TextPiece], right: Sequence[TextPiece]) -> bool:
    if not left or not right:
        return False
    size = min(left[0].size, right[0].size)
    if left[-1].base < right[0].base - size / 2 or right[-1].base < left[0].base - size / 2:
        return False
    begins, ends = min(one.left for one in right), max(one.right for one in left)
    if begins - ends < _GAP * size:
        return False
    # Something beside prose; a single line only beside several.
    return any(
        _is_prose(side) and (len(other) > 1 or len(side) > 2)
        for side, other in ((left, right), (right, left))
    )


def _at_gaps(left: list[TextPiece], right: list[TextPiece]) -> Iterator[list[list[TextPiece]]]:
    """Two columns, cut where one of them is empty beside lines of the other: a box may stand across both."""
    for side, other in ((left, right), (right, left)):
        for above, below in pairwise(side):
            is_empty = below.base - above.base > _EMPTY * below.size
            ends = below.base - below.size / 2
            if is_empty and any(above.base + below.size / 2 < one.base < ends for one in other):
                both = [[one for one in column if one.base < ends] for column in (left, right)]
                rest = [[one for one in column if one.base >= ends] for column in (left, right)]
                yield both
                if all(rest):
                    yield from _at_gaps(*rest)
                else:
                    yield [max(rest, key=len)]
                return
    yield [left, right]


def _with_holes(left: Sequence[TextPiece], right: Sequence[TextPiece]) -> tuple[list[TextPiece], ...]:
    """Two sides, with holes where a line of prose may go on in what stands level with it, on the other side.

    It doesn't between two columns of prose, or beside numbers of lines; it may where a gap tore a word off.
    """
    if (_is_prose(left) and _is_prose(right)) or _are_numbers(left) or _are_numbers(right):
        return [*left], [*right]

    def may_go_on(piece: TextPiece, others: Sequence[TextPiece]) -> bool:
        return any(
            abs(one.base - piece.base) < 0.2 * piece.size
            and abs(one.size - piece.size) <= _OTHER_SIZE * piece.size
            for one in others
        )

    torn_left = [replace(one, text=f"{one.text} {_HOLE}") if may_go_on(one, right) else one for one in left]
    torn_right = [replace(one, text=f"{_HOLE} {one.text}") if may_go_on(one, left) else one for one in right]
    return torn_left, torn_right


def _are_numbers(side: Sequence[TextPiece]) -> bool:
    """Whether a side counts lines: each number is as much more than the one before."""
    if len(side) < 2 or not all(piece.text.isdecimal() and len(piece.text) < _LONG for piece in side):
        return False
    counted = [int(piece.text) for piece in side]
    # They may begin again.
    steps = {after - before for before, after in pairwise(counted) if after > before}
    return len(steps) == 1


def _is_prose(side: Sequence[TextPiece]) -> bool:
    """Whether lines go on in the next one: many begin with a small letter, or most are about as wide."""
    texts = [piece.text for piece in side]
    if len(texts) < 2 or sum(map(len, texts)) < _PROSE * len(texts):
        return False
    small = sum(text[:1].islower() for text in texts[1:])
    if small >= _FLOWS * (len(texts) - 1):
        return True
    left, right = min(piece.left for piece in side), max(piece.right for piece in side)
    full = sum(piece.right - left > _FULL * (right - left) for piece in side)
    words = sum(text.count(" ") + 1 for text in texts)
    return len(texts) > _SURE and full >= _FULL * (len(texts) - 1) and words >= _WORDS * len(texts)


def _text(row: list[TextPiece]) -> str:
    return f" {_HOLE} ".join(text for piece in row if (text := piece.text))


def _apart(rows: list[list[TextPiece]], edges: tuple[bool, bool]) -> list[str]:
    told: list[str] = []
    last = len(rows) - 1
    page = _Measure.of(rows)
    was_table, begins = False, True
    for place, row in enumerate(rows):
        near = [rows[at] for at in (place - 1, place + 1) if 0 <= at <= last]
        is_table = len(row) > 1 and any(len(one) > 1 for one in near)
        text = f"| {' | '.join(piece.text for piece in row)} |" if is_table else _text(row)
        if place:
            is_edge = (place == 1 and edges[0]) or (place == last and edges[1])
            between = page.between(rows[place - 1], row, begins=begins, is_edge=is_edge)
            between = [_HOLE] if is_table is not was_table and not between else between
            told.extend(between)
            begins = "" in between
        if text:
            told.append(text)
        was_table = is_table
    return told


@dataclass(frozen=True, slots=True)
class _Measure:
    """How wide the lines of a block are, where they begin, and what usually parts two of them."""

    left: float
    width: float
    step: float

    @classmethod
    def of(cls, rows: Sequence[list[TextPiece]]) -> _Measure:
        """Of a block's own rows: its column may be narrow on a wide page."""
        left, right = min(row[0].left for row in rows), max(row[-1].right for row in rows)
        steps = sorted(row[0].base - above[0].base for above, row in pairwise(rows))
        return cls(left, right - left, steps[len(steps) // 2] if len(steps) >= _STEPS else 0.0)

    def between(
        self, above: list[TextPiece], row: list[TextPiece], *, begins: bool, is_edge: bool
    ) -> list[str]:
        """What stands between two rows: nothing within a paragraph, a hole where that isn't certain."""
        gap, size = row[0].base - above[0].base, max(row[0].size, above[0].size)
        texts = [_text(above), _text(row)]
        # What is only a hole was struck out whole.
        is_open = not texts[0].endswith(_ENDS) and texts[0] != _HOLE
        is_short = above[-1].right - above[0].left < _SHORT * self.width
        goes_on = is_open and not (is_short and self._has_room(above, texts[1]))
        if abs(row[0].size - above[0].size) > _OTHER_SIZE * size:
            return [""]
        is_heading = above[-1].is_bold and not row[0].is_bold
        if begins and is_open and (is_heading or (texts[0].isupper() and not texts[1].isupper())):
            return [""]
        if gap > _PARAGRAPHS * size:
            is_usual = gap <= _USUAL * self.step
            return ([] if is_usual else ["", _HOLE]) if goes_on else [""]
        # Half a line below, and beside it: of another column.
        if gap < 0.9 * size and (row[0].left > above[-1].right or row[-1].right < above[0].left):
            return [_HOLE]
        if not (is_edge or begins) or texts[0].isdecimal():
            return []
        is_number = is_edge and _NUMBER.fullmatch(texts[1]) is not None
        if is_number and is_open and texts[1].endswith(".") and abs(row[0].left - self.left) < 1:
            return []  # the last word of a sentence
        if is_number or (is_open and not goes_on and texts[1][:1].isupper()):
            return ["", _HOLE] if goes_on else [""]
        return []

    def _has_room(self, above: list[TextPiece], below: str) -> bool:
        """Whether a line ends although the next word would have had room in it, as a heading does."""
        last = above[-1]
        letter = (last.right - last.left) / max(len(last.text), 1)
        return last.right + letter * (len(below.split(maxsplit=1)[0]) + 2) < self.left + self.width
