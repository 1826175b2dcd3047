"""What the tests of fetching share: servers to fetch from, and fetching that keeps an eye on the key."""

from collections.abc import Iterator

import pytest

from actors.platform.web.fetching import Fetched, fetch
from models.config import Config
from models.errors import ProviderFailed, SignoffError
from tests.fakes.outside.search_providers import SearchServer
from tests.unit.outside.search_config import configured

SECRET = "s3cret+key/with=signs"
CONFIG = configured(max_bytes=100_000, timeout_seconds=5)


@pytest.fixture(name="server")
def make_server() -> Iterator[SearchServer]:
    with SearchServer() as running:
        yield running


@pytest.fixture(name="other")
def make_other() -> Iterator[SearchServer]:
    with SearchServer() as running:
        yield running


async def get(url: str, config: Config = CONFIG, **more: object) -> Fetched:
    return await fetch(url, config=config, provider="acme", **more)  # type: ignore[arg-type]


async def failure(url: str, kind: type[SignoffError] = ProviderFailed, **more: object) -> str:
    """The message of the error; it names the provider and holds no key, however it is spelt."""
    with pytest.raises(kind) as caught:
        await get(url, **more)  # type: ignore[arg-type]
    told = str(caught.value)
    assert type(caught.value) is kind
    assert "acme" in told
    assert "s3cret" not in told
    return told
