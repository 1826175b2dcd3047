"""What series are called: records of those that `known_series` names, for whichever provider has them."""

from collections.abc import Iterable, Iterator

from actors.systems.market import known_series as known
from actors.systems.market.exchange import pair_title, split_pair
from models.content.outside import DataKind, SeriesInfo


def info_of(kind: DataKind, series_id: str, provider: str) -> SeriesInfo:
    """A series as people know it; one that is not in the catalogue goes by its id."""
    title, also = series_id, tuple[str, ...]()
    if kind == "equity" and series_id in known.COMPANIES:
        company = known.COMPANIES[series_id]
        title, also = company.name, _written(company.words)
    elif kind == "fx":
        base, quote = split_pair(series_id)
        title = pair_title(base, quote)
        also = _written([*known.CURRENCIES[base][1], *known.CURRENCIES[quote][1]])
    elif kind == "treasury":
        what = "all maturities" if series_id == known.CURVE else series_id
        title, also = f"US Treasury par yields: {what}", _written(known.BONDS)
    elif kind == "economic":
        title, also = _economic(series_id)
    return SeriesInfo(kind=kind, provider=provider, series_id=series_id, title=title, also=also)


def known_ids(kind: DataKind) -> Iterator[str]:
    """The ids of a kind that the catalogue names: of exchange rates, those of the euro."""
    if kind == "equity":
        yield from known.COMPANIES
    elif kind == "fx":
        yield from (f"EUR/{code}" for code in known.CURRENCIES if code != "EUR")
    elif kind == "treasury":
        yield from (known.CURVE, *known.MATURITIES)
    else:
        yield from dict.fromkeys(series_id for series_id, _ in known.ECONOMIC.values())


def _economic(series_id: str) -> tuple[str, tuple[str, ...]]:
    title, words = series_id, list[str]()
    for (concept, area), (found, called) in known.ECONOMIC.items():
        if found == series_id:
            title = called
            words += [*known.CONCEPTS[concept], *known.AREAS[area]]
    return title, _written(words)


def _written(phrases: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(phrase.replace("|", "") for phrase in phrases))
