"""The sample data: what the files hold, and that whatever is made of them says what it is."""

import re
import shutil
from datetime import date
from pathlib import Path

import pytest

from actors.systems.market import known_series as known
from actors.systems.market.data import checked_id, fetch_series, find_series, lacking, provider_of
from actors.systems.market.sample import FOLDER, NOTE, Sample
from actors.systems.market.tables import Span
from models.config import Config
from models.config.outside import SampleData
from models.content.outside import DataKind, SeriesInfo
from models.errors import InputInvalid, ProviderFailed, ProviderMissing
from tests.unit.outside.market.market_config import with_providers

TODAY = date(2026, 11, 22)


@pytest.fixture(scope="module")
def config() -> Config:
    """The default configuration, whose only market data are samples."""
    return with_providers(sample=SampleData())


def series(kind: DataKind, series_id: str, provider: str = "sample") -> SeriesInfo:
    return SeriesInfo(kind=kind, provider=provider, series_id=series_id, title=series_id)


def test_the_files_are_small_and_say_that_they_are_made_up() -> None:
    files = sorted(FOLDER.glob("*.csv"))
    assert [file.stem for file in files] == ["economic", "equity", "fx", "treasury"]
    assert sum(file.stat().st_size for file in files) < 300_000
    for file in files:
        assert re.match(r"# Sample data: made up .* NOT real", file.read_text().splitlines()[0])
    assert "These numbers are made up" in (FOLDER / "README.md").read_text()


@pytest.mark.parametrize("kind", ["equity", "economic", "fx", "treasury"])
async def test_every_series_that_it_holds_can_be_had_and_is_marked(config: Config, kind: DataKind) -> None:
    held = Sample(config).holdings(kind)
    assert len(held) >= 5
    for info in held:
        assert info.title != info.series_id, "it has no name in the catalogue"
        table = await fetch_series(info, config=config)
        assert table.source == "sample"
        assert table.url is None
        assert table.title.endswith("(sample data)")
        assert table.note is not None
        assert table.note.startswith(NOTE)
        assert table.columns[0] == "date"
        assert len(table.rows) >= 30
        days = [date.fromisoformat(str(row[0])) for row in table.rows]
        assert days == sorted(set(days))
        assert all(len(row) == len(table.columns) for row in table.rows)
        assert all(cell is None or type(cell) in (int, float) for row in table.rows for cell in row[1:])


def test_every_economic_series_of_the_catalogue_is_among_the_samples(config: Config) -> None:
    held = {info.series_id for info in Sample(config).holdings("economic")}
    assert held == {series_id for series_id, _ in known.ECONOMIC.values()}


async def test_prices_keep_their_order_within_the_day(config: Config) -> None:
    for info in Sample(config).holdings("equity"):
        for _, opened, high, low, close, _ in (await fetch_series(info, config=config)).rows:
            assert float(low or 0) <= min(float(opened or 0), float(close or 0))
            assert float(high or 0) >= max(float(opened or 0), float(close or 0))


async def test_pairs_are_computed_through_the_euro_and_say_so(config: Config) -> None:
    direct = await fetch_series(series("fx", "EUR/PLN"), config=config)
    assert direct.unit == "PLN per EUR"
    assert direct.note == NOTE
    dollars = await fetch_series(series("fx", "EUR/USD"), config=config)
    cross = await fetch_series(series("fx", "USD/PLN"), config=config)
    assert cross.note == f"{NOTE}; computed through the euro"
    for (_, zloty), (_, dollar), (_, rate) in zip(direct.rows, dollars.rows, cross.rows, strict=True):
        assert rate == pytest.approx(float(zloty or 0) / float(dollar or 1), rel=1e-5)


async def test_a_span_cuts_both_ends_and_one_without_data_names_the_days_there_are(config: Config) -> None:
    table = await fetch_series(
        series("equity", "AAPL"), config=config, start=date(2026, 7, 2), end=date(2026, 7, 6)
    )
    assert [row[0] for row in table.rows] == ["2026-07-02", "2026-07-03", "2026-07-06"]
    with pytest.raises(InputInvalid, match="sample has AAPL from 2026-07-01 to 2026-09-30 only"):
        await fetch_series(series("equity", "AAPL"), config=config, end=date(2026, 1, 1))


async def test_a_holiday_is_a_row_without_values(config: Config) -> None:
    table = await fetch_series(series("treasury", "2Y,10Y"), config=config)
    assert table.columns == ("date", "2Y", "10Y")
    assert ("2026-09-07", None, None) in table.rows


