"""Outside providers of market data against servers on loopback that answer in their real formats."""

import logging
import math
from collections.abc import Iterator
from datetime import date

import pytest

from actors.systems.market.data import fetch_series, find_series, search_catalogues
from models.config import Config
from models.config.outside import EcbFx, Fred, SampleData, UsTreasury, YahooFinance
from models.content.outside import DataKind, DataTable, SeriesInfo
from models.errors import AddressRefused, InputInvalid, ProviderFailed, ProviderLimited
from tests.fakes.outside import market_providers as fake
from tests.fakes.outside.market_providers import KEY, MarketServer, Reply, json_reply, text_reply
from tests.unit.outside.market.market_config import with_providers

START, END = date(2026, 9, 1), date(2026, 9, 30)
PROVIDER: dict[DataKind, tuple[str, str]] = {
    "equity": ("yfinance", "AAPL"),
    "economic": ("fred", "UNRATE"),
    "fx": ("ecb_fx", "EUR/USD"),
    "treasury": ("us_treasury", "10Y"),
}
KINDS = list(PROVIDER)


@pytest.fixture
def server() -> Iterator[MarketServer]:
    """The providers."""
    with MarketServer() as made:
        yield made


def configured(url: str, key: str = KEY) -> Config:
    return with_providers(
        yfinance=YahooFinance(url=url),
        fred=Fred.model_validate({"url": f"{url}/", "api_key": key}),
        ecb_fx=EcbFx(url=url),
        us_treasury=UsTreasury(url=url),
        sample=SampleData(),
    )


@pytest.fixture
def config(server: MarketServer) -> Config:
    """All four providers are on the server, and samples are there too."""
    return configured(server.url)


async def fetched(
    config: Config, kind: DataKind, series_id: str = "", start: date | None = START, end: date | None = END
) -> DataTable:
    provider, usual = PROVIDER[kind]
    info = SeriesInfo(kind=kind, provider=provider, series_id=series_id or usual, title="t")
    return await fetch_series(info, config=config, start=start, end=end)


async def test_yahoo_gives_prices_by_the_exchange_s_day(server: MarketServer, config: Config) -> None:
    table = await fetched(config, "equity")
    assert table.columns == ("date", "open", "high", "low", "close", "adjusted_close", "volume")
    assert table.rows[0] == ("2026-09-01", 200.1, 200.1, 200.1, 200.1, 200.1, 1000)
    assert table.rows[-1][0] == "2026-09-30"
    assert "2026-09-07" not in [row[0] for row in table.rows], "a holiday is no trade"
    assert (table.title, table.unit, table.source) == ("Apple Inc.: daily prices", "USD", "yfinance")
    assert table.url == f"{server.url}/v8/finance/chart/AAPL"
    assert table.note is None
    [asked] = server.asked
    assert asked.query["interval"] == "1d"
    assert asked.query["period1"] == "1788220800"
    assert asked.query["period2"] == "1790812800", "the day after the last"


async def test_yahoo_s_day_is_the_day_at_the_exchange(server: MarketServer, config: Config) -> None:
    answer = fake.chart("SAP.DE", [date(2026, 9, 1)])
    answer["chart"]["result"][0]["timestamp"] = [1788213600]  # 2026-08-31T22:00Z, midnight in Berlin
    server.script(json_reply(answer))
    assert (await fetched(config, "equity", "SAP.DE")).rows[0][0] == "2026-09-01"
    answer["chart"]["result"][0]["meta"] |= {"exchangeTimezoneName": "Nowhere/At_All", "gmtoffset": 7200}
    server.script(json_reply(answer))
    assert (await fetched(config, "equity", "SAP.DE")).rows[0][0] == "2026-09-01"


