"""A site that researches, its model scripted."""

from collections.abc import Callable

import pytest

from models.config import Config
from models.store.database import Database
from tests.fakes.model.model_server import ModelServer
from tests.integration.drafting.research_site import Site, configured
from tests.integration.editorial.desk import Desk


@pytest.fixture
async def site(database: Database, configure: Callable[..., Config], model: ModelServer) -> Site:
    """Its branches find a text and a table."""
    return Site(Desk(database, configure(configured(model.base_url))))
