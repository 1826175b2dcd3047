"""A replica whose events can be followed."""

from collections.abc import AsyncIterator, Callable

import pytest
from fastapi import FastAPI

from models.config import AuthConfig, Config
from serve.api import make_app
from tests.integration.events.event_streams import serving

Configure = Callable[..., Config]


@pytest.fixture
def config(configure: Configure) -> Config:
    """The configuration."""
    return configure()


@pytest.fixture
def auth(config: Config) -> AuthConfig:
    """How tokens are checked."""
    return config.auth


@pytest.fixture
def app(config: Config, database_url: str) -> FastAPI:
    """The app."""
    return make_app(config, database_url)


@pytest.fixture
async def address(app: FastAPI) -> AsyncIterator[str]:
    """Where it is served."""
    async with serving(app) as address:
        yield address
