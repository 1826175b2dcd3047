"""What the words of a table say of its values: forecasts, parts of a year, shares, and units in thousands.

Called by `series`, so that no figure is said that such words would make wrong. English, Polish and German.
"""

import re

_FORECAST = re.compile(
    r"forecast|projection|projected|estimate|\bplan(?:s|ned)?\b|outlook"
    r"|prognoz|projekcj|szacun|szacowan|\bplanowan"
    r"|prognos|projektion|schätz|\bgeplant|planwert|hochrechnung",
    re.IGNORECASE,
)
_MONTH = (
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|sty|lut|kwi|maj|cze|lip|sie|wrz|paź|lis|gru"
    r"|mär|mrz|mai|okt|dez)"
)
_PARTIAL = re.compile(
    r"\bytd\b|year[- ]to[- ]date|cumulative|cumulated|\bfirst (?:\w{1,8} months|half|quarter)\b"
    r"|narastając|od początku roku|skumulowan|kumuliert|seit jahresbeginn"
    # A month right beside another is a part of a year; `January 2020 to May 2025` is all of a table.
    rf"|\b{_MONTH}[^\W\d_]{{0,9}}\.? ?(?:[-–—]|to|do|bis|through) ?{_MONTH}"
    rf"|(?<!\d )\bbis {_MONTH}",
    re.IGNORECASE,
)
_WHOLE_YEAR = re.compile(
    r"\b(?:jan|sty)[^\W\d_]{0,9}\.? ?(?:[-–—]|to|do|bis|through) ?(?:dec|gru|dez)[^\W\d_]{0,9}", re.IGNORECASE
)
_SHARES = re.compile(
    r"%|\bper ?cent|\bproc\b|procent|prozent"
    r"|\brates?\b|(?:s|en)raten?\b|\bratio|\bshares?\b|proportion|turnout|\byields?\b"
    r"|\bstop[ayęą]\b|wskaźnik|udział|odsetek|frekwencj|rentowno"
    r"|quoten?\b|anteil|rendite|zins"
    r"|temp\b|temperatur|°|celsius|fahrenheit|\((?:c|f)\)",
    re.IGNORECASE,
)
_SCALE = re.compile(
    r"\b(?:thousand|million|billion|tys|tysi|mln|mld|milion|miliard|milliard|tsd|tausend|mio|mrd)"
    r"|\b(?:bn|mn|000s?)\b|[$€£] ?[mkb]|(?<=\()[mk]\b",
    re.IGNORECASE,
)
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
