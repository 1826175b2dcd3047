"""The characters of a PDF's page that a reader sees, by the direction in which they are written.

Called by `pdf_reader`, which loads it by its path: it imports nothing of ours. A word counts as seen if it
stands out where PDFium paints the page: white, covered, clipped, hidden and invisible ones don't, those of a
scanned page do, unless others are seen there. Where a page isn't painted, what its words' colour tells
counts. A character without a meaning is U+FFFC: what is said with it is not known.
"""

import ctypes
import math
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

_MOST_CHARACTERS, _LONGEST_NAME = 200_000, 100
_MOST_PIXELS, _SCALE, _LEAST_SCALE = 4_000_000, 2.0, 0.7
_MOST_IMAGE = 40_000_000
# Of 255: how far a word stands out at least; and how light it may be where that isn't known.
_CONTRAST, _LIGHTEST = 24, 225
# In points; and what is tiny beside the page's usual letters.
_TINIEST, _TINY, _OF_USUAL = 2.0, 4.0, 0.4
_TURN = 5
# Of a letter: what one over another shares with it; in points, the squares they are looked for in; how many.
_SHARED, _BUCKET, _MOST_BUCKETS = 0.4, 20.0, 10
# As PDFium gives a hyphen at the end of a line, and as fonts have it.
_HYPHENS = frozenset("\x02\xad\u2010\u2011\ufffe")
_BULLETS = frozenset("\uf0b7\uf0a7\uf076\uf0d8\uf02d")
_MEANINGLESS, _HOLE = ("Cc", "Cs", "Co", "Cn"), "\ufffc"
_INVISIBLE = 3
_BOLD = re.compile(rb"bold|black|heavy|demi", re.IGNORECASE)


@dataclass(slots=True)
class Sign:
    """A character, upright: where it stands, from the left and down; or a space, or a line's end."""

    text: str
    left: float = 0.0
    right: float = 0.0
    top: float = 0.0
    bottom: float = 0.0
    base: float = 0.0
    size: float = 0.0
    # Where what is painted of it ends, below.
    foot: float = 0.0
    is_bold: bool = False
    # What parts it from the sign before it: any space; one that is written, and not supposed by PDFium.
    is_after_space: bool = False
    is_after_written: bool = False
    is_after_supposed: bool = False
    is_supposed: bool = False
    # As `pdf_words` has it: of one word with the sign before it; or perhaps; how much of its gap is no space.
    is_close: bool = False
    is_doubtful: bool = False
    slack: float = 0.0


@dataclass(slots=True)
class _Character:
    """A character as PDFium has it."""

    sign: Sign
    turn: int
    box: tuple[float, float, float, float]
    is_light: bool


class _StruckOut(Protocol):
    def cross(self, letter: Sign, turn: int) -> bool: ...


@dataclass(slots=True)
class SeenSigns:
    """The characters of each direction, that of most first, in the document's order; and what isn't read."""

    turns: list[list[Sign]]
    unseen: str
    struck: str


