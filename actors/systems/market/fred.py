"""Economic series from FRED, the Federal Reserve Bank of St. Louis: `/fred/series` and `…/observations`.

An id may end with one of FRED's transformations: `CPIAUCSL_PC1` is CPIAUCSL as percent change from a year
ago, as FRED's own downloads name it. https://fred.stlouisfed.org/docs/api/fred/
"""

from datetime import date
from typing import ClassVar, NoReturn, TypeVar

from pydantic import BaseModel, ConfigDict

from actors.platform.web.fetching import fetch, read_json
from actors.platform.web.plain_text import plain_text
from actors.systems.market.catalogue import info_of, known_ids
from actors.systems.market.tables import MOST_ROWS, Readings, Span, make_table
from models.config import Config
from models.content.outside import DataKind, DataTable, SeriesInfo
from models.errors import InputInvalid, ProviderFailed

# https://fred.stlouisfed.org/docs/api/fred/series_observations.html#units
_TRANSFORMATIONS = {
    "CHG": "change",
    "CH1": "change from a year ago",
    "PCH": "percent change",
    "PC1": "percent change from a year ago",
    "PCA": "compounded annual rate of change, percent",
    "CCH": "continuously compounded rate of change, percent",
    "CCA": "continuously compounded annual rate of change, percent",
    "LOG": "natural logarithm",
}


class _FredAnswer(BaseModel):
    """What we read of an answer; its other fields are left alone."""

    model_config = ConfigDict(extra="ignore")


class _Series(_FredAnswer):
    id: str
    title: str
    units: str | None = None
    frequency: str | None = None


class _SeriesReply(_FredAnswer):
    seriess: list[_Series]


class _Observation(_FredAnswer):
    date: str
    value: str | None = None


class _ObservationsReply(_FredAnswer):
    count: int
    observations: list[_Observation]


class _Refusal(_FredAnswer):
    error_code: int
    error_message: str


_Reply = TypeVar("_Reply", bound=_FredAnswer)


class FredSeries:
    """FRED, as `outside.market_data.fred` says where and with which key."""

    name: ClassVar[str] = "fred"
    kinds: ClassVar[tuple[DataKind, ...]] = ("economic",)

    def __init__(self, config: Config) -> None:
        self._config = config

    def holdings(self, kind: DataKind) -> list[SeriesInfo]:
        """The series that the catalogue names; there are 800,000 more."""
        return [info_of(kind, series_id, self.name) for series_id in known_ids(kind)]

    def has(self, kind: DataKind, series_id: str) -> bool:
        """Whatever its id, FRED may have it."""
        return True

    async def fetch(self, kind: DataKind, series_id: str, span: Span, today: date) -> DataTable:
        """Observations of any frequency; see `MarketProvider.fetch`."""
        start, end = span.filled(kind, today)
        plain_id, transformation = _parted(series_id)
        observed = {
            "series_id": plain_id,
            "observation_start": start.isoformat(),
            "observation_end": end.isoformat(),
            "units": (transformation or "lin").lower(),
            "sort_order": "desc",
            "limit": str(MOST_ROWS),
        }
        described = await self._ask("/fred/series", {"series_id": plain_id}, _SeriesReply, about=plain_id)
        answer = await self._ask("/fred/series/observations", observed, _ObservationsReply, about=plain_id)
        if not described.seriess:
            raise ProviderFailed(f"{self.name}: the answer does not describe {plain_id}")
        series = described.seriess[0]
        readings = Readings()
        for observation in answer.observations:
            readings.add(observation.date, [observation.value])
        more = answer.count - len(answer.observations)
        frequency = plain_text(series.frequency, 40)
        return make_table(
            kind=kind,
            source=self.name,
            series_id=series_id,
            title=plain_text(series.title, 200) or plain_id,
            unit=_TRANSFORMATIONS[transformation]
            if transformation
            else plain_text(series.units, 100) or None,
            columns=("value",),
            rows=readings.within(Span(start, end)),
            span=span,
            today=today,
            url=f"{self._base()}/fred/series/observations?series_id={plain_id}",
            notes=(
                frequency,
                f"the newest {len(answer.observations)} of {answer.count} rows" if more > 0 else "",
            ),
            unreadable=readings.unreadable,
        )

    async def search(self, query: str, most: int) -> list[SeriesInfo]:
        """FRED's own search by words. Raises ProviderFailed, ProviderLimited."""
        found = await self._ask(
            "/fred/series/search",
            {"search_text": query[:200], "limit": str(most)},
            _SeriesReply,
            about="the search",
        )
        return [
            SeriesInfo(
                kind="economic",
                provider=self.name,
                series_id=series.id[:40],
                title=plain_text(
                    ", ".join(filter(None, (series.title, series.frequency, series.units))), 200
                ),
            )
            for series in found.seriess[:most]
        ]

    def _base(self) -> str:
        settings = self._config.outside.market_data.fred
        assert settings is not None, "it was asked for as configured"
        return settings.url.rstrip("/")

    async def _ask(self, path: str, params: dict[str, str], reply: type[_Reply], *, about: str) -> _Reply:
        settings = self._config.outside.market_data.fred
        assert settings is not None, "it was asked for as configured"
        key = settings.api_key.get_secret_value()
        answer = await fetch(
            self._base() + path,
            config=self._config,
            provider=self.name,
            params={**params, "api_key": key, "file_type": "json"},
            accept_statuses=(400, 404),
        )
        if answer.status >= 400:
            self._refuse(read_json(answer, _Refusal, self.name), about, key)
        return read_json(answer, reply, self.name)

    def _refuse(self, refusal: _Refusal, about: str, key: str) -> NoReturn:
        told = plain_text(refusal.error_message.replace(key, "…"), 200)
        if "api_key" in told:
            raise ProviderFailed(f"{self.name}: {told} Check outside.market_data.fred.api_key")
        if "does not exist" in told:
            raise InputInvalid(f"series_id: {self.name} has no {about}: search_series finds ids")
        raise InputInvalid(f"series_id, start, end: {self.name} refuses {about}: {told}")


def _parted(series_id: str) -> tuple[str, str | None]:
    """An id without its transformation, and that."""
    plain_id, _, ending = series_id.rpartition("_")
    return (plain_id, ending) if plain_id and ending in _TRANSFORMATIONS else (series_id, None)
