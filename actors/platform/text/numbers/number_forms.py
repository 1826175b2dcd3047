"""The forms in which numbers and dates are compared: what digits can be read as.

A reading is a kind and a value: `number:3.1`, `day:2026-06-17`.
"""

import re
from datetime import date
from decimal import Decimal

from actors.platform.text.language import Language
from actors.platform.text.lexicon import pattern

# Longer ones are compared as they stand.
_MOST_DIGITS = 40
_SPACE = " \u00a0\u2009\u202f"
_POINTS = pattern("numbers", "points", rf"[*_]{{0,2}}[{_SPACE}-]?{{}}")
_PERCENT = pattern("numbers", "percent", rf"[*_]{{0,2}}[{_SPACE}-]?(?:%|{{}})")
_DIGITS = re.compile(r"\d+")
_QUARTER = re.compile(r"(\d{4})[- ]?(Q[1-4])\Z|(Q[1-4])[ /-]?(\d{4})\Z")


def values(text: str, language: Language) -> list[str]:
    """What a number in digits may be: `1.234` both 1234 and 1.234, the latter with its three decimals.

    Where the language writes decimals so, `4,310` is 4.31 besides. Elsewhere it isn't: nobody who writes
    `2,000` in English means 2.
    """
    sign = "-" if text[0] in "-−" else ""
    digits = text[1:] if sign else text
    marks = [char for char in digits if not char.isdecimal()]
    if not marks:
        return [sign + normal(digits)]
    last, first = marks[-1], marks[0]
    head, _, tail = digits.rpartition(last)
    if len(marks) == 1 and last in ".,":
        plain = sign + normal(head, tail)
        if len(tail) != 3 or len(head) > 3 or head.startswith("0"):
            return [plain]
        natural = [plain] if (last == ".") == (language == "en") else []
        return [sign + normal(head + tail), f"{sign}{_ascii(head)}.{_ascii(tail)}", *natural]
    if last != first:
        return [sign + normal("".join(_DIGITS.findall(head)), tail)]
    if len(tail) == 3:
        return [sign + normal("".join(_DIGITS.findall(digits)))]
    return [sign + _ascii(digits)]


def normal(whole: str, decimals: str = "") -> str:
    """A number without zeros that say nothing."""
    before = _ascii(whole).lstrip("0") or "0"
    behind = _ascii(decimals).rstrip("0")
    return f"{before}.{behind}" if behind else before


def unit_at(text: str, end: int) -> tuple[str, int]:
    """The kind of a number that ends there, by what stands behind it, and where that ends."""
    for kind, unit in (("points", _POINTS), ("percent", _PERCENT)):
        if found := unit.match(text, end):
            return kind, found.end()
    return "number", end


def times(value: str, factor: int) -> str:
    """A value multiplied by a scale."""
    if factor == 1 or len(value) > _MOST_DIGITS:
        return value
    sign, size = ("-", value[1:]) if value.startswith("-") else ("", value)
    whole, _, decimals = f"{Decimal(size) * factor:f}".partition(".")
    return sign + normal(whole, decimals)


def shared(readings: list[str], last: str, factor: int) -> list[str]:
    """What a number or a date may be besides, because the last one of its list has a unit, a month or a year.

    In `2 to 3 million` the first may be two million, in `17 and 18 June` a day.
    """
    kind, _, value = last.partition(":")
    found = []
    for reading in readings:
        own, _, mine = reading.partition(":")
        if own == "number" and kind in ("number", "percent", "points"):
            found.append(f"{kind}:{times(mine, factor)}")
        elif own == "number" and mine.isdecimal() and len(mine) <= 2 and int(mine) <= 31:
            if kind == "day" or (kind == "of-year" and "-" in value):
                found.append(f"{kind}:{value[:-2]}{int(mine):02}")
        elif own == "of-year" and kind in ("day", "month", "quarter"):
            wanted = "day" if "-" in mine else "quarter" if mine.startswith("Q") else "month"
            found.append(f"{wanted}:{value[:4]}-{mine}")
    return found


def in_figures(kind: str, text: str) -> list[str]:
    """The readings of a date or a time that is written in digits; of an impossible date the text itself."""
    if kind == "time":
        return [f"time:{_ascii(text)}"]
    if kind == "month":
        return [f"month:{_ascii(text)}"]
    if kind == "quarter" and (found := _QUARTER.match(text)):
        return [f"quarter:{_ascii(found[1] or found[4])}-{found[2] or found[3]}"]
    numbers = [int(part) for part in _DIGITS.findall(text)[:3]]
    if kind == "iso":
        tries = [(numbers[0], numbers[1], numbers[2])]
    else:
        tries = [(numbers[2], numbers[1], numbers[0])]
        tries += [(numbers[2], numbers[0], numbers[1])] if kind == "slashed" else []
    days = dict.fromkeys(f"day:{y:04}-{m:02}-{d:02}" for y, m, d in tries if day_exists(y, m, d))
    return list(days) or [f"date:{text}"]


def day_exists(year: int, month: int, day: int) -> bool:
    """Whether there is such a day."""
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


def _ascii(digits: str) -> str:
    """Digits of any script as those of ours."""
    return digits if digits.isascii() else "".join(str(int(c)) if c.isdecimal() else c for c in digits)
