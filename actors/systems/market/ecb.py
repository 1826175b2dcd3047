"""Reference exchange rates from the ECB's data API, `/service/data/EXR/D.{currencies}.EUR.SP00.A`, daily.

The ECB quotes currencies for one euro; pairs without the euro are computed and noted. It answers 404
where there is no value in the span, as on a weekend. https://data.ecb.europa.eu/help/api/data
"""

from datetime import date
from typing import ClassVar

from actors.platform.web.fetching import fetch
from actors.systems.market.catalogue import info_of, known_ids
from actors.systems.market.exchange import cross_rates, needed, pair_note, pair_title, split_pair
from actors.systems.market.known_series import CURRENCIES
from actors.systems.market.tables import Readings, Span, make_table, read_csv
from models.config import Config
from models.content.outside import DataKind, DataTable, SeriesInfo

_COLUMNS = ("CURRENCY", "TIME_PERIOD", "OBS_VALUE")


class EcbRates:
    """The ECB's reference rates, as `outside.market_data.ecb_fx` says where."""

    name: ClassVar[str] = "ecb_fx"
    kinds: ClassVar[tuple[DataKind, ...]] = ("fx",)

    def __init__(self, config: Config) -> None:
        self._config = config

    def holdings(self, kind: DataKind) -> list[SeriesInfo]:
        """The currencies against the euro; the other pairs can be asked for as well."""
        return [info_of(kind, pair, self.name) for pair in known_ids(kind)]

    def has(self, kind: DataKind, series_id: str) -> bool:
        """Whether both currencies are among the ECB's."""
        return all(code in CURRENCIES for code in split_pair(series_id))

    async def fetch(self, kind: DataKind, series_id: str, span: Span, today: date) -> DataTable:
        """Daily rates; see `MarketProvider.fetch`."""
        settings = self._config.outside.market_data.ecb_fx
        assert settings is not None, "it was asked for as configured"
        base, quote = split_pair(series_id)
        codes = needed(base, quote, [code for code in CURRENCIES if code != "EUR"], self.name)
        start, end = span.filled(kind, today)
        url = f"{settings.url.rstrip('/')}/service/data/EXR/D.{'+'.join(codes)}.EUR.SP00.A"
        params = {
            "startPeriod": start.isoformat(),
            "endPeriod": end.isoformat(),
            "format": "csvdata",
            "detail": "dataonly",
        }
        answer = await fetch(
            url,
            config=self._config,
            provider=self.name,
            params=params,
            headers={"Accept": "text/csv"},
            accept_statuses=(404,),
        )
        read = {code: Readings() for code in codes}
        rows = [] if answer.status == 404 else read_csv(answer.body, _COLUMNS, self.name)
        for row in rows:
            if (readings := read.get(row["CURRENCY"])) is not None:
                readings.add(row["TIME_PERIOD"], [row["OBS_VALUE"]])
        rates = {
            code: {
                day: row[0]
                for day, row in readings.within(Span(start, end)).items()
                if not isinstance(row[0], str)
            }
            for code, readings in read.items()
        }
        return make_table(
            kind=kind,
            source=self.name,
            series_id=series_id,
            title=pair_title(base, quote),
            unit=f"{quote} per {base}",
            columns=("rate",),
            rows=cross_rates(base, quote, rates),
            span=span,
            today=today,
            url=url,
            notes=(pair_note(base, quote),),
            unreadable=sum(readings.unreadable for readings in read.values()),
        )
