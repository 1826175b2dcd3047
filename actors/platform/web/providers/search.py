"""Providers of search: which there are, and which one is asked.

The first that is configured is the default. One that fails is an error: no other answers in its place.
"""

from collections.abc import Callable
from typing import ClassVar, Literal, NamedTuple, Protocol

from actors.platform.search.hybrid import HybridSearch
from actors.platform.web.providers.google_cse import GoogleCse
from actors.platform.web.providers.local import Local
from actors.platform.web.providers.searxng import Searxng
from models.config import Config
from models.content.outside import DateRange, SearchAnswer, SearchKind
from models.errors import ProviderMissing
from models.people.users import UserContext
from models.store.database import Database

ProviderName = Literal["searxng", "google_cse", "local"]


class SearchContext(NamedTuple):
    """Who searches, with what configuration, and how what is stored here is searched."""

    caller: UserContext
    config: Config
    database: Database
    search: HybridSearch


class SearchProvider(Protocol):
    """The seam to whoever searches."""

    name: ClassVar[str]

    async def search(
        self, kind: SearchKind, query: str, limit: int, date_range: DateRange = "any"
    ) -> SearchAnswer:
        """At most `limit` hits, best first. Texts are plain, bounded, and untrusted.

        None is known to be older than `date_range`; the note tells what was left out for it, and whether
        the provider can't search by date.

        Raises:
            ProviderFailed, ProviderLimited, AddressRefused: it did not answer usefully.
        """
        ...


# In the order in which they are the default.
PROVIDERS: dict[ProviderName, Callable[[SearchContext], SearchProvider]] = {
    "searxng": lambda context: Searxng(context.config),
    "google_cse": lambda context: GoogleCse(context.config),
    "local": lambda context: Local(context.caller, context.database, context.search),
}


def lacking(config: Config) -> str | None:
    """The setting to add where no search provider is configured, else None."""
    if _configured(config):
        return None
    return f"add {' or '.join(f'outside.search.{name}' for name in PROVIDERS)} to the configuration"


def provider_of(context: SearchContext, name: ProviderName | None = None) -> SearchProvider:
    """The provider of this name, or the default. ProviderMissing where it is not configured."""
    configured = _configured(context.config)
    if name is None:
        if not configured:
            raise ProviderMissing(f"no search provider is configured: {lacking(context.config)}")
        name = configured[0]
    if name not in configured:
        raise ProviderMissing(
            f"provider: {name} is not configured: add outside.search.{name} to the configuration"
        )
    return PROVIDERS[name](context)


def providers_of(context: SearchContext) -> list[SearchProvider]:
    """All that are configured, the default first."""
    return [PROVIDERS[name](context) for name in _configured(context.config)]


def _configured(config: Config) -> list[ProviderName]:
    return [name for name in PROVIDERS if getattr(config.outside.search, name) is not None]
