"""The rows of a PDF's page: which characters stand in one line, and where a line is made of several pieces.

Called by `pdf_layout`, and loaded by its path: it imports nothing of ours. A piece is what has no wide gap in
it, and none that stands above others in a row of lines, as the narrow one between two columns does. Raised
figures are written as such: ¹² behind a word is no part of a figure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from actors.platform.pdf.pdf_signs import Sign

# Of a letter's size: what parts two pieces, what may where it does so in line after line, how far a baseline
# may be off, how far a mark is raised.
_WIDE, _NARROW, _LEVEL, _RAISED = 1.0, 0.5, 0.2, 0.12
# The widest gap of a line whose gaps are all alike, and by how much of it they may differ.
_WIDEST, _EVEN = 3.0, 0.15
_SMALL, _LARGE = 0.85, 1.7
_RUN, _ALIGNED, _PROSE, _TRIED = 3, 1.0, 12, 24
_SPACED, _DOUBTFUL, _FEWEST_SPACED = 0.7, 0.4, 6
# Of the usual gap between the words of a line, and of a letter's size: what is wider than both is odd.
_ODD, _ODDEST, _FEWEST_GAPS = 2.2, 0.6, 4
# Of the usual gap between the letters of a line that is set wide.
_WORD_GAP = 1.7
# What parts two words that are written apart, and letters between which nothing is written.
_TOUCH, _LETTERS = 0.1, 0.3
_MARKS = frozenset("•▪●○◦‣·–—-*")
_HOLE = "\ufffc"
_ABOVE = str.maketrans(
    "0123456789+-−–=()abcdefghijklmnoprstuvwxyz", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ"
)
# Letters that are words by themselves.
_WORDS = frozenset("AIOaiouwzUWZ")


@dataclass(frozen=True, slots=True)
class TextPiece:
    """What stands in one line without a wide gap: its words, where it stands, how large its letters are."""

    text: str
    left: float
    right: float
    base: float
    size: float
    is_bold: bool = False


@dataclass(slots=True)
class _Letters:
    """The characters of a piece, from the left; which of all that is written it is."""

    signs: list[Sign]
    place: int = -1

    @property
    def left(self) -> float:
        """Where it begins."""
        return min(sign.left for sign in self.signs)

    @property
    def right(self) -> float:
        """Where it ends."""
        return max(sign.right for sign in self.signs)

    @property
    def size(self) -> float:
        """Of most of its letters."""
        sizes = sorted(sign.size for sign in self.signs)
        return max(sizes[len(sizes) // 2], 1.0)

    @property
    def base(self) -> float:
        """Where most of its letters stand."""
        bases = sorted(sign.base for sign in self.signs)
        return bases[len(bases) // 2]

    @property
    def text(self) -> str:
        """Its words; those that are set wide without what stands between their letters."""
        told = self._told(is_plain=True)
        if is_spaced_out(told):
            return self._closed_up()
        whole = self._told()
        # Letters that partly stand apart: which of them make a word isn't certain.
        is_doubtful = is_spaced_out(told, _DOUBTFUL) and (
            _HOLE in whole or is_spaced_out(whole, _DOUBTFUL / 2)
        )
        return _HOLE + told if is_doubtful else whole

    @property
    def is_bold(self) -> bool:
        """Whether all of it is."""
        return all(sign.is_bold for sign in self.signs)

    def _told(self, *, is_plain: bool = False) -> str:
        return " ".join("".join(self.as_set(is_plain=is_plain)).split())

    def as_set(self, *, is_plain: bool = False) -> Iterator[str]:
        """Its characters, and spaces as far as they are set apart; all that are, if it is `plain`."""
        size, base = self.size, self.base
        before: Sign | None = None
        is_ordinal = was_raised = False
        for sign in self.signs:
            is_small = sign.size <= _SMALL * size and base - sign.base > _RAISED * size
            is_raised = is_small or (sign.text.isalnum() and base - sign.foot > _LEVEL * size)
            if before is not None and (_is_apart(before, sign) if is_plain else _parts_words(before, sign)):
                yield " "
            if sign.is_doubtful and not is_plain:
                yield f"{_HOLE} "
            # The letters of "21st" may be raised, as a mark of a footnote behind a word is.
            is_behind_figure = before is not None and before.text.isdigit()
            is_ordinal = is_raised and sign.text.isalpha() and (is_ordinal or is_behind_figure)
            # Behind a figure, a mark of a note can't be told from a power.
            is_note = is_raised and not was_raised and is_behind_figure and sign.text.isdigit()
            yield _HOLE if is_note else ""
            yield sign.text.translate(_ABOVE) if is_raised and not is_ordinal else sign.text
            before, was_raised = sign, is_raised

    def _closed_up(self) -> str:
        gaps = [after.left - before.right for before, after in pairwise(self.signs)]
        usual = max(sorted(gaps)[len(gaps) // 2], 0.5) if gaps else 0.0
        told = self.signs[0].text if self.signs else ""
        for gap, letter in zip(gaps, self.signs[1:], strict=True):
            told += (" " if gap > _WORD_GAP * usual else "") + letter.text
        return told


def _is_apart(before: Sign, sign: Sign) -> bool:
    """Whether a space is between them: one that is written, or a gap as wide as one."""
    return sign.is_after_space or sign.left - before.right > _LETTERS * min(before.size, sign.size)


def _parts_words(before: Sign, sign: Sign) -> bool:
    """Whether one word ends and another begins there."""
    return sign.is_doubtful or (_is_apart(before, sign) and not sign.is_close)


def _gap(before: Sign, sign: Sign) -> float:
    """How far apart two characters are, but for what letters near them are."""
    return sign.left - before.right - sign.slack


def is_spaced_out(text: str, share: float = _SPACED) -> bool:
    """Whether nearly all words of a line are single letters, as those of a line that is set wide are."""
    words = text.split()
    singles = sum(len(word) == 1 for word in words)
    return len(words) >= _FEWEST_SPACED and singles >= share * len(words)


def rows_of(signs: Sequence[Sign]) -> list[list[TextPiece]]:
    """The rows from the top, each with its pieces from the left."""
    caps, rest = _drop_caps(signs)
    rows = _with_marks(_levels(_runs(rest)))
    told = [[part for piece in _pieces(row) for part in _at_odd_gaps(piece)] for row in rows]
    _split_at_gutters(told)
    told = [_with_list_marks(row) for row in told]
    for cap in caps:
        _put_before(cap, told)
    return [
        [TextPiece(one.text, one.left, one.right, one.base, one.size, one.is_bold) for one in row]
        for row in told
    ]


def _drop_caps(signs: Sequence[Sign]) -> tuple[list[Sign], list[Sign]]:
    """Single letters that are far larger than the others; and the rest."""
    letters = [sign for sign in signs if sign.size]
    sizes = sorted(sign.size for sign in letters)
    usual = sizes[len(sizes) // 2] if sizes else 0.0
    caps = []
    for before, sign, after in zip([None, *letters], letters, [*letters[1:], None], strict=False):
        near = [
            one
            for one in (before, after)
            if one is not None and abs(one.base - sign.base) < _LEVEL * sign.size
        ]
        alone = not any(one.size > sign.size / _LARGE for one in near)
        if sign.size > _LARGE * usual and alone and sign.text.isalpha():
            caps.append(sign)
    taken = set(map(id, caps))
    return caps, [sign for sign in signs if id(sign) not in taken]


def _put_before(cap: Sign, rows: list[list[_Letters]]) -> None:
    """The letter goes before what stands beside it first; with a hole where it may be a word."""
    for row in rows:
        for piece in row:
            is_beside = cap.base - cap.size < piece.base - piece.size / 2 < cap.base
            if is_beside and -1 <= piece.left - cap.right < 1.5 * piece.size:
                first = piece.signs[0]
                is_sure = cap.text not in _WORDS and piece.left - cap.right < piece.size
                cap.text += "" if is_sure else _HOLE
                cap.left, cap.right, cap.size, cap.base = first.left, first.left, first.size, first.base
                first.is_after_space = False
                piece.signs.insert(0, cap)
                return
    rows.append([_Letters([cap])])
    rows.sort(key=lambda row: row[0].base)


def _runs(signs: Iterable[Sign]) -> Iterator[list[Sign]]:
    """What is written one after the other in one line, without a wide gap."""
    run: list[Sign] = []
    is_after_space = False
    for sign in signs:
        if not sign.size:
            is_after_space = sign.text != "\n"
            if not is_after_space and run:
                yield from _at_wide_gaps(run)
                run = []
            continue
        sign.is_after_space = is_after_space
        is_after_space = False
        if run and not _goes_on(run, sign):
            yield from _at_wide_gaps(run)
            run = []
        run.append(sign)
    if run:
        yield from _at_wide_gaps(run)


def _at_wide_gaps(run: list[Sign]) -> Iterator[list[Sign]]:
    """A run cut at its wide gaps; whole, if all are alike, as those of a line that fills a column are."""
    pairs = enumerate([] if _is_stretched(run) else pairwise(run), 1)
    wide = [cut for cut, (one, after) in pairs if after.left - one.right > _WIDE * max(one.size, after.size)]
    for start, end in pairwise([0, *wide, len(run)]):
        yield run[start:end]


def _is_stretched(signs: Sequence[Sign]) -> bool:
    """Whether all gaps between the words of a line are alike, and wide."""
    gaps = [_gap(*pair) for pair in pairwise(signs) if _parts_words(*pair)]
    size = max((sign.size for sign in signs), default=0.0)
    return (
        len(gaps) > 1
        and _NARROW * size < max(gaps) < _WIDEST * size
        and max(gaps) - min(gaps) < _EVEN * max(gaps)
        and sum(sign.text.isalpha() for sign in signs) > len(signs) / 2
    )


def _goes_on(run: Sequence[Sign], sign: Sign) -> bool:
    last = run[-1]
    size, gap = max(last.size, sign.size), sign.left - last.right
    lift = abs(sign.base - last.base)
    is_level = lift < _LEVEL * size
    is_mark = lift < 0.6 * size and (min(last.size, sign.size) <= _SMALL * size or abs(gap) < 0.1 * size)
    return (is_level or is_mark) and -size < gap <= _WIDEST * size


def _levels(runs: Iterable[list[Sign]]) -> list[list[_Letters]]:
    """The runs by their baselines."""
    rows: list[list[_Letters]] = []
    written = [_Letters(run, place) for place, run in enumerate(runs)]
    for piece in sorted(written, key=lambda one: (one.base, one.left)):
        if rows and abs(piece.base - rows[-1][0].base) <= _LEVEL * min(piece.size, rows[-1][0].size):
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return rows


def _with_marks(rows: list[list[_Letters]]) -> list[list[_Letters]]:
    """Rows of small raised pieces go into the row below, if they stand right behind what is in it."""
    told: list[list[_Letters]] = []
    for place, row in enumerate(rows):
        below = [piece for later in rows[place + 1 : place + 4] for piece in later]
        left = []
        for mark in row:
            owners = [piece for piece in below if len(mark.signs) <= 4 and _is_mark_of(mark, piece)]
            if owners:
                mark.signs[0].is_after_space = False
                owners[0].signs = sorted([*owners[0].signs, *mark.signs], key=lambda sign: sign.left)
            else:
                left.append(mark)
        if left:
            told.append(left)
    return told


def _is_mark_of(mark: _Letters, piece: _Letters) -> bool:
    lift = piece.base - mark.base
    is_raised = _RAISED * piece.size < lift < 0.7 * piece.size and mark.size <= _SMALL * piece.size
    return is_raised and piece.left < mark.left < piece.right + 0.4 * piece.size


def _pieces(row: list[_Letters]) -> list[_Letters]:
    """A row with what stands close together joined; wholly if its letters are set wide apart."""
    if len(row) > 1 and is_spaced_out(" ".join("".join(piece.as_set(is_plain=True)) for piece in row)):
        return [_Letters(sorted((sign for piece in row for sign in piece.signs), key=lambda sign: sign.left))]
    told: list[_Letters] = []
    for piece in sorted(row, key=lambda one: one.left):
        gap = piece.left - told[-1].right if told else 0.0
        # What is not written one after the other is of one line only where it stands close together.
        wide = _WIDE if told and piece.place == told[-1].place + 1 else _NARROW
        if told and gap <= wide * max(piece.size, told[-1].size):
            piece.signs[0].is_after_space |= gap > _TOUCH * piece.size
            told[-1] = _Letters([*told[-1].signs, *piece.signs], piece.place)
        else:
            told.append(piece)
    return told


def _at_odd_gaps(piece: _Letters) -> Iterator[_Letters]:
    """A piece cut where a gap is far wider than what parts its other words."""
    pairs = list(enumerate(pairwise(piece.signs), 1))
    gaps = {cut: _gap(*pair) for cut, pair in pairs if _parts_words(*pair)}
    usual = sorted(gaps.values())[len(gaps) // 2] if gaps else 0.0
    odd = [cut for cut, gap in gaps.items() if gap > max(_ODD * usual, _ODDEST * piece.size)]
    if len(gaps) < _FEWEST_GAPS or is_spaced_out("".join(piece.as_set(is_plain=True))):
        odd = []
    for start, end in pairwise([0, *odd, len(piece.signs)]):
        yield _Letters(piece.signs[start:end], piece.place)


def _with_list_marks(row: list[_Letters]) -> list[_Letters]:
    """A bullet, or a number with a full stop, is part of what stands behind it."""
    if len(row) < 2 or not _is_list_mark(row[0].text):
        return row
    row[1].signs[0].is_after_space = True
    return [_Letters([*row[0].signs, *row[1].signs]), *row[2:]]


def _is_list_mark(text: str) -> bool:
    return text in _MARKS or (
        len(text) < 5 and text[-1:] in (".", ")") and text.replace(".", "").strip("()").isalnum()
    )


def _gaps(row: Sequence[_Letters]) -> Iterator[tuple[float, float, float]]:
    """Where the gaps of a row's pieces begin and end, and how large its letters are."""
    for piece in row:
        if _is_stretched(piece.signs):
            continue
        for before, after in pairwise(piece.signs):
            if _gap(before, after) >= _NARROW * piece.size:
                yield before.right, after.left, piece.size