async def test_yahoo_s_refusals_name_the_field(config: Config) -> None:
    with pytest.raises(InputInvalid, match=r"symbol: yfinance has no AAPLX \(No data found"):
        await fetched(config, "equity", "AAPLX")
    with pytest.raises(InputInvalid, match=r"symbol, start, end: yfinance has no AAPL .* Data doesn't exist"):
        await fetched(config, "equity", start=date(1970, 1, 1), end=date(1975, 1, 1))
    with pytest.raises(InputInvalid, match="start, end: yfinance has no values of AAPL from 2026-09-05"):
        await fetched(config, "equity", start=date(2026, 9, 5), end=date(2026, 9, 6))


async def test_yahoo_s_odd_rows_are_left_out_and_odd_lists_refused(
    server: MarketServer, config: Config
) -> None:
    answer = fake.chart("AAPL", [date(2026, 9, 1), date(2026, 9, 2), date(2026, 9, 3)])
    quote = answer["chart"]["result"][0]["indicators"]["quote"][0]
    quote["open"] = [math.nan, "<script>", 3.0]
    answer["chart"]["result"][0]["timestamp"][2] = 10**18
    server.script(json_reply(answer))
    table = await fetched(config, "equity")
    assert [row[:2] for row in table.rows] == [("2026-09-01", None)]
    assert table.note == "2 rows could not be read and are left out"
    quote["close"] = [1.0]
    server.script(json_reply(answer))
    with pytest.raises(ProviderFailed, match="3 days, but not as many prices"):
        await fetched(config, "equity")


async def test_fred_gives_values_and_what_they_are(server: MarketServer, config: Config) -> None:
    table = await fetched(config, "economic", start=date(2025, 9, 1), end=date(2025, 11, 30))
    assert table.columns == ("date", "value")
    assert table.rows == (("2025-09-01", 5.5), ("2025-10-01", None), ("2025-11-01", 6.5))
    assert (table.title, table.unit, table.note) == ("Unemployment Rate", "Percent", "Monthly")
    assert table.url == f"{server.url}/fred/series/observations?series_id=UNRATE"
    assert {asked.query["api_key"] for asked in server.asked} == {KEY}
    assert {asked.path for asked in server.asked} == {"/fred/series", "/fred/series/observations"}


async def test_fred_s_transformations_are_asked_for_by_the_id_s_ending(
    server: MarketServer, config: Config
) -> None:
    table = await fetched(config, "economic", "cpiaucsl_pc1", start=None, end=None)
    assert (table.series_id, table.unit) == ("CPIAUCSL_PC1", "percent change from a year ago")
    observed = next(asked for asked in server.asked if asked.path.endswith("observations"))
    assert (observed.query["series_id"], observed.query["units"]) == ("CPIAUCSL", "pc1")


