"""The text of a page of a PDF in the order in which it is read: column by column, its words whole.

Called by `pdf_reader`, which loads it by its path: it imports nothing of ours. What stands side by side
is read one after the other where one of it is prose, else row by row, as a table. Where it isn't certain what
goes on where, U+FFFC stands between: no sentence goes across it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from actors.outside.pdf_rows import TextPiece

# Of a letter's size: a gap that parts paragraphs, from baseline to baseline; a gap between columns.
_PARAGRAPHS, _GAP = 1.9, 0.4
_EDGE = 2.0
_CANDIDATES = 40
_PROSE, _FLOWS = 12, 0.25
_OTHER_SIZE, _SURE = 0.12, 2
# A line at the edge of a page that is so much shorter than others, and ends no sentence, is none of them.
_SHORT = 0.6
_ENDS = (".", "!", "?", ":", "”", '"', "…")
_HOLE = "\ufffc"
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
    width = max((one.right for one in pieces), default=0) - min((one.left for one in pieces), default=0)
    told: list[str] = []
    is_open = was_ever_open = False
    for place, block in enumerate(blocks):
        flows = _flows(block.rows, usual)
        is_doubtful = is_open or (block.is_torn and was_ever_open)
        if told and not (is_open and block.is_sure):
            told.append(_HOLE if is_doubtful and flows else "")
        told.extend(_apart(block.rows, width, (place == 0, place == len(blocks) - 1)))
        is_unfinished = flows and not _text(block.rows[-1]).endswith(_ENDS)
        is_open = is_unfinished or (is_open and not flows)
        was_ever_open |= is_unfinished
    return told


def _flows(rows: Sequence[list[TextPiece]], usual: float) -> bool:
    """Whether a block is of the page's prose: what it breaks off may go on elsewhere."""
    is_usual = abs(rows[-1][0].size - usual) <= _OTHER_SIZE * usual
    return len(rows) > 1 and is_usual and max(len(_text(row)) for row in rows) > _PROSE


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
                yield [*sides]
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
    if _are_numbers(left) or _are_numbers(right):
        return _is_prose(left) or _is_prose(right)
    if min(len(left), len(right)) > 1:
        return _is_prose(left) or _is_prose(right)
    # One line beside others: it stands in their margin, or behind a hole in one of them.
    if len(right) == 1:
        beside = [one for one in left if abs(one.base - right[0].base) < 0.2 * size]
        edge = min(one.left for one in left)
        return (
            _is_prose(left)
            and len(left) > 2
            and all(one.right - edge > 0.85 * (ends - edge) for one in beside)
        )
    beside = [one for one in right if abs(one.base - left[0].base) < 0.2 * size]
    return _is_prose(right) and len(right) > 2 and all(one.left - begins < size / 2 for one in beside)


def _are_numbers(side: Sequence[TextPiece]) -> bool:
    return len(side) > 1 and all(piece.text.isdigit() for piece in side)


def _is_prose(side: Sequence[TextPiece]) -> bool:
    """Whether lines go on in the next one: many begin with a small letter."""
    texts = [piece.text for piece in side]
    if len(texts) < 2 or sum(map(len, texts)) < _PROSE * len(texts):
        return False
    small = sum(text[:1].islower() for text in texts[1:])
    return small >= _FLOWS * (len(texts) - 1)


def _text(row: list[TextPiece]) -> str:
    return f" {_HOLE} ".join(text for piece in row if (text := piece.text))


def _apart(rows: list[list[TextPiece]], width: float, edges: tuple[bool, bool]) -> list[str]:
    told: list[str] = []
    last = len(rows) - 1
    for place, row in enumerate(rows):
        near = [rows[at] for at in (place - 1, place + 1) if 0 <= at <= last]
        is_table = len(row) > 1 and any(len(one) > 1 for one in near)
        text = f"| {' | '.join(piece.text for piece in row)} |" if is_table else _text(row)
        if place:
            is_edge = (place == 1 and edges[0]) or (place == last and edges[1])
            between = _between(rows[place - 1], row, width, is_edge=is_edge)
            told.extend(between)
        if text:
            told.append(text)
    return told


def _between(above: list[TextPiece], row: list[TextPiece], width: float, *, is_edge: bool) -> list[str]:
    gap, size = row[0].base - above[0].base, max(row[0].size, above[0].size)
    if gap > _PARAGRAPHS * size or abs(row[0].size - above[0].size) > _OTHER_SIZE * size:
        return [""]
    # Half a line below, and beside it: of another column.
    if gap < 0.9 * size and (row[0].left > above[-1].right or row[-1].right < above[0].left):
        return [_HOLE]
    if not is_edge:
        return []
    texts = [_text(above), _text(row)]
    is_short = above[-1].right - above[0].left < _SHORT * width
    is_set_apart = _NUMBER.fullmatch(texts[1]) is not None or (
        is_short and not texts[0].endswith(_ENDS) and texts[1][:1].isupper()
    )
    return [""] if is_set_apart else []
