"""Days as they are written: in digits, in words of any language, or as machines write times.

03/04/2026 is two days, unless the language puts the day first: a page
that says no other has none. A day of a time is read in the time zone that it is written in; in UTC it may be
another day where the page was written.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

import dateparser

_LONGEST = 400
_FIRST_YEAR = 1990
# Of one page; each takes a fraction of a millisecond.
_MOST_IN_WORDS = 400
_CLOCK = r"[T\s,]{1,3}(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::\d{2}(?:[.,]\d{1,9})?)?"
_ZONE = r"\s?(?P<zone>Z|UTC|GMT|[+-]00:?00)(?!\w)"
_UTC = re.compile(_CLOCK + _ZONE)
_NAME = r"[^\W\d_]{3,15}"
_DAY = r"\d{1,2}(?:[^\W\d_]{1,2})?\.?"
_BETWEEN = r",?\s{1,3}(?:[^\W\d_]{2}\s{1,3})?"
_WRITTEN = re.compile(
    r"(?<![\d/.-])(?:"
    r"(?P<year>\d{4})(?P<sign>[-/.])(?P<month>\d{1,2})(?P=sign)(?P<day>\d{1,2})(?!\d|[-/.]\d)"
    r"|(?P<compact>(?:19|20)\d{6})(?!\d)"
    r"|(?P<one>\d{1,2})(?P<mark>[-/.])\s?(?P<two>\d{1,2})(?P=mark)\s?(?P<last>\d{4})(?!\d|[-/.]\d)"
    rf"|(?P<words>{_DAY}{_BETWEEN}{_NAME}\.?{_BETWEEN}\d{{4}})(?!\d)"
    rf"|(?<!\w)(?P<name_first>{_NAME}\.?\s{{1,3}}{_DAY},?\s{{1,3}}\d{{4}})(?!\d)"
    r")"
)
_STRICT: dict[str, object] = {
    "STRICT_PARSING": True,
    "PARSERS": ["absolute-time"],
    "RETURN_AS_TIMEZONE_AWARE": False,
}
# Local time is so far behind UTC, or ahead of it, at most.
_BEHIND, _AHEAD = timedelta(hours=12), timedelta(hours=14)


class WrittenDay(NamedTuple):
    """The days that something written can be read as; `near`: which days that may be in other time zones."""

    days: frozenset[date]
    near: frozenset[date] = frozenset()


class PlacedDay(NamedTuple):
    """A written day, and where it stands."""

    start: int
    end: int
    written: WrittenDay


class DayReader:
    """Reads days as a page in these languages writes them: codes of ISO 639-1, none if they are unknown."""

    def __init__(self, languages: Sequence[str]) -> None:
        self._languages = list(dict.fromkeys((*languages, "en")))
        self._left = _MOST_IN_WORDS
        self._is_day_first = bool(languages) and "en" not in languages

    def all_in(self, text: str) -> Iterator[PlacedDay]:
        """The days in a line, in order; one that is to come, or can't be, has no reading."""
        line = text[:_LONGEST]
        for found in _WRITTEN.finditer(line):
            days = frozenset(day for day in self._readings(found) if day is not None and _is_past(day))
            time = _UTC.match(line, found.end())
            near = {near for day in days for near in _elsewhere(day, time)} if time else ()
            yield PlacedDay(found.start(), found.end(), WrittenDay(days, frozenset(near)))

    def only_in(self, value: str) -> WrittenDay | None:
        """The day of a value that holds one; None where it holds none, or several."""
        found = list(self.all_in(value))
        return found[0].written if len(found) == 1 and found[0].written.days else None

    def _readings(self, found: re.Match[str]) -> Iterator[date | None]:
        if found["year"]:
            yield _day(found["year"], found["month"], found["day"])
        elif written := found["compact"]:
            yield _day(written[:4], written[4:6], written[6:])
        elif found["last"]:
            yield _day(found["last"], found["two"], found["one"])
            if not self._is_day_first:
                yield _day(found["last"], found["one"], found["two"])
        elif self._left > 0:
            self._left -= 1
            told = found["words"] or found["name_first"]
            read = dateparser.parse(told, languages=self._languages, settings=_STRICT)
            yield read.date() if read else None


def _day(year: str, month: str, day: str) -> date | None:
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


def _is_past(day: date) -> bool:
    return day.year >= _FIRST_YEAR and day <= date.today()


def _elsewhere(day: date, time: re.Match[str]) -> tuple[date, ...]:
    hour, minute = int(time["hour"]), int(time["minute"])
    if hour > 23 or minute > 59:
        return ()
    at = datetime(day.year, day.month, day.day, hour, minute, tzinfo=UTC)
    return (at - _BEHIND).date(), day, (at + _AHEAD).date()