def _split_at_gutters(rows: list[list[_Letters]]) -> None:
    """Part the pieces of rows at narrow gaps that end at one place in line after line."""
    ends: dict[int, set[int]] = {}
    for place, row in enumerate(rows):
        for end in [*(end for _, end, _ in _gaps(row)), *(piece.left for piece in row[1:])]:
            for near in (round(end) - 1, round(end), round(end) + 1):
                ends.setdefault(near, set()).add(place)
    often = sorted((at for at, places in ends.items() if len(places) >= _RUN), key=lambda at: -len(ends[at]))
    for at in often[:_TRIED]:
        run: list[int] = []
        for place, row in enumerate([*rows, []]):
            crossing = [one for one in row if one.left < at - 2 and one.right > at and not _gap_at(one, at)]
            if row and not crossing:
                run.append(place)
                continue
            _part(rows, run, at)
            run = []


def _gap_at(piece: _Letters, at: float) -> int | None:
    """Before which of its characters a gap ends there."""
    if _is_stretched(piece.signs):
        return None
    for place, (before, after) in enumerate(pairwise(piece.signs), 1):
        if before.right <= at - _NARROW * piece.size + _ALIGNED and after.left >= at - _ALIGNED:
            return place if _gap(before, after) >= _NARROW * piece.size else None
    return None


