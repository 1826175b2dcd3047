"""Sample data: small CSV files in the repository, made up, to try things on without a provider.

Whatever is made of them says so: source, title and note. A request without `start` gets all there is.
"""

import csv
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

from actors.systems.market.catalogue import info_of
from actors.systems.market.exchange import cross_rates, needed, pair_note, split_pair
from actors.systems.market.known_series import CURVE
from actors.systems.market.tables import Readings, Span, make_table
from models.config import Config
from models.content.articles import Cell
from models.content.outside import DataKind, DataTable, SeriesInfo
from models.errors import InputInvalid, ProviderFailed

FOLDER = Path(__file__).resolve().parents[3] / "configs" / "samples" / "market"
NOTE = "sample data from the repository: made up, not what was observed"
_PRICES = ("open", "high", "low", "close", "volume")
# By the exchange that a symbol ends with.
_CURRENCY = {"DE": "EUR", "WA": "PLN"}


class Sample:
    """The files in `configs/samples/market`."""

    name: ClassVar[str] = "sample"
    kinds: ClassVar[tuple[DataKind, ...]] = ("equity", "economic", "fx", "treasury")

    def __init__(self, config: Config, folder: Path = FOLDER) -> None:
        self._folder = folder

    def holdings(self, kind: DataKind) -> list[SeriesInfo]:
        """The series in the files; of exchange rates, those of the euro."""
        return [info_of(kind, series_id, self.name) for series_id in self._ids(kind)]

    def has(self, kind: DataKind, series_id: str) -> bool:
        """Whether there is such a series."""
        ids = self._ids(kind)
        if kind == "fx":
            return all(code == "EUR" or f"EUR/{code}" in ids for code in split_pair(series_id))
        if kind == "treasury":
            return all(maturity in ids for maturity in series_id.split(","))
        return series_id in ids

    async def fetch(self, kind: DataKind, series_id: str, span: Span, today: date) -> DataTable:
        """The series. InputInvalid where there is none, or not in this span."""
        read = {
            "equity": self._equity,
            "economic": self._economic,
            "fx": self._fx,
            "treasury": self._treasury,
        }
        unit, columns, rows, note = read[kind](series_id)
        within = {day: row for day, row in rows.items() if span.holds(day)}
        if not within:
            raise InputInvalid(
                f"start, end: sample has {series_id} from {min(rows)} to {max(rows)} only: ask for these"
            )
        return make_table(
            kind=kind,
            source=self.name,
            series_id=series_id,
            title=f"{info_of(kind, series_id, self.name).title} (sample data)",
            unit=unit,
            columns=columns,
            rows=within,
            span=span,
            today=max(rows),
            notes=(NOTE, note),
        )

    def _equity(self, symbol: str) -> "_Read":
        rows = self._of("equity", "symbol", symbol, _PRICES)
        if not rows:
            raise InputInvalid(f"symbol: sample has no {symbol}; it has {', '.join(self._ids('equity'))}")
        return _CURRENCY.get(symbol.rpartition(".")[2], "USD"), _PRICES, rows, ""

    def _economic(self, series_id: str) -> "_Read":
        rows = self._of("economic", "series_id", series_id, ("value",))
        if not rows:
            raise InputInvalid(
                f"series_id: sample has no {series_id}; it has {', '.join(self._ids('economic'))}"
            )
        unit = "percent change from a year ago" if series_id.endswith("_PC1") else "percent"
        return unit, ("value",), rows, ""

    def _fx(self, series_id: str) -> "_Read":
        base, quote = split_pair(series_id)
        has = [pair.removeprefix("EUR/") for pair in self._ids("fx")]
        rates: dict[str, dict[date, int | float | None]] = {}
        for code in needed(base, quote, has, self.name):
            rows = self._wide("fx", (code,))
            rates[code] = {day: row[0] for day, row in rows.items() if not isinstance(row[0], str)}
        return f"{quote} per {base}", ("rate",), cross_rates(base, quote, rates), pair_note(base, quote)

    def _treasury(self, series_id: str) -> "_Read":
        has = [maturity for maturity in self._ids("treasury") if maturity != CURVE]
        wanted = tuple(has) if series_id == CURVE else tuple(series_id.split(","))
        if missing := [maturity for maturity in wanted if maturity not in has]:
            raise InputInvalid(f"maturities: sample has no {', '.join(missing)}; it has {', '.join(has)}")
        return "percent", wanted, self._wide("treasury", wanted), ""

    def _ids(self, kind: DataKind) -> list[str]:
        if kind in ("equity", "economic"):
            return list(dict.fromkeys(next(iter(row.values())) for row in self._lines(kind)))
        columns = [column for column in self._lines(kind)[0] if column != "date"]
        return [f"EUR/{column}" for column in columns] if kind == "fx" else [CURVE, *columns]

    def _of(
        self, file: str, column: str, series_id: str, cells: tuple[str, ...]
    ) -> dict[date, tuple[Cell, ...]]:
        readings = Readings()
        for row in self._lines(file):
            if row[column] == series_id:
                readings.add(row["date"], [row[cell] for cell in cells])
        return readings.rows

    def _wide(self, file: str, cells: tuple[str, ...]) -> dict[date, tuple[Cell, ...]]:
        readings = Readings()
        for row in self._lines(file):
            readings.add(row["date"], [row[cell] for cell in cells])
        return readings.rows

    def _lines(self, file: str) -> tuple[dict[str, str], ...]:
        path = self._folder / f"{file}.csv"
        try:
            return _rows_of(path, path.stat().st_mtime_ns)
        except OSError as error:
            raise ProviderFailed(
                f"sample: can't read {path}: run from a checkout that has configs/samples"
            ) from error


@lru_cache(maxsize=8)
def _rows_of(path: Path, written: int) -> tuple[dict[str, str], ...]:
    """The rows of a file by column. It is read once each time that it was written."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return tuple(csv.DictReader(line for line in lines if not line.startswith("#")))


# Unit, columns, rows, and what is to be noted.
_Read = tuple[str, tuple[str, ...], dict[date, tuple[Cell, ...]], str]
