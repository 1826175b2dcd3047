"""Whether a sentence about a table is right: its numbers are read out of it and computed from the rows.

None of the code that computed them is used here: it has floating point, and names of months of its own.
"""

import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal, NamedTuple

from models.content.articles import Cell
from models.text import word_list

_MONTHS = {
    "en": word_list("jan feb mar apr may jun jul aug sep oct nov dec"),
    "pl": word_list("sty lut mar kwi maj cze lip sie wrz paź lis gru"),
    "de": word_list("jan feb mär apr mai jun jul aug sep okt nov dez"),
}
_EXTREMES = {
    "highest": r"\bhighest\b|\bnajwyższ|\bhöchste",
    "lowest": r"\blowest\b|\bnajniższ|\bniedrigste",
    "average": r"on average|\bśrednio\b|im Durchschnitt",
}
_SAME = r"the same as|tyle samo co|ebenso viel wie"
_YEAR_AGO = r"a year earlier|rok wcześniej|ein Jahr zuvor"
_UP, _DOWN = r"\bup\b|\bwięcej\b|\bmehr\b", r"\bdown\b|\bmniej\b|\bweniger\b"
# How far before the same day of the year before a day may lie, where there is none of that day.
_NEAR_DAY = timedelta(days=7)
_QUARTERS = {
    "en": word_list("first second third fourth"),
    "pl": word_list("pierwsz drugi trzeci czwart"),
    "de": word_list("ersten zweiten dritten vierten"),
}
# A day or a month, a quarter, or a year: in the words in which the language has them.
_WHEN = {
    language: re.compile(
        rf"(?:\b(?P<day>\d{{1,2}})\.? )?\b(?P<month>{'|'.join(_MONTHS[language])}|maja)\w* "
        r"(?P<of_month>\d{4})\b"
        rf"|\b(?P<quarter>{'|'.join(_QUARTERS[language])})\w* (?:quarter of|kwarta\w+|Quartal) "
        rf"(?P<of_quarter>\d{{4}})\b|\b(?:in|from|to|w|od|do|im Jahr|von|bis) (?P<year>\d{{4}})\b(?![.,]\d)",
        re.IGNORECASE,
    )
    for language in _MONTHS
}
# A number, and whether it is in percent, or in percentage points.
_NUMBER = re.compile(
    r"(?P<number>−?\d(?:[\d.,\u00a0\u202f' ]*\d)?)"
    r"(?:\s?(?P<points>percentage points?\b|pkt proc\.|Prozentpunkte?n?\b)"
    r"|\s?(?P<percent>percent\b|per cent\b|proc\.|Prozent\b|%))?"
)
_Unit = Literal["percent", "points"] | None


@dataclass(frozen=True)
class Series:
    """What a column says: its days and values, oldest first."""

    days: tuple[date, ...]
    values: tuple[float, ...]


def series_of(rows: Sequence[Sequence[Cell]], column: int) -> Series:
    """A column beside the days of the first one; rows without a number are left out."""
    found = sorted(
        (date.fromisoformat(str(row[0])), float(value))
        for row in rows
        if isinstance(value := row[column], int | float)
    )
    return Series(tuple(day for day, _ in found), tuple(value for _, value in found))


def is_right(sentence: str, series: Series, language: str, *, percent: bool) -> bool:
    """Whether each number and each day of a sentence, without the series' name, is what the rows say.

    Args:
        percent: whether the series is in percent. Only then its values are, and its changes are in
            percentage points; otherwise a change in percent may stand beside the change itself.
    """
    days, rest = _days(sentence, language)
    told = [_told(found, language) for found in _NUMBER.finditer(rest)]
    if not days or not told:
        return False
    unit: _Unit = "percent" if percent else None
    kind = next(
        (kind for kind, words in _EXTREMES.items() if re.search(words, sentence, re.IGNORECASE)), "newest"
    )
    if kind == "newest":
        return _newest_is_right(sentence, days, told, series, unit)
    if kind == "average":
        return _are(told, [(statistics.fmean(series.values), unit)]) and _span(days, series)
    extreme = (max if kind == "highest" else min)(series.values)
    # The day of the extreme stands before the span, or behind it.
    ends, own = (days[1:], days[0]) if language == "de" else (days[:-1], days[-1])
    where = [day for day, value in zip(series.days, series.values, strict=True) if value == extreme]
    return _are(told, [(extreme, unit)]) and any(map(own.holds, where)) and _span(ends, series)


