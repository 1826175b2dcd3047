"""The US Treasury's daily par yield curve rates, one CSV for each year.

The newest day comes first, days are written MM/DD/YYYY, and what did not exist yet has an empty cell or
no column. https://home.treasury.gov/resource-center/data-chart-center/interest-rates
"""

import asyncio
from datetime import date, datetime
from typing import ClassVar

from actors.platform.web.fetching import fetch
from actors.systems.market.catalogue import info_of, known_ids
from actors.systems.market.known_series import CURVE, MATURITIES
from actors.systems.market.tables import Readings, Span, make_table, read_csv
from models.config import Config
from models.content.outside import DataKind, DataTable, SeriesInfo

_PATH = "/resource-center/data-chart-center/interest-rates/daily-treasury-rates.csv/{year}/all"
_FIRST_YEAR = 1990
# As many as fill a table: some 250 days each.
_MOST_YEARS = 9


class TreasuryYields:
    """The Treasury's yields, as `outside.market_data.us_treasury` says where."""

    name: ClassVar[str] = "us_treasury"
    kinds: ClassVar[tuple[DataKind, ...]] = ("treasury",)

    def __init__(self, config: Config) -> None:
        self._config = config

    def holdings(self, kind: DataKind) -> list[SeriesInfo]:
        """The maturities, and all of them together."""
        return [info_of(kind, maturity, self.name) for maturity in known_ids(kind)]

    def has(self, kind: DataKind, series_id: str) -> bool:
        """Whether the maturities are the Treasury's."""
        return series_id == CURVE or all(maturity in MATURITIES for maturity in series_id.split(","))

    async def fetch(self, kind: DataKind, series_id: str, span: Span, today: date) -> DataTable:
        """Yields in percent, a column for each maturity; see `MarketProvider.fetch`."""
        start, end = span.filled(kind, today)
        years = range(max(start.year, _FIRST_YEAR), end.year + 1)[-_MOST_YEARS:]
        files = await self._years(years)
        wanted = list(MATURITIES) if series_id == CURVE else series_id.split(",")
        if series_id == CURVE:
            there = {column for file in files for row in file[:1] for column in row}
            wanted = [maturity for maturity in wanted if MATURITIES[maturity] in there]
        readings = Readings()
        for row in (row for file in files for row in file):
            _add(readings, row, wanted)
        left = f"from {years[0]} on" if years and start.year < years[0] else ""
        return make_table(
            kind=kind,
            source=self.name,
            series_id=series_id,
            title=info_of(kind, series_id, self.name).title,
            unit="percent",
            columns=tuple(wanted),
            rows=readings.within(Span(start, end)),
            span=span,
            today=today,
            url=self._url(years[-1]) if years else None,
            notes=(left,),
            unreadable=readings.unreadable,
        )

    def _url(self, year: int) -> str:
        settings = self._config.outside.market_data.us_treasury
        assert settings is not None, "it was asked for as configured"
        return settings.url.rstrip("/") + _PATH.format(year=year)

    async def _years(self, years: range) -> list[list[dict[str, str]]]:
        """The years' files, asked for at once; the first failure ends all."""
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._year(year)) for year in years]
        except ExceptionGroup as failures:  # callers know the fault itself, not a group of them
            raise failures.exceptions[0] from failures
        return [task.result() for task in tasks]

    async def _year(self, year: int) -> list[dict[str, str]]:
        """The rows of a year by column; nothing where the Treasury has nothing."""
        answer = await fetch(
            self._url(year),
            config=self._config,
            provider=self.name,
            params={
                "type": "daily_treasury_yield_curve",
                "field_tdr_date_value": str(year),
                "_format": "csv",
            },
            headers={"Accept": "text/csv"},
        )
        return read_csv(answer.body, ("Date", "10 Yr"), f"{self.name} ({year})")


def _add(readings: Readings, row: dict[str, str], wanted: list[str]) -> None:
    try:
        day = datetime.strptime(row["Date"], "%m/%d/%Y").date()
    except ValueError:
        readings.unreadable += 1
    else:
        readings.add(day, [row.get(MATURITIES[maturity]) for maturity in wanted])