def _part(rows: list[list[_Letters]], run: Sequence[int], at: float) -> None:
    """Cut the rows of a run at their gaps there, if both sides are prose or one of them counts lines."""
    cuts: list[tuple[list[_Letters], _Letters, int]] = []
    sides: tuple[list[_Letters], list[_Letters]] = ([], [])
    for row in (rows[place] for place in run):
        for piece in row:
            cut = _gap_at(piece, at) if piece.left < at - 2 and piece.right > at else None
            if cut is not None:
                cuts.append((row, piece, cut))
                sides[0].append(_Letters(piece.signs[:cut]))
                sides[1].append(_Letters(piece.signs[cut:]))
            else:
                sides[piece.left > at - 2].append(piece)
    aligned = sum(abs(piece.left - at) <= _ALIGNED for piece in sides[1])
    if not cuts or aligned < _RUN or not all(map(_is_column, sides)):
        return
    for row, piece, cut in cuts:
        where = next(place for place, one in enumerate(row) if one is piece)
        row[where : where + 1] = [_Letters(piece.signs[:cut]), _Letters(piece.signs[cut:])]


def _is_column(side: Sequence[_Letters]) -> bool:
    texts = [piece.text for piece in side]
    return len(texts) >= _RUN and (
        all(text.isdigit() for text in texts) or sum(map(len, texts)) >= _PROSE * len(texts)
    )
