"""Providers of search: which there are, and which one is asked.

The first that is configured is the default. One that fails is an error: no other answers in its place.
"""

from typing import ClassVar, Literal, Protocol

from actors.platform.tools.tool import ToolContext
from actors.platform.web.providers.google_cse import GoogleCse
from actors.platform.web.providers.local import Local
from actors.platform.web.providers.searxng import Searxng
from models.config import Config
from models.content.outside import DateRange, SearchAnswer, SearchKind
from models.errors import ProviderMissing

ProviderName = Literal["searxng", "google_cse", "local"]


class SearchProvider(Protocol):
    """The seam to whoever searches."""

    name: ClassVar[str]

    def __init__(self, context: ToolContext) -> None: ...

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
PROVIDERS: dict[ProviderName, type[SearchProvider]] = {
    "searxng": Searxng,
    "google_cse": GoogleCse,
    "local": Local,
}


def lacking(config: Config) -> str | None:
    """The setting to add where no search provider is configured, else None."""
    if _configured(config):
        return None
    return f"add {' or '.join(f'outside.search.{name}' for name in PROVIDERS)} to the configuration"


def provider_of(context: ToolContext, name: ProviderName | None = None) -> SearchProvider:
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


def _configured(config: Config) -> list[ProviderName]:
    return [name for name in PROVIDERS if getattr(config.outside.search, name) is not None]
