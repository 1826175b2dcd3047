"""Whether a sentence about a table is right: its numbers are read out of it and computed from the rows.

None of the code that computed them is used here: it has floating point, and names of months of its own.
"""

import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from models.content.articles import Cell

_MONTHS = {
    "en": "jan feb mar apr may jun jul aug sep oct nov dec".split(),  # noqa: SIM905 - a list of words
    "pl": "sty lut mar kwi maj cze lip sie wrz paź lis gru".split(),  # noqa: SIM905
    "de": "jan feb mär apr mai jun jul aug sep okt nov dez".split(),  # noqa: SIM905
}
_EXTREMES = {
    "highest": r"\bhighest\b|\bnajwyższ|\bhöchste",
    "lowest": r"\blowest\b|\bnajniższ|\bniedrigste",
    "average": r"on average|\bśrednio\b|im Durchschnitt",
}
_SAME = r"the same as|tyle samo co|ebenso viel wie"
_QUARTERS = {
    "en": "first second third fourth".split(),  # noqa: SIM905
    "pl": "pierwsz drugi trzeci czwart".split(),  # noqa: SIM905
    "de": "ersten zweiten dritten vierten".split(),  # noqa: SIM905
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
_NUMBER = re.compile(r"−?\d(?:[\d.,\u00a0\u202f' ]*\d)?")


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


def is_right(sentence: str, series: Series, language: str) -> bool:
    """Whether each number and each day of a sentence, without the series' name, is what the rows say."""
    days, rest = _days(sentence, language)
    told = [_number(found, language) for found in _NUMBER.findall(rest)]
    if not days or not told:
        return False
    kind = next(
        (kind for kind, words in _EXTREMES.items() if re.search(words, sentence, re.IGNORECASE)), "newest"
    )
    if kind == "average":
        return len(told) == 1 and _near(told[0], statistics.fmean(series.values)) and _span(days, series)
    if kind != "newest":
        extreme = (max if kind == "highest" else min)(series.values)
        # The day of the extreme stands before the span, or behind it.
        ends, own = (days[1:], days[0]) if language == "de" else (days[:-1], days[-1])
        where = [day for day, value in zip(series.days, series.values, strict=True) if value == extreme]
        return (
            len(told) == 1 and _near(told[0], extreme) and any(map(own.holds, where)) and _span(ends, series)
        )
    latest = series.values[-1]
    if not days[0].holds(series.days[-1]) or not _near(told[0], latest):
        return False
    if len(days) == 1:
        return len(told) == 1
    base = next((v for d, v in zip(series.days, series.values, strict=True) if days[1].holds(d)), None)
    if base is None:
        return False
    if re.search(_SAME, sentence):
        return base == latest and len(told) == 1
    is_up = re.search(r"\bup\b|\bwięcej\b|\bmehr\b", sentence) is not None
    # The size of the change, in percent where that is said, and what it was before: in any order.
    wanted = [(abs(latest - base), told[1:]), (base, told[1:])]
    if len(told) == len(("level", "change", "percent", "base")):
        wanted.append((abs(latest / base - 1) * 100, told[1:]))
    return is_up == (latest > base) and all(any(_near(one, aim) for one in given) for aim, given in wanted)


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


def _number(text: str, language: str) -> tuple[float, int]:
    """A number and how many decimals it is shown with."""
    bare = re.sub(r"[\s\u00a0\u202f']", "", text).replace("−", "-")
    group, point = (",", ".") if language == "en" else (".", ",")
    bare = bare.replace(group, "").replace(point, ".")
    return float(bare), len(bare.partition(".")[2])


def _near(told: tuple[float, int], value: float) -> bool:
    """Whether it is the value as rounded: to half of the last digit that is shown."""
    number, decimals = told
    half: float = 0.5 * 10.0**-decimals
    return abs(number - value) <= half + 1e-9 * max(1.0, abs(value))
