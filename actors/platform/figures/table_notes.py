"""What the words of a table say of its values: forecasts, parts of a year, shares, and units in thousands.

Called by `series`, so that no figure is said that such words would make wrong.
"""

import re

from actors.platform.text.lexicon import pattern, words_of_all

_FILE = "tables"
_FORECAST, _SHARES = pattern(_FILE, "forecast"), pattern(_FILE, "shares")
_MONTH, _FIRST, _LAST, _UNTIL = (
    f"(?:{'|'.join(sorted(words_of_all(_FILE, key)))})"
    for key in ("months", "first_month", "last_month", "until")
)
_TO = rf"[^\W\d_]{{0,9}}\.? ?(?:[-–—]|{_UNTIL}) ?"
# A month right beside another is a part of a year; `January 2020 to May 2025` is all of a table.
_PARTIAL = pattern(_FILE, "partial", "{}" + rf"|\b{_MONTH}{_TO}{_MONTH}|(?<!\d )\bbis {_MONTH}")
_WHOLE_YEAR = re.compile(rf"\b{_FIRST}{_TO}{_LAST}[^\W\d_]{{0,9}}", re.IGNORECASE)
_SCALE = pattern(_FILE, "scales", r"\b{}|\b(?:bn|mn|000s?)\b|[$€£] ?[mkb]|(?<=\()[mk]\b")
_LONGEST = 1000


def says_forecast(text: str) -> bool:
    """Whether values are expected, estimated or planned: they aren't told apart from what was measured."""
    return _FORECAST.search(text[:_LONGEST]) is not None


def says_part_of_year(text: str) -> bool:
    """Whether values are of a year so far, or of some of its months: they compare with no whole year."""
    return _PARTIAL.search(_WHOLE_YEAR.sub(" ", text[:_LONGEST])) is not None


def says_share(text: str) -> bool:
    """Whether values are shares, rates or temperatures: a change of these in percent misleads."""
    return _SHARES.search(text[:_LONGEST]) is not None


def says_scale(text: str) -> bool:
    """Whether values are in thousands or more: then the sign in a cell isn't all of their unit."""
    return _SCALE.search(text[:_LONGEST]) is not None
