"""Providers of market data: which there are, which one answers, and which series a text asks for.

For each kind of data the first that is configured is the default. An outside provider that fails is an
error: sample data never stands in for it.
"""

import re
from datetime import UTC, date, datetime
from typing import ClassVar, Protocol

from actors.systems.market.catalogue import info_of
from actors.systems.market.ecb import EcbRates
from actors.systems.market.exchange import split_pair
from actors.systems.market.fred import FredSeries
from actors.systems.market.known_series import CURRENCIES, CURVE, MATURITIES
from actors.systems.market.sample import Sample
from actors.systems.market.series_in_text import asked_for, fold
from actors.systems.market.tables import Span, checked_span
from actors.systems.market.treasury import TreasuryYields
from actors.systems.market.yahoo import YahooPrices
from models.config import Config
from models.content.outside import DataKind, DataTable, SeriesInfo
from models.error_lines import error_line
from models.errors import InputInvalid, ProviderMissing, SignoffError

KINDS: tuple[DataKind, ...] = ("equity", "economic", "fx", "treasury")
# What may stand in a URL: nothing that ends a path's part, or begins a query.
_IDS: dict[DataKind, tuple[re.Pattern[str], str]] = {
    "equity": (
        re.compile(r"\^?[A-Z0-9][A-Z0-9.=\-]{0,14}\Z"),
        "symbol: give 1 to 15 letters, digits, '.', '-' or '=', such as AAPL or SAP.DE",
    ),
    "economic": (
        re.compile(r"[A-Z0-9_]{1,40}\Z"),
        "series_id: give 1 to 40 letters, digits or '_', such as UNRATE; search_series finds ids",
    ),
}
# Words of queries and of titles that say nothing about a series.
_EMPTY = frozenset(["the", "and", "for", "all", "one", "what", "how", "der", "die", "das", "und"])


class MarketProvider(Protocol):
    """The seam to whoever has market data."""

    name: ClassVar[str]
    kinds: ClassVar[tuple[DataKind, ...]]

    def __init__(self, config: Config) -> None: ...

    def holdings(self, kind: DataKind) -> list[SeriesInfo]:
        """Series of a kind that it is known to have."""
        ...

    def has(self, kind: DataKind, series_id: str) -> bool:
        """Whether it is worth asking it for a series."""
        ...

    async def fetch(self, kind: DataKind, series_id: str, span: Span, today: date) -> DataTable:
        """The series.

        Raises:
            InputInvalid: it has no such series, or no value in the span.
            ProviderFailed, ProviderLimited, AddressRefused: it did not answer usefully.
        """
        ...


# In the order of the configuration; sample data comes last.
PROVIDERS: dict[str, type[MarketProvider]] = {
    "yfinance": YahooPrices,
    "fred": FredSeries,
    "ecb_fx": EcbRates,
    "us_treasury": TreasuryYields,
    "sample": Sample,
}


def lacking(kind: DataKind, config: Config) -> str | None:
    """The setting to add for a kind of data, None where a provider of it is configured."""
    if _configured(kind, config):
        return None
    names = [f"outside.market_data.{name}" for name in _with(kind)]
    return f"add {' or '.join(names)} to the configuration"


def provider_of(kind: DataKind, config: Config, name: str | None = None) -> MarketProvider:
    """The provider of a kind by its name, or the default.

    Raises:
        InputInvalid: there is no provider of this name for this kind.
        ProviderMissing: it is not configured; the message names the setting.
    """
    if name is None:
        configured = _configured(kind, config)
        if not configured:
            raise ProviderMissing(f"no provider of {kind} data is configured: {lacking(kind, config)}")
        return PROVIDERS[configured[0]](config)
    if name not in _with(kind):
        raise InputInvalid(
            f"provider: {name[:40]!r} has no {kind} data; those that may are {', '.join(_with(kind))}"
        )
    if name not in _configured(kind, config):
        raise ProviderMissing(
            f"provider: {name} is not configured: add outside.market_data.{name} to the configuration"
        )
    return PROVIDERS[name](config)