def signs_of(
    page: Any, strikes: _StruckOut, doubts: Mapping[str, frozenset[str]], *, is_painted: bool = True
) -> SeenSigns:
    """The characters of a page; holes for those that aren't seen, are struck out, or that a font doubts."""
    found = list(_found(page, doubts))
    under = _Under(found)
    sizes = sorted(one.sign.size for one in found if one.sign.size)
    usual = sizes[len(sizes) // 2] if sizes else 0.0
    look = _Painting(page, is_painted=is_painted)
    turns: dict[int, list[Sign]] = {}
    unseen: list[str] = []
    struck: list[str] = []
    before: _Character | None = None
    is_open = was_seen = True
    is_struck, hole = False, Sign(_HOLE)
    for word in _words(found):
        signs = [one.sign for one in word]
        told = turns.setdefault(word[0].turn, [])
        size = max(sign.size for sign in signs)
        if not size:
            told.extend(signs)
            continue
        if any(strikes.cross(one.sign, one.turn) for one in word):
            struck.append("".join(sign.text for sign in signs))
            if is_struck and before is not None and _are_in_line(before, word[0]):
                hole.right = signs[-1].right
            else:
                told.append(hole := _hole_of(signs[0], signs[-1].right))
            before, was_seen, is_struck = word[-1], True, True
            continue
        is_struck = False
        is_tiny = size < _TINIEST or (size < _TINY and size < _OF_USUAL * usual)
        is_seen = not is_tiny and look.is_seen(word) and not under.is_hidden(word)
        is_hole = is_seen is not was_seen and is_open and before is not None and _are_in_line(before, word[0])
        if is_hole:
            told.append(_hole_of(signs[0], signs[0].left if is_seen else signs[-1].right))
        if is_seen:
            told.extend(signs)
        else:
            unseen.append("".join(sign.text for sign in signs))
            told.extend([] if is_hole else [Sign("\n")])
        # One mark for all that isn't seen between two words.
        is_open = is_seen or (is_open and not is_hole)
        before, was_seen = word[-1], is_seen
    return SeenSigns(sorted(turns.values(), key=len, reverse=True), " ".join(unseen), " ".join(struck))


def _are_in_line(before: _Character, one: _Character) -> bool:
    size = max(before.sign.size, one.sign.size)
    is_level = before.turn == one.turn and abs(before.sign.base - one.sign.base) < size / 5
    return is_level and -size < one.sign.left - before.sign.right < 1.5 * size


def _hole_of(first: Sign, right: float) -> Sign:
    """What stands for words that aren't seen, in the line of those that are."""
    return Sign(_HOLE, first.left, right, first.top, first.bottom, first.base, first.size, first.base)


def _found(page: Any, doubts: Mapping[str, frozenset[str]]) -> Iterator[_Character]:
    from pypdfium2 import raw

    text = page.get_textpage()
    box, matrix = raw.FS_RECTF(), raw.FS_MATRIX()
    x, y = ctypes.c_double(), ctypes.c_double()
    edges = tuple(ctypes.c_double() for _ in range(4))
    colours = tuple(ctypes.c_uint() for _ in range(4))
    name = ctypes.create_string_buffer(_LONGEST_NAME)
    turn = 0
    for place in range(min(text.count_chars(), _MOST_CHARACTERS)):
        shown = _meant(raw.FPDFText_GetUnicode(text.raw, place))
        if shown.isspace():
            space = Sign("\n" if shown in "\r\n" else " ")
            space.is_supposed = raw.FPDFText_IsGenerated(text.raw, place) == 1
            yield _Character(space, turn, (0, 0, 0, 0), is_light=False)
            continue
        # As high as the font, not the letter; as wide as it takes up.
        raw.FPDFText_GetLooseCharBox(text.raw, place, box)
        raw.FPDFText_GetCharOrigin(text.raw, place, x, y)
        raw.FPDFText_GetMatrix(text.raw, place, matrix)
        raw.FPDFText_GetFillColor(text.raw, place, *colours)
        raw.FPDFText_GetCharBox(text.raw, place, *edges)
        size = raw.FPDFText_GetFontSize(text.raw, place) * math.hypot(matrix.c, matrix.d)
        turn = round(math.degrees(math.atan2(matrix.b, matrix.a)) / _TURN) * _TURN % 360
        whole = raw.FPDFText_GetTextObject(text.raw, place)
        mode = raw.FPDFTextObj_GetTextRenderMode(whole) if whole else 0
        red, green, blue, alpha = (colour.value for colour in colours)
        left, right, bottom, top = (edge.value for edge in edges)
        sign = _upright(shown, turn, box, (x.value, y.value), size)
        sign.foot = sign.base - (bottom - y.value if turn == 0 else 0.0)
        raw.FPDFText_GetFontInfo(text.raw, place, name, len(name), None)
        if sign.text in doubts.get(name.value.decode(errors="replace"), ()):
            sign.text = _HOLE
        sign.is_bold = _BOLD.search(name.value) is not None
        yield _Character(
            sign,
            turn,
            (left, bottom, right, top),
            is_light=min(red, green, blue) > _LIGHTEST or alpha < _CONTRAST or mode == _INVISIBLE,
        )


def _meant(code: int) -> str:
    shown = chr(code)
    if shown in _HYPHENS:
        return "-"
    if shown in _BULLETS:
        return "•"
    return _HOLE if unicodedata.category(shown) in _MEANINGLESS and not shown.isspace() else shown


def _upright(shown: str, turn: int, box: Any, origin: tuple[float, float], size: float) -> Sign:
    along = (math.cos(math.radians(turn)), math.sin(math.radians(turn)))

    def turned(x: float, y: float) -> tuple[float, float]:
        return x * along[0] + y * along[1], x * along[1] - y * along[0]

    left, base = turned(*origin)
    if turn % 90:
        return Sign(shown, left, left + 0.95 * size, base - 0.8 * size, base + 0.2 * size, base, size)
    corners = [turned(box.left, box.bottom), turned(box.right, box.top)]
    lefts, tops = sorted(x for x, _ in corners), sorted(y for _, y in corners)
    return Sign(shown, lefts[0], lefts[1], tops[0], tops[1], base, max(size, (tops[1] - tops[0]) / 2))


def _words(found: list[_Character]) -> Iterator[list[_Character]]:
    word: list[_Character] = []
    for one in found:
        if word and (one.sign.text.isspace() or one.turn != word[-1].turn or not _is_beside(word[-1], one)):
            yield word
            word = []
        if one.sign.text.isspace():
            yield [one]
        else:
            word.append(one)
    if word:
        yield word


def _is_beside(before: _Character, one: _Character) -> bool:
    is_near = abs(one.sign.base - before.sign.base) < max(before.sign.size, one.sign.size)
    return (
        is_near and one.is_light == before.is_light and abs(one.sign.left - before.sign.right) < one.sign.size
    )


class _Under:
    """Where words are painted: what is invisible, or as light as the ground, isn't read where others stand.

    The words of a layer over a scanned page have no others there.
    """

    def __init__(self, found: list[_Character]) -> None:
        self._painted: dict[tuple[int, int], list[tuple[float, float, float, float]]] = {}
        self._hidden: set[int] = set()
        for one in found:
            if one.sign.size and not one.is_light:
                for bucket in self._buckets(one.box):
                    self._painted.setdefault(bucket, []).append(one.box)
        line: list[_Character] = []
        for letter in (one for one in found if one.sign.size):
            if line and not (letter.is_light and _are_in_line(line[-1], letter)):
                self._hide(line)
                line = []
            if letter.is_light:
                line.append(letter)
        self._hide(line)

    def _hide(self, line: list[_Character]) -> None:
        over = sum(self._is_over(one.box) for one in line)
        self._hidden.update(id(one) for one in line if 2 * over > len(line))

    def is_hidden(self, word: list[_Character]) -> bool:
        """Whether it is of a line most of whose letters are where others are painted."""
        return any(id(one) in self._hidden for one in word)

    def _is_over(self, box: tuple[float, float, float, float]) -> bool:
        left, bottom, right, top = box
        shared = sum(
            max(0.0, min(right, other[2]) - max(left, other[0]))
            for other in {one for bucket in self._buckets(box) for one in self._painted.get(bucket, ())}
            if min(top, other[3]) - max(bottom, other[1]) > _SHARED * (top - bottom)
        )
        return shared > _SHARED * (right - left)

    @staticmethod
    def _buckets(box: tuple[float, float, float, float]) -> Iterator[tuple[int, int]]:
        left, bottom, right, top = (int(edge // _BUCKET) for edge in box)
        for column in range(left, min(right, left + _MOST_BUCKETS) + 1):
            for row in range(bottom, min(top, bottom + _MOST_BUCKETS) + 1):
                yield column, row


class _Painting:
    """The page as it is painted, if it is."""

    def __init__(self, page: Any, *, is_painted: bool) -> None:
        self._page = page
        self._width, self._height = page.get_size()
        area = max(self._width * self._height, 1.0)
        self._scale = min(_SCALE, math.sqrt(_MOST_PIXELS / area))
        self._pixels: bytes | None = None
        self._row = 0
        if is_painted and self._scale >= _LEAST_SCALE and _has_small_images(page):
            painted = page.render(scale=self._scale, grayscale=True)
            self._pixels, self._row = bytes(painted.buffer), painted.stride
            painted.close()

    def is_seen(self, word: list[_Character]) -> bool:
        """Whether it stands out from what is around it, on the page."""
        boxes = [one.box for one in word]
        left, top, right, bottom = self._on_screen(
            min(box[0] for box in boxes), min(box[1] for box in boxes),
            max(box[2] for box in boxes), max(box[3] for box in boxes),
        )  # fmt: skip
        wide, high = int(self._width * self._scale), int(self._height * self._scale)
        middle = (left + right) / 2, (top + bottom) / 2
        if not (0 <= middle[0] <= wide and 0 <= middle[1] <= high):
            return False
        if self._pixels is None:
            return not any(one.is_light for one in word)
        columns = slice(max(left, 0), min(right, wide - 1) + 1)
        rows = [
            self._pixels[self._row * row + columns.start : self._row * row + columns.stop]
            for row in range(max(top, 0), min(bottom, high - 1) + 1)
        ]
        told = [row for row in rows if row]
        return bool(told) and max(map(max, told)) - min(map(min, told)) >= _CONTRAST

    def _on_screen(self, *box: float) -> tuple[int, int, int, int]:
        from pypdfium2 import raw

        x, y = ctypes.c_int(), ctypes.c_int()
        wide, high = round(self._width * self._scale), round(self._height * self._scale)
        places = []
        for corner in (box[:2], box[2:]):
            raw.FPDF_PageToDevice(self._page.raw, 0, 0, wide, high, 0, *corner, x, y)
            places.append((x.value, y.value))
        (left, right), (top, bottom) = (sorted(each) for each in zip(*places, strict=True))
        return left, top, right, bottom


def _has_small_images(page: Any) -> bool:
    from pypdfium2 import raw

    wide, high = ctypes.c_uint(), ctypes.c_uint()
    left = _MOST_IMAGE
    for image in page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=3):
        raw.FPDFImageObj_GetImagePixelSize(image.raw, wide, high)
        left -= wide.value * high.value
    return left > 0
