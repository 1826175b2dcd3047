"""Share prices from Yahoo Finance's chart API, `/v8/finance/chart/{symbol}`, daily.

This is what the yfinance package asks. It is asked for directly rather than through that package, because
every fetch must pass the URL guard. The API is undocumented; it refuses clients without a User-Agent.
"""

from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from typing import Any, ClassVar
from urllib.parse import quote
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict

from actors.platform.web.fetching import Fetched, fetch, read_json
from actors.platform.web.plain_text import plain_text
from actors.systems.market.catalogue import info_of, known_ids
from actors.systems.market.tables import Readings, Span, make_table, read_number
from models.config import Config
from models.content.outside import DataKind, DataTable, SeriesInfo
from models.errors import InputInvalid, ProviderFailed

_COLUMNS = ("open", "high", "low", "close", "adjusted_close", "volume")
_HEADERS = {"User-Agent": "Mozilla/5.0 (compatible; Signoff)", "Accept": "application/json"}
# Prices come as 32-bit floats: what follows these digits is noise.
_DIGITS = 4


class _YahooAnswer(BaseModel):
    """What we read of an answer; its other fields are left alone."""

    model_config = ConfigDict(extra="ignore")


class _Meta(_YahooAnswer):
    currency: str | None = None
    longName: str | None = None
    exchangeTimezoneName: str | None = None
    gmtoffset: int | None = None
    priceHint: int | None = None


class _Indicators(_YahooAnswer):
    quote: list[dict[str, list[Any]]]
    adjclose: list[dict[str, list[Any]]] | None = None


class _Result(_YahooAnswer):
    meta: _Meta
    # Absent where there is no price in the span.
    timestamp: list[int] | None = None
    indicators: _Indicators


class _Error(_YahooAnswer):
    code: str = ""
    description: str = ""


class _Chart(_YahooAnswer):
    result: list[_Result] | None = None
    error: _Error | None = None


class _YahooReply(_YahooAnswer):
    chart: _Chart


class YahooPrices:
    """Yahoo Finance, as `outside.market_data.yfinance` says where."""

    name: ClassVar[str] = "yfinance"
    kinds: ClassVar[tuple[DataKind, ...]] = ("equity",)

    def __init__(self, config: Config) -> None:
        self._config = config

    def holdings(self, kind: DataKind) -> list[SeriesInfo]:
        """The shares that the catalogue names; there are many more."""
        return [info_of(kind, symbol, self.name) for symbol in known_ids(kind)]

    def has(self, kind: DataKind, series_id: str) -> bool:
        """Whatever its symbol, Yahoo may have it."""
        return True

    async def fetch(self, kind: DataKind, series_id: str, span: Span, today: date) -> DataTable:
        """Daily prices; see `MarketProvider.fetch`."""
        settings = self._config.outside.market_data.yfinance
        assert settings is not None, "it was asked for as configured"
        start, end = span.filled(kind, today)
        url = f"{settings.url.rstrip('/')}/v8/finance/chart/{quote(series_id, safe='')}"
        params = {
            "period1": str(_seconds(start)),
            "period2": str(_seconds(end + timedelta(days=1))),
            "interval": "1d",
            "includeAdjustedClose": "true",
        }
        answer = await fetch(
            url,
            config=self._config,
            provider=self.name,
            params=params,
            headers=_HEADERS,
            accept_statuses=(400, 404),
        )
        result = self._result(answer, series_id, Span(start, end))
        meta = result.meta
        readings = _readings(result)
        return make_table(
            kind=kind,
            source=self.name,
            series_id=series_id,
            title=f"{plain_text(meta.longName, 100) or series_id}: daily prices",
            unit=plain_text(meta.currency, 10) or None,
            columns=_COLUMNS,
            rows=readings.within(Span(start, end)),
            span=span,
            today=today,
            url=url,
            unreadable=readings.unreadable,
        )

    def _result(self, answer: Fetched, symbol: str, span: Span) -> _Result:
        chart = read_json(answer, _YahooReply, self.name).chart
        if chart.error is not None:
            told = plain_text(chart.error.description, 200) or "no reason given"
            if chart.error.code == "Not Found":
                raise InputInvalid(
                    f"symbol: {self.name} has no {symbol} ({told}): give the symbol that Yahoo Finance uses"
                )
            if chart.error.code == "Bad Request":
                raise InputInvalid(
                    f"symbol, start, end: {self.name} has no {symbol} from {span.start} to {span.end}: {told}"
                )
            raise ProviderFailed(f"{self.name}: {told}")
        if not chart.result:
            raise ProviderFailed(f"{self.name}: the answer about {symbol} has neither a result nor an error")
        return chart.result[0]


def _readings(result: _Result) -> Readings:
    times = result.timestamp or []
    quotes = result.indicators.quote[0] if result.indicators.quote else {}
    adjusted = result.indicators.adjclose[0] if result.indicators.adjclose else {}
    lists = [quotes.get(name, []) for name in ("open", "high", "low", "close")]
    lists += [adjusted.get("adjclose", []), quotes.get("volume", [])]
    if any(cells and len(cells) != len(times) for cells in lists):
        raise ProviderFailed(f"yfinance: the answer has {len(times)} days, but not as many prices")
    digits = max(_DIGITS, min(result.meta.priceHint or 0, 12))
    readings = Readings()
    zone = _zone(result.meta)
    for index, seconds in enumerate(times):
        cells = [cells[index] if cells else None for cells in lists]
        try:
            # Days without trade come with a row of nulls.
            if any(cell is not None for cell in cells):
                readings.add(
                    datetime.fromtimestamp(seconds, zone).date(), [_rounded(cell, digits) for cell in cells]
                )
        except (ValueError, OverflowError, OSError):
            readings.unreadable += 1
    return readings


def _rounded(cell: Any, digits: int) -> int | float | None:
    number = read_number(cell)
    return round(number, digits) if isinstance(number, float) else number


def _zone(meta: _Meta) -> tzinfo:
    """The exchange's time zone: a session's day is the one there."""
    try:
        return ZoneInfo(meta.exchangeTimezoneName or "")
    except (KeyError, ValueError, OSError):
        pass  # unknown here; the offset of today will do
    offset = timedelta(seconds=meta.gmtoffset or 0)
    return timezone(offset) if abs(offset) < timedelta(days=1) else UTC


def _seconds(day: date) -> int:
    return int(datetime.combine(day, time(), UTC).timestamp())
