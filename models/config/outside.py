"""Configuration of outside data: providers of search and of market data, each configured or absent.

Part of `models.config`. Nothing leaves the site unless a provider that reaches outside is named here, and
then through the URL guard: an internal address has to be in `outgoing.allow_internal` too.
"""

from models.config.fields import Count, Positive, Secret, Section, Text, Url


class LocalSearch(Section):
    """Searches what is stored here, as the caller may see it."""


class SearxngSearch(Section):
    """A self-hosted SearXNG, whose JSON format is switched on; `url` is its base."""

    url: Url


class GoogleCseSearch(Section):
    """Google's Programmable Search: queries leave the site."""

    url: Url  # of the API
    api_key: Secret  # of the API
    search_engine_id: Text  # `cx` of the engine


class SearchProviders(Section):
    """Where web, news and financial news are searched. The first that is configured is the default."""

    searxng: SearxngSearch | None = None
    google_cse: GoogleCseSearch | None = None
    local: LocalSearch | None = None


class SampleData(Section):
    """The small CSV files in the repository: to try things on, and always marked `source: sample`."""


class YahooFinance(Section):
    """Yahoo Finance's chart API, as the yfinance package uses it: share prices."""

    url: Url  # of the API


class Fred(Section):
    """The St. Louis Fed's FRED API: economic series."""

    url: Url  # of the API
    api_key: Secret  # of the API


class EcbFx(Section):
    """The European Central Bank's data API: reference exchange rates."""

    url: Url  # of the API


class UsTreasury(Section):
    """The US Treasury's daily par yield curve rates."""

    url: Url  # of the site


class MarketDataProviders(Section):
    """Where market data comes from. For each kind of data the first that is configured is the default."""

    yfinance: YahooFinance | None = None
    fred: Fred | None = None
    ecb_fx: EcbFx | None = None
    us_treasury: UsTreasury | None = None
    sample: SampleData | None = None


class PdfConfig(Section):
    """How large a PDF may be, how long it may take to be read, and how many are read at once on a node."""

    max_bytes: Count  # of one file
    max_pages: Count  # those that are read
    timeout_seconds: Positive  # until its reader is ended
    readers: Count  # at once on a node


class OutsideConfig(Section):
    """Outside data. `timeout_seconds` and `max_bytes` bound each request; `results` are kept of a search."""

    search: SearchProviders
    market_data: MarketDataProviders
    timeout_seconds: Positive
    max_bytes: Count
    results: Count
    pdf: PdfConfig