async def test_fred_keeps_the_newest_of_many(
    server: MarketServer, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.systems.market.fred.MOST_ROWS", 12)
    table = await fetched(config, "economic", start=date(1948, 1, 1))
    assert len(table.rows) == 12
    assert table.rows[-1][0] == "2026-09-01"
    assert table.note == "Monthly; the newest 12 of 945 rows"


async def test_fred_s_refusals_name_the_field_or_the_setting_and_never_the_key(
    server: MarketServer, config: Config
) -> None:
    with pytest.raises(InputInvalid, match="series_id: fred has no NOSUCH: search_series finds ids"):
        await fetched(config, "economic", "NOSUCH")
    wrong = "f" * 32
    with pytest.raises(ProviderFailed, match=r"Check outside\.market_data\.fred\.api_key") as error:
        await fetched(configured(server.url, wrong), "economic")
    assert wrong not in str(error.value)
    server.script(json_reply({"error_code": 400, "error_message": f"bad key {KEY}"}, 400))
    with pytest.raises(InputInvalid) as told:
        await fetched(config, "economic")
    assert KEY not in str(told.value)


async def test_the_ecb_gives_rates_and_pairs_are_computed(server: MarketServer, config: Config) -> None:
    direct = await fetched(config, "fx", "EUR/USD")
    assert direct.rows[0] == ("2026-09-01", 1.1)
    assert (direct.unit, direct.note) == ("USD per EUR", None)
    assert direct.title == "EUR/USD exchange rate: US dollar for one euro"
    cross = await fetched(config, "fx", "USD/PLN")
    assert cross.rows[0] == ("2026-09-01", 4.0)
    assert (cross.unit, cross.note) == ("PLN per USD", "computed through the euro")
    assert server.asked[1].path == "/service/data/EXR/D.USD+PLN.EUR.SP00.A"
    back = await fetched(config, "fx", "USD/EUR")
    assert back.rows[0] == ("2026-09-01", 0.909091)
    assert back.note == "the reciprocal of the rate against the euro"


async def test_the_ecb_answers_404_where_there_is_nothing(server: MarketServer, config: Config) -> None:
    with pytest.raises(InputInvalid, match="ecb_fx has no values of EUR/USD from 2026-09-05 to 2026-09-06"):
        await fetched(config, "fx", start=date(2026, 9, 5), end=date(2026, 9, 6))
    server.script(text_reply(""))
    with pytest.raises(InputInvalid, match="has no values"):
        await fetched(config, "fx")


async def test_the_ecb_s_odd_rows_are_left_out(server: MarketServer, config: Config) -> None:
    rows = ["CURRENCY,TIME_PERIOD,OBS_VALUE", "USD,2026-09-01,1.5", "USD,2026-09,1.5", "USD,2026-09-02,NaN"]
    server.script(text_reply("\n".join([*rows, "USD", "PLN,2026-09-01,4", '"USD,2026-09-03'])))
    table = await fetched(config, "fx")
    assert table.rows == (("2026-09-01", 1.5), ("2026-09-02", None))
    assert table.note == "2 rows could not be read and are left out"


async def test_the_treasury_gives_maturities_of_all_years_oldest_first(
    server: MarketServer, config: Config
) -> None:
    table = await fetched(config, "treasury", "CURVE", start=date(2024, 12, 30))
    assert table.columns[:4] == ("date", "1M", "1.5M", "2M")
    assert table.columns[-1] == "30Y"
    assert table.rows[0][:4] == ("2024-12-30", 3.0, None, 3.2)
    assert table.rows[-1][:4] == ("2026-09-30", 3.0, 3.1, 3.2)
    assert len(server.asked) == 3
    assert (await fetched(config, "treasury", "10Y,2Y")).rows[0] == ("2026-09-01", 4.1, 3.7)


async def test_the_treasury_is_not_asked_for_a_century(server: MarketServer, config: Config) -> None:
    table = await fetched(config, "treasury", start=date(1900, 1, 1))
    assert len(server.asked) == 9
    assert len(table.rows) == 2000
    assert table.note is not None
    assert "from 2018 on" in table.note
    with pytest.raises(InputInvalid, match="us_treasury has no values"):
        await fetched(config, "treasury", start=date(1950, 1, 1), end=date(1951, 1, 1))


async def test_the_treasury_s_odd_rows_are_left_out(server: MarketServer, config: Config) -> None:
    rows = ['Date,"2 Yr","10 Yr"', "09/02/2026,4.0,N/A", "09/01/2026,4.0,4.2", "13/45/2026,1,1", "09/03/2026"]
    server.script(text_reply("\n".join(rows)))
    table = await fetched(config, "treasury")
    assert table.rows == (("2026-09-01", 4.2), ("2026-09-02", None))
    assert table.note == "2 rows could not be read and are left out"


HTML = text_reply("<!DOCTYPE html><html><body>Sign in</body></html>", kind="text/html")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "reply",
    [
        HTML,
        json_reply([1, 2]),
        json_reply({"chart": {"result": [], "error": None}, "seriess": [], "observations": 1}),
        json_reply("a text"),
        Reply(200, b"\xff\xfe\x00nonsense", {"Content-Type": "application/json"}),
        Reply(200, b"[" * 200_000, {"Content-Type": "application/json"}),
        Reply(500, b"Internal Server Error"),
        Reply(403, b"Forbidden"),
    ],
    ids=["html", "list", "empty", "text", "bytes", "deep", "500", "403"],
)
async def test_what_is_not_in_the_format_is_an_error_and_never_sample_data(
    server: MarketServer, config: Config, kind: DataKind, reply: Reply
) -> None:
    server.script(reply)
    with pytest.raises(ProviderFailed, match=PROVIDER[kind][0]):
        await fetched(config, kind)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_rate_limit_says_when_to_come_again(
    server: MarketServer, config: Config, kind: DataKind
) -> None:
    server.script(Reply(429, b"Too Many Requests\r\n", {"Retry-After": "17"}))
    with pytest.raises(ProviderLimited, match=PROVIDER[kind][0]) as error:
        await fetched(config, kind)
    assert error.value.facts["retry_after_seconds"] == 17