def _newest_is_right(
    sentence: str, days: Sequence["_When"], told: Sequence["_Told"], series: Series, unit: _Unit
) -> bool:
    latest = series.values[-1]
    if not days[0].holds(series.days[-1]) or not _are(told[:1], [(latest, unit)]):
        return False
    if len(days) == 1:
        return len(told) == 1
    place = _base(days[1], series, year_ago=re.search(_YEAR_AGO, sentence) is not None)
    if place is None or len(days) > 2:
        return False
    base = series.values[place]
    if re.search(_SAME, sentence):
        return base == latest and len(told) == 1
    up, down = (re.search(words, sentence) is not None for words in (_UP, _DOWN))
    if (up, down) != (latest > base, latest < base):
        return False
    # The size of the change, behind it in percent where that is said, and at the end what it was before.
    wanted: list[tuple[float, _Unit]] = [(abs(latest - base), "points" if unit else None), (base, unit)]
    if len(told) == len(("level", "change", "percent", "base")) and base and unit is None:
        wanted.insert(1, (abs(latest / base - 1) * 100, "percent"))
    return _are(told[1:], wanted)


def _base(when: "_When", series: Series, *, year_ago: bool) -> int | None:
    """The place of what the newest value is compared with: the one before it, or that of a year ago."""
    if not year_ago:
        before = len(series.days) - 2
        return before if before >= 0 and when.holds(series.days[before]) else None
    newest = series.days[-1]
    leap = (newest.month, newest.day) == (2, 29)
    then = newest.replace(year=newest.year - 1, day=28 if leap else newest.day)
    if when.day is None:
        if not when.holds(then):
            return None
        return next((n for n, day in enumerate(series.days) if when.holds(day)), None)
    place = max((n for n, day in enumerate(series.days) if day <= then), default=None)
    if place is None or then - series.days[place] > _NEAR_DAY or not when.holds(series.days[place]):
        return None
    return place


class _When(NamedTuple):
    """A day, a month, a quarter or a year that a sentence names: its months, and the day if told."""

    year: int
    months: Sequence[int]
    day: int | None

    def holds(self, day: date) -> bool:
        """Whether a day is in it."""
        return day.year == self.year and day.month in self.months and self.day in (None, day.day)


def _days(sentence: str, language: str) -> tuple[list[_When], str]:
    """When a sentence says that something was, and the sentence without that."""
    found = []
    for one in _WHEN[language].finditer(sentence):
        if one["month"]:
            month = _place(one["month"], _MONTHS[language]) + 1
            found.append(_When(int(one["of_month"]), (month,), int(one["day"]) if one["day"] else None))
        elif one["quarter"]:
            last = 3 * _place(one["quarter"], _QUARTERS[language]) + 3
            found.append(_When(int(one["of_quarter"]), range(last - 2, last + 1), None))
        else:
            found.append(_When(int(one["year"]), range(1, 13), None))
    return found, _WHEN[language].sub(" ; ", sentence)


def _place(word: str, beginnings: Sequence[str]) -> int:
    return next(n for n, known in enumerate(beginnings) if word.lower().startswith(known[:3]))


def _span(days: Sequence[_When], series: Series) -> bool:
    """Whether these are the first and the last day of the series."""
    ends = (series.days[0], series.days[-1])
    return len(days) == len(ends) and all(day.holds(end) for day, end in zip(days, ends, strict=True))


class _Told(NamedTuple):
    """A number that a sentence says, with how many decimals, and in which unit."""

    number: float
    decimals: int
    unit: _Unit


def _told(found: re.Match[str], language: str) -> _Told:
    bare = re.sub(r"[\s\u00a0\u202f']", "", found["number"]).replace("−", "-")
    group, point = (",", ".") if language == "en" else (".", ",")
    bare = bare.replace(group, "").replace(point, ".")
    unit: _Unit = "points" if found["points"] else "percent" if found["percent"] else None
    return _Told(float(bare), len(bare.partition(".")[2]), unit)


def _are(told: Sequence[_Told], wanted: Sequence[tuple[float, _Unit]]) -> bool:
    """Whether numbers are these values, to half of the last digit that is shown, in these units."""
    return len(told) == len(wanted) and all(
        one.unit == unit
        and abs(one.number - value) <= 0.5 * 10.0**-one.decimals + 1e-9 * max(1.0, abs(value))
        for one, (value, unit) in zip(told, wanted, strict=True)
    )
