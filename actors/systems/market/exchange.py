"""Exchange rates between any two currencies, from rates against the euro.

The ECB and the sample data quote every currency as units for one euro; other pairs are computed.
"""

from collections.abc import Mapping
from datetime import date

from actors.systems.market.known_series import CURRENCIES
from models.content.articles import Cell
from models.errors import InputInvalid

# Of the currency for one euro, by day; None where there is no value.
PerEuro = Mapping[date, int | float | None]


def split_pair(series_id: str) -> tuple[str, str]:
    """`EUR/PLN` as base and quote."""
    base, _, quote = series_id.partition("/")
    return base, quote


def needed(base: str, quote: str, has: list[str], source: str) -> tuple[str, ...]:
    """The currencies whose rates against the euro a pair takes. InputInvalid names one that is not there."""
    for field, code in (("base", base), ("quote", quote)):
        if code != "EUR" and code not in has:
            raise InputInvalid(f"{field}: {source} has no {code}; it has EUR, {', '.join(has)}")
    return tuple(code for code in (base, quote) if code != "EUR")


def cross_rates(base: str, quote: str, rates: Mapping[str, PerEuro]) -> dict[date, tuple[Cell, ...]]:
    """Units of `quote` for one `base` by day, on days that all the rates have.

    A rate against the euro is as it was given; a computed one has six digits.
    """
    if base == "EUR":
        return {day: (rate,) for day, rate in rates[quote].items()}
    rows: dict[date, tuple[Cell, ...]] = {}
    for day, divisor in rates[base].items():
        dividend = 1 if quote == "EUR" else rates[quote].get(day)
        if dividend is not None and divisor:
            rows[day] = (float(f"{dividend / divisor:.6g}"),)
    return rows


def pair_title(base: str, quote: str) -> str:
    """What a pair is called."""
    return f"{base}/{quote} exchange rate: {CURRENCIES[quote][0]} for one {CURRENCIES[base][0]}"


def pair_note(base: str, quote: str) -> str:
    """How a pair was come by, where it was computed."""
    if base == "EUR":
        return ""
    return "the reciprocal of the rate against the euro" if quote == "EUR" else "computed through the euro"
