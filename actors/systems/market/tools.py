"""Market data tools: prices, economic series, exchange rates, Treasury yields, and what there is.

Seed 000 §3.1 and §7.1. They store nothing: a table becomes a resource by `create_table_resource`, or in a
research. The providers are in `actors.systems.market.data`.
"""

from collections.abc import Callable
from datetime import date
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from actors.platform.tools.tool import Input, Lacking, Output, Run, Tool, ToolContext, tool
from actors.systems.market.data import (
    KINDS,
    checked_id,
    fetch_series,
    lacking,
    provider_of,
    search_catalogues,
)
from actors.systems.market.known_series import CURVE
from actors.systems.market.tables import read_day
from models.config import Config
from models.content.outside import DataKind, DataTable, SeriesInfo
from models.tools import PlainText, ToolPermission

ANALYST = ToolPermission(required_role="analyst", topic_scoped=False)


def _day(value: Any) -> date:
    return value if type(value) is date else read_day(value)


Day = Annotated[date, BeforeValidator(_day)]
Start = Annotated[Day | None, Field(description="First day, YYYY-MM-DD", examples=["2026-07-01"])]
End = Annotated[Day | None, Field(description="Last day, YYYY-MM-DD", examples=["2026-09-30"])]
Provider = Annotated[
    PlainText | None,
    Field(
        description="Who to ask; the first that is configured if absent", max_length=40, examples=["sample"]
    ),
]
Currency = Annotated[PlainText, Field(min_length=3, max_length=3, examples=["EUR"])]


class _SpanRequest(Input):
    """What all requests share. Without `start`: a year back, or ten years for economic series."""

    start: Start = None
    end: End = None
    provider: Provider = None


class EquityDataRequest(_SpanRequest):
    """Daily prices of a share."""

    symbol: Annotated[
        PlainText,
        Field(description="Ticker as the provider has it", min_length=1, max_length=20, examples=["AAPL"]),
    ]


class EconomicDataRequest(_SpanRequest):
    """An economic series."""

    series_id: Annotated[
        PlainText,
        Field(description="Id; search_series finds it", min_length=1, max_length=60, examples=["UNRATE"]),
    ]


class FxRatesRequest(_SpanRequest):
    """Daily rates: units of `quote` for one `base`."""

    base: Currency
    quote: Annotated[PlainText, Field(min_length=3, max_length=3, examples=["PLN"])]


class TreasuryYieldsRequest(_SpanRequest):
    """Daily yields of US Treasuries; all maturities where none is named."""

    maturities: Annotated[
        list[Annotated[PlainText, Field(max_length=8)]] | None,
        Field(min_length=1, max_length=20, examples=[["2Y", "10Y"]]),
    ] = None


class MarketDataResponse(Output):
    """The table: its first column is the day, the others are numbers or null. Oldest row first."""

    table: DataTable


def _market_tool(path: str, lacks: Lacking) -> Callable[[Run], Tool]:
    """A tool that asks a provider of market data, and stores nothing."""
    return tool(
        ANALYST,
        rest=f"POST /research/{path}",
        effect="leaves the site",
        own_transactions=True,
        lacking=lacks,
    )


@_market_tool("equity-data", lambda config: lacking("equity", config))
async def fetch_equity_data(context: ToolContext, request: EquityDataRequest) -> MarketDataResponse:
    """Fetch daily share prices: open, high, low, close, volume."""
    return await _fetch(context, "equity", request.symbol, request)


@_market_tool("economic-data", lambda config: lacking("economic", config))
async def fetch_economic_data(context: ToolContext, request: EconomicDataRequest) -> MarketDataResponse:
    """Fetch an economic series, such as inflation or unemployment; search_series finds its id."""
    return await _fetch(context, "economic", request.series_id, request)


@_market_tool("fx-rates", lambda config: lacking("fx", config))
async def fetch_fx_rates(context: ToolContext, request: FxRatesRequest) -> MarketDataResponse:
    """Fetch daily exchange rates of two currencies."""
    return await _fetch(context, "fx", f"{request.base}/{request.quote}", request)


@_market_tool("treasury-yields", lambda config: lacking("treasury", config))
async def fetch_treasury_yields(context: ToolContext, request: TreasuryYieldsRequest) -> MarketDataResponse:
    """Fetch daily par yields of US Treasuries by maturity, in percent."""
    wanted = CURVE if request.maturities is None else ",".join(request.maturities)
    return await _fetch(context, "treasury", wanted, request)


async def _fetch(
    context: ToolContext, kind: DataKind, series_id: str, request: _SpanRequest
) -> MarketDataResponse:
    written = checked_id(kind, series_id)
    provider = provider_of(kind, context.config, request.provider)
    info = SeriesInfo(kind=kind, provider=provider.name, series_id=written, title=written)
    table = await fetch_series(info, config=context.config, start=request.start, end=request.end)
    return MarketDataResponse(table=table)


class SeriesSearchRequest(Input):
    """Search what there is by words, in English, Polish or German."""

    query: Annotated[PlainText, Field(min_length=1, max_length=500, examples=["inflation in Poland"])]
    kind: DataKind | None = None
    limit: int = Field(default=10, ge=1, le=50)


class SeriesSearchResponse(Output):
    """The series, best first. `note` says what kept the search from being whole."""

    series: tuple[SeriesInfo, ...]
    note: str | None = None


def _lacking_all(config: Config) -> str | None:
    """What is lacking where there is no provider of anything."""
    missing = [lacking(kind, config) for kind in KINDS]
    return missing[0] if None not in missing else None


@_market_tool("series", _lacking_all)
async def search_series(context: ToolContext, request: SeriesSearchRequest) -> SeriesSearchResponse:
    """Find the ids of market data series by words: shares, economic series, currencies, yields."""
    found, note = await search_catalogues(
        request.query, config=context.config, kind=request.kind, most=request.limit
    )
    return SeriesSearchResponse(series=tuple(found), note=note)
