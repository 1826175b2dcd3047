"""What tests of research find: a small site about mills, a search engine that knows it, and a desk."""

from collections.abc import Callable, Iterator

import pytest

from models.config import Config
from models.store.database import Database
from tests.fakes.local_reading import LocalReading
from tests.fakes.model.model_server import ModelServer, Rule
from tests.fakes.outside.page_site import PageSite
from tests.fakes.outside.search_providers import SearchServer
from tests.integration.research.mill_site import FOUND, NOTHING, mill_search, mill_site
from tests.integration.research.research_desk import ResearchDesk, desk_config


@pytest.fixture(autouse=True)
def local_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages are read in this process."""
    monkeypatch.setattr("actors.systems.knowledge.parsing.page_reader.ReadingPool", LocalReading)


@pytest.fixture
def site() -> Iterator[PageSite]:
    """Pages about mills; one is for those who log in."""
    with mill_site() as site:
        yield site


@pytest.fixture
def search(site: PageSite) -> Iterator[SearchServer]:
    """A search engine that knows them all."""
    with mill_search(site) as server:
        yield server


@pytest.fixture
def config(configure: Callable[..., Config], model: ModelServer, search: SearchServer) -> Config:
    """The site's configuration; its model finds one fact on the page of the mills, and nothing elsewhere."""
    model.script(
        Rule(contains="founded in 1871", reply=FOUND), Rule(contains="Extract as one", reply=NOTHING)
    )
    return desk_config(configure, model.base_url, search.url)


@pytest.fixture
def desk(config: Config, database: Database) -> ResearchDesk:
    """Who asks for research and decides; its runner works in `desk.running()`."""
    return ResearchDesk(config, database)