@pytest.mark.parametrize("kind", KINDS)
async def test_slow_and_huge_answers_are_bounded(
    server: MarketServer, config: Config, kind: DataKind
) -> None:
    research = config.outside.model_copy(update={"timeout_seconds": 0.2, "max_bytes": 50_000})
    bounded = config.model_copy(update={"outside": research})
    server.script(Reply(hold=True))
    with pytest.raises(ProviderFailed, match=PROVIDER[kind][0]):
        await fetched(bounded, kind)
    quick = bounded.model_copy(update={"outside": research.model_copy(update={"timeout_seconds": 10.0})})
    server.script(Reply(body=b"x" * 8192, endless=True))
    with pytest.raises(ProviderFailed, match=PROVIDER[kind][0]):
        await fetched(quick, kind)


@pytest.mark.parametrize("kind", KINDS)
async def test_an_internal_address_takes_the_guard_s_leave(server: MarketServer, kind: DataKind) -> None:
    config = configured(server.url)
    outgoing = config.outgoing.model_copy(update={"allow_internal": ()})
    with pytest.raises(AddressRefused, match=r"outgoing\.allow_internal"):
        await fetched(config.model_copy(update={"outgoing": outgoing}), kind)
    assert server.asked == []


@pytest.mark.parametrize("kind", KINDS)
async def test_a_provider_that_is_away_is_an_error(kind: DataKind) -> None:
    with MarketServer() as gone:
        config = configured(gone.url)
    with pytest.raises(ProviderFailed, match=PROVIDER[kind][0]):
        await fetched(config, kind)


async def test_keys_are_in_no_log(
    server: MarketServer, config: Config, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        await fetched(config, "economic")
        server.script(HTML)
        with pytest.raises(ProviderFailed) as error:
            await fetched(config, "economic")
    assert KEY not in caplog.text
    assert KEY not in str(error.value)


def test_texts_are_answered_with_outside_series_where_they_are_configured(config: Config) -> None:
    text = "$BRK-B, EUR/CZK, 20-year treasuries and inflation in Poland"
    found = find_series(text, config=config, most=9)
    assert [(info.provider, info.series_id) for info in found] == [
        ("yfinance", "BRK-B"),
        ("ecb_fx", "EUR/CZK"),
        ("us_treasury", "20Y"),
        ("fred", "CP0000PLM086NEST_PC1"),
    ]


async def test_series_are_searched_in_the_catalogue_and_by_fred(server: MarketServer, config: Config) -> None:
    found, note = await search_catalogues("unemployment poland", config=config, kind=None, most=3)
    assert note is None
    assert found[0].series_id == "LRHUTTTTPLM156S"
    assert server.asked[0].query["search_text"] == "unemployment poland"
    consumer, _ = await search_catalogues("consumer price index", config=config, kind="economic", most=50)
    assert "Consumer Price Index for All Urban Consumers, Monthly" in " ".join(
        info.title for info in consumer
    )


async def test_a_search_of_fred_s_that_fails_is_told_beside_what_was_found(
    server: MarketServer, config: Config
) -> None:
    server.script(HTML)
    found, note = await search_catalogues("stopa bezrobocia", config=config, kind=None, most=5)
    assert {info.series_id for info in found} >= {"UNRATE", "LRHUTTTTPLM156S"}
    assert note is not None
    assert note.startswith("FRED's own search failed: fred")
