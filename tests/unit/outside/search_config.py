"""A configuration with the search providers that a test names, and what calls them."""

from pathlib import Path
from typing import Any

from actors.platform.systems import load
from actors.platform.web.providers.search import ProviderName, SearchContext, provider_of
from models.config import Config
from models.config.outside import GoogleCseSearch, SearchProviders, SearxngSearch
from models.content.outside import DateRange, SearchAnswer, SearchKind
from models.people.scopes import read_scopes
from models.people.users import UserContext
from tests.fakes.outside.search_providers import ENGINE, KEY, SearchServer

ROOT = Path(__file__).resolve().parents[3]
LOOPBACK = ("127.0.0.1/32",)


def configured(*, allow_internal: tuple[str, ...] = LOOPBACK, **research: Any) -> Config:
    """The configuration in configs/local.yaml with these settings of `research`."""
    config = load(ROOT / "configs" / "local.yaml", root=ROOT)
    return config.model_copy(
        update={
            "outside": config.outside.model_copy(update=research),
            "outgoing": config.outgoing.model_copy(update={"allow_internal": allow_internal}),
        }
    )


def searxng(server: SearchServer) -> SearchProviders:
    """SearXNG is at the server."""
    return SearchProviders(searxng=SearxngSearch(url=server.url))


def google(server: SearchServer, key: str = KEY, engine: str = ENGINE) -> SearchProviders:
    """Google is at the server."""
    settings = {"url": server.google, "api_key": key, "search_engine_id": engine}
    return SearchProviders(google_cse=GoogleCseSearch.model_validate(settings))


async def search(
    config: Config,
    query: str = "rates",
    *,
    kind: SearchKind = "web",
    limit: int = 10,
    date_range: DateRange = "any",
    name: ProviderName | None = None,
) -> SearchAnswer:
    """Search as an analyst, with the default provider where none is named."""
    caller = UserContext.model_construct(subject="ann", scopes=read_scopes(["macro:analyst"]))
    context = SearchContext(caller=caller, config=config, database=None, search=None)  # type: ignore[arg-type]
    return await provider_of(context, name).search(kind, query, limit, date_range)
