"""Lines through words on a page of a PDF: what is struck out is not what the page says.

Called by `pdf_reader`, which loads it by its path: it imports nothing of ours. A line counts where it crosses
the middle of a letter, be it drawn, a thin rectangle or picture, or a reader's mark; underlines and the rules
of tables pass below and above.
"""

import ctypes
import math
from collections.abc import Iterator
from typing import Any, Protocol

_MOST_SEGMENTS, _DEPTH = 200_000, 5
# In points: what is no line any more, and how far a line reaches into its buckets.
_THICKEST, _BUCKET = 12.0, 20.0
# Of a letter's size: between which heights its middle is; how thick a line through it is at most.
_LOWEST, _HIGHEST, _THICK = 0.1, 0.52, 0.45
_Point = tuple[float, float]
_Line = tuple[_Point, _Point, float]


class _Letter(Protocol):
    """Upright: from the left and down."""

    left: float
    right: float
    base: float
    size: float


class Strikes:
    """The lines of a page."""

    def __init__(self, page: Any) -> None:
        self._lines = [line for line in _lines(page) if line[2] <= _THICKEST]
        self._turned: dict[int, dict[int, list[_Line]]] = {}

    def cross(self, letter: _Letter, turn: int) -> bool:
        """Whether one of them goes through a letter that is written in a direction, in degrees."""
        if turn not in self._turned:
            self._turned[turn] = _in_buckets(self._lines, turn)
        middle = (letter.left + letter.right) / 2
        for (left, above), (right, below), thick in self._turned[turn].get(int(middle // _BUCKET), ()):
            if not left <= middle <= right or thick > max(_THICK * letter.size, 1.0):
                continue
            height = letter.base - (above + (below - above) * (middle - left) / (right - left))
            if _LOWEST * letter.size < height < _HIGHEST * letter.size:
                return True
        return False


def _in_buckets(lines: list[_Line], turn: int) -> dict[int, list[_Line]]:
    """Lines from the left to the right, as they lie beside letters of a direction, by where they are."""
    along = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    found: dict[int, list[_Line]] = {}
    for *ends, thick in lines:
        (left, above), (right, below) = sorted(
            (x * along[0] + y * along[1], x * along[1] - y * along[0]) for x, y in ends
        )
        if right - left > abs(below - above):
            for bucket in range(int(left // _BUCKET), int(right // _BUCKET) + 1):
                found.setdefault(bucket, []).append(((left, above), (right, below), thick))
    return found


def _lines(page: Any) -> Iterator[_Line]:
    from pypdfium2 import raw

    left = _MOST_SEGMENTS
    kinds = [raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_IMAGE]
    for one in page.get_objects(filter=kinds, max_depth=_DEPTH):
        if one.type == raw.FPDF_PAGEOBJ_IMAGE:
            parts = [_corners(*one.get_bounds())]
            into = one.container
        else:
            left -= raw.FPDFPath_CountSegments(one.raw)
            parts, into = (list(_parts(one.raw)) if left > 0 else []), one
        matrices = []
        while into is not None:
            matrices.append(into.get_matrix())
            into = into.container
        for part in parts:
            for matrix in matrices:
                part = [matrix.on_point(*point) for point in part]
            yield from _line_of(part)
    yield from _marks(page)


def _corners(left: float, bottom: float, right: float, top: float) -> list[_Point]:
    return [(left, bottom), (right, bottom), (right, top), (left, top)]


def _parts(path: Any) -> Iterator[list[_Point]]:
    """The points of each part of a path that is painted."""
    from pypdfium2 import raw

    fill, stroke = ctypes.c_int(), ctypes.c_int()
    raw.FPDFPath_GetDrawMode(path, fill, stroke)
    if not fill.value and not stroke.value:
        return
    x, y = ctypes.c_float(), ctypes.c_float()
    points: list[_Point] = []
    for place in range(raw.FPDFPath_CountSegments(path)):
        segment = raw.FPDFPath_GetPathSegment(path, place)
        if raw.FPDFPathSegment_GetType(segment) == raw.FPDF_SEGMENT_MOVETO and points:
            yield points
            points = []
        raw.FPDFPathSegment_GetPoint(segment, x, y)
        points.append((x.value, y.value))
    if points:
        yield points


def _line_of(points: list[_Point]) -> Iterator[_Line]:
    """The line that a part of a path is, if it is one: its two ends, or the middle of what is thin."""
    if len(set(points)) == 2:
        first, last = sorted(set(points))
        yield first, last, 0.0
        return
    lefts, bottoms = zip(*points, strict=True)
    left, right, bottom, top = min(lefts), max(lefts), min(bottoms), max(bottoms)
    if right - left >= top - bottom:
        yield (left, (bottom + top) / 2), (right, (bottom + top) / 2), top - bottom
    else:
        yield ((left + right) / 2, bottom), ((left + right) / 2, top), right - left


def _marks(page: Any) -> Iterator[_Line]:
    """What a reader struck out with a tool of his own."""
    from pypdfium2 import raw

    quad = raw.FS_QUADPOINTSF()
    for place in range(min(raw.FPDFPage_GetAnnotCount(page.raw), _MOST_SEGMENTS)):
        mark = raw.FPDFPage_GetAnnot(page.raw, place)
        if raw.FPDFAnnot_GetSubtype(mark) == raw.FPDF_ANNOT_STRIKEOUT:
            for number in range(min(raw.FPDFAnnot_CountAttachmentPoints(mark), _MOST_SEGMENTS)):
                raw.FPDFAnnot_GetAttachmentPoints(mark, number, quad)
                # From the top left: the four corners, line by line.
                yield (
                    ((quad.x1 + quad.x3) / 2, (quad.y1 + quad.y3) / 2),
                    ((quad.x2 + quad.x4) / 2, (quad.y2 + quad.y4) / 2),
                    0.0,
                )
        raw.FPDFPage_CloseAnnot(mark)