def checked_id(kind: DataKind, series_id: str) -> str:
    """The id as providers take it. InputInvalid where it can't be one; the message names the field."""
    written = series_id.strip().upper()
    if kind in _IDS:
        pattern, told = _IDS[kind]
        if not pattern.match(written):
            raise InputInvalid(told)
        return written
    if kind == "fx":
        base, quote = split_pair(written)
        for field, code in (("base", base), ("quote", quote)):
            if code not in CURRENCIES:
                raise InputInvalid(
                    f"{field}: no currency {code[:20]!r} here; there are {', '.join(CURRENCIES)}"
                )
        if base == quote:
            raise InputInvalid(f"quote: is {quote} like base: give another currency")
        return written
    wanted = list(dict.fromkeys(part.strip() for part in written.split(",")))
    if unknown := [maturity for maturity in wanted if maturity not in MATURITIES and maturity != CURVE]:
        raise InputInvalid(f"maturities: there is no {unknown[0][:20]!r}; there are {', '.join(MATURITIES)}")
    return CURVE if CURVE in wanted else ",".join(wanted)


async def fetch_series(
    info: SeriesInfo, *, config: Config, start: date | None = None, end: date | None = None
) -> DataTable:
    """A series of a provider, at most the newest 2,000 rows.

    Args:
        start, end: days, both included; absent: the last year, or ten years of economic series.

    Raises:
        InputInvalid, ProviderMissing, ProviderFailed, ProviderLimited, AddressRefused: see
            `MarketProvider.fetch`; messages name the field or the setting.
    """
    today = datetime.now(UTC).date()
    provider = provider_of(info.kind, config, info.provider)
    series_id = checked_id(info.kind, info.series_id)
    return await provider.fetch(info.kind, series_id, checked_span(start, end, today), today)


def find_series(text: str, *, config: Config, most: int) -> list[SeriesInfo]:
    """The series that a person's text asks for, of the default providers, at most `most`.

    Pure and quick: nothing is asked of anybody. Texts are English, Polish or German.
    """
    found: list[SeriesInfo] = []
    for asked in asked_for(text):
        if names := _configured(asked.kind, config):
            provider = PROVIDERS[names[0]](config)
            parts = asked.series_id.split(",")
            series_id = ",".join(part for part in parts if _can_be_had(provider, asked.kind, part))
            if series_id:
                found.append(info_of(asked.kind, series_id, provider.name))
    return found[:most]


async def search_catalogues(
    query: str, *, config: Config, kind: DataKind | None, most: int
) -> tuple[list[SeriesInfo], str | None]:
    """Series by words, best first, and what kept the search from being whole.

    Catalogues of the default providers, and FRED's own search where it is configured.
    """
    words = [word for word in fold(query).split() if len(word) > 2 and word not in _EMPTY]
    asked = {(it.kind, it.series_id) for it in asked_for(query)}
    scored: list[tuple[int, SeriesInfo]] = []
    note: str | None = None
    for each in KINDS if kind is None else (kind,):
        if not (names := _configured(each, config)):
            continue
        provider = PROVIDERS[names[0]](config)
        for held in provider.holdings(each):
            score = _score(words, held) + 10 * ((each, held.series_id) in asked)
            if score:
                scored.append((score, held))
        if isinstance(provider, FredSeries):
            try:
                scored += [(1, found) for found in await provider.search(query, most)]
            except SignoffError as error:
                note = f"FRED's own search failed: {error_line(error)}"
    scored.sort(key=lambda pair: -pair[0])
    best: dict[tuple[DataKind, str], SeriesInfo] = {}
    for _, held in scored:
        best.setdefault((held.kind, held.series_id), held)
    return list(best.values())[:most], note


def _configured(kind: DataKind, config: Config) -> list[str]:
    settings = config.outside.market_data
    return [name for name in _with(kind) if getattr(settings, name) is not None]


def _with(kind: DataKind) -> list[str]:
    return [name for name, provider in PROVIDERS.items() if kind in provider.kinds]


def _can_be_had(provider: MarketProvider, kind: DataKind, series_id: str) -> bool:
    try:
        return provider.has(kind, checked_id(kind, series_id))
    except InputInvalid:
        return False


def _score(words: list[str], held: SeriesInfo) -> int:
    names = fold(" ".join((held.series_id, held.title, *held.also))).split()
    return sum(
        any(name == word or (len(word) >= 4 and name.startswith(word)) for name in names) for word in words
    )
