"""The numbers, dates and months of one text, each with what it can be read as.

A text is cut into pieces once, and each piece is looked at with the few behind it: so
the time is linear in the text, whatever stands in it.

Readings are `number:3.1`, `percent:3.1`, `points:0.2`, `day:2026-06-17`, `month:2026-06`, `quarter:2026-Q2`,
`of-year:06-17`, `of-year:06`, `of-year:Q2`, `time:10:30` and `share:1/3`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from actors.platform.text.language import Language
from actors.platform.text.numbers import number_words as known
from actors.platform.text.numbers.number_forms import (
    day_exists,
    in_figures,
    normal,
    shared,
    times,
    unit_at,
    values,
)
from models.record import Record

_SPACE = " \u00a0\u2009\u202f"
_MONTH = r"(?:0[1-9]|1[0-2])"
_PIECE = re.compile(
    r"(?P<skip>\[\^[^\]\s]{1,40}\]:?|\bhttps?://\S+)"
    r"|(?P<listed>^[ \t]{0,12}(?:#{1,6} |> ?)?\d{1,3}[.)](?=[ \t]))"
    rf"|(?P<iso>(?<![\w-])\d{{4}}(?:-{_MONTH}-|/{_MONTH}/)[0-3]\d(?!\d)"
    r"(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)?)"
    rf"|(?P<month>(?<![\w-])\d{{4}}-{_MONTH}(?![\w-]))"
    r"|(?P<quarter>(?<![\w-])(?:\d{4}[- ]?Q[1-4]|Q[1-4][ /-]?\d{4})(?!\w))"
    r"|(?P<dotted>(?<!\w)\d{1,2}\. ?\d{1,2}\. ?\d{4}(?!\d))"
    r"|(?P<slashed>(?<!\w)\d{1,2}/\d{1,2}/\d{4}(?!\d)|(?<![\w/.-])\d{1,2}-\d{1,2}-\d{4}(?![\w/-]))"
    r"|(?P<time>(?<!\w)\d{1,2}:\d\d(?::\d\d)?(?!\d))"
    rf"|(?P<number>(?:(?<![\w.,])[-−](?=\d))?(?:\d{{1,3}}(?P<group>[.,'’{_SPACE}])\d{{3}}(?!\d)"
    r"(?:(?P=group)\d{3}(?!\d)){0,6}(?:[.,]\d+)?|\d+(?:[.,]\d+)?))"
    r"|(?P<word>[^\W\d_][^\W_]*)",
    re.MULTILINE,
)
_DIGITS = re.compile(r"\d+")
# Between a day, its month and its year, between the words of a number, and between a number and its scale.
_IN_DATES = frozenset([" ", ". ", ".", ", ", "-", ""])
_IN_WORDS = frozenset([" ", "-"])
_BEFORE_SCALES = frozenset([" ", "-", ""])
_JOINED = re.compile(r"\s*(?:[-–—]|(?:,?\s)([^\W\d_]{1,4})\s)\s*\Z")
_LONGEST_JOIN = 12
# As many numbers take the unit of the last one: `2, 3 and 4 percent`.
_MOST_JOINED = 12
_MOST_WORDS = 12
_YEARS = range(1000, 3000)
_ORDINAL_ENDS = frozenset(["st", "nd", "rd", "th"])


class NumberFound(Record):
    """A number or a date of a text: the slice, where it stands, and what it can be read as."""

    text: str
    start: int
    end: int
    readings: tuple[str, ...]


@dataclass(slots=True)
class _Piece:
    kind: str
    start: int
    end: int
    text: str
    plain: str


@dataclass(slots=True)
class _Reading:
    start: int
    end: int
    readings: list[str]
    # The last piece that it takes, what the number was multiplied by, and whether that or a unit stood there.
    last: int
    factor: int = 1
    bare: bool = False


class Reader:
    """A text and its language, read once."""

    def __init__(self, text: str, language: Language) -> None:
        self._text = text
        self._language: Language = language
        self._known = known.number_words(language)
        self._pieces = [_piece(found) for found in _PIECE.finditer(text)]

    def found(self) -> Iterator[NumberFound]:
        """All in order."""
        for hit in self._hits(parts=False):
            readings = tuple(dict.fromkeys(hit.readings))
            slice_ = self._text[hit.start : hit.end]
            yield NumberFound(text=slice_, start=hit.start, end=hit.end, readings=readings)

    def readings(self) -> set[str]:
        """All readings of the text, once. `12 500` may be a 12 and a 500 as well, as in a table's row."""
        return {reading for hit in self._hits(parts=True) for reading in hit.readings}

    def _hits(self, *, parts: bool) -> Iterator[_Reading]:
        joined: list[_Reading] = []
        at = 0
        while at < len(self._pieces):
            hit = self._at(at)
            if hit is None:
                at += 1
                continue
            if joined and (len(joined) == _MOST_JOINED or not self._joins(joined[-1].end, hit.start)):
                yield from joined
                joined = []
            if parts and self._pieces[at].kind == "number" and " " in self._pieces[at].text:
                hit.readings += [f"number:{normal(part)}" for part in _DIGITS.findall(self._pieces[at].text)]
            if not hit.bare:
                for one in joined:
                    one.readings += shared(one.readings, hit.readings[0], hit.factor)
            joined.append(hit)
            at = hit.last + 1
        yield from joined

    def _joins(self, end: int, start: int) -> bool:
        """Whether what stands between two numbers makes them a list or a range."""
        if start - end > _LONGEST_JOIN:
            return False
        found = _JOINED.match(self._text[end:start])
        return found is not None and (found[1] is None or found[1].lower() in known.words("joining"))

    def _at(self, at: int) -> _Reading | None:
        piece = self._pieces[at]
        if piece.kind == "word":
            if piece.plain not in self._known.beginnings:
                return None
            return self._month(at) or self._quarter(at) or self._share(at) or self._amount(at)
        if piece.kind == "number":
            return self._day(at) or self._quarter(at) or self._amount(at)
        if piece.kind == "listed":
            return self._day(at) or self._quarter(at)
        if piece.kind == "skip":
            return None
        return _Reading(piece.start, piece.end, in_figures(piece.kind, piece.text), at)

    def _gap(self, at: int) -> str | None:
        """What stands before a piece, if it is short; else None."""
        if not 0 < at < len(self._pieces):
            return None
        start, end = self._pieces[at - 1].end, self._pieces[at].start
        gap = self._text[start:end] if end - start <= 3 else None
        return None if gap is None else "".join(" " if c.isspace() else c for c in gap)

    def _word(self, at: int, gaps: frozenset[str] = _IN_DATES) -> str:
        """The word at a place, in lower case, if it follows the piece before; else nothing."""
        return self._pieces[at].plain if self._gap(at) in gaps else ""

    def _month_at(self, at: int, *, full: bool = False, dated: bool = False) -> int:
        """The number of the month that a piece names; 0 for none. One that is `dated` needs no capital."""
        piece = self._pieces[at] if at < len(self._pieces) else None
        if piece is None or piece.kind != "word":
            return 0
        if dated:
            return known.months().get(piece.plain, 0)
        month = known.listed_months("small_months").get(piece.plain, 0)
        if not month and piece.text[0].isupper():
            month = known.listed_months("capital_months").get(piece.plain, 0)
        if not month and not full and (piece.text[0].isupper() or self._language == "pl"):
            month = known.short_months().get(piece.plain, 0)
        return month

    def _year_at(self, at: int) -> int:
        """The year that stands there behind a month or a quarter; 0 for none."""
        if not self._follows(at) or self._pieces[at].kind != "number":
            return 0
        text = self._pieces[at].text
        return int(text) if len(text) == 4 and text.isdecimal() and int(text) in _YEARS else 0

    def _follows(self, at: int) -> bool:
        """Whether a piece goes on with a date: behind a full stop only where it may be an abbreviation's."""
        gap = self._gap(at)
        if gap == ". ":
            before = self._pieces[at - 1].plain
            return before in known.short_months() or before in known.words("shortened_quarter")
        return gap in _IN_DATES

    def _small(self, at: int) -> int:
        """The whole number of one or two digits at a place, such as a day; 0 for none."""
        digits = _DIGITS.findall(self._pieces[at].text) if at < len(self._pieces) else []
        one = self._pieces[at].kind in ("number", "listed") if digits else False
        plain = one and len(digits) == 1 and len(digits[0]) <= 2
        return int(digits[0]) if plain else 0

    def _day(self, at: int) -> _Reading | None:
        """`17 June 2026`, `17th of June`, `17. Juni`."""
        day = self._small(at)
        place = at + 1
        if not day:
            return None
        place += self._word(place, frozenset([""])) in _ORDINAL_ENDS
        place += self._word(place) == "of"
        # Only German writes `17. Juni`; elsewhere a sentence may end there.
        stop = self._gap(place) == ". " and self._language != "de" and not self._year_at(place + 1)
        if self._gap(place) not in _IN_DATES or stop:
            return None
        year = self._year_at(place + 1)
        month = self._month_at(place, dated=year > 0)
        return self._dated(at, place, year, month, day) if month else None

    def _month(self, at: int) -> _Reading | None:
        """`June 17, 2026`, `June 2026`, and `June` where it isn't another word."""
        month, dated = self._month_at(at), self._month_at(at, dated=True)
        if not dated:
            return None
        day = self._small(at + 1) if self._language == "en" and self._follows(at + 1) else 0
        if day and unit_at(self._text, self._pieces[at + 1].end)[0] == "number":
            place = at + 1 + (self._word(at + 2, frozenset([""])) in _ORDINAL_ENDS)
            scaled = self._word(place + 1) in self._known.scales
            year = self._year_at(place + 1)
            of_year = dated if year else month
            if of_year and not scaled and (hit := self._dated(at, place, year, of_year, day)):
                return hit
        if year := self._year_at(at + 1):
            return self._hit(at, at + 1, [f"month:{year:04}-{dated:02}"])
        piece = self._pieces[at]
        before = self._pieces[at - 1].plain if at and self._gap(at) in _IN_WORDS else ""
        is_word = piece.plain in known.words("doubtful_months")
        doubtful = is_word and before not in known.words("before_months")
        if doubtful or not month or not self._month_at(at, full=True):
            return None
        return self._hit(at, at, [f"of-year:{month:02}"])

    def _dated(self, at: int, last: int, year: int, month: int, day: int) -> _Reading | None:
        if not day_exists(year or 2000, month, day):
            return None
        reading = f"day:{year:04}-{month:02}-{day:02}" if year else f"of-year:{month:02}-{day:02}"
        return self._hit(at, last + bool(year), [reading])

    def _quarter(self, at: int) -> _Reading | None:
        """`second quarter of 2026`, `II kwartał 2026`, `2. Quartal`, `Q2`."""
        piece = self._pieces[at]
        place = at + 1
        if piece.kind == "word":
            if piece.plain in known.SHORT_QUARTERS:
                return self._hit(at, at, [f"of-year:{piece.plain.upper()}"])
            number = known.ordinals().get(piece.plain, 0)
        else:
            number = self._small(at)
            place += self._word(place, frozenset([""])) in _ORDINAL_ENDS
        shortened = piece.kind == "word" and self._word(place) in known.words("shortened_quarter")
        if not 1 <= number <= 4 or not (shortened or self._word(place) in known.words("quarters")):
            return None
        behind = place + 1 + (self._word(place + 1) == "of")
        if year := self._year_at(behind):
            return self._hit(at, behind, [f"quarter:{year:04}-Q{number}"])
        return self._hit(at, place, [f"of-year:Q{number}"])

    def _share(self, at: int) -> _Reading | None:
        """`half`, `a third of`, `zwei Drittel`: not the first half of a year."""
        words = [self._pieces[at].plain]
        if at and self._gap(at) in _IN_WORDS and self._pieces[at - 1].plain in known.ordinals():
            return None
        while len(words) < 3 and (word := self._word(at + len(words), _IN_WORDS)):
            words.append(word)
        for length in range(len(words), 0, -1):
            if share := self._known.shares.get(tuple(words[:length])):
                return self._hit(at, at + length - 1, [f"share:{share}"])
        return None

    def _amount(self, at: int) -> _Reading | None:
        """A number in digits or words, with its scale and its unit."""
        piece = self._pieces[at]
        if piece.kind == "number":
            found = values(piece.text, self._language)
            factor, last = self._scale(at)
        else:
            value, last = self._in_words(at)
            found, factor = ([] if value is None else [str(value)]), 1
        if not found:
            return None
        if at and self._pieces[at - 1].plain == "minus" and self._gap(at) == " ":
            found = [value if value.startswith("-") else f"-{value}" for value in found]
        kind, end = unit_at(self._text, self._pieces[last].end)
        readings = [f"{kind}:{times(value, factor)}" for value in found]
        bare = kind == "number" and factor == 1
        return _Reading(piece.start, end, readings, last, factor, bare)

    def _scale(self, at: int) -> tuple[int, int]:
        """What the number at a place is multiplied by, and the last piece of that."""
        scales = self._known.scales
        word = self._word(at + 1, _BEFORE_SCALES)
        glued = self._gap(at + 1) == ""
        if glued and word == "m" and self._text[max(0, self._pieces[at].start - 1)] in "$€£":
            return 10**6, at + 1
        if word not in scales or (word == "k" and not glued):
            return 1, at
        return scales[word], at + 1

    def _in_words(self, at: int) -> tuple[int | None, int]:
        words = [self._pieces[at].plain]
        if not known.begins_number(words[0], self._language):
            return None, at
        while len(words) < _MOST_WORDS and (word := self._word(at + len(words), _IN_WORDS)):
            words.append(word)
        value, taken = known.number_of(words, self._language)
        return value, at + taken - 1

    def _hit(self, first: int, last: int, readings: list[str]) -> _Reading:
        return _Reading(self._pieces[first].start, self._pieces[last].end, readings, last)


def _piece(found: re.Match[str]) -> _Piece:
    kind = found.lastgroup if found.lastgroup != "group" else "number"
    text = found[0]
    return _Piece(kind or "", found.start(), found.end(), text, text.lower() if kind == "word" else "")


def numbers_in(text: str, language: Language) -> tuple[NumberFound, ...]:
    """The numbers, percentages, dates and names of months of a text, in order, none within another.

    Numbers are digits, and words up to a hundred, hundreds and thousands of them and so on; `one` isn't
    any, nor are footnote marks, the numbers of a list, addresses, and digits behind a letter (`G7`). A
    fraction in words is compared as such: `a third` is never 0.33.
    """
    return tuple(Reader(text, language).found())