@pytest.mark.parametrize(
    ("kind", "series_id", "told"),
    [
        ("equity", "AAPLX", "symbol: sample has no AAPLX; it has AAPL, MSFT"),
        ("economic", "NOSUCH", "series_id: sample has no NOSUCH; it has CPIAUCSL_PC1"),
        ("fx", "EUR/CZK", "quote: sample has no CZK; it has EUR, USD"),
        ("treasury", "20Y", "maturities: sample has no 20Y; it has 3M, 2Y"),
    ],
)
async def test_what_it_has_not_is_told_with_what_it_has(
    config: Config, kind: DataKind, series_id: str, told: str
) -> None:
    with pytest.raises(InputInvalid) as error:
        await fetch_series(series(kind, series_id), config=config)
    assert str(error.value).startswith(told)


async def test_without_its_files_it_says_where_they_were_looked_for(config: Config, tmp_path: Path) -> None:
    with pytest.raises(ProviderFailed, match=r"can't read .*equity\.csv"):
        await Sample(config, tmp_path).fetch("equity", "AAPL", Span(), TODAY)


@pytest.mark.parametrize(
    ("kind", "series_id", "field"),
    [
        ("equity", "../../etc", "symbol"),
        ("equity", "AAPL?x=1", "symbol"),
        ("equity", "AAPL/../MSFT", "symbol"),
        ("equity", "AAPL%2e", "symbol"),
        ("equity", "AAPL\nX", "symbol"),
        ("equity", "..", "symbol"),
        ("equity", "", "symbol"),
        ("equity", "A" * 16, "symbol"),
        ("economic", "UNRATE&api_key=x", "series_id"),
        ("economic", "A" * 41, "series_id"),
        ("fx", "EUR/EUR", "quote"),
        ("fx", "EUR", "quote"),
        ("fx", "X+Y/EUR", "base"),
        ("treasury", "2Y,11Y", "maturities"),
        ("treasury", "", "maturities"),
    ],
)
def test_ids_that_could_bend_a_url_are_refused_by_field(kind: DataKind, series_id: str, field: str) -> None:
    with pytest.raises(InputInvalid) as error:
        checked_id(kind, series_id)
    assert str(error.value).startswith(f"{field}: ")


def test_ids_are_read_in_any_case() -> None:
    assert checked_id("equity", " sap.de ") == "SAP.DE"
    assert checked_id("fx", "eur/pln") == "EUR/PLN"
    assert checked_id("treasury", "10y, 2y,10Y") == "10Y,2Y"
    assert checked_id("treasury", "10Y,curve") == known.CURVE


def test_without_any_provider_the_setting_is_named_and_nothing_is_found() -> None:
    bare = with_providers()
    assert lacking("equity", bare) == (
        "add outside.market_data.yfinance or outside.market_data.sample to the configuration"
    )
    with pytest.raises(ProviderMissing, match=r"outside\.market_data\.fred"):
        provider_of("economic", bare)
    assert find_series("inflation in Poland and $AAPL", config=bare, most=5) == []


def test_a_provider_by_name_must_be_configured_and_have_the_kind(config: Config) -> None:
    assert lacking("equity", config) is None
    assert provider_of("equity", config, "sample").name == "sample"
    with pytest.raises(ProviderMissing, match=r"add outside\.market_data\.fred to the configuration"):
        provider_of("economic", config, "fred")
    with pytest.raises(InputInvalid, match=r"provider: 'fred' has no equity data; .* yfinance, sample"):
        provider_of("equity", config, "fred")


def test_only_series_that_the_provider_has_are_found_and_at_most_so_many(config: Config) -> None:
    found = find_series(
        "$AAPL, $TSLA, EUR/CZK, EUR/PLN, 20-year and 10-year treasuries", config=config, most=9
    )
    assert [info.series_id for info in found] == ["AAPL", "EUR/PLN", "10Y"]
    assert {info.provider for info in found} == {"sample"}
    assert len(find_series("inflation", config=config, most=9)) == 4
    assert len(find_series("inflation", config=config, most=2)) == 2
    assert find_series("inflation", config=config, most=0) == []


def test_a_file_that_was_changed_is_read_again(config: Config, tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path / "market")
    file = tmp_path / "market" / "economic.csv"
    sample = Sample(config, tmp_path / "market")
    *kept, gone = (found.series_id for found in sample.holdings("economic"))
    lines = [line for line in file.read_text().splitlines() if not line.startswith(f"{gone},")]
    file.write_text("\n".join(lines) + "\n")
    assert [found.series_id for found in sample.holdings("economic")] == kept
