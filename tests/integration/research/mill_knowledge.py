"""What a model finds on the pages about mills: five points, one of which joins two.

Tests that need them take its `site` and `desk` in place of the usual ones.
"""

import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from models.config import Config
from models.people.scopes import read_scopes
from models.research.agent_workflows import AgentWorkflow, ResearchStatusResponse
from models.store.database import Connection, Database
from models.store.research import overviews
from tests.fakes.model.model_server import ModelServer, Rule
from tests.fakes.outside.page_site import PageSite, article
from tests.fakes.outside.search_providers import SearchServer
from tests.integration.research.mill_site import ICE, NOTHING, mill_site
from tests.integration.research.research_desk import ANALYST, ResearchDesk, desk_config

# A character that is two in UTF-16 and four in UTF-8 comes before what is quoted.
COLD = "🏭 In Łódź it is cold. " + ICE
_WHERE = {"sentence": 1, "score": 0.9}
_RUNS = _WHERE | {"quote": "runs nine mills in Łódź"}
_MILL = {
    "entities": [
        _WHERE | {"name": "The Mill Company", "type": "organization", "aliases": []},
        _WHERE | {"name": "Łódź", "type": "location", "aliases": []},
    ],
    "relationships": [_RUNS | {"subject": "The Mill Company", "predicate": "has mills in", "object": "Łódź"}],
    "facts": [_RUNS | {"statement": "It has nine mills."}],
}
_ICE = {
    "facts": [
        {
            "statement": "Warm water keeps ice off.",
            "quote": "kept free of ice by warm water",
            "sentence": 2,
            "score": 0.9,
        }
    ]
}
KNOWLEDGE = (
    Rule(contains="founded in 1871", reply=json.dumps(json.loads(NOTHING) | _MILL)),
    Rule(contains="kept free of ice", reply=json.dumps(json.loads(NOTHING) | _ICE)),
    Rule(contains="Extract as one", reply=NOTHING),
)


@pytest.fixture(name="site")
def make_site() -> Iterator[PageSite]:
    """Pages about mills, one of which tells more."""
    with mill_site() as site:
        site.pages["/ice"] = article("Ice on wheels", COLD)
        yield site


@pytest.fixture(name="desk")
def make_desk(
    database: Database, configure: Callable[..., Config], model: ModelServer, search: SearchServer
) -> ResearchDesk:
    """A desk whose model finds all of it."""
    model.script(*KNOWLEDGE)
    return ResearchDesk(desk_config(configure, model.base_url, search.url), database)


async def ask(desk: ResearchDesk, of: Callable[[Connection], Awaitable[Any]]) -> Any:
    """What is read on a connection of its own."""
    async with desk.database.connection() as connection:
        return await of(connection)


async def status(
    desk: ResearchDesk, research: AgentWorkflow, person: str = "ann", *scopes: str
) -> ResearchStatusResponse:
    """How far it is, as this person sees it."""
    seen = read_scopes(scopes) if scopes else ANALYST
    found: ResearchStatusResponse = await ask(
        desk, lambda c: overviews.status(c, research, person=person, scopes=iter(seen))
    )
    return found


def only(shown: dict[str, Any], *paths: str) -> dict[str, Any]:
    """The list with these pages alone."""
    kept = [url for url in shown["urls"] if url["url"].endswith(paths)]
    return shown | {"urls": kept}
