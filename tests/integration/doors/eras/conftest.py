"""One replica over HTTP, and a client with a reader's token that speaks to it in either era."""

from collections.abc import AsyncIterator, Callable

import httpx2
import pytest
from fastapi import FastAPI

from models.config import Config
from serve.api import make_app
from tests.integration.doors.mcp_client import JSON, bearer, serving

Configure = Callable[..., Config]


@pytest.fixture
def config(configure: Configure) -> Config:
    """The configuration."""
    return configure({"tools.rate_limits": {"get_tonalities": {"calls": 2, "per_seconds": 600}}})


@pytest.fixture
def app(config: Config, database_url: str) -> FastAPI:
    """A replica."""
    return make_app(config, database_url)


@pytest.fixture
async def url(app: FastAPI) -> AsyncIterator[str]:
    """Where it is served."""
    async with serving(app) as url:
        yield url


@pytest.fixture
async def http(url: str, config: Config) -> AsyncIterator[httpx2.AsyncClient]:
    """A client with a reader's token."""
    token = bearer(config.auth, "macro:reader")
    async with httpx2.AsyncClient(base_url=url, headers={**JSON, **token}, timeout=30) as client:
        yield client
