"""What outside providers answer, whichever they are: hits of a search, and tables of data.

Seed 000 §3.1 (WebSearchAgent, DataDownloadAgent). The providers are in `actors/platform/web`.
"""

from typing import Literal

from models.content.articles import Cell
from models.record import Record

SearchKind = Literal["web", "news", "financial_news"]
# How old a hit may be at most.
DateRange = Literal["day", "week", "month", "year", "any"]
DataKind = Literal["equity", "economic", "fx", "treasury"]


class SearchHit(Record):
    """Something that was found. `url` is absent for what is stored here; then `stored_as` names it.

    `published_at` is as the provider said it (ISO 8601 where it did). All of it is untrusted text.
    `stored_as` is `article:17` or `resource:5`.
    """

    title: str
    url: str | None
    snippet: str
    published_at: str | None
    source: str
    stored_as: str | None = None


class SearchAnswer(Record):
    """What a provider found, best first. `note` says what kept the search from being whole."""

    provider: str
    hits: tuple[SearchHit, ...]
    note: str | None = None


class SeriesInfo(Record):
    """A series that a provider is known to have: how it is asked for, and what people call it."""

    kind: DataKind
    provider: str
    series_id: str
    title: str
    # Other words that people ask for it by, in any language.
    also: tuple[str, ...] = ()


class DataTable(Record):
    """Data as a provider gave it. The first column is the date (`YYYY-MM-DD`).

    `source` is the provider (`sample` for the files in the repository), `url` where it was read, without
    keys. `unit` is that of the values.
    """

    kind: DataKind
    source: str
    series_id: str
    title: str
    unit: str | None
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    url: str | None = None
    note: str | None = None
